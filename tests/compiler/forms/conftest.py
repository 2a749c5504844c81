"""Forms answer in small folders as well: each test has few jobs."""

import pytest

from tests.compiler.forms.comparison import FEWEST_FILES


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for forms in few files."""
    monkeypatch.setattr("trainc.compiler.pipeline.FEWEST_FILES", FEWEST_FILES)
