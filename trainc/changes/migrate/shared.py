"""One runtime for many migrated jobs: what they have in common stands there, what differs stays in the jobs."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from trainc.changes.migrate.policies import NODE
from trainc.changes.migrate.target import MigrationTarget
from trainc.text.object_keys import TRAINER_API

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# What a patch of a job can say of a pod and of its containers (Trainer v2.3).
_OF_PODS = (
    "affinity",
    "imagePullSecrets",
    "nodeSelector",
    "schedulingGates",
    "securityContext",
    "serviceAccountName",
    "terminationGracePeriodSeconds",
    "tolerations",
    "volumes",
)
_OF_CONTAINERS = ("env", "securityContext", "volumeMounts")
MANAGER = "trainc.dev/shared-runtime"

_Spot = tuple[str, ...]  # of what a patch can say: ("metadata",), or role, container ("" for the pod) and field


class Shared(NamedTuple):
    """A runtime that several jobs name; `is_new` where it is made for them."""

    runtime: dict[str, Any]
    is_new: bool

    @property
    def name(self) -> str:
        """The name by which jobs refer to it."""
        return str(self.runtime["metadata"]["name"])

    def serve(self, want: MigrationTarget) -> MigrationTarget | str:
        """The job with this runtime in place of its own, or why it cannot have it."""
        skeleton, values = _parted(want.runtime["spec"])
        own, given = _parted(self.runtime["spec"])
        if want.policy is None:
            return want.reason
        if self.is_new and skeleton != own:
            return f"it differs from `{self.name}` in `{_first_difference(skeleton, own)}`, which no job can say"
        if _roles(skeleton) != _roles(own) or set(skeleton.get("mlPolicy") or {}) - set(own.get("mlPolicy") or {}):
            return f"`{self.name}` has other roles, or another policy"
        job = deepcopy(want.job)
        job["spec"]["runtimeRef"].update(kind=self.runtime["kind"], name=self.name)
        left = {spot: value for spot, value in values.items() if given.get(spot) != value}
        _take_env(job["spec"], left, want.policy.trainers)
        patch = _patch(left)
        if patch:
            job["spec"]["runtimePatches"] = [{"manager": MANAGER, "trainingRuntimeSpec": patch}]
        served = MigrationTarget(job, self.runtime, want.extras, want.policy, "")
        served.own_runtime = False
        served.served_by = self.name
        served.followed = "" if self.is_new else self.name
        return served


def shared_by(wants: Iterable[MigrationTarget], name: str) -> Shared | None:
    """A runtime for the largest number of jobs that can have one in common; None where no policy wires any of them."""
    groups: dict[str, list[tuple[dict[str, Any], dict[_Spot, Any], MigrationTarget]]] = {}
    for want in wants:
        if want.policy is not None:
            skeleton, values = _parted(want.runtime["spec"])
            groups.setdefault(json.dumps(skeleton, sort_keys=True, default=str), []).append((skeleton, values, want))
    if not groups:
        return None
    group = max(groups.values(), key=len)
    spec = deepcopy(group[0][0])
    common = {
        spot: value for spot, value in group[0][1].items() if all(values.get(spot) == value for _, values, _ in group)
    }
    for spot, value in common.items():
        _put(spec, spot, value)
    metadata: dict[str, Any] = {"name": name}
    labels = group[0][2].runtime["metadata"].get("labels")
    if labels:
        metadata["labels"] = labels
    return Shared(
        {"apiVersion": TRAINER_API, "kind": "ClusterTrainingRuntime", "metadata": metadata, "spec": spec}, is_new=True
    )


def _take_env(spec: dict[str, Any], left: dict[_Spot, Any], trainers: Iterable[str]) -> None:
    """Say the variables of the trainers in `spec.trainer`: no patch may."""
    env = [entry for role in trainers for entry in left.pop((role, NODE, "env"), ())]
    if env:
        own = spec["trainer"].get("env", [])
        names = {entry["name"] for entry in own}
        spec["trainer"]["env"] = [*(entry for entry in env if entry["name"] not in names), *own]


def _parted(spec: dict[str, Any]) -> tuple[dict[str, Any], dict[_Spot, Any]]:
    """A runtime's spec without what a job can say by a patch, and that by the place where it stands."""
    spec = deepcopy(spec)
    values: dict[_Spot, Any] = {}
    template = spec.get("template") or {}
    if "metadata" in template:
        values["metadata",] = template.pop("metadata")
    for role, pod_template in _pods(spec):
        if "metadata" in pod_template:
            values[role, "", "metadata"] = pod_template.pop("metadata")
        pod = pod_template.get("spec") or {}
        for field in _OF_PODS:
            if field in pod:
                values[role, "", field] = pod.pop(field)
        for container in pod.get("containers") or ():
            for field in _OF_CONTAINERS:
                if field in container:
                    values[role, container["name"], field] = container.pop(field)
    mpi = (spec.get("mlPolicy") or {}).get("mpi")
    if isinstance(mpi, dict):
        mpi["numProcPerNode"] = 1  # every job says its own
    return spec, values


def _pods(spec: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The pod template of each role."""
    for role in ((spec.get("template") or {}).get("spec") or {}).get("replicatedJobs") or ():
        template = role["template"]["spec"].get("template")
        if isinstance(template, dict):
            yield role["name"], template


def _roles(spec: dict[str, Any]) -> list[str]:
    return sorted(name for name, _ in _pods(spec))


def _put(spec: dict[str, Any], spot: _Spot, value: Any) -> None:
    """Put into a runtime's spec what stood at a place of it."""
    if spot == ("metadata",):
        spec["template"]["metadata"] = value
        return
    role, container, field = spot
    template = dict(_pods(spec))[role]
    if field == "metadata":
        template[field] = value
    elif not container:
        template["spec"][field] = value
    else:
        next(one for one in template["spec"]["containers"] if one["name"] == container)[field] = value


def _patch(values: dict[_Spot, Any]) -> dict[str, Any]:
    """What a job's patch says, empty where there is nothing to say."""
    template: dict[str, Any] = {}
    roles: dict[str, dict[str, Any]] = {}
    for spot, value in values.items():
        if spot == ("metadata",):
            template["metadata"] = value
            continue
        role, container, field = spot
        pod = roles.setdefault(role, {})
        if field == "metadata":
            pod[field] = value
            continue
        spec = pod.setdefault("spec", {})
        if not container:
            spec[field] = value
            continue
        listed = spec.setdefault("containers", [])
        if not any(one["name"] == container for one in listed):
            listed.append({"name": container})
        next(one for one in listed if one["name"] == container)[field] = value
    if roles:
        jobs = [{"name": name, "template": {"spec": {"template": pod}}} for name, pod in roles.items()]
        template["spec"] = {"replicatedJobs": jobs}
    return {"template": template} if template else {}


def _first_difference(one: Any, other: Any, path: str = "") -> str:
    """The first path at which two trees differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            if one.get(key) != other.get(key):
                return _first_difference(one.get(key), other.get(key), f"{path}.{key}".lstrip("."))
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, pair in enumerate(zip(one, other, strict=True)):
            if pair[0] != pair[1]:
                return _first_difference(*pair, f"{path}[{index}]")
    return path
