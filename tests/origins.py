"""Whether what trainc writes stands where its origin says, for tests of whole runs."""

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.compiling import ROOT, Run
from tests.conformance.harness import quantity
from trainc.changes.why import explain
from trainc.model.bundle import Bundle
from trainc.model.sourced import Origin, Sourced, Span
from trainc.model.tree import dotted, leaves

SHIPPED = "trainc:"  # how a span names a file of the catalogue


@cache
def scalars(file: Path) -> dict[tuple[int, int], str]:
    """The text of every scalar of a file by line and column, as PyYAML's own parser sees them, up to where it gives up."""
    found = {}
    with suppress(yaml.YAMLError):
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
    if text == value:  # a text that is written plainly need not be YAML by itself
        return True
    read = yaml.safe_load(text) if text.strip() and text.isprintable() else text
    if text.startswith("0o"):  # octal to Kubernetes, text to PyYAML
        read = int(text, 8)
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


def astray(run: Run) -> list[str]:
    """Every leaf of a run's output whose origin does not hold, with the reason."""
    everything = [leaf for bundle in run.bundles for tree in bundle.objects for leaf in leaves(tree)]
    place = Path(run.root)
    return [f"{dotted(path)}: {why}" for path, leaf in everything if (why := wrong(leaf.origin, place, leaf.value))]


def beaten(run: Run) -> list[str]:
    """Every leaf of a run's output whose value or origin is not that of the winner that `why` names."""
    return [
        answer.path
        for bundle in run.bundles
        for answer, leaf in zip(explain(bundle, ""), written(bundle), strict=True)
        if (answer.value, answer.winner.value) != (leaf.value, leaf.value)
        or set(answer.winner.origin.spans()) != set(leaf.origin.spans())
    ]


def written(bundle: Bundle) -> list[Sourced[Any]]:
    return [leaf for tree in bundle.objects for _, leaf in leaves(tree) if isinstance(leaf, Sourced)]
