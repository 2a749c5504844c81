"""Draws a runtime and a TrainJob, of every framework and policy, for a version of Trainer."""

from typing import Any

from tests.programs.draw import Drawer, Schema

API = "trainer.kubeflow.org/v1alpha1"
ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
_RESERVED = ("PET_NNODES", "PET_MASTER_PORT", "OMPI_MCA_x", "COORDINATOR_ADDRESS", "DMLC_NUM_WORKER", "A", "B", "LR")
_PROCESSES = ("auto", "cpu", "gpu", 1, 2, 8, "1", "x", 0)


def trainjob_with_runtime(seed: int, schemas: dict[str, Schema]) -> list[dict[str, Any]]:
    """The documents of one question; `schemas` are those of the version's definitions, by kind."""
    draw = Drawer(seed)
    framework = draw.pick("torch", "torchtune", "mpi", "jax", "xgboost", "flux", "plain", "plain-policy")
    kind = draw.pick("ClusterTrainingRuntime", "ClusterTrainingRuntime", "TrainingRuntime")
    runtime = {"apiVersion": API, "kind": kind, "metadata": {"name": "drawn"}, "spec": _runtime(draw, framework)}
    if draw.chance(0.05):
        runtime["metadata"]["labels"] = {"trainer.kubeflow.org/support": "deprecated"}
    job: dict[str, Any] = {
        "apiVersion": API,
        "kind": "TrainJob",
        "metadata": {"name": draw.pick("job", "job", "job", "a1", "x" * 50, "X", "1a", "a.b")},
        "spec": _job(draw, kind, schemas["TrainJob"]["properties"]["spec"]["properties"]),
    }
    for field in ("labels", "annotations"):
        if draw.chance(0.2):
            job["metadata"][field] = _labels(draw)
    if draw.chance(0.5):
        draw.insert(runtime, schemas[kind])
    if draw.chance(0.5):
        draw.insert(job, schemas["TrainJob"])
    return [runtime, job]


def _labels(draw: Drawer) -> dict[str, str]:
    return draw.some(
        {
            "app": lambda: draw.pick("a", "b", "A b"),
            "kueue.x-k8s.io/queue-name": lambda: "queue",
            "example.com/team": lambda: draw.pick("x", ""),
        },
        0.5,
    )


def _runtime(draw: Drawer, framework: str) -> dict[str, Any]:
    names = {"dataset-initializer": 0.2, "model-initializer": 0.2, "launcher": 0.8 if framework == "mpi" else 0.03}
    roles = [name for name, share in names.items() if draw.chance(share)]
    replicated = [_role(draw, name, framework) for name in [*roles, "node"]]
    if len(replicated) > 1 and draw.chance(0.5):
        replicated[-1]["dependsOn"] = [{"name": roles[0], "status": draw.pick("Ready", "Complete")}]
    template: dict[str, Any] = {"spec": {"replicatedJobs": replicated}}
    if draw.chance(0.2):
        template["metadata"] = draw.some({"labels": lambda: _labels(draw), "annotations": lambda: _labels(draw)}, 0.6)
    spec: dict[str, Any] = {"template": template}
    policy = _policy(draw, framework)
    if policy is not None:
        spec["mlPolicy"] = policy
    if draw.chance(0.25):
        spec["podGroupPolicy"] = draw.pick(
            {"coscheduling": {}}, {"coscheduling": {"scheduleTimeoutSeconds": 30}}, {"volcano": {}},
            {"volcano": {"networkTopology": {"mode": "hard", "highestTierAllowed": 1}}}, {},
        )  # fmt: skip
    return spec


