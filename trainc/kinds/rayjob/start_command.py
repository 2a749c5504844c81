"""The line of `ray start` for one pod of a Ray cluster, as KubeRay makes it."""

from __future__ import annotations

import json
import re
from math import inf
from sys import float_info

from trainc.apiserver.pods.requests import quantity_of
from trainc.model.sourced import Sourced
from trainc.model.tree import get, plain
from trainc.text.embedded_json import json_value
from trainc.text.object_keys import TPU_RESOURCE
from trainc.text.quantity import NANO, Quantity, QuantityError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.kinds.rayjob.spec import RayGroup
    from trainc.model.tree import Tree

ULIMIT = "ulimit -n ${RAY_START_ULIMIT_OPEN_FILES:-65536}"
AGENT_PORT = 52365
_WITH_VALUE = ("log-color", "include-dashboard", "include-log-monitor")  # switches that take `true` or `false`
_ACCELERATORS = {"aws.amazon.com/neuroncore": "neuron_cores", TPU_RESOURCE: "TPU"}
_SLICE = re.compile(r"nvidia\.com/mig-\d+g\.\d+gb$")


def start_line(group: RayGroup, address: str) -> str:
    """The line for a pod of a group; `address` is that of the head, with its port."""
    params = start_params(group, address)
    words = ["ray", "start", *(["--head"] if group.is_head else [])]
    for name in sorted(params):
        text = params[name]
        if text.lower() in {"true", "false"} and name not in _WITH_VALUE:
            words += [f"--{name}"] if text.lower() == "true" else []
        else:
            words.append(f"--{name}={text}")
    return " ".join(words)


def start_params(group: RayGroup, address: str) -> dict[str, str]:
    """Every flag with its value: those written, then what the group and its container say, then KubeRay's own."""
    params = dict(group.params)
    params.update(_told(plain(get(group.tree, "resources")) or {}))
    labels = plain(get(group.tree, "labels")) or {}
    if labels:
        params["labels"] = ",".join(f"{key}={labels[key]}" for key in sorted(labels))
    params.setdefault(*(("dashboard-host", "0.0.0.0") if group.is_head else ("address", address)))  # noqa: S104 (in the pod)
    params.setdefault("metrics-export-port", "8080")
    params["block"] = "true"
    params.setdefault("dashboard-agent-listen-port", str(AGENT_PORT))
    resources = get(group.ray_container, "resources")
    limits, requests = get(resources, "limits") or {}, get(resources, "requests") or {}
    cpu = _whole(get(limits, "cpu")) or _whole(get(requests, "cpu"))
    if cpu:
        params.setdefault("num-cpus", str(cpu))
    memory = _whole(get(limits, "memory"))
    if memory:
        params.setdefault("memory", str(memory))
    _add_accelerators(params, limits)
    return params


def _whole(leaf: Tree) -> int:
    """An amount rounded up, 0 where there is none."""
    amount = quantity_of(leaf) if type(leaf) is Sourced else None
    return 0 if amount is None else amount.ceil()


def _told(resources: Mapping[str, object]) -> dict[str, str]:
    """The flags that a group's own `resources` stand for."""
    out: dict[str, str] = {}
    custom: dict[str, float] = {}
    for name, text in resources.items():
        try:
            amount = Quantity.parse(text)
        except QuantityError:
            continue  # KubeRay skips it, with a line in its log
        flag = {"cpu": "num-cpus", "memory": "memory"}.get(name.lower()) or ("num-gpus" if is_gpu(name.lower()) else "")
        if flag:
            out[flag] = str(amount.ceil())
        else:
            custom[name] = _float(amount)
    return {**out, **({"resources": _quoted(custom)} if custom and _are_finite(custom) else {})}


def is_gpu(name: str) -> bool:
    """Whether a resource of Kubernetes is a GPU to Ray."""
    return name.endswith("gpu") or _SLICE.search(name) is not None


def _add_accelerators(params: dict[str, str], limits: Tree) -> None:
    """The first GPU and the first other accelerator among the limits, by name; none where `resources` is not JSON."""
    known = _custom(params.get("resources"))
    if known is None:
        return
    for name in sorted(limits):
        amount = quantity_of(limits[name])
        if amount is None or not amount.nanos:
            continue
        if is_gpu(name):
            params.setdefault("num-gpus", str(amount.ceil()))
        if name in _ACCELERATORS and not any(other in known for other in _ACCELERATORS.values()):
            known[_ACCELERATORS[name]] = _float(amount)
            if _are_finite(known):
                params["resources"] = _quoted(known)


def _custom(text: str | None) -> dict[str, float] | None:
    if text is None:
        return {}
    try:
        amounts = json_value(text.strip("'\"` "))
    except ValueError:
        return None
    numbers = type(amounts) is dict and all(type(one) in (int, float) for one in amounts.values())
    return amounts if numbers and _are_finite(amounts) else None


def _float(amount: Quantity) -> float:
    """An amount as the nearest number of Go's, infinity beyond the largest."""
    try:
        return amount.nanos / NANO
    except OverflowError:
        return inf


def _are_finite(amounts: Mapping[str, float]) -> bool:
    """Whether JSON has these numbers; KubeRay leaves the flag out where it has not."""
    return all(abs(one) <= float_info.max for one in amounts.values())


def _quoted(resources: Mapping[str, float]) -> str:
    """A map as JSON in quotes of the shell; a whole number has no point, as Go writes it."""
    shown = {
        name: int(resources[name]) if resources[name] == int(resources[name]) else resources[name]
        for name in sorted(resources)
    }
    return f"'{json.dumps(shown, separators=(',', ':'))}'"
