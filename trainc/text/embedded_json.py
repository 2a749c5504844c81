"""JSON inside a text that people wrote, such as an annotation or a variable."""

from __future__ import annotations

from trainc.text.record import Any, NoReturn


def json_value(text: str) -> Any:
    """The value of a JSON text, as Go reads it.

    Raises:
        ValueError: for a text that is not JSON, for NaN and Infinity, for numbers of thousands of digits, and for brackets
            nested beyond what can be read.
    """
    from json import loads  # noqa: PLC0415 (few jobs hold JSON)

    try:
        return loads(text, parse_constant=_refused)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
