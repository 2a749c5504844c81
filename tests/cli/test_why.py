"""`trainc why`: from the output to who wrote it, and from what somebody wrote to where it lands."""

from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.repository import Repository, job
from tests.sampling import sampled

JOBSET = "JobSet/bert spec.replicatedJobs[node].template.spec"


@pytest.fixture
def place(tmp_path: Path) -> Repository:
    return Repository(tmp_path, "bert")


def test_field_of_the_output(place: Repository) -> None:
    done = place.run("why", "jobs/bert.yaml", "parallelism")
    assert (done.code, done.out.splitlines()[:2]) == (
        0,
        [
            f"{JOBSET}.parallelism: 2",
            "  set by overrides (spec.trainer, spec.initializer) at jobs/bert.yaml:11:15",
        ],
    )


def test_the_name_of_a_job_stands_for_its_file(place: Repository) -> None:
    place.write("jobs/several.yaml", f"{job('line')}---\n{job('wave')}")
    for field in ("parallelism", "numNodes"):
        named, by_file = (place.run("why", one, field) for one in ("bert", "jobs/bert.yaml"))
        assert (named.code, named.out, named.err) == (by_file.code, by_file.out, by_file.err)
    assert place.run("why", "wave", "parallelism").out.startswith("JobSet/wave ")
    assert "JobSet/line" not in place.run("why", "wave", "parallelism").out
    done = place.run("why", "brt", "parallelism")
    assert (done.code, done.err) == (2, "trainc: no job matches `brt`; did you mean `bert`?\n")


@pytest.mark.parametrize("argument", [["jobs/bert.yaml:11"], ["jobs/bert.yaml:11:15"], ["jobs/bert.yaml", "numNodes"]])
def test_line_or_field_of_the_job(place: Repository, argument: list[str]) -> None:
    done = place.run("why", *argument)
    first, *rest = done.out.splitlines()
    assert (done.code, first) == (0, "jobs/bert.yaml:11:15 spec.trainer.numNodes: 2")
    assert f"  lands in {JOBSET}.parallelism" in rest


@pytest.mark.slow
def test_line_of_a_rendered_file(place: Repository) -> None:
    assert place.run("build", "-w").code == 0
    lines = place.rendered()["research/bert.yaml"].splitlines()
    for number, line in enumerate(lines, 1):
        done = place.run("why", f"rendered/research/bert.yaml:{number}")
        if line == "---" or line.startswith("#"):
            assert (done.code, done.err) == (
                2,
                f"trainc: no value on line {number} of rendered/research/bert.yaml\n",
            )
        else:
            name = line.strip("- ").split(":")[0]
            assert (done.code, name in done.out, done.err) == (0, True, ""), (number, line, done.out, done.err)


def test_field_of_a_rendered_file(place: Repository) -> None:
    assert place.run("build", "-w").code == 0
    done = place.run("why", "rendered/research/bert.yaml", "parallelism")
    assert (done.code, done.out.splitlines()[0]) == (0, f"{JOBSET}.parallelism: 2")


def test_rendered_file_that_is_older_than_its_job(place: Repository) -> None:
    assert place.run("build", "-w").code == 0
    lines = place.rendered()["research/bert.yaml"].splitlines()
    number = lines.index("        parallelism: 2") + 1
    place.write("jobs/bert.yaml", job("bert", nodes=3).replace("spec:", "spec:\n  suspend: true"))
    done = place.run("why", f"rendered/research/bert.yaml:{number}")
    assert (done.code, done.out.splitlines()[0]) == (0, f"{JOBSET}.parallelism: 3")
    assert "rendered/research/bert.yaml is not what jobs/bert.yaml compiles to now" in done.err


@pytest.mark.parametrize(
    "field",
    sampled(["suspend", ".spec.suspend", "containers[node].livenessProbe", "labels.team"], quick=("labels.team",)),
)
def test_a_field_that_nobody_sets(place: Repository, field: str) -> None:
    """It was an error, as if there were no such field."""
    done = place.run("why", "jobs/bert.yaml", field)
    assert (done.code, done.out, done.err) == (
        0,
        f"{field} is not set: neither the output nor jobs/bert.yaml has it\n",
        "",
    )


@pytest.mark.parametrize(
    ("field", "number"),
    [
        (".spec.replicatedJobs[0].replicas", 1),
        ("replicatedJobs[node].template.spec.template.spec.containers[0].image", 1),
        ("spec.replicatedJobs.*.replicas", 1),
        (".replicas", 0),
        ("**.limits.*", 2),
    ],
)
def test_paths_with_numbers_and_patterns(place: Repository, field: str, number: int) -> None:
    """Only names of items were understood, and runs of whole steps."""
    done = place.run("why", "jobs/bert.yaml", field)
    assert len([line for line in done.out.splitlines() if line.startswith("JobSet/")]) == number


