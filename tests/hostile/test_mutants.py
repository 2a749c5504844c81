"""Whole programs on mutated specs: never a traceback, every finding at a real place, nothing written on failure.

`TRAINC_MUTANTS=20000` asks for that many; the ordinary run takes a sample.
"""

import os
import random
from pathlib import Path

import pytest

from tests.hostile.attempts import attempt
from tests.hostile.mutants import inputs, mutant, text_of

pytestmark = pytest.mark.slow

COUNT = int(os.environ.get("TRAINC_MUTANTS", "800"))
ROUNDS = 8
SETTINGS: tuple[tuple[str, ...], ...] = (
    (),
    ("--field-validation", "ignore"),
    ("--field-validation", "ignore", "--set", "scheduler=volcano"),
    ("--field-validation", "warn", "--set", "scheduler=coscheduling"),
    ("--set", "scheduler=native", "--set", "kubernetes=1.36"),
    ("--set", "scheduler=kueue", "--set", "admission=kueue"),
    ("--only", "admission", "--closed-world"),
    ("--include-other", "--report", "json"),
)
COMMANDS = ("build", "build", "build", "build", "validate", "show", "migrate", "fix")


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_mutants(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)  # noqa: S311 (the same specs on every run)
    for _ in range(COUNT // ROUNDS):
        text = text_of(mutant(chance.choice(inputs()), chance))
        command, settings = chance.choice(COMMANDS), chance.choice(SETTINGS)
        argv = (command, "-", *(settings if command in {"build", "validate"} else ()))
        attempt(tmp_path, *argv, stdin=text.encode("utf-8", "surrogatepass"))
