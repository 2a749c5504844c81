"""What a mistake in trainc costs: one check, one job or one report, and never the answers about everything else."""

import os

from trainc.model.document import Document
from trainc.model.file_results import CacheMissError
from trainc.model.finding import Finding
from trainc.model.report import INTERNAL_ERROR, Report
from trainc.model.sourced import Span
from trainc.text.trouble import Trouble

# What is no mistake in trainc: trouble of the run, of the system and of its memory, and a cache that does not hold.
PASSING = (Trouble, OSError, MemoryError, CacheMissError)
_LONGEST = 300  # characters of an exception's text


def bug_text(error: BaseException) -> str:
    """A line about an exception: its kind, the innermost place in trainc, and what it says."""
    import traceback  # noqa: PLC0415 (only where something broke)

    frames = traceback.extract_tb(error.__traceback__)
    places = [(frame.filename.replace("\\", "/"), frame.lineno) for frame in frames]
    file, line = next((place for place in reversed(places) if "/trainc/" in place[0]), places[-1])
    text = " ".join(str(error).split())
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    where = f"{type(error).__name__} at {file.rpartition('/trainc/')[2]}:{line}"
    return (
        f"a bug in trainc, not in your files: {where}: {text}"
        if text
        else f"a bug in trainc, not in your files: {where}"
    )


def internal_error(error: Exception, span: Span, work: str) -> Finding:
    """The finding about an exception that ended `work` on what stands at a place; one that is no bug is raised again."""
    if isinstance(error, PASSING):
        raise error
    notes = [f"it ended {work}"]
    if os.environ.get("TRAINC_TRACEBACK"):
        import traceback  # noqa: PLC0415 (as above)

        notes += "".join(traceback.format_exception(error)).splitlines()
    return INTERNAL_ERROR.at(
        span,
        bug_text(error),
        effect="all other findings stand, and trainc writes nothing",
        help="report it with this file and `trainc --version`; `TRAINC_TRACEBACK=1` shows more",
        notes=notes,
    )


class Seam:
    """Within it, a mistake in trainc ends the block and nothing else: it is a finding at a document, or at a place."""

    __slots__ = ("_at", "_report", "_work")

    def __init__(self, report: Report, at: Document | Span, work: str) -> None:
        self._report = report
        self._at = at
        self._work = work

    def __enter__(self) -> None:
        """Nothing is held."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, PASSING):
            return False
        self._report.add(internal_error(error, place_of(self._at), self._work))
        return True


def place_of(at: Document | Span) -> Span:
    """Where a document has its name, or a place itself."""
    return at.span(("metadata", "name")) if isinstance(at, Document) else at
