"""Notes are one line until somebody asks for them; machines get them whole."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.board.board import manifests
from tests.board.test_board import BOARD
from tests.compiling import ROOT, compile_in
from trainc.kinds.table import NAMES
from trainc.lint.catalogue import rules

DIFFERING = {rule.name: rule.differs for rule in rules() if rule.differs}
KIND = {"pytorchjob": "PyTorchJob", "mpijob": "MPIJob", "tfjob": "TFJob"}
NAMED = {f"{manifest.group}/{manifest.name}": manifest for manifest in BOARD}
TWO_NODES = NAMED["pytorchjob/fsdp-eks-relative-checkpoints"]


def judged(folder: Path, *words: str) -> tuple[int, list[str]]:
    (folder / "job.yaml").write_text(TWO_NODES.text, "utf-8")
    run = compile_in(folder, "validate", "job.yaml", *words)
    return run.code, run.err.splitlines()


def test_notes_are_one_line_behind_all_else(tmp_path: Path) -> None:
    code, lines = judged(tmp_path)
    heads = [line for line in lines if line.startswith(("error", "warning", "note"))]
    assert code == 0
    assert [head.partition("[")[0].partition(":")[0] for head in heads] == ["warning", "note"]
    assert "differences from the operator: `trainc explain --kind PyTorchJob`" in heads[-1]
    assert heads[-1].endswith("`trainc validate -v` shows all")


@pytest.mark.parametrize("words", [["-v"], ["--against", "job.yaml"], ["--select", "label-per-pod"]])
def test_notes_that_are_asked_for_are_printed_in_full(words: list[str], tmp_path: Path) -> None:
    _, lines = judged(tmp_path, *words)
    assert any(line.startswith("note[label-per-pod]: ") for line in lines)
    assert not any(line.startswith("note: ") for line in lines)


def test_folding_changes_no_verdict_and_no_report_of_a_machine(tmp_path: Path) -> None:
    _, whole = judged(tmp_path, "-v")
    run = compile_in(tmp_path, "validate", "job.yaml", "--report", "json")
    found = Counter(finding["level"] for finding in json.loads(run.out)["findings"])
    printed = Counter(line.partition("[")[0] for line in whole if "]: " in line)
    assert {level: printed[level] for level in found} == dict(found)
    for level in ("error", "warning"):
        words = ("--fail-on", level)
        assert judged(tmp_path, *words)[0] == judged(tmp_path, *words, "-v")[0] == (1 if level == "warning" else 0)


def test_facts_of_a_kind_are_facts_of_kinds_that_had_an_operator() -> None:
    assert DIFFERING
    assert {kind for kinds in DIFFERING.values() for kind in kinds} == NAMES


@pytest.mark.slow
def test_facts_of_a_kind_are_met_in_jobs_of_that_kind_alone(tmp_path: Path) -> None:
    """On the board, whose groups of one kind tell which kind a job is."""
    for manifest in BOARD:
        kind = KIND.get(manifest.group)
        if kind is None:
            continue
        (tmp_path / "job.yaml").write_text(manifest.text, "utf-8")
        found = compile_in(tmp_path, "validate", "job.yaml").findings
        notes = {finding.rule.name for finding in found if finding.level == "note"} & DIFFERING.keys()
        assert all(kind in DIFFERING[name] for name in notes), manifest.name


@pytest.mark.parametrize("kind", ["PyTorchJob", "mpijob"])
def test_the_list_of_a_kind_holds_the_facts_of_that_kind(kind: str, tmp_path: Path) -> None:
    run = compile_in(tmp_path, "rules", "--kind", kind)
    named = {line for line in run.out.splitlines() if line and not line.startswith(" ")}
    assert named == {name for name, kinds in DIFFERING.items() if kind.lower() in map(str.lower, kinds)}


def test_a_kind_without_an_operator_has_no_list(tmp_path: Path) -> None:
    run = compile_in(tmp_path, "rules", "--kind", "PyTorchJobs")
    assert run.code == 2
    assert "did you mean `PyTorchJob`?" in run.err


def test_what_helps_for_every_job_is_said_once(tmp_path: Path) -> None:
    """How to take runtimes from a cluster, for three jobs whose runtime is nowhere; a machine gets it with each."""
    named = {manifest.name: manifest.text for manifest in manifests("mistakes")}
    for number in range(3):
        text = named["runtime-unknown"].replace("name: first-job", f"name: job-{number}")
        (tmp_path / f"{number}.yaml").write_text(text, "utf-8")
    run = compile_in(tmp_path, "validate", ".")
    assert (run.err.count("[missing-runtime]"), run.err.count("prints those of a cluster")) == (3, 1)
    report = compile_in(tmp_path, "validate", ".", "--report", "json").out
    assert report.count("prints those of a cluster") == 3


def test_a_rule_of_older_kinds_on_a_job_without_a_list_of_its_own_is_named(tmp_path: Path) -> None:
    # Volcano's Job shares such rules, and `rules --kind Job` has no answer.
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/a:1", "command": ["train"]}]}
    tasks = [{"name": "worker", "replicas": 2, "template": {"spec": pod}}]
    job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "a", "namespace": "b"}}
    (tmp_path / "job.yaml").write_text(json.dumps({**job, "spec": {"minAvailable": 2, "tasks": tasks}}))
    err = compile_in(tmp_path, "validate", "job.yaml").err
    assert "note: `clean-up-differs`; `trainc validate -v` shows it" in err


def test_a_secret_without_which_no_pod_starts_is_named_first(tmp_path: Path) -> None:
    """Of seven rules of an MPIJob it was the one that was counted."""
    case = ROOT / "tests/cases/legacy/mpijob-host-names-no-pod/input/job.yaml"
    (tmp_path / "job.yaml").write_text(case.read_text("utf-8"), "utf-8")
    (notes,) = [line for line in compile_in(tmp_path, "validate", "job.yaml").err.splitlines() if "note: " in line]
    assert "also `secret-needed`, " in notes
