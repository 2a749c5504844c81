"""Lines of answers with the colours that a terminal gives them; without colours they are the same text."""

from collections.abc import Iterable, Iterator

from trainc.report.lines import Line

BOLD = "\x1b[1m"
_CYAN = "\x1b[36m"
# The first word of a line of a diff. `-/+` is a job that starts again, which costs what it has learned.
_SIGNS = {"+": "\x1b[32m", "-": "\x1b[31m", "-/+": "\x1b[1;31m", "~": "\x1b[33m", "=": _CYAN}


def signed(lines: Iterable[str]) -> Iterator[Line]:
    """Lines of a diff, the sign and the name behind it in the colour of what happens to the job."""
    for line in lines:
        sign, blank, rest = line.partition(" ")
        code = _SIGNS.get(sign, "")
        if not (code and blank):
            yield line
            continue
        name = rest.lstrip()
        gap = len(rest) - len(name)
        end = name.find("  ")
        end = len(name) if end < 0 else end
        yield (code, f"{sign} {' ' * gap}{name[:end]}"), ("", name[end:])


def titled(lines: Iterable[str]) -> Iterator[Line]:
    """Lines of one answer, the first one in bold."""
    for index, line in enumerate(lines):
        yield line if index else ((BOLD, line),)


def unified(lines: Iterable[str]) -> Iterator[Line]:
    """Lines of a unified diff: what goes, what comes, and where."""
    for line in lines:
        if line.startswith(("---", "+++")):
            yield ((BOLD, line),)
        elif line.startswith("@@"):
            yield ((_CYAN, line),)
        else:
            yield ((_SIGNS.get(line[:1], ""), line),)
