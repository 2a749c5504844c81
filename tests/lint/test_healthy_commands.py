"""Commands that look like a mistake and are none, each beside the mistake that it looks like."""

from typing import Any

import pytest
import yaml

from tests.lint.reading import verified

TRAIN = "torchrun --nnodes=2 --nproc_per_node=8 --node_rank=$JOB_COMPLETION_INDEX --master_addr=j-w-0-0.j --master_port=29500 train.py"
HEAD = {
    "name": "head",
    "template": {
        "spec": {
            "backoffLimit": 0,
            "parallelism": 1,
            "completions": 1,
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [{"name": "h", "image": "r.example/h:1", "command": ["python", "head.py"]}],
                }
            },
        }
    },
}
MASKED, ENDLESS, SIDECAR = "masked-exit-code", "success-waits-for-endless-role", "endless-sidecar"


def rules(
    script: str,
    *,
    pods: int = 2,
    completions: int = 0,
    devices: dict[str, int] | None = None,
    env: dict[str, str] | None = None,
    head: bool = False,
    beside: dict[str, Any] | None = None,
    **spec: Any,
) -> dict[str, str]:
    """The rules that speak of a role whose pods run this script, each with its level; notes are left out."""
    devices = {"nvidia.com/gpu": 8} if devices is None else devices
    container = {
        "name": "c",
        "image": "r.example/t:1",
        "command": ["bash", "-c", script],
        "env": [{"name": name, "value": value} for name, value in (env or {}).items()],
        "resources": {"limits": {**devices, "memory": "100Gi"}},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],  # noqa: S108 (a path inside the container)
    }
    pod = {
        "restartPolicy": "Never",
        "containers": [container, *([beside] if beside else [])],
        "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}],
    }
    job = {"backoffLimit": 0, "completionMode": "Indexed", "parallelism": pods, "completions": completions or pods}
    jobs = [{"name": "w", "template": {"spec": {**job, "template": {"spec": pod}}}}, *([HEAD] if head else [])]
    tree = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "j"},
        "spec": {"failurePolicy": {"maxRestarts": 0}, "replicatedJobs": jobs, **spec},
    }
    found = verified(yaml.safe_dump(tree)).findings
    return {finding.rule.name: finding.level for finding in found if finding.level != "note"}


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (f"python monitor.py &\n{TRAIN}", {}),
        (f"{TRAIN} &\npython monitor.py", {MASKED: "error"}),
        (f"python download.py | tee /tmp/log\n{TRAIN}", {}),
        (f"{TRAIN} | tee /tmp/log\npython upload.py", {MASKED: "error"}),
        ("python train.py | tee /tmp/log\npython evaluate.py", {MASKED: "warning"}),
        (f"python check.py || true\n{TRAIN}", {}),
        (f"python check.py\n{TRAIN} || true", {MASKED: "error"}),
        (f"python prepare.py; {TRAIN}", {}),
        (f"{TRAIN}; touch /done", {MASKED: "error"}),
        (f"{TRAIN} | python filter.py", {MASKED: "error"}),
        (f"{TRAIN} & PID=$!\nwait $PID\nexit $?", {}),
    ],
)
def test_exit_codes(script: str, expected: dict[str, str]) -> None:
    assert rules(script) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (f"gcsfuse --implicit-dirs b /gcs && {TRAIN}", {}),
        ("gcsfuse --foreground b /gcs", {ENDLESS: "error"}),
        ("jupyter nbconvert --to notebook --execute train.ipynb", {}),
        ("jupyter lab --ip=0.0.0.0", {ENDLESS: "error"}),
        (f"nginx; set -e; {TRAIN}", {}),
        ("nginx -g 'daemon off;'", {ENDLESS: "error"}),
        (f"redis-server --daemonize yes && {TRAIN}", {}),
        ("redis-server", {ENDLESS: "error"}),
        (f"(while true; do nvidia-smi; sleep 60; done) &\n{TRAIN}", {}),
        ("while true; do nvidia-smi; sleep 60; done && date", {ENDLESS: "error", "endless-sleep": "warning"}),
    ],
)
def test_daemons(script: str, expected: dict[str, str]) -> None:
    assert rules(script, head=True) == expected


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({}, {SIDECAR: "error", ENDLESS: "error"}),
        ({"operator": "All", "targetReplicatedJobs": ["w"]}, {SIDECAR: "error", ENDLESS: "error"}),
        ({"operator": "All", "targetReplicatedJobs": ["head"]}, {}),
        ({"operator": "Any"}, {}),
    ],
)
def test_helpers_of_pods_that_the_job_does_not_wait_for(policy: dict[str, Any], expected: dict[str, str]) -> None:
    logs = {"name": "logs", "image": "r.example/l:1", "command": ["sh", "-c", "while true; do sync; sleep 9; done"]}
    assert rules(TRAIN, head=True, beside=logs, successPolicy=policy) == expected


