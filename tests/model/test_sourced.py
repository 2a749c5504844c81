"""Values that know where they came from, and do not let it get lost."""

from __future__ import annotations

import pytest

from trainc.model.sourced import Origin, Sourced, Span, derive, known

HERE = Span("a.yaml", 3, 5, 3, 6)
THERE = Span("b.yaml", 1, 1, 2, 1)


def test_text() -> None:
    assert str(HERE) == "a.yaml:3:5"
    assert str(Origin(HERE)) == "a.yaml:3:5"
    assert str(Origin(None, "torch")) == "torch"
    assert str(Origin(None, "product", (Origin(HERE), Origin(by="jax")))) == "product (a.yaml:3:5, jax)"
    assert repr(Sourced("x", Origin(HERE))) == "'x' @ a.yaml:3:5"


def test_spans_are_the_nearest_first_and_once() -> None:
    inner = Origin(None, "sum", (Origin(THERE), Origin(HERE)))
    assert Origin(None, "product", (Origin(HERE), inner, Origin(by="literal"))).spans() == (HERE, THERE)
    assert Origin(HERE, "x", (Origin(THERE),)).spans() == (HERE,)
    assert Origin(by="literal").spans() == ()


def test_derived_values() -> None:
    nodes, each = Sourced(4, Origin(HERE)), Sourced(8, Origin(THERE))
    product = derive("world size", lambda n, e: n * e, nodes, each)
    assert product.value == 32
    assert product.origin == Origin(None, "world size", (Origin(HERE), Origin(THERE)))
    assert nodes.map(str).value == "4"
    assert nodes.map(str).origin is nodes.origin


def test_equality_is_of_values() -> None:
    assert Sourced(1, Origin(HERE)) == Sourced(1, Origin(THERE))
    assert Sourced(1, Origin(HERE)) == 1
    assert Sourced(1, Origin(HERE)) != 2
    assert len({Sourced("a", Origin(HERE)), Sourced("a", Origin(THERE))}) == 1


def test_what_would_lose_the_origin_raises() -> None:
    leaf = Sourced("x", Origin(HERE))
    with pytest.raises(TypeError, match="value"):
        bool(leaf)
    with pytest.raises(TypeError, match="derive"):
        f"{leaf}"
    with pytest.raises(TypeError, match="value"):
        _ = not leaf


def test_what_a_value_rests_on_is_worked_out_when_somebody_asks() -> None:
    written = Sourced(2, ("a.yaml", 1, 1, 1, 2))
    twice = derive("twice", lambda n: n * 2, written)
    both = known("4 2", "both", (twice, written))
    assert (both.by, twice.by, written.by) == ("both", "twice", "")
    assert written.origin == Origin(Span("a.yaml", 1, 1, 1, 2))
    assert both.origin == Origin(None, "both", (Origin(None, "twice", (written.origin,)), written.origin))
    assert both.origin is both.origin
    assert (both.by, written.by, both.map(len).origin) == ("both", "", both.origin)
