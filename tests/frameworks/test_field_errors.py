"""Field errors as Kubernetes words them."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.frameworks.base.field_errors import compact, forbidden, invalid


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (2, "2"),
        ("a b", '"a b"'),
        ([{"value": "1", "name": "X"}], '[{"name":"X","value":"1"}]'),
        ({"requests": {"b": "1", "a": "2"}, "limits": {}}, '{"limits":{},"requests":{"a":"2","b":"1"}}'),
        ({"kind": "K", "name": "n", "apiGroup": "g"}, '{"name":"n","apiGroup":"g","kind":"K"}'),
        ("a<b>&c", '"a\\u003cb\\u003e\\u0026c"'),
        ("ä", '"ä"'),
    ],
)
def test_values_print_as_go_prints_them(value: Any, expected: str) -> None:
    assert compact(value) == expected


def test_the_two_kinds_of_errors() -> None:
    assert invalid("spec.x", 0, "must not be 0") == "spec.x: Invalid value: 0: must not be 0"
    assert forbidden("spec.x", "no") == "spec.x: Forbidden: no"
