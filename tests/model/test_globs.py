"""Globs of trainc.yaml."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainc.model.globs import Globs, holds


@pytest.mark.parametrize(
    ("glob", "file", "held"),
    [
        ("jobs/eu/*", "jobs/eu/a.yaml", True),
        ("jobs/eu/*", "jobs/eu/llm/a.yaml", True),
        ("jobs/eu/*", "jobs/us/a.yaml", False),
        ("jobs/*.yaml", "jobs/a.yaml", True),
        ("jobs/*.yaml", "jobs/a.yml", False),
        ("jobs/a.yaml", "jobs/a.yaml", True),
        ("jobs/a.yaml", "jobs/a.yaml.yaml", False),
        ("jobs", "jobs/eu/a.yaml", True),
        ("jobs/", "jobs/eu/a.yaml", True),
        ("./jobs/", "jobs/eu/a.yaml", True),
        ("jobs/**", "jobs/eu/a.yaml", True),
        ("job", "jobs/a.yaml", False),
        ("jobs/e*", "jobs/eu/a.yaml", True),
        ("*", "jobs/a.yaml", True),
        ("", "a.yaml", False),
        (".", "a.yaml", True),
        ("./", "jobs/a.yaml", True),
    ],
)
def test_a_glob_holds_files_and_what_lies_below_folders(glob: str, file: str, held: bool) -> None:
    assert holds(glob, file) is held
    assert Globs([glob]).hold(file) is held


TEXTS = st.text("ab/.*?[]", max_size=6)


@given(globs=st.lists(TEXTS, max_size=3), file=TEXTS)
def test_several_globs_hold_what_one_of_them_holds(globs: list[str], file: str) -> None:
    assert Globs(globs).hold(file) is any(holds(glob, file) for glob in globs)
