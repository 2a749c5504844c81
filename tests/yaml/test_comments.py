"""`allow` comments, and what only looks like one."""

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
        ("a: 1 # trainc: allow x", [("", "x", "f.yaml:1:6")]),
        ("a: 1 # trainc: allow [x] y", [("", "[x] y", "f.yaml:1:6")]),
        ("a: 1 # trainc: allowed[x] y", []),
    ],
)
def test_allows(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert [(a.rule, a.reason, str(a.span)) for a in allows(text.encode(), "f.yaml")] == expected


def test_bytes_that_are_no_text() -> None:
    assert [a.rule for a in allows(b"a: \xff # trainc: allow[x] y", "f.yaml")] == ["x"]


PLAIN = (
    "a: b\n# trainc: allow[x] why\nc: d\n",
    "a: b # trainc: allow[x] why\n",
    "a: b\n  c d\n  # trainc: allow[x] why\n",
    "- a\n-\n  # trainc: allow[x] why\n  - b\n",
    "a: b#c # trainc: allow[x]\n---\nd: e # trainc: allow[y] z\n",
    "a: {b: c} # trainc: allow[x] why\n",
    "# trainc: allow[x] why\na: [b, # trainc: allow[y] why\n c]\n",
    "a: b\n? c # trainc: allow[x] why\n: d\n",
)


@pytest.mark.parametrize("text", PLAIN)
def test_without_quotes_and_blocks_nothing_but_a_comment_looks_like_one(text: str) -> None:
    # With a quote in the first line the scalars are looked for.
    quick, slow = allows(text.encode(), "a.yaml"), allows(f"# '\n{text}".encode(), "a.yaml")
    assert quick
    assert [(one.rule, one.reason, one.span.line + 1, one.span.column) for one in quick] == [
        (one.rule, one.reason, one.span.line, one.span.column) for one in slow
    ]
