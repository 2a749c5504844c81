"""`trainc diff` over random histories with real Git: empty when nothing that is applied changes, with the smallest causes."""

import os
from pathlib import Path

import pytest

from tests.changes.compare.histories import check

pytestmark = pytest.mark.slow

MANY = int(os.environ.get("TRAINC_HISTORIES", "16"))  # a history takes one to three seconds; 300 were run for a release
EACH = 4


@pytest.mark.parametrize("first", range(0, MANY, EACH))
def test_random_histories(first: int, tmp_path: Path) -> None:
    for seed in range(first, min(first + EACH, MANY)):
        check(tmp_path / str(seed), seed)