def _policy(draw: Drawer, framework: str) -> dict[str, Any] | None:
    if framework == "plain":
        return None
    processes = {"numProcPerNode": draw.pick(*_PROCESSES)} if draw.chance(0.4) else {}
    sources: dict[str, dict[str, Any]] = {
        "torch": {"torch": processes},
        "torchtune": {"torch": processes},
        "mpi": {
            "mpi": {
                **({"numProcPerNode": draw.pick(1, 2, 8, "auto")} if draw.chance(0.4) else {}),
                **draw.some(
                    {
                        "mpiImplementation": lambda: draw.pick("OpenMPI", "Intel", "MPICH"),
                        "sshAuthMountPath": lambda: draw.pick("/root/.ssh", "/home/mpiuser/.ssh"),
                        "runLauncherAsNode": lambda: draw.pick(True, True, False),
                    },
                    0.5,
                ),
            }
        },
        "jax": {"jax": {}},
        "xgboost": {"xgboost": {}},
        "flux": {"flux": {"numProcPerNode": draw.pick(1, 2)} if draw.chance(0.4) else {}},
        "plain-policy": {},
    }
    policy = dict(sources[framework])
    if draw.chance(0.7):
        policy["numNodes"] = draw.pick(1, 2, 3, 4, 0)
    if draw.chance(0.03):
        policy["torch"] = {}
    return policy


def _role(draw: Drawer, name: str, framework: str) -> dict[str, Any]:
    ancestors = {
        "node": "trainer",
        "dataset-initializer": "dataset-initializer",
        "model-initializer": "model-initializer",
    }
    template: dict[str, Any] = {"spec": {"template": {"spec": _pod(draw, name, framework)}}}
    if name in ancestors and draw.chance(0.9):
        template["metadata"] = {"labels": {ANCESTOR: ancestors[name]}}
    for field in ("parallelism", "completions"):
        if draw.chance(0.1):
            template["spec"][field] = draw.pick(1, 2, 3)
    if draw.chance(0.2):
        template["spec"]["backoffLimit"] = draw.pick(0, 3)
    if draw.chance(0.1):
        template["spec"]["template"]["metadata"] = draw.some(
            {"labels": lambda: _labels(draw), "annotations": lambda: _labels(draw)}, 0.7
        )
    role: dict[str, Any] = {"name": name, "template": template}
    if draw.chance(0.15):
        role["replicas"] = draw.pick(1, 1, 2, 0)
    return role


def _pod(draw: Drawer, name: str, framework: str) -> dict[str, Any]:
    first = name if draw.chance(0.96) else "main"
    container: dict[str, Any] = {"name": first, "image": "example.com/image:1"}
    if framework == "torchtune" and name == "node" and draw.chance(0.8):
        container["command"] = ["tune", "run"]
        container["args"] = [draw.pick("lora_finetune_single_device", "full_finetune_distributed", "x")]
    container.update(
        draw.some(
            {
                "env": lambda: _env(draw),
                "resources": lambda: _resources(draw),
                "volumeMounts": lambda: [{"name": "data", "mountPath": draw.pick("/data", "/dev/shm")}],  # noqa: S108
                "ports": lambda: [{"containerPort": draw.pick(29500, 8080, 22)}],
                "command": lambda: draw.pick(["python", "train.py"], ["sh", "-c", "python train.py"], ["torchrun"]),
            },
            0.25,
        )
    )
    pod: dict[str, Any] = {"containers": [container]}
    if draw.chance(0.15):
        pod["containers"].append({"name": draw.pick("sidecar", first), "image": "busybox"})
    pod.update(
        draw.some(
            {
                "initContainers": lambda: [{"name": "init", "image": "busybox", "env": _env(draw)}],
                "volumes": lambda: [{"name": "data", "emptyDir": draw.pick({}, {"medium": "Memory"})}],
                "nodeSelector": lambda: {"example.com/pool": "a"},
                "tolerations": lambda: [{"key": "nvidia.com/gpu", "operator": "Exists"}],
                "restartPolicy": lambda: draw.pick("Never", "OnFailure", "Always"),
                "serviceAccountName": lambda: "runner",
                "hostNetwork": lambda: True,
            },
            0.15,
        )
    )
    return pod


def _env(draw: Drawer) -> list[dict[str, Any]]:
    return [{"name": draw.pick(*_RESERVED), "value": draw.pick("1", "x", "$(A)", "")} for _ in range(draw.pick(1, 2))]


def _resources(draw: Drawer) -> dict[str, Any]:
    amounts = {
        "cpu": lambda: draw.pick(1, "2", "500m", "1000m", "2.5"),
        "memory": lambda: draw.pick("1Gi", "1024Mi", "1e9"),
        "nvidia.com/gpu": lambda: draw.pick(1, "2", 8, 0),
        "example.com/nic": lambda: 1,
    }
    return draw.some({"limits": lambda: draw.some(amounts, 0.5), "requests": lambda: draw.some(amounts, 0.5)}, 0.7)


