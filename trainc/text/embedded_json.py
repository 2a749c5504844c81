"""JSON inside a text that people wrote, such as an annotation or a variable."""

from typing import Any, NoReturn


def json_value(text: str) -> Any:
    """The value of a JSON text, as Go reads it; ValueError for any other text.

    That is also said of NaN and Infinity, of numbers of thousands of digits, and of brackets nested beyond what can be
    read.
    """
    from json import loads  # noqa: PLC0415 (few jobs hold JSON)

    try:
        return loads(text, parse_constant=_refused)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
