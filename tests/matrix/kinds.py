"""Every input kind as a place for a pod template: the documents around it, and where each of its fields stands there."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Node = Any  # a mapping, a list or a scalar of YAML
Path = tuple[str | int, ...]
Around = Callable[[Node, Node, int], list[Node]]  # a template, the other role's, pods: the documents


@dataclass(frozen=True)
class Kind:
    """One kind, and one of its roles: where a pod template goes.

    `around` makes the documents of a template, of the template of the other role, and of a number of pods. `prefix` is
    where the template stands in the document of number `document`. `container` is how the operator finds its container
    by name. `moved` are fields of a template that stand elsewhere in the kind, and `fields` the only ones that it has;
    `is_whole` says that all pods are of this one role.
    """

    name: str
    around: Around
    prefix: Path
    document: int = 0
    container: str = ""
    moved: tuple[tuple[Path, Path], ...] = ()
    fields: tuple[Path, ...] = ()
    is_whole: bool = False

    @property
    def family(self) -> str:
        """The kind without the role."""
        return self.name.partition("/")[0]

    def has(self, path: Path) -> bool:
        """Whether the kind has a field of a pod template."""
        return not self.fields or any(path[: len(field)] == field for field in self.fields)

    def place(self, path: Path) -> Path:
        """Where a field of a pod template stands in the kind's document."""
        for former, now in self.moved:
            if path[: len(former)] == former:
                return (*now, *path[len(former) :])
        return (*self.prefix, *path)

    def home(self, place: Path) -> Path | None:
        """The field of the pod template that stands at a place of the document, None where it belongs to another one."""
        if self.name == "Armada" and place[:1] == ("jobs",):
            place = ("jobs", 0, *("limits" if step == "requests" else step for step in place[2:]))
        for former, now in sorted(self.moved, key=lambda pair: -len(pair[1])):
            if place[: len(now)] == now:
                return (*former, *place[len(now) :])
        return place[len(self.prefix) :] if place[: len(self.prefix)] == self.prefix else None

    def documents(self, template: Node, twin: Node, pods: int) -> list[Node]:
        """The documents with a template in this place and its healthy twin in the other role's."""
        return self.around(self._named(template), self._named(twin), pods)

    def _named(self, template: Node) -> Node:
        template = copy.deepcopy(template)
        first = _first(template)
        if self.container and isinstance(first.get("name"), str):
            _rename(template["spec"], first["name"], self.container)
            first["name"] = self.container
        return template


def _first(template: Node) -> Node:
    """The main container, empty where a mistake leaves none."""
    containers = template["spec"].get("containers")
    return containers[0] if isinstance(containers, list) and containers and isinstance(containers[0], dict) else {}


def _rename(node: Node, former: str, now: str) -> None:
    """A container's name wherever a field refers to it."""
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _rename(child, former, now)
    if isinstance(node, dict) and node.get("containerName") == former:
        node["containerName"] = now


def _object(api: str, kind: str, spec: Node, name: str = "run", **metadata: Node) -> Node:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "ml", **metadata}, "spec": spec}


def _without_policy(template: Node) -> Node:
    """A template without a restart policy, which the operator chooses; a word that is none stays, as it refuses it."""
    policies = ("Always", "OnFailure", "Never")
    return _without(template, "restartPolicy") if template["spec"].get("restartPolicy") in policies else template


def _without(template: Node, *fields: str) -> Node:
    """A template without fields that belong to its owner in this kind."""
    return {**template, "spec": {key: node for key, node in template["spec"].items() if key not in fields}}


def _child(template: Node, pods: int) -> Node:
    return {"spec": {"backoffLimit": 0, "parallelism": pods, "completions": pods, "template": template}}


def _jobset(template: Node, _: Node, pods: int) -> list[Node]:
    spec = {"replicatedJobs": [{"name": "node", "template": _child(template, pods)}]}
    return [_object("jobset.x-k8s.io/v1alpha2", "JobSet", spec, "of-a-jobset")]


