"""The law of origins over the recorded cases: a leaf that a person wrote stands where trainc says it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.compiling import compile_in
from tests.conformance.test_emitted import CASES
from tests.conformance.test_trainer import leniency
from tests.origins import astray
from tests.sampling import sampled

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conformance.harness import Case


@pytest.mark.parametrize(
    "case",
    sampled(CASES, [case.id for case in CASES], quick=("coscheduling/empty-policy", "mpi/node-container-other-name")),
)
def test_every_leaf_knows_where_it_comes_from(case: Case, tmp_path: Path) -> None:
    (tmp_path / "input.yaml").write_text(case.text, "utf-8")
    run = compile_in(tmp_path, "build", "input.yaml", "--only", "admission", "--closed-world", *leniency(case))
    assert run.bundles
    assert astray(run) == []
