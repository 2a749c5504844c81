"""Over three hundred manifests of all kinds: errors exactly where they are, and little said where nothing is wrong."""

from collections import Counter
from pathlib import Path

import pytest

from tests.board.board import Manifest, manifests
from tests.compiling import Run, compile_in
from tests.sampling import sampled
from trainc.model.finding import Finding

GROUPS = ("pytorchjob", "mpijob", "jobset", "trainjob", "tfjob", "operators", "others")
BOARD = [manifest for group in GROUPS for manifest in manifests(group)]

Told = tuple[str, str, int]  # level, rule, line


def judged(manifest: Manifest, folder: Path) -> Run:
    (folder / "job.yaml").write_text(manifest.text, "utf-8")
    run = compile_in(folder, "validate", "job.yaml")
    assert run.code in (0, 1), run.err
    return run


def findings(manifest: Manifest, folder: Path) -> list[Finding]:
    return judged(manifest, folder).findings


def told(found: list[Finding], *levels: str) -> set[Told]:
    return {(f.level, f.rule.name, f.labels[0].span.line) for f in found if f.level in levels}


@pytest.mark.parametrize(
    "manifest",
    sampled(
        BOARD,
        [f"{m.group}/{m.name}" for m in BOARD],
        quick=("jobset/coordinator-starts-first", "jobset/gpu-a3mega-two-tags", "jobset/leader-that-sleeps"),
    ),
)
def test_errors_are_exactly_as_expected(manifest: Manifest, tmp_path: Path) -> None:
    """Each expected error at its line and no other; each expected warning at its line, among others maybe."""
    found = findings(manifest, tmp_path)
    expected = {(e.level, e.rule, manifest.line(e.fragment)) for e in manifest.expected}
    assert told(found, "error") == {e for e in expected if e[0] == "error"}
    assert expected <= told(found, "error", "warning", "note")


@pytest.mark.slow
def test_healthy_manifests_are_mostly_silent(tmp_path: Path) -> None:
    """No error, and on average at most one warning and one line of notes, for manifests with which nothing is wrong."""
    healthy = [manifest for manifest in BOARD if manifest.healthy]
    runs = [judged(manifest, tmp_path) for manifest in healthy]
    levels = Counter(finding.level for run in runs for finding in run.findings)
    assert levels["error"] == 0
    assert levels["warning"] <= len(healthy)
    assert sum(line.startswith("note") for run in runs for line in run.err.splitlines()) <= len(healthy)


def test_the_board_is_large_and_mostly_healthy() -> None:
    assert len(BOARD) >= 300
    assert 0.6 <= sum(manifest.healthy for manifest in BOARD) / len(BOARD) <= 0.75


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