def _runtime(name: str, template: Node, pods: int, kind: str = "TrainingRuntime") -> Node:
    job = {"metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}, **_child(template, 1)}
    set_spec = {"replicatedJobs": [{"name": "node", "template": job}]}
    out = _object("trainer.kubeflow.org/v1alpha1", kind, {"mlPolicy": {"numNodes": pods}}, name)
    out["spec"]["template"] = {"spec": set_spec}
    out["metadata"]["labels"] = {"trainer.kubeflow.org/framework": "plain"}
    if kind == "ClusterTrainingRuntime":
        del out["metadata"]["namespace"]
    return out


def _trainjob(name: str, runtime: str, **spec: Node) -> Node:
    reference = {"name": runtime, "kind": "TrainingRuntime"}
    return _object("trainer.kubeflow.org/v1alpha1", "TrainJob", {"runtimeRef": reference, **spec}, name)


def _with_runtime(template: Node, _: Node, pods: int) -> list[Node]:
    return [_runtime("runtime-of-job", template, pods), _trainjob("of-a-runtime", "runtime-of-job", trainer={})]


def _alone(template: Node, _: Node, pods: int) -> list[Node]:
    return [_runtime("alone", template, pods)]


def _alone_in_cluster(template: Node, _: Node, pods: int) -> list[Node]:
    return [_runtime("alone-in-cluster", template, pods, "ClusterTrainingRuntime")]


_OF_TRAINER = ("image", "command", "args", "env")


def _with_trainer(template: Node, twin: Node, pods: int) -> list[Node]:
    """The main container's fields in the job, everything else in its runtime."""
    node = _first(template)
    trainer = {"numNodes": pods, **{field: node[field] for field in _OF_TRAINER if field in node}}
    if "resources" in node:
        trainer["resourcesPerNode"] = node["resources"]
    below = copy.deepcopy(twin)
    for field in (*_OF_TRAINER, "resources"):
        _first(below).pop(field, None)
    return [_trainjob("of-a-trainer", "below-a-trainer", trainer=trainer), _runtime("below-a-trainer", below, 1)]


# What a patch of a runtime may say; the rest belongs to other fields of the job, or to the runtime.
_PATCHED = ("volumes", "nodeSelector", "tolerations", "affinity", "serviceAccountName", "schedulingGates")
_PATCHED_IN_CONTAINER = ("volumeMounts",)


def _with_patch(template: Node, twin: Node, pods: int) -> list[Node]:
    below, patch = (
        copy.deepcopy(twin),
        {field: template["spec"][field] for field in _PATCHED if field in template["spec"]},
    )
    for field in (*_PATCHED, "initContainers"):
        below["spec"].pop(field, None)
    node = _first(template)
    patch["containers"] = [{"name": "node", **{field: node[field] for field in _PATCHED_IN_CONTAINER if field in node}}]
    for field in _PATCHED_IN_CONTAINER:
        _first(below).pop(field, None)
    patched = {"metadata": template["metadata"]} if "metadata" in template else {}
    below.pop("metadata", None)
    jobs = [{"name": "node", "template": {"spec": {"template": {**patched, "spec": patch}}}}]
    change = {
        "manager": "acme.example.com/pods",
        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}},
    }
    return [
        _trainjob("of-a-patch", "below-a-patch", runtimePatches=[change], trainer={}),
        _runtime("below-a-patch", below, pods),
    ]


def _replicas(
    kind: str, field: str, roles: tuple[str, ...], target: str, api: str = "kubeflow.org/v1", **more: Node
) -> Around:
    """A job of Kubeflow's Training Operator: roles by name, the restart policy beside each template."""

    def around(template: Node, twin: Node, pods: int) -> list[Node]:
        specs: Node = {}
        for role in roles:
            own = template if role == target else twin
            if role == "Launcher":
                _launch(own)
            count = 1 if role != roles[-1] else max(1, pods - len(roles) + 1)
            specs[role] = {"replicas": count, "template": _without(own, "restartPolicy")}
            if "restartPolicy" in own["spec"]:
                specs[role]["restartPolicy"] = own["spec"]["restartPolicy"]
        return [_object(api, kind, {field: specs, **copy.deepcopy(more)}, f"of-{kind}-{target}".lower())]

    return around


def _launch(template: Node) -> None:
    """Let the program be started by `mpirun`, as a launcher does."""
    node = _first(template)
    command = node.get("command")
    if isinstance(command, list) and command[:1] == ["python"]:
        node["command"] = ["mpirun", *command[1:]]


