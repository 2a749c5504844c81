"""Places inside scalars."""

import pytest

from trainc.lint.facts.values import within
from trainc.model.sourced import Span


@pytest.mark.parametrize(
    ("span", "written", "fragment", "place"),
    [
        ((3, 5, 3, 8), "a b", "b", (3, 7, 3, 8)),
        ((3, 5, 3, 19), "run --nodes=3", "--nodes", (3, 5, 3, 19)),
        ((3, 5, 3, 20), "run --nodes=3", "--nodes", (3, 10, 3, 19)),
        ((3, 5, 6, 1), "first\nrun --n=3 x\n", "--n", (5, 9, 5, 14)),
        ((3, 5, 9, 1), "folded text\n", "text", (3, 5, 9, 1)),
    ],
)
def test_a_word_of_a_scalar(
    span: tuple[int, int, int, int], written: str, fragment: str, place: tuple[int, int, int, int]
) -> None:
    assert within(Span("f", *span), written, fragment) == Span("f", *place)
