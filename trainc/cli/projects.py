"""Several projects in one repository: a command runs once for each of them, and answers once."""

import os
from collections.abc import Callable

from trainc.cli.options import PROJECT, Options
from trainc.cli.output import tell
from trainc.compiler.project import find_root
from trainc.model.settings import FILE, OUTPUT, Project
from trainc.text.trouble import Inapplicable, Trouble

Command = Callable[[Options], int]


def unmarked(project: Project) -> list[str]:
    """A line where no trainc.yaml says where the project starts, and it starts above the current folder; else none."""
    if project.file or os.path.realpath(project.root) == os.path.realpath("."):
        return []
    return [
        f"no {FILE} here: the project is the Git checkout {project.root}; run `trainc init` to make this folder a project"
    ]


def across_projects(options: Options, command: Command, *, one_output: bool = False) -> int:
    """Run a command for each project that its paths reach, those below a folder included; the worst exit code.

    A project that has nothing of what was asked for is left out, unless that holds for all. With `one_output` the
    command writes objects to one place, which never belong to several projects: that is Trouble.
    """
    paths = options.arguments or ["."]
    if len(paths) == 1 and not os.path.isdir(paths[0]):
        return command(options)
    from trainc.compiler.load.walk import nested_projects  # noqa: PLC0415 (one file lies in one project)

    projects: dict[str, list[str]] = {}
    for path in paths:
        projects.setdefault(find_root(path)[0], []).append(path)
        for folder in nested_projects(path):
            projects.setdefault(os.path.abspath(folder), []).append(folder)
    if len(projects) > 1:
        projects = {root: inner for root, inner in projects.items() if _counts(root, inner)} or projects
    if len(projects) == 1:
        return command(Options(next(iter(projects.values())), options.values))
    calls = {os.path.relpath(root): Options(inner, {**options.values}) for root, inner in sorted(projects.items())}
    if one_output:
        # The call of the one project that holds jobs.
        from trainc.compiler.load.walk import holds_specs  # noqa: PLC0415

        busy = [name for name, call in calls.items() if holds_specs(find_root(name)[0], call.arguments)]
        if len(busy) > 1:
            raise Trouble(
                f"standard output cannot mix the projects {', '.join(busy)}; name one, or use -w to write each to its own folder"
            )
        return command(calls[busy[0]] if busy else next(iter(calls.values())))
    from trainc.cli.merging import joined  # noqa: PLC0415 (most runs are of one project)

    codes: list[int] = []
    missing: list[Inapplicable] = []
    with joined(options.one("report", "text")) as begin:
        for name, call in calls.items():
            call.values[PROJECT] = [name]
            begin(name)
            try:
                codes.append(command(call))
            except Inapplicable as reason:
                missing.append(reason)
            except Trouble as trouble:
                tell(f"trainc: {name}: {trouble}")
                codes.append(trouble.code)
    if not codes:
        raise missing[0]
    return max(codes)


def _counts(root: str, paths: list[str]) -> bool:
    """Whether a folder is a project: it says so, or holds specs or rendered files outside of all projects below it."""
    from trainc.compiler.load.walk import holds_specs  # noqa: PLC0415

    marks = (FILE, OUTPUT)
    return any(os.path.exists(os.path.join(root, mark)) for mark in marks) or holds_specs(root, paths)
