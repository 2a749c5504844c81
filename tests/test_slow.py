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
        ("tests/c.py::test_x[one/fails]", False),
        ("tests/c.py::test_x[one/passes]", True),
        ("tests/c.py::test_y[one]", True),
    ],
)
def test_a_test_is_slow_by_the_list(test: str, *, slow: bool) -> None:
    parts = [
        ("tests/a.py", frozenset(("test_kept",))),
        ("tests/b.py::test_x", frozenset(("kept/too",))),
        ("tests/c.py", frozenset(("*/fails", "1/1000000"))),
    ]
    assert is_slow(test, parts) is slow


def test_a_share_is_about_that_share() -> None:
    parts = [("tests/a.py::test_x", frozenset(("1/5",)))]
    names = [f"tests/a.py::test_x[{number}]" for number in range(1000)]
    quick = {name for name in names if not is_slow(name, parts)}
    assert 150 < len(quick) < 250
