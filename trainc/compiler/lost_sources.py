"""Sources of rendered files that hold nothing any more."""

from trainc.model.finding import ERROR, Finding, Rule
from trainc.model.sourced import Span

SOURCE_LOST = Rule("source-lost", ERROR, unreadable=True)


def blankness(data: bytes) -> str:
    """What is said of a text without a single object, empty for every other text."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    if data[:1].isalpha() or data[:1] == b"{":
        return ""  # as nearly every file begins
    lines = (line.strip() for line in data.splitlines())
    if not all(not line or line.startswith(b"#") or line in {b"---", b"..."} for line in lines):
        return ""
    return "this file contains only comments" if b"#" in data else "this file is empty"


def source_lost(span: Span, message: str, how: str, rendered: str) -> Finding:
    """The finding for the source of a rendered file, and how to get it back."""
    return SOURCE_LOST.at(
        span,
        message,
        effect=f"`{rendered}` was rendered from it; its job would be removed",
        help=f"{how}; to remove the job, delete it here",
    )
