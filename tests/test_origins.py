"""The law of origins: every leaf that trainc writes stands in a file, or names the code that made it and from what."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.compiling import ROOT, compile_in
from tests.conformance.harness import quantity
from tests.test_cases import CASES, EXAMPLES, names, options
from trainc.model.tree import dotted, leaves

if TYPE_CHECKING:
    from trainc.model.sourced import Origin, Span

SHIPPED = "trainc:"  # how a span names a file of the catalogue


@cache
def scalars(file: Path) -> dict[tuple[int, int], str]:
    """The text of every scalar of a file by line and column, as PyYAML's own parser sees them."""
    found = {}
    for event in yaml.parse(file.read_bytes(), yaml.CSafeLoader):
        if isinstance(event, yaml.ScalarEvent) and event.start_mark:
            found[event.start_mark.line + 1, event.start_mark.column + 1] = event.value
    return found


def opened(file: str, place: Path) -> Path:
    return ROOT / file.removeprefix(SHIPPED) if file.startswith(SHIPPED) else place / file


def holds(span: Span, value: Any, place: Path) -> bool:
    """Whether the scalar at a span reads as this value."""
    text = scalars(opened(span.file, place)).get((span.line, span.column))
    return text is not None and (same(text, value))


def same(text: str, value: Any) -> bool:
    read = yaml.safe_load(text) if text.strip() and text.isprintable() else text
    return str(value) in {text, str(read), str(read).lower()} or value == read or quantity(text) == quantity(value)


def wrong(origin: Origin, place: Path, *value: Any) -> str:
    """What is the matter with an origin, empty when nothing is."""
    if origin.at is not None:
        if (origin.at.line, origin.at.column) not in scalars(opened(origin.at.file, place)):
            return f"no scalar at {origin.at}"
        return "" if not value or holds(origin.at, value[0], place) else f"{value[0]!r} is not at {origin.at}"
    if not origin.by:
        return "nobody made it"
    return next((found for part in origin.of if (found := wrong(part, place))), "")


@pytest.mark.parametrize("case", [*CASES, *EXAMPLES], ids=[*names(CASES, "tests/cases"), *names(EXAMPLES, "examples")])
def test_every_leaf_knows_where_it_comes_from(case: Path, tmp_path: Path) -> None:
    if case in CASES:
        shutil.copytree(case / "input", tmp_path / "input")
        argv = options(case)
    else:
        shutil.copytree(case, tmp_path / "input", ignore=shutil.ignore_patterns("output"))
        argv = ["build", "input"]
    run = compile_in(tmp_path, *argv)
    everything = [leaf for bundle in run.bundles for tree in bundle.objects for leaf in leaves(tree)]
    assert [
        f"{dotted(path)}: {why}" for path, leaf in everything if (why := wrong(leaf.origin, Path(run.root), leaf.value))
    ] == []
