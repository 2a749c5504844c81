"""Why Go cannot read a text as a time in RFC 3339, in the words of its package `time`."""

_LAYOUT = "2006-01-02T15:04:05Z07:00"
# What stands between the separators: the digits in the layout, the separator after them, the name and the end of the range.
_PARTS = (
    ("2006", "-", "", 0, 9999),
    ("01", "-", "month", 1, 12),
    ("02", "T", "", 0, 99),
    ("15", ":", "hour", 0, 23),
    ("04", ":", "minute", 0, 59),
    ("05", "", "second", 0, 59),
)
_DIGITS = frozenset("0123456789")
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def time_fault(text: str) -> str:
    """The error of reading a time, empty if there is none."""
    rest = text
    numbers = []
    for layout, separator, name, least, most in _PARTS:
        digits = rest[: len(layout)]
        if layout == "15" and rest[1:2] not in _DIGITS:
            digits = rest[:1]
        if not digits or not _DIGITS.issuperset(digits) or (len(digits) < len(layout) and layout != "15"):
            return _unreadable(text, rest, layout)
        rest = rest[len(digits) :]
        numbers.append(int(digits))
        if not least <= numbers[-1] <= most:
            return f"parsing time {_quoted(text)}: {name} out of range"
        if not rest.startswith(separator):
            return _unreadable(text, rest, separator)
        rest = rest[len(separator) :]
    if rest[:1] in (".", ",") and rest[1:2] in _DIGITS:
        rest = rest[1:].lstrip("0123456789")
    if rest[:1] == "Z":
        rest = rest[1:]
    else:
        hours, minutes = rest[1:3], rest[4:6]
        if len(rest) < 6 or rest[3] != ":" or not _DIGITS.issuperset(hours + minutes) or rest[0] not in "+-":
            return _unreadable(text, rest, "Z07:00")
        for name, value, most in (("hour", hours, 24), ("minute", minutes, 60)):
            if int(value) > most:
                return f"parsing time {_quoted(text)}: time zone offset {name} out of range"
        rest = rest[6:]
    if rest:
        return f"parsing time {_quoted(text)}: extra text: {_quoted(rest)}"
    year, month, day = numbers[:3]
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= day <= _DAYS[month - 1] + leap:
        return f"parsing time {_quoted(text)}: day out of range"
    return ""


def _unreadable(text: str, rest: str, layout: str) -> str:
    return f"parsing time {_quoted(text)} as {_quoted(_LAYOUT)}: cannot parse {_quoted(rest)} as {_quoted(layout)}"


def _quoted(text: str) -> str:
    """As Go's package `time` quotes: bytes outside of ASCII are shown one by one."""
    out = ""
    for c in text:
        if c in '"\\':
            out += f"\\{c}"
        elif " " <= c <= "~":
            out += c
        else:
            out += "".join(f"\\x{byte:02x}" for byte in c.encode())
    return f'"{out}"'
