"""`trainc migrate --runtime NAME`: one runtime for many jobs, found in the project or made of what they have in common."""

from __future__ import annotations

import os

from trainc.changes.migrate import migrate
from trainc.changes.migrate.placed_text import Writer
from trainc.changes.migrate.target import Shared, shared_by
from trainc.compiler import pipeline
from trainc.compiler.emit.spool.disk import create
from trainc.model.report import Report
from trainc.model.settings import Selection
from trainc.model.tree import plain
from trainc.text.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.cli.shared.session import Session

_FIRST = "# What migrated jobs have in common; what differs stands in the jobs.\n"


def shared_runtime(name: str, session: Session, files: Iterable[tuple[str, str]]) -> Shared | None:
    """The runtime that migrated jobs are to name; None where no two jobs could share one.

    Raises:
        Trouble: where a file stands in the way of the new runtime.
    """
    known = _known(name, session)
    if known is not None:
        return known
    outcomes = (one for file, text in files for one in migrate(text, session.project, file).outcomes)
    shared = shared_by([one.want for one in outcomes if one.want is not None], name)
    if shared is not None and os.path.lexists(_target(name, session)):
        raise Trouble(f"{_target(name, session)} already exists, and contains no readable runtime `{name}`")
    return shared


def _known(name: str, session: Session) -> Shared | None:
    """The runtime of that name in the project or the catalogue, None where there is none."""
    selection = Selection((session.inside(session.project.root),))
    try:
        flat = pipeline.flattening(session.project, selection, report := Report())(name, report)
    except Trouble:
        return None
    return None if flat is None else Shared(plain(flat.tree), is_new=False)


def write_runtime(shared: Shared, session: Session) -> str:
    """Put a new runtime into the project's folder of runtimes; gives the file's name."""
    target = _target(shared.name, session)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    create(target, runtime_text(shared))
    return os.path.relpath(target, session.project.root)


def runtime_text(shared: Shared) -> str:
    """The file of a new runtime."""
    lines = Writer({}, deeper=False).document(shared.runtime, None)
    return _FIRST + "".join(f"{line}\n" for line in lines)


def _target(name: str, session: Session) -> str:
    folders = session.project.runtimes or ("runtimes",)
    return os.path.join(session.project.root, folders[0], f"{name}.yaml")