@pytest.mark.parametrize(
    ("script", "env", "pods", "expected"),
    [
        ("torchrun --nnodes=1 --nproc_per_node=8 infer.py", {}, 4, {"nodes-mismatch": "warning"}),
        (
            "torchrun --nnodes=1 --nproc_per_node=8 --master_addr=j-w-0-0.j --master_port=29500 train.py",
            {},
            4,
            {"nodes-mismatch": "error"},
        ),
        ("torchrun --standalone --nproc_per_node=8 infer.py", {}, 4, {}),
        (
            "python infer.py",
            {"MASTER_ADDR": "localhost", "WORLD_SIZE": "1", "RANK": "0"},
            4,
            {"coordinator-is-local": "warning"},
        ),
        (
            "python train.py",
            {"MASTER_ADDR": "localhost", "WORLD_SIZE": "32", "RANK": "0"},
            4,
            {"coordinator-is-local": "error", "constant-rank": "error"},
        ),
        (TRAIN, {"RANK": "0", "NODE_RANK": "0"}, 2, {}),  # torchrun reads neither
        (TRAIN.replace("$JOB_COMPLETION_INDEX", "$NODE_RANK"), {"NODE_RANK": "0"}, 2, {"constant-rank": "error"}),
        (TRAIN.replace("--node_rank=$JOB_COMPLETION_INDEX", ""), {"PET_NODE_RANK": "0"}, 2, {"constant-rank": "error"}),
    ],
)
def test_pods_by_themselves(script: str, env: dict[str, str], pods: int, expected: dict[str, str]) -> None:
    assert rules(script, env=env, pods=pods) == expected


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ("ici_fsdp_parallelism=8 dcn_data_parallelism=2", {}),
        ("ici_fsdp_parallelism=-1 dcn_data_parallelism=2", {}),
        ("ici_fsdp_parallelism=8 dcn_data_parallelism=4", {"mesh-mismatch": "error"}),
        ("ici_fsdp_parallelism=16", {}),
    ],
)
def test_meshes_of_gpus(sizes: str, expected: dict[str, str]) -> None:
    assert rules(f"python3 -m MaxText.train base.yml hardware=gpu {sizes}") == expected


@pytest.mark.parametrize(
    ("devices", "expected"),
    [({"gpu.intel.com/i915": 1}, {}), ({"nvidia.com/gpu": 1}, {"processes-mismatch": "error"})],
)
def test_tiles(devices: dict[str, int], expected: dict[str, str]) -> None:
    assert rules("torchrun --nnodes=1 --nproc_per_node=2 t.py", pods=1, devices=devices) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("torchrun --nnodes=1 --nproc_per_node=8 infer.py", {"nodes-mismatch": "warning"}),
        (TRAIN.replace("=2 ", "=100 "), {"pods-not-all-at-once": "error"}),
    ],
)
def test_shards_are_worked_off_one_after_the_other(script: str, expected: dict[str, str]) -> None:
    assert rules(script, pods=4, completions=100) == expected
