"""References from one variable to another, `$(NAME)`, as Kubernetes reads them: once, from left to right."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """A text in parts, each with the name that it refers to, "" for what stands for itself; `$$` is one part."""
    at = 0
    while at < len(text):
        if text.startswith("$$", at):
            yield "$$", ""
            at += 2
            continue
        end = text.find(")", at) if text.startswith("$(", at) else -1
        if end < 0:
            yield text[at], ""
            at += 1
            continue
        yield text[at : end + 1], text[at + 2 : end]
        at = end + 1


def names(text: str) -> set[str]:
    """The variables that a text refers to."""
    return {name for _, name in pieces(text) if name}


def rewritten(text: str, inline: Mapping[str, str], escaped: tuple[str, ...] = ()) -> str:
    """A value whose references to replaced variables carry the user's own text, and those to `escaped` none."""
    return "".join(
        inline.get(name, f"${part}" if name in escaped else part) if name else part for part, name in pieces(text)
    )


def quotable(text: str, inline: Mapping[str, str], escaped: tuple[str, ...] = ()) -> str:
    """The same for a text that is put into another one, whose characters must not join its own to a reference."""
    quoted = rewritten(text, inline, escaped)
    return "".join("$$" if part == "$" else part for part, _ in pieces(quoted))