def test_standard_input(place: Repository) -> None:
    text = place.read("jobs/bert.yaml")
    done = compile_in(place.folder, "why", "-", "parallelism", stdin=text)
    assert (done.code, done.out.splitlines()[1]) == (
        0,
        "  set by overrides (spec.trainer, spec.initializer) at <stdin>:11:15",
    )
    assert compile_in(place.folder, "why", "-", "numNodes", stdin=text).out.startswith("<stdin>:11:15 spec.trainer")
    assert "suspend is not set" in compile_in(place.folder, "why", "-", "suspend", stdin=text).out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["jobs/bert.yaml", "numNode"], "no field of this job matches `numNode`; did you mean `numNodes`?"),
        (["jobs/bert.yaml", "completion"], "fields that contain it: `spec.completionMode`, `spec.completions`"),
        (["jobs/bert.yaml", "queue"], "a job's queue is the label `kueue.x-k8s.io/queue-name`"),
        (["jobs/bert.yaml:99"], "no value on line 99 of jobs/bert.yaml"),
        (["jobs/none.yaml"], "jobs/none.yaml: No such file or directory"),
        ([], "usage: trainc why FILE[:LINE]|JOB [FIELD]"),
    ],
)
def test_no_answer(place: Repository, argv: list[str], words: str) -> None:
    done = place.run("why", *argv)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_a_word_in_the_name_of_one_field_is_answered(place: Repository) -> None:
    gpus = "resourcesPerNode: {limits: {nvidia.com/gpu: 8, memory: 64Gi}}"
    place.write("jobs/gpus.yaml", job("gpus").replace("  trainer:\n", f"  trainer:\n    {gpus}\n"))
    done = place.run("why", "jobs/gpus.yaml", "GPUs")
    assert (done.code, done.out.splitlines()[0].rpartition("resources.")[2]) == (0, 'limits[nvidia.com/gpu]: "8"')
    assert place.run("why", "jobs/gpus.yaml", "gpus", "--report", "json").out.count('"winner"') == 1
    place.change(
        "jobs/gpus.yaml", "namespace: research", "namespace: research\n  labels: {kueue.x-k8s.io/queue-name: q}"
    )
    assert 'labels[kueue.x-k8s.io/queue-name]: "q"' in place.run("why", "jobs/gpus.yaml", "queue").out


def test_amounts_of_the_runtime_are_not_set_by_the_job(place: Repository) -> None:
    """`resourcesPerNode` is merged with what the runtime asks for: that stays the runtime's."""
    place.change("jobs/bert.yaml", "  trainer:\n", "  trainer:\n    resourcesPerNode: {limits: {memory: 32Gi}}\n")
    limits = place.run("why", "jobs/bert.yaml", "limits").out
    assert "  set by runtime (torch) at runtimes/torch.yaml:" in limits.partition("limits.memory")[0]
    assert (
        "  set by overrides (spec.trainer, spec.initializer) at jobs/bert.yaml:" in limits.partition("limits.memory")[2]
    )
    assert "  over   runtime (torch) at runtimes/torch.yaml:" in limits.partition("limits.memory")[2]


ZERO = """\
apiVersion: trainc.dev/v1alpha1
kind: Runtime
metadata:
  name: team
spec:
  extends: torch
  template:
    spec:
      failurePolicy:
        maxRestarts: 0
"""


def test_a_zero_replaces_what_lower_layers_say(place: Repository) -> None:
    """The API leaves a zero out, and the layer that set it was left out of the answer."""
    place.write("runtimes/team.yaml", ZERO)
    place.change("jobs/bert.yaml", "name: torch", "name: team")
    alone = place.run("why", "jobs/bert.yaml", "maxRestarts").out
    assert "runtimes/team.yaml:10:22 spec.template.spec.failurePolicy.maxRestarts: 0\n" in alone
    child = ZERO.replace("extends: torch", "extends: team").replace("name: team", "name: child", 1)
    place.write("runtimes/child.yaml", child.replace("maxRestarts: 0", "maxRestarts: 5"))
    place.change("jobs/bert.yaml", "name: team", "name: child")
    lines = place.run("why", "jobs/bert.yaml", "failurePolicy.maxRestarts").out.splitlines()
    assert [line.partition(" at ")[0] for line in lines[2:4]] == ["  over   runtime (team)", "  over   runtime (torch)"]


def test_a_path_may_begin_with_a_dot(tmp_path: Path) -> None:
    """`.spec.x`, as kubectl and jq write it, was a field that nothing has."""
    repository = Repository(tmp_path, "bert")
    plain, dotted = (
        repository.run("why", "jobs/bert.yaml", f"{dot}spec.failurePolicy.maxRestarts") for dot in ("", ".")
    )
    assert (dotted.code, dotted.out) == (0, plain.out)
    assert "maxRestarts: 3" in dotted.out


def test_what_is_computed_is_said_once(place: Repository) -> None:
    """It read `set by framework (torch) by torch` and `computed by lowering`."""
    lines = place.run("why", "bert", "**").out.splitlines()
    setters = {line.strip() for line in lines if line.startswith(("  set by", "  computed"))}
    assert {"set by framework (torch)", "computed by trainc", "computed: JobSet webhook default"} <= setters
    assert not any(" by torch" in line or "lowering" in line for line in setters)
