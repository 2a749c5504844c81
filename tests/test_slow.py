"""The list of slow tests names tests that are there, so that a renamed one does not become quick unseen."""

from __future__ import annotations

import re

import pytest

from tests.compiling import ROOT
from tests.conftest import is_slow, slow_parts


@pytest.mark.parametrize("part", slow_parts(), ids=lambda part: part[0])
def test_a_slow_part_is_there(part: tuple[str, frozenset[str]]) -> None:
    file, _, function = part[0].partition("::")
    text = (ROOT / file).read_text("utf-8")
    functions = set(re.findall(r"^def (test_\w+)", text, re.MULTILINE))
    assert not function or function in functions
    assert {word for word in part[1] if word.startswith("test_")} <= functions


@pytest.mark.parametrize(
    ("test", "slow"),
    [
        ("tests/a.py::test_x", True),
        ("tests/a.py::test_kept", False),
        ("tests/a.py::test_kept[one]", False),
        ("tests/b.py::test_x[one/two]", True),
        ("tests/b.py::test_x[kept/too]", False),
        ("tests/b.py::test_x_and_more", False),
        ("tests/ba.py::test_x", False),
    ],
)
def test_a_test_is_slow_by_the_list(test: str, *, slow: bool) -> None:
    parts = [("tests/a.py", frozenset(("test_kept",))), ("tests/b.py::test_x", frozenset(("kept/too",)))]
    assert is_slow(test, parts) is slow
