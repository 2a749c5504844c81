"""Several projects in one repository: a command runs once for each of them, and answers once."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, redirect_stdout
from io import StringIO

from trainc.cli.shared.options import Options
from trainc.cli.shared.output import data, tell
from trainc.compiler.project import find_root
from trainc.model.settings import FILE, OUTPUT
from trainc.report.diff import MARKDOWN_ROOM
from trainc.report.dumps import dumps
from trainc.report.lines import text_of
from trainc.report.markdown import code
from trainc.text.trouble import Inapplicable, Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from trainc.model.settings import Project

    Command = Callable[[Options], int]

PROJECT = "project"  # an option that is set where a call reaches several projects: the name of the one that runs


def unmarked(project: Project) -> list[str]:
    """A line where no trainc.yaml says where the project starts, and it starts above the current folder; else none."""
    if project.file or os.path.realpath(project.root) == os.path.realpath("."):
        return []
    return [f"no {FILE} here: the project is the Git checkout {project.root}; `trainc init` makes one of this folder"]


def across_projects(options: Options, command: Command, *, one_output: bool = False) -> int:
    """Run a command for each project that its paths reach, those below a folder included; the worst exit code.

    A project that has nothing of what was asked for is left out, unless that holds for all. With `one_output` the
    command writes objects to one place, which never belong to several projects.

    Raises:
        Trouble: where one place would hold the objects of several projects.
    """
    paths = options.arguments or ["."]
    if len(paths) == 1 and not os.path.isdir(paths[0]):
        return command(options)
    from trainc.compiler.load.projects import nested_projects  # noqa: PLC0415 (one file lies in one project)

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
        return command(_only_one(calls))
    return _run_each(calls, command, options.one("report", "text"))


def _counts(root: str, paths: list[str]) -> bool:
    """Whether a folder is a project: it says so, or holds specs or rendered files outside of all projects below it."""
    from trainc.compiler.load.projects import holds_specs  # noqa: PLC0415

    marks = (FILE, OUTPUT)
    return any(os.path.exists(os.path.join(root, mark)) for mark in marks) or holds_specs(root, paths)


def _only_one(calls: dict[str, Options]) -> Options:
    """The call of the one project that holds jobs."""
    from trainc.compiler.load.projects import holds_specs  # noqa: PLC0415

    busy = [name for name, call in calls.items() if holds_specs(find_root(name)[0], call.arguments)]
    if len(busy) > 1:
        raise Trouble(
            f"standard output cannot mix the projects {', '.join(busy)}; name one, or use -w to write each to its own folder"
        )
    return calls[busy[0]] if busy else next(iter(calls.values()))


def _run_each(calls: dict[str, Options], command: Command, form: str) -> int:

    codes: list[int] = []
    missing: list[Inapplicable] = []
    with joined(form) as begin:
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


_MACHINES = ("gitlab", "json", "rdjson", "sarif")
_TITLES: dict[str, Callable[[str], list[str]]] = {
    "text": lambda name: [f"{name}:"],
    "markdown": lambda name: [f"## {code(name)}", ""],
    "mermaid": lambda name: [f"## {code(name)}", ""],
}
_KEPT = ("version", "$schema", "source")


@contextmanager
def joined(form: str) -> Iterator[Callable[[str], None]]:
    """Collects what is printed; gives a function that begins the part of a project, and prints all parts at the end."""
    parts: list[tuple[str, StringIO]] = []
    stream = _Switch()

    def begin(name: str) -> None:
        parts.append((name, StringIO()))
        stream.target = parts[-1][1]

    with redirect_stdout(stream):
        yield begin
    texts = [(name, text.getvalue()) for name, text in parts if text.getvalue()]
    if form in _MACHINES and texts:
        answer = json.loads(texts[0][1])
        for _, text in texts[1:]:
            answer = merge(answer, json.loads(text))
        data(dumps(answer, sort_keys=form == "json"))
        return
    if form == "junit" and texts:
        from trainc.report.junit import HEAD, TAIL  # noqa: PLC0415 (few ask for this form)

        data(HEAD + "".join(text.removeprefix(HEAD).removesuffix(TAIL) for _, text in texts) + TAIL)
        return
    title = _TITLES.get(form)
    joined_text = "\n".join(f"{text_of(title(name) if title else ())}{text}" for name, text in texts)
    if form == "markdown" and len(joined_text) > MARKDOWN_ROOM:
        kept, _, _ = joined_text[:MARKDOWN_ROOM].rpartition("\n")
        left = joined_text.count("\n") - kept.count("\n") - 1
        joined_text = f"{kept}\n\nand {left} more lines; `trainc diff` shows them\n"
    data(joined_text)


class _Switch(StringIO):
    """A stream that hands everything to another one."""

    target: StringIO

    def write(self, text: str) -> int:
        """Hand on a text."""
        return self.target.write(text)


def merge(one: Any, other: Any, key: str = "") -> Any:
    """Two answers as one: lists behind each other, counts added, true where one is true."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [*one, *(name for name in other if name not in one)]
        return {name: merge(one.get(name), other.get(name), name) for name in keys}
    if one is None or other is None or key in _KEPT:
        return other if one is None else one
    if isinstance(one, bool):
        return one or other
    if isinstance(one, list) != isinstance(other, list):  # findings of one project instead of what others answer
        return other if isinstance(one, list) else one
    return one + other if isinstance(one, int | float | list) else one
