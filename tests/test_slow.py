"""Which tests `-m "not slow"` leaves out."""

from __future__ import annotations

import pytest

from tests.conftest import is_slow


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
