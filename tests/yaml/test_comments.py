"""`allow` comments, and what only looks like one."""

from __future__ import annotations

import pytest

from trainc.yaml.comments import allows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1 # nothing\n", []),
        ("a: 1 # trainc: allow[some-rule] it is fine\n", [("some-rule", "it is fine", "f.yaml:1:6")]),
        ("# trainc: allow[x]\na: 1\n", [("x", "", "f.yaml:1:1")]),
        ("a:\n  #trainc:allow[ x ]  why  \n  b: 1\n", [("x", "why", "f.yaml:2:3")]),
        ("\ufeffa: é # trainc: allow[x] y", [("x", "y", "f.yaml:1:6")]),
        ("a: 1\r\nb: 2 # trainc: allow[x] y\r\n", [("x", "y", "f.yaml:2:6")]),
        ("a: b#trainc: allow[x] y", []),
        ("a: 'b # trainc: allow[x] y'", []),
        ("a: |\n  # trainc: allow[x] y\nb: 1 # trainc: allow[z] y", [("z", "y", "f.yaml:3:6")]),
        ("a: b: c # trainc: allow[x] y", [("x", "y", "f.yaml:1:9")]),
        ("a: 1 # trainc: allow x", []),
    ],
)
def test_allows(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert [(a.rule, a.reason, str(a.span)) for a in allows(text.encode(), "f.yaml")] == expected


def test_bytes_that_are_no_text() -> None:
    assert [a.rule for a in allows(b"a: \xff # trainc: allow[x] y", "f.yaml")] == ["x"]
