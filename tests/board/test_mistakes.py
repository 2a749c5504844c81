"""Over a hundred mistakes of people who write their first job: each leads on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.board.board import Manifest, manifests
from tests.board.test_board import findings
from tests.sampling import sampled

if TYPE_CHECKING:
    from pathlib import Path

MISTAKES = [manifest for manifest in manifests("mistakes") if manifest.expected]
CORRECT = [manifest for manifest in manifests("mistakes") if not manifest.expected]


@pytest.mark.parametrize("mistake", sampled(MISTAKES, [mistake.name for mistake in MISTAKES], every=3))
def test_a_mistake_gives_one_finding_that_leads_on(mistake: Manifest, tmp_path: Path) -> None:
    """One finding above a note, at its line, that says what to write."""
    found = [finding for finding in findings(mistake, tmp_path) if finding.level != "note"]
    (expected,) = mistake.expected
    told = [(finding.level, finding.rule.name, finding.labels[0].span.line) for finding in found]
    assert told == [(expected.level, expected.rule, mistake.line(expected.fragment))]
    assert expected.words in "\n".join((found[0].message, found[0].help, *found[0].notes))


@pytest.mark.parametrize("manifest", CORRECT, ids=[manifest.name for manifest in CORRECT])
def test_what_the_mistakes_are_edits_of_is_healthy(manifest: Manifest, tmp_path: Path) -> None:
    assert [finding for finding in findings(manifest, tmp_path) if finding.level != "note"] == []


def test_the_list_is_long() -> None:
    assert len(MISTAKES) >= 100
