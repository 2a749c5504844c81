"""Launchers as they stand in commands."""

import pytest

from tests.lint.reading import job_of
from trainc.lint.facts.launch import options

JOB = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: run}
spec:
  replicatedJobs:
  - name: node
    template:
      spec:
        template:
          spec:
            containers:
            - name: node
              image: a:1
              env: [{name: NODES, value: "4"}, {name: HIDDEN, valueFrom: {secretKeyRef: {name: s, key: k}}}]
              command: COMMAND
"""


@pytest.mark.parametrize(
    ("command", "name", "flag", "value", "program"),
    [
        ("[torchrun, --nnodes=3, main.py]", "torchrun", "nnodes", "3", ["main.py"]),
        ("[torchrun, --nproc-per-node, '8', -m, pkg.train]", "torchrun", "nproc_per_node", "8", ["pkg.train"]),
        ("[torchrun, --nnodes=$(NODES), main.py]", "torchrun", "nnodes", "4", ["main.py"]),
        ("[bash, -c, 'torchrun --nnodes $NODES main.py']", "torchrun", "nnodes", "4", ["main.py"]),
        ("[bash, -c, 'torchrun --nnodes ${M:-2} main.py']", "torchrun", "nnodes", "2", ["main.py"]),
        ("[bash, -c, 'export NODES=5; torchrun --nnodes=$NODES main.py']", "torchrun", "nnodes", "5", ["main.py"]),
        ("[python, -m, torch.distributed.run, --nnodes=3, main.py]", "torchrun", "nnodes", "3", ["main.py"]),
        ("[accelerate, launch, --num_machines, '2', train.py]", "accelerate", "num_machines", "2", ["train.py"]),
        ("[mpirun, --allow-run-as-root, -np, '16', -x, A, perf, -n, '50']", "mpirun", "np", "16", ["perf", "-n", "50"]),
        ("[mpirun, -mca, btl, tcp, -n, '4', perf]", "mpirun", "np", "4", ["perf"]),
        ("[deepspeed, --num_gpus, '8', train.py]", "deepspeed", "num_gpus", "8", ["train.py"]),
    ],
)
def test_the_flags_of_a_launcher(command: str, name: str, flag: str, value: str, program: list[str]) -> None:
    launch = job_of(JOB.replace("COMMAND", command)).main[0].launch
    assert launch is not None
    assert (launch.name, launch.value(flag), launch.program) == (name, value, program)


@pytest.mark.parametrize("word", ["$(HIDDEN)", "$((NODES + 1))"])
def test_what_cannot_be_known_is_unknown(word: str) -> None:
    launch = job_of(JOB.replace("COMMAND", f"[bash, -c, 'torchrun --nnodes={word} main.py']")).main[0].launch
    assert launch is not None
    assert not isinstance(launch.value("nnodes"), str)


@pytest.mark.parametrize("command", ["[nvidia-smi]", "[bash, -c, 'echo torchrun']", "[accelerate, config]"])
def test_no_launcher(command: str) -> None:
    launch = job_of(JOB.replace("COMMAND", command)).main[0].launch
    assert launch is None or launch.flags == {}


def test_options_of_a_program() -> None:
    words = ["train.py", "--a-b=1", "--c", "2", "--flag", "ici_fsdp_parallelism=4", "+model.size=8", "x"]
    assert options(words) == {
        "a_b": "1",
        "c": "2",
        "flag": "ici_fsdp_parallelism=4",
        "ici_fsdp_parallelism": "4",
        "model.size": "8",
    }
