"""What an output folder asks of those who know the project, its sources and Git."""

from collections.abc import Callable, Iterable
from typing import Protocol

from trainc.compiler.header import Header
from trainc.model.bundle import Bundle
from trainc.model.finding import Finding
from trainc.model.report import Report
from trainc.model.sourced import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.compiler.emit.spool.disk import OnDisk

# The text of a run that stays, empty where the present one does: asked with the header and the text in the base, the path,
# and why there is no base where the work tree has to stand for it.
Settle = Callable[[Bundle, Header, str, str, Report, str], str]
# Whether a file belongs to a job of another source, that is still there: asked with the bundle and that source.
StillOwned = Callable[[Bundle, str, Report], bool]
# Whether the job of a rendered file (its path and its source) is gone; a finding where that cannot be told.
Gone = Callable[[str, str, Report], bool]
# Whether the object of a rendered file (its path and its source) still stands in its source.
Holds = Callable[[str, str], bool]
# What is said of a run, at a place, of a job and with a number, that is one object before and another after.
Moved = Callable[[Span, str, int, str, str], Finding]


class RenderedState(Protocol):
    """What a run that writes nothing is told of the rendered files of its jobs."""

    def judge(self, bundle: Bundle, report: Report) -> None:
        """A finding where the rendered run of a job cannot take what the job's file says now."""


class IndexedFolder(Protocol):
    """What the index holds in the place of a file of the folder."""

    def absent(self, path: str) -> bytes | None:
        """The text of a file that a sparse checkout leaves out."""

    def is_unmerged(self, path: str) -> bool:
        """Whether an unfinished merge left a file in conflict."""


class BaseFolder(Protocol):
    """What the folder holds in the base, from which a rendering may be inherited."""

    @property
    def missing(self) -> str:
        """Why there is no base, empty where there is one."""

    def paths(self) -> Iterable[str]:
        """Every file of the folder."""

    def find(self, path: str) -> "OnDisk | None":
        """The file at a path, None where there is none."""
