"""Every field that the kinds own says what it means."""

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("kubernetes_validate", reason="needs the OpenAPI document of Kubernetes")

from tests.sampling import sampled
from trainc.api import Resource, kinds
from trainc.apiserver.generator.structural import structural


def silent(node: dict[str, Any], path: str = "") -> Iterator[str]:
    for name, child in node.get("properties", {}).items():
        if not child.get("description", "").endswith("."):
            yield f"{path}.{name}"
        yield from silent(child, f"{path}.{name}")
    if "items" in node:
        yield from silent(node["items"], f"{path}[]")


@pytest.mark.parametrize("kind", sampled(kinds(), lambda kind: kind.__name__, every=4))
def test_described(kind: type[Resource]) -> None:
    fields = list(silent(structural(kind, inline=False)))
    assert not fields, f"write a docstring, which ends with a full stop, below {', '.join(fields)}"
