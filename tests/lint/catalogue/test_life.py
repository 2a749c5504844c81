"""Every rule is met by a manifest as people write it: one of the board, or a whole job in the rule's own case."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.board.board import manifests
from tests.board.test_board import GROUPS
from tests.compiling import ROOT
from tests.sampling import sampled
from trainc.compiler.load.walk import is_candidate
from trainc.lint.catalogue import rules
from trainc.lint.catalogue.generate import cases
from trainc.model.report import Report
from trainc.model.tree import get, plain
from trainc.yaml.reader import read

OWN = cases(ROOT)
ON_THE_BOARD = {
    expected.rule for group in (*GROUPS, "mistakes") for manifest in manifests(group) for expected in manifest.expected
}
# Rules that no manifest of a user can meet here, each with the reason.
FRAGMENTS = {
    "script-not-read": "an installation without the grammar: tests/lint/test_shell.py takes it away",
    "internal-error": "a bug in trainc: tests/test_internal_errors.py plants some",
    "unaccounted-job": "a bug in trainc: no manifest is known that loses a job",
    "yaml-size": "a file of more than 16 MiB; tests/yaml/test_hostile.py lowers the limits instead",
}


def containers(node: Any) -> Iterator[dict[str, Any]]:
    """Every container of an object, and the trainer of a TrainJob, which is its container."""
    for key, child in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if key == "containers" and isinstance(child, list):
            yield from (item for item in child if isinstance(item, dict))
        elif key == "trainer" and isinstance(child, dict):
            yield child
        yield from containers(child)


def is_whole(folder: Path) -> bool:
    """Whether an input holds a named job whose process has an image of somebody, a program and resources; Ray starts its program itself."""
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and is_candidate(path.name)):
        for document in read(file.read_bytes(), file.name, Report()):
            tree = plain(document.tree)
            processes = list(containers(tree)) if document.name else []
            if any(_is_a_program(process) for process in processes) or plain(get(document.tree, "spec", "entrypoint")):
                return True
    return False


def _is_a_program(process: dict[str, Any]) -> bool:
    has_program = bool(process.get("command") or process.get("args"))
    has_resources = bool(process.get("resources") or process.get("resourcesPerNode"))
    return has_program and (has_resources or "/" in str(process.get("image", "")))


@pytest.mark.parametrize(
    "rule",
    sampled(
        sorted(rule.name for rule in rules() if rule.name not in ON_THE_BOARD),
        quick=("ignored-by-flux", "podgroup-missing"),
    ),
)
def test_a_rule_that_the_board_does_not_meet_has_a_whole_job(rule: str) -> None:
    assert (rule in OWN and is_whole(OWN[rule] / "input")) is (rule not in FRAGMENTS)
