"""Small inputs end in little time and memory: what once grew with the square of its size, at the size that showed it."""

import json
import subprocess
import sys
from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

import pytest

from tests.compiling import compile_in, relative_environment
from tests.effort import within

SECONDS = 2.0  # of CPU
ROUND_TRIP = 10.0  # ... for commands that keep the comments of what they rewrite
MEMORY = 200 << 10  # KiB


def job(**trainer: Any) -> str:
    """A job whose trainer says this."""
    spec = {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"image": "r/x:1", "numNodes": 2, **trainer}}
    head = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "a", "namespace": "n"},
    }
    return json.dumps({**head, "spec": spec})


def script(text: str) -> str:
    """A job that runs a shell script."""
    return job(command=["bash", "-c", text])


def patched(containers: int) -> str:
    """A job with a patch of many containers."""
    pod = {"containers": [{"name": f"c{number}", "image": "r/x:1"} for number in range(containers)]}
    roles = [{"name": "node", "template": {"spec": {"template": {"spec": pod}}}}]
    tree = json.loads(job())
    patch = {"template": {"spec": {"replicatedJobs": roles}}}
    tree["spec"]["runtimePatches"] = [{"manager": "example.com/x", "trainingRuntimeSpec": patch}]
    return json.dumps(tree)


def tasks(count: int, plugin: str) -> str:
    """A Volcano Job of many tasks of one pod."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "a", "image": "r/x:1", "command": ["a"]}]}
    each = [{"name": f"t{number}", "replicas": 1, "template": {"spec": pod}} for number in range(count)]
    spec = {"schedulerName": "volcano", "minAvailable": 1, "plugins": {plugin: []}, "tasks": each}
    head = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "a", "namespace": "n"}}
    return json.dumps({**head, "spec": spec})


def doubled(count: int) -> str:
    """Variables of which each holds the one before it twice."""
    env = [{"name": "V0", "value": "x" * 10}]
    env += [{"name": f"V{number}", "value": f"$(V{number - 1})$(V{number - 1})"} for number in range(1, count)]
    return job(env=env, command=["python", f"$(V{count - 1})"])


def runtimes(count: int, last: str) -> str:
    """Runtimes that extend each other, and the last one `last`."""
    parents = [*(f"r{number}" for number in range(1, count)), last]
    head = "apiVersion: trainc.dev/v1alpha1\nkind: Runtime\n"
    parts = [f"{head}metadata: {{name: r{n}}}\nspec: {{extends: {parent}}}\n" for n, parent in enumerate(parents)]
    return "---\n".join(parts)


INPUTS: dict[str, Callable[[], str]] = {
    "800 tasks of a Volcano Job": lambda: tasks(800, "env"),
    "addresses of 800 tasks in each of them": lambda: tasks(800, "svc"),
    "12,000 commands": lambda: script("torchrun x;" * 12_000),
    "12,000 here-documents": lambda: script("cat <<A\n" * 12_000),
    "8,000 ended here-documents": lambda: script("".join(f"cat <<E{n}\nx\nE{n}\n" for n in range(8000))),
    "pipeline of 12,000 commands": lambda: script("torchrun x|" * 12_000 + "cat"),
    "variables that double": lambda: doubled(40),
    "12,000 unknown fields on one line": lambda: job(**{f"field{number}": 1 for number in range(12_000)}),
    "patch of 12,000 containers": lambda: patched(12_000),
    "circle of 3,000 runtimes": lambda: runtimes(3000, "r0"),
    "3,000 runtimes without the first": lambda: runtimes(3000, "absent"),
    "12,000 variables": lambda: job(env=[{"name": f"V{number}", "value": "x"} for number in range(12_000)]),
}


# A process inherits the peak of the one that started it, and a test runner is large: a small one stands between them.
LAUNCHER = """
import os, resource, sys
child = os.fork()
if child == 0:
    resource.setrlimit(resource.RLIMIT_CPU, (100, 100))  # what breaks the promise by far is killed
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.execv(sys.executable, [sys.executable, "-m", "trainc", *sys.argv[1:]])
_, status, used = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def run(folder: Path, *argv: str, codes: Container[int], seconds: float = SECONDS) -> None:
    """Hold one run to exit codes, to seconds of CPU, and to KiB in memory."""

    def measure() -> float:
        words = [sys.executable, "-S", "-c", LAUNCHER, *argv]
        done = subprocess.run(words, cwd=folder, env=relative_environment(), capture_output=True, text=True, check=True)
        code, used, memory = done.stdout.split()
        assert int(code) in codes
        assert int(memory) < MEMORY
        return float(used)

    within(seconds, measure)


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("command", ["build", "validate --report json"])
def test_time_and_memory(name: str, command: str, tmp_path: Path) -> None:
    text = INPUTS[name]()
    assert len(text) < 1 << 20
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    first, *options = command.split()
    run(tmp_path, first, "job.yaml", *options, codes={0, 1})


