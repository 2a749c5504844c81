"""One file of an output folder that is not as the build wants it."""

from __future__ import annotations

MISSING, CHANGED, STALE = "missing", "changed", "stale"
EDITED, FOREIGN, OTHERS, UNSURE, CONFLICTED = "edited", "foreign", "others", "unsure", "conflicted"
REFUSED = (EDITED, FOREIGN, OTHERS, UNSURE)


class Change:
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
