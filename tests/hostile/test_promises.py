"""docs/security.md names the test that holds each promise; each test that it names is there."""

import re

import pytest

from tests.compiling import ROOT

PAGE = (ROOT / "docs/security.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w./]+)`", PAGE)))
PARTS = PAGE.split("\n## ")[1:]


@pytest.mark.parametrize("path", NAMED)
def test_a_test_that_the_page_names_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_a_function_that_the_page_names_is_in_a_file_beside_it() -> None:
    for name, path in re.findall(r"`(test_\w+)` in `(tests/[\w./]+)`", PAGE):
        assert f"def {name}(" in (ROOT / path).read_text("utf-8")


def test_each_part_of_the_page_names_a_test() -> None:
    assert NAMED
    assert [part.partition("\n")[0] for part in PARTS if "`tests/" not in part] == []