HALVES: dict[str, Callable[[], str]] = {
    "variables that double": lambda: doubled(40),
    "6,000 unknown fields on one line": lambda: job(**{f"field{number}": 1 for number in range(6000)}),
    "patch of 6,000 containers": lambda: patched(6000),
}
OTHERS = (
    "show job.yaml",
    "why job.yaml:1",
    "why job.yaml image",
    "diff old new --report markdown",
    "cmp generate",
    "runtimes flatten torch-distributed",
    "rehearse job.yaml",
    "fix job.yaml --unsafe",
    "migrate job.yaml",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "name"),
    # The last input, which costs most, meets every command; the others take turns.
    [
        pair
        for at, command in enumerate(OTHERS)
        for pair in ((command, list(HALVES)[at % 2]), (command, list(HALVES)[2]))
    ],
)
def test_time_and_memory_of_other_commands(name: str, command: str, tmp_path: Path) -> None:
    text = HALVES[name]()
    for folder in ("old", "new") if command.startswith("diff") else (".",):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "job.yaml").write_text(text, "utf-8")
    seconds = ROUND_TRIP if command.startswith(("fix", "migrate")) else SECONDS
    run(tmp_path, *command.split(), codes={0, 1, 2}, seconds=seconds)


@pytest.mark.slow
def test_standard_input_has_an_end(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"yes | {sys.executable} -m trainc validate -"],
        cwd=tmp_path, env=relative_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "trainc: standard input is larger than 64 MiB\n"


def test_text_is_cut_and_reports_for_machines_are_not(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(job(**{f"field{number}": 1 for number in range(300)}), "utf-8")
    cut, whole, machine = (
        compile_in(tmp_path, "validate", "job.yaml", *more) for more in ([], ["-v"], ["--report", "json"])
    )
    assert cut.err.count("error[unknown-field]") == 200
    assert "more findings; -v shows them" in cut.err
    assert whole.err.count("error[unknown-field]") == 300
    assert len([one for one in json.loads(machine.out)["findings"] if one["rule"] == "unknown-field"]) == 300


@pytest.mark.slow
@pytest.mark.parametrize("form", ["json", "sarif"])
def test_reports_for_machines_are_written_as_they_are_made(form: str, tmp_path: Path) -> None:
    """They took 360 MiB, all of it at once."""
    (tmp_path / "job.yaml").write_text(job(**{f"f{number}": 1 for number in range(40_000)}), "utf-8")
    run(tmp_path, "validate", "job.yaml", "--report", form, codes={1}, seconds=ROUND_TRIP)


@pytest.mark.slow
def test_many_jobs_of_a_refused_runtime(tmp_path: Path) -> None:
    head = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "bad"},
    }
    runtime = json.dumps({**head, "spec": {f"field{number}": 1 for number in range(1000)}})
    jobs = [job().replace("torch-distributed", "bad").replace('"a"', f'"a{number}"') for number in range(600)]
    (tmp_path / "jobs.yaml").write_text("\n---\n".join([*jobs, runtime]), "utf-8")
    run(tmp_path, "validate", "jobs.yaml", "--report", "json", codes={1})
    done = subprocess.run(
        [sys.executable, "-m", "trainc", "validate", "jobs.yaml", "--report", "json"],
        cwd=tmp_path, env=relative_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    unknown = [one for one in json.loads(done.stdout)["findings"] if one["rule"] == "unknown-field"]
    assert len(unknown) == 1000
    assert {one["jobs"] for one in unknown} == {600}