def _kubeflow(kind: str, field: str, roles: tuple[str, ...], container: str, **more: Node) -> list[Kind]:
    out = []
    for role in roles:
        prefix: Path = ("spec", field, role, "template")
        policy: Path = ("spec", field, role, "restartPolicy")
        out.append(
            Kind(
                f"{kind}/{role}",
                _replicas(kind, field, roles, role, **more),
                prefix,
                container=container,
                is_whole=len(roles) == 1,
                moved=((("spec", "restartPolicy"), policy),),
            )
        )
    return out


def _job(template: Node, _: Node, pods: int) -> list[Node]:
    spec = {"completionMode": "Indexed", **_child(template, max(2, pods))["spec"]}
    return [_object("batch/v1", "Job", spec, "of-an-indexed-job", annotations={"trainc.dev/compile": "true"})]


def _volcano(target: str) -> Around:
    def around(template: Node, twin: Node, pods: int) -> list[Node]:
        tasks = [
            {"name": role, "replicas": count, "template": template if role == target else twin}
            for role, count in (("master", 1), ("worker", max(1, pods - 1)))
        ]
        spec = {"minAvailable": max(2, pods), "schedulerName": "volcano", "queue": "default", "tasks": tasks}
        return [_object("batch.volcano.sh/v1alpha1", "Job", spec, f"of-volcano-{target}")]

    return around


def _ray(target: str) -> Around:
    def around(template: Node, twin: Node, pods: int) -> list[Node]:
        head, worker = [_without_policy(template if role == target else twin) for role in ("head", "worker")]
        group = {"groupName": "workers", "replicas": max(1, pods - 1), "rayStartParams": {}, "template": worker}
        cluster = {
            "rayVersion": "2.46.0",
            "headGroupSpec": {"rayStartParams": {}, "template": head},
            "workerGroupSpecs": [group],
        }
        spec = {"entrypoint": "python fit.py", "shutdownAfterJobFinishes": True, "rayClusterSpec": cluster}
        return [_object("ray.io/v1", "RayJob", spec, f"of-ray-{target}")]

    return around


def _leader_worker_set(target: str) -> Around:
    def around(template: Node, twin: Node, pods: int) -> list[Node]:
        leader, worker = [_without_policy(template if role == target else twin) for role in ("leader", "worker")]
        group = {"size": max(2, pods), "leaderTemplate": leader, "workerTemplate": worker}
        note = {"trainc.dev/run-to-completion": "true"}
        spec = {"replicas": 1, "leaderWorkerTemplate": group}
        return [_object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec, f"of-lws-{target}", annotations=note)]

    return around


def _armada(template: Node, _: Node, pods: int) -> list[Node]:
    template = copy.deepcopy(template)
    for container in [*(template["spec"].get("initContainers") or ()), *(template["spec"].get("containers") or ())]:
        resources = container.setdefault("resources", {"limits": {"cpu": 1}}) if isinstance(container, dict) else None
        if isinstance(resources, dict) and "requests" not in resources and "limits" in resources:
            resources["requests"] = copy.deepcopy(resources["limits"])
    metadata = template.get("metadata") or {}
    gang = {"armadaproject.io/gangId": "of-a-gang", "armadaproject.io/gangCardinality": str(max(2, pods))}
    annotations = metadata.get("annotations")
    metadata = {**metadata, "annotations": {**annotations, **gang} if isinstance(annotations, dict) else gang}
    job = {"namespace": "ml", **metadata, "podSpec": template["spec"]}
    return [{"queue": "ml", "jobSetId": "of-armada", "jobs": [copy.deepcopy(job) for _ in range(max(2, pods))]}]


_OF_MINI_POD = ("nodeSelector", "schedulerName", "serviceAccountName", "runtimeClassName", "dnsPolicy", "tolerations")
_OF_MINI_CONTAINER = ("image", "resources", "securityContext", "workingDir", "imagePullPolicy")


def _mini_cluster(template: Node, _: Node, pods: int) -> list[Node]:
    """The fields that a MiniCluster has too; the command is a text there, variables a mapping."""
    own = _first(template)
    container = {"command": "python train.py", **{field: own[field] for field in _OF_MINI_CONTAINER if field in own}}
    pod = {field: template["spec"][field] for field in _OF_MINI_POD if field in template["spec"]}
    metadata = template.get("metadata")
    pod |= metadata if isinstance(metadata, dict) else {}
    spec = {"size": max(2, pods), "containers": [container], "pod": pod}
    return [_object("flux-framework.org/v1alpha2", "MiniCluster", spec, "of-a-minicluster")]


