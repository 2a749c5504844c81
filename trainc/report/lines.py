"""Lines for people: what a terminal, a log or a workflow runner would obey is shown escaped."""

from collections.abc import Iterable

Segment = tuple[str, str]
Line = str | tuple[Segment, ...]  # text, or texts each with the colour code that is put before it

LINK = "\x1b]8;;"  # begins the code of a segment that is a link; the address and END follow
END = "\x1b\\"
_PLAIN = "\x1b[0m"
_LETTERS = {"\n": "\\n", "\r": "\\r"}
# The runners of GitHub and Azure obey these anywhere in a line, TeamCity's at its start.
_MARKS = ("##[", "##vso[", "##teamcity[")


def visible(text: str) -> str:
    """`text` as a part of one line: control characters, turns of direction and line ends as escapes.

    Tabs stay. What Unicode calls not printable is escaped, and so is every byte that is not UTF-8.
    """
    if not text.isprintable():
        text = "".join(char if char.isprintable() or char == "\t" else _escape(char) for char in text)
    if "##" in text:
        for mark in _MARKS:
            text = text.replace(mark, f"\\x23{mark[1:]}")
    return text


def _escape(char: str) -> str:
    if char in _LETTERS:
        return _LETTERS[char]
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def line_text(line: Line, *, colour: bool = False) -> str:
    """One line as it is written, without a line end."""
    if isinstance(line, str):
        return _inert(visible(line))
    first = True
    out = ""
    for code, text in line:
        shown = _inert(visible(text)) if first else visible(text)
        if code.startswith(LINK):  # made only for a terminal that shows links
            out += f"{code}{shown}{LINK}{END}"
        else:
            out += f"{code}{shown}{_PLAIN}" if colour and code else shown
        first = first and not text.strip()
    return out


def _inert(line: str) -> str:
    """The line with the first colon escaped where a workflow runner would take it for a command."""
    bare = line.lstrip()
    # `::: file` is how a finding names another place; no command has a name that starts with a colon.
    if not bare.startswith("::") or bare == ":::" or bare.startswith("::: "):
        return line
    return f"{line[: len(line) - len(bare)]}\\x3a{bare[1:]}"


def text_of(lines: Iterable[Line], *, colour: bool = False) -> str:
    """Lines as one text, each with its line end."""
    return "".join(f"{line_text(line, colour=colour)}\n" for line in lines)
