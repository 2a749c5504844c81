"""`trainc diff` over random histories with real Git: empty when nothing that is applied changes, with the smallest causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.compare.histories import check

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_random_histories(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 8):
        check(tmp_path / str(seed), seed)
