"""Globs of trainc.yaml."""

from __future__ import annotations

import pytest

from trainc.model.globs import holds


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
