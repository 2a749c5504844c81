"""Every file counts as old enough to be relied on, except where a test is about young ones."""

from pathlib import Path

import pytest

from trainc.cli.caching import listing


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for the test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("TRAINC_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is an hour ahead of the files."""
    monkeypatch.setattr(listing, "FINE", -3_600_000_000_000)
    monkeypatch.setattr(listing, "_COARSE", -3_600_000_000_000)