def _job(draw: Drawer, kind: str, known: dict[str, Schema]) -> dict[str, Any]:
    """The spec of a TrainJob: `known` tells which of the fields that versions differ in there are."""
    reference: dict[str, Any] = {"name": "drawn" if draw.chance(0.98) else "gone"}
    if kind != "ClusterTrainingRuntime":
        reference["kind"] = kind
    spec: dict[str, Any] = {"runtimeRef": reference}
    if draw.chance(0.7):
        spec["trainer"] = draw.some(
            {
                "image": lambda: "example.com/own:2",
                "command": lambda: draw.pick(["python", "own.py"], ["torchrun", "own.py"], ["tune", "run"]),
                "args": lambda: draw.pick(["--lr=1"], ["--nproc_per_node", "2"], ["dataset.source=x"]),
                "env": lambda: _env(draw),
                "numNodes": lambda: draw.pick(1, 2, 3, 8, 0, -1),
                "numProcPerNode": lambda: draw.pick(*_PROCESSES),
                "resourcesPerNode": lambda: _resources(draw),
            },
            0.35,
        )
    if draw.chance(0.25):
        storage = {"storageUri": lambda: draw.pick("hf://a/b", "s3://a"), "env": lambda: _env(draw)}
        secret = {"secretRef": lambda: {"name": "secret"}}
        spec["initializer"] = draw.some(
            {
                "dataset": lambda: draw.some({**storage, **secret}, 0.6),
                "model": lambda: draw.some({**storage, **secret}, 0.6),
            },
            0.7,
        )
    if draw.chance(0.1):
        spec["suspend"] = draw.pick(True, False)
    if draw.chance(0.4):
        spec.update(_overrides(draw, known))
    if draw.chance(0.05) and "activeDeadlineSeconds" in known:
        spec["activeDeadlineSeconds"] = draw.pick(1, 60, 0)
    for field in ("labels", "annotations"):
        if draw.chance(0.1):
            spec[field] = _labels(draw)
    return spec


def _overrides(draw: Drawer, known: dict[str, Schema]) -> dict[str, Any]:
    role = draw.pick("node", "node", "node", "launcher", "dataset-initializer", "other")
    pod = draw.some(
        {
            "nodeSelector": lambda: {"example.com/pool": draw.pick("a", "b")},
            "tolerations": lambda: [{"key": "spot", "operator": "Exists"}],
            "serviceAccountName": lambda: "own",
            "volumes": lambda: [{"name": draw.pick("data", "own"), "emptyDir": {}}],
            "initContainers": lambda: [{"name": draw.pick("init", "own"), "env": _env(draw)}],
            "containers": lambda: [_override(draw, role)],
            "schedulingGates": lambda: [{"name": "example.com/gate"}],
            "imagePullSecrets": lambda: [{"name": "pull"}],
        }
    )
    metadata = draw.some({"labels": lambda: _labels(draw), "annotations": lambda: _labels(draw)}, 0.3)
    if "runtimePatches" in known:
        template = {**({"metadata": metadata} if metadata else {}), "spec": pod}
        replicated = [{"name": role, "template": {"spec": {"template": template}}}]
        patch: dict[str, Any] = {"template": {"spec": {"replicatedJobs": replicated}}}
        if draw.chance(0.2):
            patch["template"]["metadata"] = metadata
        return {"runtimePatches": [{"manager": "example.com/own", "trainingRuntimeSpec": patch}]}
    if "podTemplateOverrides" in known:
        return {"podTemplateOverrides": [{"targetJobs": [{"name": role}], "metadata": metadata, "spec": pod}]}
    return {"podSpecOverrides": [{"targetJobs": [{"name": role}], **pod}]}


def _override(draw: Drawer, role: str) -> dict[str, Any]:
    mounts = [{"name": draw.pick("data", "own"), "mountPath": draw.pick("/data", "/own")}]
    fields = {"env": lambda: _env(draw), "volumeMounts": lambda: mounts}
    return {"name": draw.pick(role, role, "sidecar", "other"), **draw.some(fields, 0.6)}
