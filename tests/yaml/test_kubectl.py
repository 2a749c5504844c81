"""Plain texts made of what numbers, words and dates are made of, read as kubectl reads them."""

import json
import random
import shutil
import subprocess
from typing import Any

import pytest

from trainc.yaml.scalars import OddError, resolve, resolve_key

pytestmark = pytest.mark.slow

COUNT = 20_000
PIECES = (
    *"0123456789",
    *"0011",
    *"+-._eE:xXobB",
    "0x",
    "0b",
    "0o",
    "00",
    "e+",
    "e-",
    "1e3",
    "inf",
    "nan",
    "y",
    "no",
    "T",
    "-01",
)


def texts() -> list[str]:
    """Distinct plain texts, the same in every run."""
    dice = random.Random(7)  # noqa: S311 (no secrets)
    found: set[str] = set()
    while len(found) < COUNT:
        text = "".join(dice.choice(PIECES) for _ in range(dice.randint(1, 9)))
        if not text.endswith(":") and text not in {"-", "---"} and not text.startswith(":"):
            found.add(text)
    return sorted(found)


def same(ours: object, theirs: object) -> bool:
    """Equal in value and type; integers beyond 64 bits are floats that JSON prints without a point."""
    if type(theirs) is int and not -(2**63) <= theirs < 2**63:
        theirs = float(theirs)
    return ours == theirs and type(ours) is type(theirs)


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_values_and_keys() -> None:
    accepted: dict[str, Any] = {}
    for text in texts():
        try:
            accepted[text] = resolve(text)
        except OddError:
            continue
    lines = [
        f"  k{number}: {text}\n  v{number}: {{{text}: 1}}\n"
        for number, text in enumerate(accepted)
        if resolve_key(text) is not None
    ]
    body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n" + "".join(lines)
    command = ["kubectl", "annotate", "--local", "-f", "-", "a=b", "-o", "json", "--dry-run=client"]
    done = subprocess.run(command, input=body.encode(), capture_output=True, check=False)
    assert done.stderr == b""
    found = json.loads(done.stdout)["data"]
    wrong = []
    for number, (text, value) in enumerate(accepted.items()):
        if f"k{number}" in found:
            if not same(value, found[f"k{number}"]):
                wrong.append((text, value, found[f"k{number}"]))
            if found[f"v{number}"] != {resolve_key(text): 1}:
                wrong.append((text, resolve_key(text), found[f"v{number}"]))
    assert len(found) > COUNT
    assert wrong == []
