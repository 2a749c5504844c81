"""`trainc validate --whole-project`: everything is compiled, and the files given choose what is reported."""

from __future__ import annotations

import os

from trainc.cli.compiling import rendered_runs, run
from trainc.cli.shared.options import Options
from trainc.cli.shared.projects import across_projects
from trainc.cli.shared.session import Session
from trainc.compiler.emit.spool import Tally
from trainc.compiler.load.runtimes import may_hold_runtimes
from trainc.compiler.load.walk import contents, ours
from trainc.compiler.project import find_root
from trainc.model.settings import FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cli.caching.memory import Memory
    from trainc.model.finding import Finding


def validate_whole(options: Options, memory: Memory | None = None) -> int:
    """Validate every project that a file belongs to; the worst exit code.

    What is wrong with one job may show only beside another one, and a runtime is wrong only where a job uses it: a
    tool that passes some files of a commit, in batches, gets the same findings however it cuts them.
    """
    return across_projects(options, lambda one: _validate_project(one, memory))


def _validate_project(options: Options, memory: Memory | None) -> int:
    paths = options.arguments or ["."]
    root = find_root(paths[0])[0]
    session = Session(Options([root], options.values), compiles=False)
    spool = Tally(rendered_runs(session))
    if memory is not None:
        memory.begin(session, spool)
    session.applied_twice(os.path.join(root, session.project.output))
    run(session, spool, memory=memory)
    files = {os.path.relpath(os.path.abspath(path), root).replace(os.sep, "/") for path in paths}
    if not any(_is_shared(root, file, session.project.apart) for file in files):
        session.report = session.report.only(lambda finding: _concerns(finding, files))
    code = session.finish(spool.jobs)
    if memory is not None:
        memory.end(session, spool, code)
    return code


def _is_shared(root: str, file: str, folders: tuple[str, ...]) -> bool:
    """Whether a change of this file reaches jobs in other files."""
    path = os.path.join(root, file)
    if os.path.isdir(path) or file == FILE:
        return True
    if not os.path.isfile(path):
        return False
    data = contents(root, file)
    if ours(data) and not file.startswith(folders):
        return may_hold_runtimes(data)
    return file.startswith(folders)


def _concerns(finding: Finding, files: set[str]) -> bool:
    return any(label.span.file in files for label in finding.labels)
