"""The law of origins: every leaf that trainc writes stands in a file, or names the code that made it and from what."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.compiling import compile_in
from tests.origins import astray
from tests.sampling import sampled
from tests.test_cases import CASES, EXAMPLES, names, options

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "case",
    sampled(
        [*CASES, *EXAMPLES],
        [*names(CASES, "tests/cases"), *names(EXAMPLES, "examples")],
        quick=("torch/gpu-nodes", "mpi/two-nodes", "legacy/mpijob-openmpi-not-root", "schedulers/pytorch/volcano"),
    ),
)
def test_every_leaf_knows_where_it_comes_from(case: Path, tmp_path: Path) -> None:
    if case in CASES:
        shutil.copytree(case / "input", tmp_path / "input")
        argv = options(case)
    else:
        shutil.copytree(case, tmp_path / "input", ignore=shutil.ignore_patterns("output"))
        argv = ["build", "input"]
    run = compile_in(tmp_path, *argv)
    assert astray(run) == []
