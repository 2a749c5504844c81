"""`trainc fix` repairs what has one right answer, says both where there are two, and never makes a file worse."""

from pathlib import Path

import pytest

from tests.board.board import edited, manifests
from tests.compiling import compile_in
from tests.sampling import sampled

JOBS = {manifest.name: manifest.text for manifest in manifests("mistakes") if not manifest.expected}
# OLD => NEW for the mistake, then the line that the repair writes.
REPAIRED = [
    ("job", "numNodes: 2 => num_nodes: 2", "numNodes: 2"),
    ("job", "numNodes: 2 => numnodes: 2", "numNodes: 2"),
    ("job", "numNodes: 2 => nunNodes: 2", "numNodes: 2"),
    ("job", "numNodes: 2 => numNodes: 2\\n    nprocPerNode: 1", "numProcPerNode: 1"),
    ("job", "limits: => limit:", "limits: {nvidia.com/gpu: 1, memory: 64Gi, cpu: 8}"),
    ("job", "runtimeRef: => trainingRuntimeRef:", "runtimeRef:"),
    ("job", 'numNodes: 2 => numNodes: "2"', "numNodes: 2"),
    (
        "job",
        "trainer.kubeflow.org/v1alpha1 => trainer.kubeflow.org/v2alpha1",
        "apiVersion: trainer.kubeflow.org/v1alpha1",
    ),
    ("job", "trainer.kubeflow.org/v1alpha1 => kubeflow.org/v2alpha1", "apiVersion: trainer.kubeflow.org/v1alpha1"),
    ("job", "trainer.kubeflow.org/v1alpha1 => kubeflow.org/v1", "apiVersion: trainer.kubeflow.org/v1alpha1"),
    (
        "job",
        "trainer.kubeflow.org/v1alpha1 => trainer.kubflow.org/v1alpha1",
        "apiVersion: trainer.kubeflow.org/v1alpha1",
    ),
    ("job", "kind: TrainJob => kind: trainjob", "kind: TrainJob"),
    (
        "job",
        "    command: => env: {LR: 0.1, DEBUG: true}\\n    command:",
        'env: [{name: LR, value: "0.1"}, {name: DEBUG, value: "true"}]',
    ),
    ("job", "    command: => env: [{name: THREADS, value: 8}]\\n    command:", 'env: [{name: THREADS, value: "8"}]'),
    ("job", "[torchrun, train.py] => torchrun train.py --name 'a b'", "command: [torchrun, train.py, --name, a b]"),
    (
        "job",
        "command: [torchrun, train.py] => command: [torchrun]\\n    args: train.py --epochs 10",
        'args: [train.py, --epochs, "10"]',
    ),
    ("job", "memory: 64Gi => memory: 64 Gi", "limits: {nvidia.com/gpu: 1, memory: 64Gi, cpu: 8}"),
    ("job", "memory: 64Gi => memory: 64GiB", "limits: {nvidia.com/gpu: 1, memory: 64Gi, cpu: 8}"),
    (
        "job",
        "image: registry.example.com/ml => image: docker://registry.example.com/ML",
        "image: registry.example.com/ml/first:1.0",
    ),
    ("workers", "    Worker: => worker:", "Worker:"),
    ("workers", "  pytorchReplicaSpecs: => pytorchReplicaSpec:", "pytorchReplicaSpecs:"),
    ("set", "replicatedJobs: => replicatedJob:", "replicatedJobs:"),
    ("set", "parallelism: 2 => paralelism: 2", "parallelism: 2"),
    ("set", "jobset.x-k8s.io/v1alpha2 => jobset.x-k8s.io/v1", "apiVersion: jobset.x-k8s.io/v1alpha2"),
]
LEFT = [
    ("job", "    numNodes: 2 => numNodes: 2\\n    num_nodes: 3", "numNodes"),  # stands there already
    ("job", "memory: 64Gi => memory: 64GB", "`64Gi` (powers of 1024) or `64G` (powers of 1000)"),
    ("job", "cpu: 8} => cpu: 8Gi}", "`8` for CPUs, or `8m`"),
    ("job", "memory: 64Gi => memory: 512m", "512Mi"),
    ("job", "[torchrun, train.py] => pip install x && torchrun train.py", "sh, -c"),
    ("job", "[torchrun, train.py] => cd /src", "sh, -c"),
    ("job", "    numNodes: 2 => numnodes: 2\\n    num_nodes: 3", "did you mean `numNodes`?"),
    ("job", "    command: => env: {LR: }\\n    command:", "list"),
    ("job", "    command: => env: [{name: DEBUG, value: yes}]\\n    command:", "quotes"),
    ("job", "ml/first:1.0 => ml/first 1.0", "write `registry.example.com/ml/first:1.0` if `1.0` is the tag"),
    ("job", "ml/first:1.0 => ml/fi rst:1.0", "InvalidImageName"),
]


@pytest.mark.parametrize(
    ("job", "mistake", "line"), sampled(REPAIRED, [mistake for _, mistake, _ in REPAIRED], every=4)
)
def test_one_right_answer_is_written(job: str, mistake: str, line: str, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(edited(JOBS[job], mistake, job), "utf-8")
    assert compile_in(tmp_path, "fix", "-w", "job.yaml").code == 0
    lines = file.read_text("utf-8").splitlines()
    assert line in map(str.strip, lines)
    assert compile_in(tmp_path, "validate", "job.yaml").code == 0
    again = compile_in(tmp_path, "fix", "job.yaml")
    assert (again.code, again.out, again.err) == (0, "", "0 could be fixed, 0 errors left to fix by hand\n")


@pytest.mark.parametrize(("job", "mistake", "told"), LEFT, ids=[mistake for _, mistake, _ in LEFT])
def test_what_may_mean_two_things_is_left(job: str, mistake: str, told: str, tmp_path: Path) -> None:
    text = edited(JOBS[job], mistake, job)
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    compile_in(tmp_path, "fix", "-w", "job.yaml")
    assert (tmp_path / "job.yaml").read_text("utf-8") == text
    assert told in compile_in(tmp_path, "validate", "job.yaml").err


def test_an_edit_that_a_server_would_refuse_is_not_made(tmp_path: Path) -> None:
    """`limit` is a slip away from `limits`, which holds amounts and no list."""
    text = edited(JOBS["job"], "limits: {nvidia.com/gpu: 1, memory: 64Gi, cpu: 8} => limit: [{gpu: 1}]", "job")
    (tmp_path / "job.yaml").write_text(edited(text, "numNodes: 2 => num_nodes: 2", "job"), "utf-8")
    run = compile_in(tmp_path, "fix", "-w", "job.yaml")
    written = (tmp_path / "job.yaml").read_text("utf-8")
    assert (run.code, "numNodes: 2" in written, "limit: [{gpu: 1}]" in written) == (1, True, True)
    assert "1 fixed, 1 error left to fix by hand" in run.err


def test_every_comment_and_every_other_line_stays(tmp_path: Path) -> None:
    text = (
        JOBS["job"]
        .replace("  trainer:\n", "  trainer:  # what runs\n    # how many\n")
        .replace("numNodes: 2", "num_nodes:   2  # two")
    )
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    compile_in(tmp_path, "fix", "-w", "job.yaml")
    before, after = text.splitlines(), (tmp_path / "job.yaml").read_text("utf-8").splitlines()
    changed = [(one, other) for one, other in zip(before, after, strict=True) if one != other]
    assert [(one.split(), other.split()) for one, other in changed] == [
        (["num_nodes:", "2", "#", "two"], ["numNodes:", "2", "#", "two"])
    ]
