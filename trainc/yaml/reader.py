"""Reading: Kubernetes' YAML as documents of sourced leaves, and findings for all that is not."""

from collections.abc import Iterator

from trainc.model.document import Document
from trainc.model.finding import ERROR, Finding
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.model.tree import plain as plain_data
from trainc.text.files import is_pointer
from trainc.yaml import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

LIMIT = 64 * 1024 * 1024  # bytes of one file
BROKEN = 60  # documents of one file in which characters are not text

_BOM = b"\xef\xbb\xbf"
_PAIR = rb"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
_BREAKS = "\r\n|[\r\n\x85\u2028\u2029]"
_BAD = "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]"
_CONTROLS = bytes((*range(9), 11, 12, *range(14, 32), 127))


def read(text: str | bytes, file: str, report: Report, *, duplicates: str = "strict") -> Iterator[Document]:
    """The documents of a YAML or JSON text, one at a time; what is broken is reported at its place in `file`.

    A key that is written twice is an error (`strict`), a warning (`warn`) or nothing (`ignore`); the last one wins.
    After a document that cannot be read, reading goes on at the next line that starts one.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) > LIMIT:
        report.add(too_large(file))
        report.account.count_unread(file, 1)
        return
    if is_pointer(data):
        from trainc.yaml import rules  # noqa: PLC0415 (few files are)

        message, at = "this file is a pointer of Git LFS, and not what it points to", Span(file, 1, 1, 1, 1)
        report.add(rules.SYNTAX.at(at, message, effect="a job in it would be missing", help="run `git lfs pull`"))
        report.account.count_unread(file, 1)
        return
    for document in _documents(data, file, report, duplicates):
        document.text = data
        yield document


def _documents(data: bytes, file: str, report: Report, duplicates: str) -> Iterator[Document]:
    rest = yield from plain.documents(data if data[-1:] == b"\n" else data + b"\n", file)
    if rest:
        from trainc.yaml.parsed import parsed  # noqa: PLC0415 (files in the common spelling need no parser)

        yield from parsed(_prepared(rest, file, report), file, report, duplicates)


def embedded(text: str) -> object:
    """The one document of a field that holds YAML, as plain data; None where there is none, ValueError where it is not one."""
    if not text.strip():
        return None
    report = Report()
    documents = list(read(text, "", report))
    if len(documents) != 1 or any(finding.level == ERROR for finding in report.findings):
        raise ValueError("not one document of YAML")
    return plain_data(documents[0].tree)


def too_large(file: str) -> Finding:
    """The finding for a file that is not read at all."""
    from trainc.yaml import rules  # noqa: PLC0415 (few files are so large)

    message = f"this file is larger than {LIMIT // (1024 * 1024)} MiB"
    return rules.SIZE.at(Span(file, 1, 1, 1, 1), message, help="split it, or move what is not a manifest elsewhere")


def _prepared(data: bytes, file: str, report: Report) -> bytes:
    """The text as libyaml takes it: without what is not text, and JSON's surrogate pairs joined."""
    if not data.isascii() or len(data.translate(None, _CONTROLS)) < len(data):
        data = _readable(data, file, report)
    if b"\\u" in data and data.removeprefix(_BOM).lstrip()[:1] in {b"{", b"["}:
        import re  # noqa: PLC0415 (only for odd text, like the other places)

        data = re.sub(_PAIR, _joined, data)
    return data


def _readable(data: bytes, file: str, report: Report) -> bytes:
    """The text without its documents that hold what is not text; their lines stay, and each is reported once."""
    import re  # noqa: PLC0415

    breaks = re.compile(_BREAKS)
    text = data.decode("utf-8", "surrogateescape")
    end, line, out = 0, 1, [""]
    for bad in re.finditer(_BAD, text):
        if bad.start() < end:
            continue
        start = max(text.rfind("\n---", end, bad.start()) + 1, end)
        line += len(breaks.findall(text, end, start))
        if len(out) > BROKEN:
            from trainc.yaml.rules import unread_rest  # noqa: PLC0415

            report.add(unread_rest(file, line))
            return "".join((*out, text[end:start])).encode()
        report.add(_bad_character(bad, start, line, file))
        report.account.count_unread(file, line)
        out += [text[end:start], "---" if start else ""]
        end = text.find("\n---", bad.end())
        end = end if end > 0 else len(text)
        kept = breaks.findall(text, start, end)
        out.append("".join(kept))
        line += len(kept)
    return "".join((*out, text[end:])).encode()


def _bad_character(bad: "re.Match[str]", start: int, line: int, file: str) -> Finding:
    """The finding for a character in the document that starts at `start`, on `line`."""
    import re  # noqa: PLC0415

    from trainc.yaml import rules  # noqa: PLC0415 (as in `too_large`)

    breaks = [match.end() for match in re.compile(_BREAKS).finditer(bad.string, start, bad.start())]
    column = len(bad.string[breaks[-1] if breaks else start : bad.start()].removeprefix("\ufeff")) + 1
    at = Span(file, line + len(breaks), column, line + len(breaks), column + 1)
    code = ord(bad[0])
    if 0xD800 <= code <= 0xDFFF:
        return rules.NOT_UTF8.at(at, f"the byte {code & 0xFF:#04x} is not UTF-8 here", help="save the file as UTF-8")
    return rules.CONTROL_CHARACTER.at(
        at,
        f"the character U+{code:04X} is not allowed in YAML",
        help="remove it, or write it as an escape in double quotes",
    )


def _joined(pair: "re.Match[bytes]") -> bytes:
    high, low = int(pair[1], 16) - 0xD800, int(pair[2], 16) - 0xDC00
    return b"\\U%08x" % (0x10000 + (high << 10) + low)
