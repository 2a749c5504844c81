"""Every older job that compiles becomes a TrainJob that compiles to the same, but for differences with a reason."""

from pathlib import Path

import pytest

from tests.changes.migrate.comments import comments
from tests.compiling import ROOT
from tests.kinds.samples.texts import job, role
from tests.sampling import sampled
from trainc.changes.migrate import migrate
from trainc.changes.migrate.compared import UNEXPLAINED, compiled
from trainc.model.cluster import Cluster
from trainc.model.settings import Project
from trainc.model.sourced import Origin, Sourced

CASES = sorted(path.parent.parent for path in ROOT.glob("tests/cases/legacy/*/input/job.yaml"))
# Over as soon as it starts: a warning for the older job, an error for what it becomes.
HOPELESS = ROOT / "tests/cases/legacy/deadline-0"
COMPILING = [
    case for case in CASES if case != HOPELESS and "error[" not in (case / "expected/findings.txt").read_text("utf-8")
]

FILES = [case / "input/job.yaml" for case in COMPILING]
FILES += [
    ROOT / f"examples/{name}"
    for name in (
        "jaxjob/jobs/jaxjob.yaml",
        "pytorchjob/jobs/pytorchjob.yaml",
        "tfjob/jobs/tfjob.yaml",
        "mpijob/jobs/mpijob.yaml",
        "tfjob-mlkube/jobs/tfjob.yaml",
    )
]


@pytest.mark.parametrize(
    "file", sampled(FILES, [file.parent.parent.name for file in FILES], quick=("mpijob-openmpi-not-root",))
)
def test_an_older_job_becomes_a_trainjob(file: Path) -> None:
    text = file.read_text("utf-8")
    done = migrate(text)
    assert done.problems == ()
    assert "kind: TrainJob" in done.text
    assert [str(d) for d in done.differences if d.reason == UNEXPLAINED] == []
    assert comments(done.text) == comments(text)
    again = migrate(done.text)
    assert (again.text, again.changes) == (done.text, ())
    objects, _ = compiled(done.text)
    assert any(tree["kind"] == "JobSet" for tree in objects)


def test_a_job_that_would_be_refused_as_a_trainjob_stays_as_it_is() -> None:
    """A file without errors became one with an error."""
    text = (HOPELESS / "input/job.yaml").read_text("utf-8")
    done = migrate(text)
    assert done.text == text
    assert [problem.message for problem in done.problems] == ["the deadline of 0 seconds passes at once"]


@pytest.mark.parametrize(
    ("kind", "main", "name", "kept"),
    [
        ("JAXJob", "jax", "JAX_PLATFORMS", True),
        ("JAXJob", "jax", "JAX_NUM_PROCESSES", True),  # under the Trainer a job's own wins, too
        ("PyTorchJob", "pytorch", "PET_LOG_DIR", True),
        ("PyTorchJob", "pytorch", "PET_MASTER_ADDR", False),
        ("XGBoostJob", "xgboost", "DMLC_ROLE", True),
        ("XGBoostJob", "xgboost", "DMLC_TASK_ID", False),
    ],
)
def test_a_variable_stays_unless_the_trainer_keeps_it_for_itself(kind: str, main: str, name: str, kept: bool) -> None:
    container = f"{{name: {main}, image: img, env: [{{name: {name}, value: mine}}]}}"
    roles = (role("Master", 1, "", container),) if kind == "XGBoostJob" else ()
    done = migrate(job(kind, *roles, role("Worker", 2, "", container)))
    assert (f"name: {name}" in done.text) == kept
    assert [str(d) for d in done.differences if d.reason == UNEXPLAINED] == []


@pytest.mark.parametrize(("procs", "line"), [("4", "numProcPerNode: 4"), ("0", ""), ("auto", ""), ("-1", "")])
def test_a_number_of_processes_goes_over_if_it_is_one(procs: str, line: str) -> None:
    done = migrate(job("PyTorchJob", role("Worker", 2), spec=f'nprocPerNode: "{procs}"'))
    assert ("numProcPerNode" in done.text) == bool(line)
    assert line in done.text


def test_an_empty_variable_is_no_difference() -> None:
    container = "{name: jax, image: img, env: [{name: EMPTY}, {name: ALSO, value: ''}]}"
    done = migrate(job("JAXJob", role("Worker", 2, "", container)))
    assert [d.path for d in done.differences if "EMPTY" in d.path or "ALSO" in d.path] == []


GANG = "runPolicy: {schedulingPolicy: {minAvailable: 2, queue: q}, cleanPodPolicy: All, ttlSecondsAfterFinished: 0}"


def test_what_a_cluster_adds_is_not_written_into_the_new_file() -> None:
    scheduler = Sourced("volcano", Origin(by="test"))
    project = Project(".", default_delivery="argocd", clusters=(Cluster(scheduler=scheduler),))
    text = job("PyTorchJob", role("Master"), role("Worker", 2), spec=GANG)
    done = migrate(text, project)
    assert done.text == migrate(text).text
    assert [str(d) for d in done.differences if d.reason == UNEXPLAINED] == []
    assert [d.after for d in done.differences if d.path == "PodGroup/demo/spec/minMember"] == [3]
    objects, report = compiled(done.text, project)
    assert not report.failed
    assert sorted(tree["kind"] for tree in objects) == ["JobSet", "PodGroup", "Service"]


def test_what_no_trainjob_says_is_named() -> None:
    done = migrate(job("PyTorchJob", role("Master"), role("Worker", 2), spec=GANG))
    left = [
        change.message.partition(" is dropped: ")[0] for change in done.changes if " is dropped: " in change.message
    ]
    names = ("schedulingPolicy", "ttlSecondsAfterFinished", "cleanPodPolicy")
    assert left == [f"`spec.runPolicy.{name}`" for name in names]
