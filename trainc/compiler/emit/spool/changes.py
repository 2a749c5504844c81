"""One file of an output folder that is not as the build wants it."""

from __future__ import annotations

from trainc.compiler.emit.digest import body_digest
from trainc.compiler.emit.spool.disk import is_torn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.compiler.emit.spool.disk import OnDisk

MISSING, CHANGED, STALE, TORN = "missing", "changed", "stale", "torn"
EDITED, FOREIGN, OTHERS, UNSURE, CONFLICTED = "edited", "foreign", "others", "unsure", "conflicted"
REFUSED = (EDITED, FOREIGN, OTHERS, UNSURE)


class FileChange:
    """One file that is not as the build wants it; `before` and `after` are its texts where it matters.

    `same_job` says that the job is as it was: what changed is something that it uses, or trainc.
    """

    __slots__ = ("after", "before", "path", "same_job", "source", "state")

    def __init__(
        self, path: str, state: str, source: str, before: str = "", after: str = "", *, same_job: bool = False
    ) -> None:
        self.path = path
        self.state = state
        self.source = source
        self.before = before
        self.after = after
        self.same_job = same_job


def is_whole(existing: OnDisk) -> bool:
    """Whether a rendered file is as trainc wrote it."""
    return existing.header is not None and existing.header.body == body_digest(existing.body)


def state_of(existing: OnDisk | None, body: bytes, *, merging: bool) -> str:
    """What is wrong with what is found where a text belongs; while Git is merging, an edit is a conflict."""
    if existing is None:
        return MISSING
    if is_torn(existing, body):
        return CHANGED if is_whole(existing) else TORN
    if existing.header is None:
        return FOREIGN
    if existing.marked:
        return CONFLICTED
    if existing.body == body or is_whole(existing):
        return CHANGED
    return CONFLICTED if merging else EDITED
