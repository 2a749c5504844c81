"""Host names in texts: whole ones, not parts of paths or of longer names."""

from collections.abc import Iterator

_PART_OF_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


def hosts_in(text: str, beginning: str) -> Iterator[tuple[int, str]]:
    """Each host name of a text that begins so, and where it starts."""
    at = 0
    while (start := text.find(beginning, at)) >= 0:
        end = start + len(beginning)  # of a refused name it may have characters that no host has
        while end < len(text) and text[end] in _PART_OF_NAME:
            end += 1
        if _stands_alone(text, start, end):
            yield start, text[start:end].rstrip(".")
        at = end


def hosts_with(text: str, part: str) -> Iterator[str]:
    """Each host name of a text that holds a part somewhere, in its order; none that a variable begins."""
    at = 0
    while (found := text.find(part, at)) >= 0:
        start, at = found, found + len(part)
        while start and text[start - 1] in _PART_OF_NAME:
            start -= 1
        while at < len(text) and text[at] in _PART_OF_NAME:
            at += 1
        is_whole = text[start].isalnum() and text[start - 1 : start] not in ("}", ")")
        if is_whole and _stands_alone(text, start, at):
            yield text[start:at].rstrip(".")


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a text is a host there, not a part of a path or of a longer name, nor the beginning of a spliced one."""
    before, url = text[start - 1 : start], text[:start].endswith("://")
    if before and not url and (before in _PART_OF_NAME or before in "/$\\"):
        return False
    return text[end : end + 1] not in {"$", "{"} and (url or text[end : end + 1] != "/")