_FIRST: Path = ("spec", "containers", 0)
_OF_CHILD: Path = ("template", "spec", "template")
_TRAINED = ((*_FIRST, "resources"), ("spec", "trainer", "resourcesPerNode"))
_PATCH: Path = ("spec", "runtimePatches", 0, "trainingRuntimeSpec", "template", "spec", "replicatedJobs", 0, *_OF_CHILD)
_RUNTIME: Path = ("spec", "template", "spec", "replicatedJobs", 0, *_OF_CHILD)

KINDS: tuple[Kind, ...] = (
    Kind("JobSet", _jobset, ("spec", "replicatedJobs", 0, *_OF_CHILD), is_whole=True),
    Kind("TrainJob/runtime", _with_runtime, _RUNTIME, container="node", is_whole=True),
    Kind(
        "TrainJob/trainer",
        _with_trainer,
        ("spec", "trainer"),
        container="node",
        is_whole=True,
        moved=(_TRAINED, *(((*_FIRST, field), ("spec", "trainer", field)) for field in _OF_TRAINER)),
        fields=tuple((*_FIRST, field) for field in (*_OF_TRAINER, "resources")),
    ),
    Kind(
        "TrainJob/patch",
        _with_patch,
        _PATCH,
        container="node",
        is_whole=True,
        fields=(
            ("metadata", "labels"),
            ("metadata", "annotations"),
            *(("spec", field) for field in _PATCHED),
            *((*_FIRST, field) for field in _PATCHED_IN_CONTAINER),
        ),
    ),
    Kind("TrainingRuntime", _alone, _RUNTIME, container="node", is_whole=True),
    Kind("ClusterTrainingRuntime", _alone_in_cluster, _RUNTIME, container="node", is_whole=True),
    *_kubeflow("PyTorchJob", "pytorchReplicaSpecs", ("Master", "Worker"), "pytorch"),
    *_kubeflow("TFJob", "tfReplicaSpecs", ("Chief", "PS", "Worker"), "tensorflow"),
    *_kubeflow("XGBoostJob", "xgbReplicaSpecs", ("Master", "Worker"), "xgboost"),
    *_kubeflow("PaddleJob", "paddleReplicaSpecs", ("Master", "Worker"), "paddle"),
    *_kubeflow("JAXJob", "jaxReplicaSpecs", ("Worker",), "jax"),
    *_kubeflow("MPIJob", "mpiReplicaSpecs", ("Launcher", "Worker"), "", api="kubeflow.org/v2beta1"),
    Kind("Job", _job, ("spec", "template"), is_whole=True),
    *(
        Kind(f"VolcanoJob/{role}", _volcano(role), ("spec", "tasks", index, "template"))
        for index, role in enumerate(("master", "worker"))
    ),
    Kind("RayJob/head", _ray("head"), ("spec", "rayClusterSpec", "headGroupSpec", "template")),
    Kind("RayJob/worker", _ray("worker"), ("spec", "rayClusterSpec", "workerGroupSpecs", 0, "template")),
    *(
        Kind(
            f"LeaderWorkerSet/{role}",
            _leader_worker_set(role),
            ("spec", "leaderWorkerTemplate", f"{role}Template"),
        )
        for role in ("leader", "worker")
    ),
    Kind(
        "Armada",
        _armada,
        ("jobs", 0),
        is_whole=True,
        moved=((("metadata",), ("jobs", 0)), (("spec",), ("jobs", 0, "podSpec"))),
    ),
    Kind(
        "MiniCluster",
        _mini_cluster,
        ("spec",),
        is_whole=True,
        moved=(
            *(((*_FIRST, field), ("spec", "containers", 0, field)) for field in _OF_MINI_CONTAINER),
            *((("spec", field), ("spec", "pod", field)) for field in _OF_MINI_POD),
            (("metadata",), ("spec", "pod")),
        ),
        fields=(
            ("metadata", "labels"),
            ("metadata", "annotations"),
            *(("spec", field) for field in _OF_MINI_POD),
            *((*_FIRST, field) for field in _OF_MINI_CONTAINER),
        ),
    ),
)
