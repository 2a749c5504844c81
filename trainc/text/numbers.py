"""The ways to read a number that people wrote as text; `int` fails on `²` and on thousands of digits."""

DIGITS = 18  # more are outside of 64 bits, and nothing that trainc counts has them


def whole_number(text: object, *, least: int = 0, most: int = 10**DIGITS) -> int | None:
    """A number from `least` to `most` in ASCII digits alone, None for any other text."""
    if not isinstance(text, str) or not (text.isascii() and text.isdigit() and len(text) <= DIGITS):
        return None
    number = int(text)
    return number if least <= number <= most else None


def index_below(text: str, size: int) -> int | None:
    """The index that a name ends in, as Kubernetes writes it: without zeros in front, and below a number of pods."""
    number = whole_number(text)
    return number if number is not None and number < size and str(number) == text else None


def parsed_int(text: object, bits: int = 64) -> int | None:
    """What Go's strconv.ParseInt makes of a text, None where it refuses: a sign and ASCII digits within so many bits."""
    if not has_int_syntax(text):
        return None
    digits = str(text).lstrip("+-").lstrip("0") or "0"
    if len(digits) > DIGITS + 1:
        return None
    number = -int(digits) if str(text)[0] == "-" else int(digits)
    return number if -(1 << bits - 1) <= number < 1 << bits - 1 else None


def has_int_syntax(text: object) -> bool:
    """Whether a text is a sign or none and ASCII digits."""
    if not isinstance(text, str):
        return False
    digits = text[1:] if text[:1] in ("+", "-") else text
    return digits.isascii() and digits.isdigit()


def brief(text: str) -> str:
    """A text that should be a number, cut where it is long."""
    return text if len(text) <= 40 else f"{text[:40]}..."


def with_octal(path: str, text: str) -> str:
    """The text of a value, with its octal form beside where a path ends in the mode of a file."""
    is_mode = path.rpartition(".")[2].rpartition("/")[2] in {"mode", "defaultMode"}
    return f"{text} (0{int(text):o})" if is_mode and text.isdecimal() and len(text) <= _MODE_DIGITS else text


_MODE_DIGITS = 3  # of the largest mode, 0777, in decimal form
