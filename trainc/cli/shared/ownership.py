"""Whose a rendered file is: which of a folder's files this project made, and which of them have lost their jobs."""

from __future__ import annotations

import os

from trainc.apiserver.names import label
from trainc.compiler.load.lists import expand
from trainc.compiler.load.walk import contents
from trainc.lint.across_jobs import twins
from trainc.model.report import Report
from trainc.model.settings import SPARSE_GAP
from trainc.yaml.reader import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from trainc.cli.shared.session import Session
    from trainc.compiler.emit.spool.folder import FolderSpool
    from trainc.model.bundle import Bundle
    from trainc.model.settings import Project

RUNTIMES = "runtimes"  # the folder upwards from a job that is searched where trainc.yaml names none


def reaches(session: Session, deleted: frozenset[str]) -> Callable[[str, str], bool]:
    """Whether a rendered file belongs to the selection: by the source in its header, and by its cluster."""
    paths, clusters = session.selection.paths, session.selection.clusters

    def is_reached(path: str, source: str) -> bool:
        if clusters and path.partition("/")[0] not in clusters:
            return False
        return source in deleted or _selected(source, paths)

    return is_reached


def taken(session: Session) -> Callable[[Bundle, str, Report], bool]:
    """Whether a file still holds a job of the same name as a bundle's; a finding where this run does not see both."""
    root, paths = session.project.root, session.selection.paths

    def is_taken(bundle: Bundle, source: str, report: Report) -> bool:
        path = os.path.join(root, source)
        if not os.path.isfile(path):
            return False
        mine = bundle.document
        for other in expand(read(contents(root, source), source, Report()), Report()):
            if (other.kind, other.namespace, other.name) == (mine.kind, mine.namespace, mine.name):
                if not _selected(source, paths):
                    report.add(twins(mine, other))
                return True
        return False

    return is_taken


def without_runtimes(project: Project, absent: Collection[str]) -> Project:
    """The project, which is incomplete where a sparse checkout leaves out files of a folder of runtimes."""
    folders = project.runtimes or (RUNTIMES,)
    missing = any(f"/{folder}/" in f"/{path}" for path in absent for folder in folders)
    return project.incomplete(SPARSE_GAP) if missing else project


def gone(session: Session, folder: str, absent: frozenset[str]) -> Callable[[str, str, Report], bool]:
    """Whether the job of a rendered file is gone from its source; a finding where the source does not say so.

    Sources that are `absent` because the checkout is sparse are not gone.
    """

    def is_job_gone(path: str, source: str, report: Report) -> bool:
        from trainc.changes.compare.removal import is_gone  # noqa: PLC0415 (jobs go seldom)

        name = os.path.basename(path).removesuffix(".yaml")
        return is_gone(session.project.root, source, os.path.join(folder, path), name, report, absent)

    return is_job_gone


def holds(session: Session, folder: str) -> Callable[[str, str], bool]:
    """Whether the object of a rendered file still stands in its source."""

    def is_object_there(path: str, source: str) -> bool:
        from trainc.changes.compare.removal import is_held  # noqa: PLC0415 (objects go seldom)

        return is_held(session.project.root, source, os.path.join(folder, path))

    return is_object_there


def project_names(session: Session, folder: str) -> tuple[str, str]:
    """The name that the project's files carry in a folder, and one that files of others may carry as well.

    In a folder of its own, which it shares with nobody, it is empty. One that trainc.yaml does not name goes by its
    folder; outside of its repository others may have a folder of that name.
    """
    root, target = os.path.realpath(session.project.root), os.path.realpath(folder) + os.sep
    if target.startswith(root + os.sep):
        return "", ""
    top = root
    while not os.path.exists(os.path.join(top, ".git")):
        if os.path.dirname(top) == top:
            top = root
            break
        top = os.path.dirname(top)
    inner = os.path.relpath(root, top).replace(os.sep, "/") if top != root else ""
    guess = inner or os.path.basename(root)
    if name := session.project.name:
        own = f"{name}/{inner}" if inner else name
        return own, guess if guess != own else ""
    return guess, "" if target.startswith(top + os.sep) else guess


def _selected(source: str, paths: Iterable[str]) -> bool:
    return any(top in (".", source) or source.startswith(f"{top}/") for top in paths)


def naming(session: Session) -> str:
    """What tells the files of this project from those of others."""
    if session.project.name:
        return f"files written from now on name this project, `{session.project.name}`"
    name = os.path.basename(os.path.realpath(session.project.root))
    shown = "NAME" if label(name) else name
    return (
        f"`metadata: {{name: {shown}}}` in trainc.yaml, a name that no other project has there, lets trainc delete it"
    )


def left(spool: FolderSpool) -> str:
    """How many files of other projects stand in the folder."""
    return "".join(
        f"; {number} file{'s' * (number != 1)} of {f'project `{name}`' if name else 'a project without a name'} left alone"
        for name, number in sorted(spool.left.items())
    )
