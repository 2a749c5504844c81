"""What only a pod is refused for: its template is taken, the Job exists, and no pod of it ever appears.

Source: pod validation with `ResourceIsPod`, the defaults of pods, and the admission plugins Priority and RuntimeClass,
Kubernetes 1.36.
"""

from collections.abc import Mapping
from typing import Any

from trainc.apiserver.fault import Fault
from trainc.apiserver.pods import ports
from trainc.apiserver.pods.amounts import nanos, spelled
from trainc.apiserver.pods.complaints import Complaints, Field, fields, items
from trainc.apiserver.pods.placement import PREFERRED, REQUIRED, selected_keys
from trainc.apiserver.pods.volumes import text_of
from trainc.model.tree import Path, Tree, get, plain, value

Objects = Mapping[str, Mapping[str, Tree]]

_SYSTEM = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_LOWER = "PreemptLowerPriority"


def pod(template: Tree, name: str, path: Path, log: Complaints, objects: Objects) -> None:
    """Look at a pod made from a template that is taken; `name` is what the names of the pods begin with."""
    tree, held = template["spec"], Field(template, path, log)["spec"]
    containers = [one for field in ("containers", "initContainers") for one in held[field].items()]
    for container in containers:
        image = text_of(container.value, "image")
        if image != image.strip():
            container["image"].reading(image).invalid("must not have leading or trailing whitespace")
    # A volume made from an image names it; without that it counts as absent.
    lost = set()
    for volume in held["volumes"].maps():
        image = plain(volume.get("image"))
        if image is not None and not fields(image).get("reference"):
            volume["image"]["reference"].required()
            lost.add(text_of(volume.value, "name"))
    for container in containers if lost else ():
        for mount in container["volumeMounts"].items():
            if (mounted := text_of(mount.value, "name")) in lost:
                mount["name"].reading(mounted).not_found()
    if value(tree, "hostNetwork") is True:
        ports.host_ports(held.reading(ports.with_ports_alone(tree)), filled_in=True)
    if value(tree, "nodeName") and items(tree.get("schedulingGates")):
        held["nodeName"].forbidden("cannot be set until all schedulingGates have been cleared")
    if "affinity" in tree or "topologySpreadConstraints" in tree:
        _merged_keys(held, fields(plain(get(template, "metadata", "labels"))))
    if "resources" in tree:
        _requests(held)
    if "priority" in tree or "preemptionPolicy" in tree:
        _priority(held, name, objects)
    if "overhead" in tree:
        _overhead(held, name, objects)


def _merged_keys(pod: Field, labels: dict[str, Any]) -> None:
    """Keys of labels that the server writes into a selector of an affinity or the spread which names them already."""
    affinity, spread = (pod[name].reading(plain(pod.get(name))) for name in ("affinity", "topologySpreadConstraints"))
    terms: list[Field] = []
    for kind in ("podAffinity", "podAntiAffinity"):
        terms += affinity[kind][REQUIRED].maps()
        terms += [weighted["podAffinityTerm"] for weighted in affinity[kind][PREFERRED].maps()]
    if pod.log.features.has("MatchLabelKeysInPodTopologySpreadSelectorMerge"):
        terms += spread.maps()
    for term in terms:
        selected = selected_keys(term.get("labelSelector"))
        for index, key in enumerate(term["matchLabelKeys"].items()):
            if key.value in selected and key.value in labels:
                key.printed((*term.path, index)).invalid("exists in both matchLabelKeys and labelSelector")


def _requests(pod: Field) -> None:
    """A pod whose containers ask for more than the pod does; a limit stands in for a request that is not written."""
    from trainc.apiserver.pods.requests import asked, together  # noqa: PLC0415 (few pods have resources of their own)

    held = pod["resources"].reading(plain(pod.get("resources")))
    limits, requests = fields(held.get("limits")), fields(held.get("requests"))
    in_template = together(pod.value, asked)
    for name, most in together(pod.value, lambda container: asked(container, limits=True)).items():
        if name in requests and most.quantity.nanos > nanos(requests[name]):
            if name not in in_template or in_template[name].quantity.nanos <= nanos(requests[name]):
                why = f"must be greater than or equal to aggregate container requests of {spelled(str(most.quantity))}"
                held["requests"].entry(name).reading(spelled(requests[name])).invalid(why)
            continue
        bound = limits.get(name) if name in ("cpu", "memory") and name not in requests else None
        if bound is not None and most.quantity.nanos > nanos(bound):
            why = f"must be less than or equal to {name} limit of {spelled(bound)}"
            held["requests"].reading(spelled(str(most.quantity))).invalid(why, at=held["limits"][name])


def _forbidden(field: Field, name: str, why: str) -> None:
    field.log.faults.append(Fault(field.at, field.log.kind, f'pods "{name}" is forbidden: {why}'))


def _priority(pod: Field, name: str, objects: Objects) -> None:
    """What a person writes of a priority must be what its class says."""
    if (known := _class(value(pod.value, "priorityClassName"), objects)) is None:
        return
    number, policy = known
    written, own = value(pod.value, "priority"), value(pod.value, "preemptionPolicy")
    end = "from the given PriorityClass name"
    if type(written) is int and written != number:
        why = f"the integer value of priority ({written}) must not be provided in pod spec; "
        _forbidden(pod["priority"], name, f"{why}priority admission controller computed {number} {end}")
    elif type(own) is str and own != policy:
        why = f"the string value of PreemptionPolicy ({own}) must not be provided in pod spec; "
        _forbidden(pod["preemptionPolicy"], name, f"{why}priority admission controller computed {policy} {end}")


def _class(name: Any, objects: Objects) -> tuple[int, str] | None:
    """The number and the preemption policy of a class, that of no class for none; None where it is not known."""
    classes = objects.get("PriorityClass", {})
    if name in _SYSTEM:
        return _SYSTEM[name], _LOWER
    default = next((tree for tree in classes.values() if value(tree, "globalDefault") is True), None)
    if (tree := classes.get(name) if name else default) is None:
        return None if name else (0, _LOWER)
    number, policy = value(tree, "value"), value(tree, "preemptionPolicy")
    return number if type(number) is int else 0, policy if type(policy) is str and policy else _LOWER


def _overhead(pod: Field, name: str, objects: Objects) -> None:
    """What a person writes of the overhead must be what the runtime class says."""
    if not (held := fields(plain(pod.get("overhead")))):
        return
    chosen = value(pod.value, "runtimeClassName")
    runtime = objects.get("RuntimeClass", {}).get(chosen) if type(chosen) is str and chosen else None
    if chosen and runtime is None:
        return
    if not (own := fields(plain(get(runtime, "overhead", "podFixed")))):
        why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
    elif {key: nanos(amount) for key, amount in own.items()} != {key: nanos(amount) for key, amount in held.items()}:
        why = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    else:
        return
    _forbidden(pod["overhead"], f"{name}<random>", why)
