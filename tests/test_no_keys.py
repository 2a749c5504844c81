"""No output holds key material or random bytes: what trainc writes can stand in Git for everyone to read."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compiling import ROOT

pytestmark = pytest.mark.slow

OUTPUTS = sorted([*ROOT.glob("tests/cases/**/expected/manifests.yaml"), *ROOT.glob("examples/*/output/**/*.yaml")])
KEYS = re.compile(r"BEGIN [A-Z ]*(?:KEY|CERTIFICATE)|(?:ecdsa-sha2|ssh-(?:rsa|ed25519)) AAAA|secret-key = ")
OPAQUE = re.compile(r"[A-Za-z0-9+/]{60,}={0,2}|[0-9a-f]{40,}")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def test_no_output_holds_a_key() -> None:
    assert len(OUTPUTS) > 800
    for path in OUTPUTS:
        text = DIGEST.sub("", path.read_text("utf-8"))
        assert KEYS.findall(text) == [], path
        names = [tree["metadata"]["name"] for tree in trees(text) if tree["kind"] == "Secret"]
        assert [name for name in names if f"name: {name}" not in given(path)] == [], path
        words = [word for word in OPAQUE.findall(text) if re.search(r"\d", word) and re.search(r"[A-Z]", word)]
        assert words == [], path


def trees(text: str) -> list[Any]:
    """The objects of an output; a text without a Secret is not worth reading."""
    return list(yaml.load_all(text, yaml.CSafeLoader)) if "Secret" in text else []


def given(path: Path) -> str:
    """All that the output was made from: a Secret that people wrote passes through."""
    folder = next(above for above in path.parents if above.name in {"expected", "output"}).parent
    return "".join(found.read_text("utf-8", "replace") for found in folder.rglob("*.yaml") if found != path)
