"""No output holds key material or random bytes: what trainc writes can stand in Git for everyone to read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.compiling import ROOT

if TYPE_CHECKING:
    from pathlib import Path

OUTPUTS = sorted([*ROOT.glob("tests/cases/**/expected/manifests.yaml"), *ROOT.glob("examples/*/output/**/*.yaml")])
KEYS = re.compile(r"BEGIN [A-Z ]*(?:KEY|CERTIFICATE)|(?:ecdsa-sha2|ssh-(?:rsa|ed25519)) AAAA|secret-key = ")
OPAQUE = re.compile(r"[A-Za-z0-9+/]{60,}={0,2}|[0-9a-f]{40,}")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@pytest.mark.parametrize("path", OUTPUTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_output_holds_no_key(path: Path) -> None:
    text = DIGEST.sub("", path.read_text("utf-8"))
    assert KEYS.findall(text) == []
    secrets = [tree["metadata"]["name"] for tree in yaml.load_all(text, yaml.CSafeLoader) if tree["kind"] == "Secret"]
    assert [name for name in secrets if f"name: {name}" not in given(path)] == []
    assert [word for word in OPAQUE.findall(text) if re.search(r"\d", word) and re.search(r"[A-Z]", word)] == []


def given(path: Path) -> str:
    """All that the output was made from: a Secret that people wrote passes through."""
    folder = next(above for above in path.parents if above.name in {"expected", "output"}).parent
    return "".join(found.read_text("utf-8", "replace") for found in folder.rglob("*.yaml") if found != path)
