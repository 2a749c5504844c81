"""What is let in without the pattern is what the pattern lets in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainc.apiserver.schema.node import load
from trainc.apiserver.schema.patterns import ORDINARY
from trainc.text.re2 import compile_re2

TEXTS = (
    "a",
    "a-b",
    "a.b",
    "-a",
    "a-",
    "a..b",
    "A",
    "a/b",
    "a.b/C_d",
    "/a",
    "a/",
    "1",
    "1Ki",
    "1.5",
    "1e3",
    "1kk",
    "é",
    "٣",
)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ORDINARY)
@given(text=st.one_of(st.sampled_from(TEXTS), st.from_regex(r"[-a-zA-Z0-9_./:,+éi\n]{0,12}", fullmatch=True)))
def test_ordinary_texts_fit(pattern: str, text: str) -> None:
    if ORDINARY[pattern](text):
        assert compile_re2(pattern).search(text)


@pytest.mark.parametrize("pattern", ORDINARY)
def test_texts_of_every_sort_fit(pattern: str) -> None:
    let_in = [text for text in TEXTS if ORDINARY[pattern](text)]
    assert let_in
    assert [text for text in let_in if not compile_re2(pattern).search(text)] == []


USUAL = dict(zip(ORDINARY, ("a-b", "768Gi", "torch", "1-b", "a b", "a.b", "a.b/C"), strict=False))


@pytest.mark.parametrize("pattern", ORDINARY)
def test_what_people_write_is_ordinary(pattern: str) -> None:
    assert pattern in USUAL, "add a text that people write for this pattern to USUAL, in the order of ORDINARY"
    assert ORDINARY[pattern](USUAL[pattern])


def test_every_pattern_of_the_built_in_schemas_is_known() -> None:
    unknown = {node["pattern"] for node in load().nodes if "pattern" in node} - set(ORDINARY)
    assert not unknown, (
        "a job that uses such a field loads `re`: add the pattern to ORDINARY in server/schema/patterns.py"
    )
