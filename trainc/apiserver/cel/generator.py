"""The Python module of the built-in CEL rules; for development, never imported by the commands people run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainc.apiserver.cel.translator import literal, opened, translate

if TYPE_CHECKING:
    from collections.abc import Iterable

_RUNTIME = [
    "field",
    "has",
    "at",
    "same",
    "compare",
    "within",
    "size",
    "matches",
    "both",
    "either",
    "every",
    "some",
    "one",
    "chosen",
    "mapped",
    "number",
    "negated",
    "minus",
    "added",
    "subtracted",
    "text_test",
    "truth",
]


def module(rules: Iterable[str]) -> str:
    """A Python module with one function for each rule and a table from rule text to function."""
    texts = sorted(set(rules))
    body = "".join(
        f"def _rule_{number}(self: Any, old: Any) -> Any:{_unused(text)}\n    return {opened(translate(text))}\n\n\n"
        for number, text in enumerate(texts)
    )
    used = sorted({name for name in _RUNTIME if re.search(rf"\b{name}\(", body)})
    names = "".join(f"    {name},\n" for name in used)
    rows = "".join(f"    {literal(text)}: _rule_{number},\n" for number, text in enumerate(texts))
    return (
        '"""Generated from the CEL rules of the built-in schemas by `trainc schemas generate`; do not edit."""\n\n'
        "from __future__ import annotations\n\n"
        "# fmt: off\n"
        f"from trainc.apiserver.cel.operators import (\n{names})\n\n"
        "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from collections.abc import Callable\n    from typing import Any\n\n\n"
        f"{body}RULES: dict[str, Callable[[Any, Any], Any]] = {{\n{rows}}}\n"
    )


def _unused(rule: str) -> str:
    return "" if "oldSelf" in rule else "  # noqa: ARG001"
