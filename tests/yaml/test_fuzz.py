"""Fifty thousand adversarial strings as value, key and list item, read back alike by every reader at hand."""

import json
import random
import shutil
import subprocess
from typing import Any

import pytest
import yaml
from ruamel.yaml import YAML

from tests.yaml.reading import only
from trainc.model.tree import plain
from trainc.yaml.writer import dump

pytestmark = pytest.mark.slow

COUNT = 50_000
PIECES = (
    *"yn~019+-.:?#&*!|>'\"%@`{}[],=<\\/ \t\r\n",
    *("no", "on", "Yes", "true", "null", "08", "0x1f", "0o7", "0b1", ".5", "1e3", "1_0", "12:30", "2024-01-02", ".inf"),
    *(
        "  ",
        "- ",
        "? ",
        ": ",
        " #",
        "&a",
        "*a",
        "!!str",
        "<<",
        "---",
        "...",
        "\n\n",
        "|-",
        "k: v",
        "--flag=x",
        "Mi",
        "word",
    ),
    *("\x00", "\x07", "\x1b", "\x7f", "\x80", "\x85", "\xa0", "\xad", "\u200b", "\u2028", "\u2029", "\u202e", "\ufeff"),
    *(
        "é",
        "ß",
        "中",
        "\u0301",
        "\ud7ff",
        "\ue000",
        "\ufffd",
        "\ufffe",
        "\uffff",
        "😀",
        "\U0001f1e9",
        "\U000e0001",
        "\U0010ffff",
    ),
)


def strings(count: int) -> list[str]:
    """Distinct strings of one to five pieces, the same in every run."""
    dice = random.Random(20261121)  # noqa: S311 (no secrets)
    found: set[str] = set(PIECES)
    while len(found) < count:
        found.add("".join(dice.choice(PIECES) for _ in range(dice.randint(1, 5))))
    return sorted(found)


@pytest.fixture(scope="module")
def tree() -> dict[str, Any]:
    found = strings(COUNT)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a"},
        "data": {text: text for text in found},
        "list": found,
    }


@pytest.fixture(scope="module")
def text(tree: dict[str, Any]) -> str:
    return dump(tree)


def test_there_are_enough(tree: dict[str, Any]) -> None:
    assert len(tree["list"]) >= 50_000


def test_our_reader(tree: dict[str, Any], text: str) -> None:
    assert plain(only(text).tree) == tree


def test_pyyaml(tree: dict[str, Any], text: str) -> None:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    assert yaml.load(text, Loader=loader) == tree  # noqa: S506 (both are safe loaders)


def test_ruamel(tree: dict[str, Any]) -> None:
    some = tree["list"][::5]  # it reads a hundredth of what others read in a second
    tree = {**tree, "data": {text: text for text in some}, "list": some}
    assert YAML(typ="safe", pure=True).load(dump(tree)) == tree


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kubectl(tree: dict[str, Any], text: str) -> None:
    command = ["kubectl", "annotate", "--local", "-f", "-", "a=b", "-o", "json", "--dry-run=client"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    assert done.stderr == b""
    found = json.loads(done.stdout)
    del found["metadata"]["annotations"]
    assert found == tree


def test_it_is_one_spelling(tree: dict[str, Any], text: str) -> None:
    again = dump(yaml.load(text, Loader=yaml.CSafeLoader)) if hasattr(yaml, "CSafeLoader") else dump(tree)
    assert again == text
