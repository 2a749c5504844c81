"""Worked cases of other operators' job kinds, put to the command line; `recorded/README.md` says what each key means."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compiling import Run, compile_in
from tests.conformance.archives import groups, members
from tests.conformance.survey_checks import CHECKS
from tests.conformance.survey_pods import World
from tests.sampling import sampled

CASES = sorted(
    {
        (group, name.rpartition("/")[0])
        for group in groups("survey")
        for name in members("survey", group)
        if name.endswith("/expected.yaml")
    }
)
PROJECT = """apiVersion: trainc.dev/v1alpha1
kind: Project
spec:
  clusters:
    gpu:
      scheduler: volcano
"""
PROSE = {"shows", "source", "basis", "basis_note", "why", "outcome", "findings", "pods"}
LEVELS = ("note", "warning", "error")
# A test of KubeRay has devices of two clouds in one pod, of which Ray counts the first.
IGNORED = {"rayjob/neuron-first-of-two": ("--ignore", "mixed-accelerators")}


@pytest.mark.parametrize(
    ("group", "name"),
    sampled(
        CASES, [name for _, name in CASES], quick=("armada/always-restart-is-never", "minicluster/name-in-the-command")
    ),
)
def test_case(group: str, name: str, tmp_path: Path) -> None:
    texts = members("survey", group)
    expected = yaml.safe_load(texts[f"{name}/expected.yaml"])
    (tmp_path / "input.yaml").write_text(texts[f"{name}/input.yaml"], "utf-8")
    if expected.keys() & {"gang", "gang_if_asked", "subgroups"}:
        (tmp_path / "trainc.yaml").write_text(PROJECT, "utf-8")
    run = compile_in(tmp_path, "build", "input.yaml", *IGNORED.get(name, ()))
    outcome = OUTCOMES[expected["outcome"]]
    compiled = outcome(run)
    for wanted in expected.get("findings", []):
        assert any(_says(finding, wanted) for finding in run.findings), f"{wanted} not in {run.err}"
    assert expected.keys() - PROSE <= CHECKS.keys()
    if compiled:
        world = World(run.objects)
        roles = world.roles({} if "total" in expected.get("pods", {}) else expected.get("pods", {}))
        for role, count in expected.get("pods", {}).items():
            assert len(world.pods if role == "total" else roles[role]) == count
        if "total" not in expected.get("pods", {}) and "pods" in expected:
            listed = [pod for role in roles.values() for pod in role]
            # A submitter that would run beside Ray's head may stand alone: the head never ends by itself.
            assert {pod.replicated for pod in world.pods if pod not in listed} <= {"driver"}
        for key in expected.keys() - PROSE:
            CHECKS[key](world, roles, expected[key], run)


def _compiles(run: Run) -> bool:
    assert run.code == 0, run.err
    assert run.objects
    return True


def _refused(run: Run) -> bool:
    assert run.code == 1, run.err
    assert any(finding.level == "error" for finding in run.findings)
    assert not run.out
    return False


def _either(run: Run) -> bool:
    return _refused(run) if run.code else _compiles(run)


def _refused_or_warned(run: Run) -> bool:
    if run.code:
        return _refused(run)
    assert any(finding.level == "warning" for finding in run.findings), run.err
    return _compiles(run)


def _not_selected(run: Run) -> bool:
    assert not run.out
    assert not run.findings
    return False


OUTCOMES = {
    "compiles": _compiles,
    "refused": _refused,
    "refused-or-warned": _refused_or_warned,
    "refused-or-secret-named": _either,
    "compiles-or-refused": _either,
    "not-selected": _not_selected,
}


def _says(finding: Any, wanted: Any) -> bool:
    parts = (finding.message, finding.effect, finding.help, *finding.notes, *(label.text for label in finding.labels))
    text = "\n".join([*parts, finding.refusal.text if finding.refusal else ""]).lower()
    enough = LEVELS.index(finding.level) >= LEVELS.index(wanted["level"])
    return enough and all(said.lower() in text for said in wanted["says"])
