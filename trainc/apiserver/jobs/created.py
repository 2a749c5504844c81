"""What only a pod is refused for: its template is taken, the Job exists, and no pod of it ever appears.

Source: pod validation with `ResourceIsPod`, the defaults of pods, and the admission plugins Priority and RuntimeClass,
Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainc.apiserver.fault import Fault
from trainc.apiserver.pods import ports
from trainc.apiserver.pods.amounts import nanos, spelled
from trainc.apiserver.pods.complaints import Complaints, fields, items, maps, text
from trainc.apiserver.pods.volumes import text_of
from trainc.model.tree import Path, Tree, get, plain, value
from trainc.text.record import Any

Objects = Mapping[str, Mapping[str, Tree]]

_SYSTEM = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_LOWER = "PreemptLowerPriority"


def pod(template: Tree, name: str, path: Path, log: Complaints, objects: Objects) -> None:
    """Look at a pod made from a template that is taken; `name` is what the names of the pods begin with."""
    tree, at = template["spec"], (*path, "spec")
    for field in ("containers", "initContainers"):
        for index, container in enumerate(items(tree.get(field))):
            image = value(container, "image")
            if type(image) is str and image != image.strip():
                why = "must not have leading or trailing whitespace"
                log.invalid((*at, field, index, "image"), image, why)
    if "volumes" in tree:
        _references(tree, at, log)
    if value(tree, "hostNetwork") is True:
        ports.host_ports(ports.with_ports_alone(tree), at, log, filled_in=True)
    if value(tree, "nodeName") and items(tree.get("schedulingGates")):
        log.forbidden((*at, "nodeName"), "cannot be set until all schedulingGates have been cleared")
    if "affinity" in tree or "topologySpreadConstraints" in tree:
        labels = fields(plain(fields(template.get("metadata")).get("labels")))
        _merged_keys(tree, labels, at, log)
    if "resources" in tree:
        _requests(tree, at, log)
    if "priority" in tree or "preemptionPolicy" in tree:
        _priority(tree, name, at, log, objects)
    if "overhead" in tree:
        _overhead(tree, name, at, log, objects)


def _references(tree: Tree, path: Path, log: Complaints) -> None:
    """A volume made from an image names it; without that it counts as absent."""
    lost = set()
    for index, volume in maps(tree["volumes"]):
        if (image := plain(volume.get("image"))) is not None and not fields(image).get("reference"):
            log.required((*path, "volumes", index, "image", "reference"))
            lost.add(text_of(volume, "name"))
    if not lost:
        return
    for field in ("containers", "initContainers"):
        for index, container in maps(plain(tree.get(field))):
            for number, mount in maps(container.get("volumeMounts")):
                if mount.get("name") in lost:
                    log.not_found((*path, field, index, "volumeMounts", number, "name"), mount["name"])


def _merged_keys(tree: Tree, labels: dict[str, Any], path: Path, log: Complaints) -> None:
    """Keys of labels that the server writes into a selector which names them already."""
    for term, at in _terms(tree, path, log):
        if (selector := term.get("labelSelector")) is None:
            continue
        selected = {*fields(fields(selector).get("matchLabels"))}
        selected.update(text(rule, "key") for _, rule in maps(fields(selector).get("matchExpressions")))
        for index, key in enumerate(items(term.get("matchLabelKeys"))):
            if key in selected and key in labels:
                why = "exists in both matchLabelKeys and labelSelector"
                log.invalid((*at, index), key, why, at=(*at, "matchLabelKeys", index))


def _terms(tree: Tree, path: Path, log: Complaints) -> Iterator[tuple[dict[str, Any], Path]]:
    """The terms of affinities and of the spread that hold selectors, and where each stands."""
    affinity = fields(plain(tree.get("affinity")))
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = fields(affinity.get(kind))
        for index, term in maps(terms.get(_REQUIRED)):
            yield term, (*path, "affinity", kind, _REQUIRED, index)
        for index, weighted in maps(terms.get(_PREFERRED)):
            at = (*path, "affinity", kind, _PREFERRED, index, "podAffinityTerm")
            yield fields(weighted.get("podAffinityTerm")), at
    if log.features.has("MatchLabelKeysInPodTopologySpreadSelectorMerge"):
        for index, rule in maps(plain(tree.get("topologySpreadConstraints"))):
            yield rule, (*path, "topologySpreadConstraints", index)


def _requests(tree: Tree, path: Path, log: Complaints) -> None:
    """A pod whose containers ask for more than the pod does; a limit stands in for a request that is not written."""
    from trainc.apiserver.pods.requests import amounts, together  # noqa: PLC0415 (few pods have resources of their own)

    held = fields(plain(tree["resources"]))
    limits, requests = fields(held.get("limits")), fields(held.get("requests"))

    def with_limits(container: Tree) -> Any:
        return {**amounts(get(container, "resources", "limits")), **written(container)}

    def written(container: Tree) -> Any:
        return amounts(get(container, "resources", "requests"))

    in_template = together(tree, written)
    for name, most in together(tree, with_limits).items():
        if name in requests and most.quantity.nanos > nanos(requests[name]):
            if name not in in_template or in_template[name].quantity.nanos <= nanos(requests[name]):
                why = f"must be greater than or equal to aggregate container requests of {spelled(str(most.quantity))}"
                place: Path = (*path, "resources", "requests", name)
                log.invalid((*place[:-1], f"[{name}]"), spelled(requests[name]), why, at=place)
            continue
        bound = limits.get(name) if name in ("cpu", "memory") and name not in requests else None
        if bound is not None and most.quantity.nanos > nanos(bound):
            why = f"must be less than or equal to {name} limit of {spelled(bound)}"
            at: Path = (*path, "resources", "requests")
            log.invalid(at, spelled(str(most.quantity)), why, at=(*path, "resources", "limits", name))


def _forbidden(name: str, why: str, path: Path, log: Complaints) -> None:
    log.faults.append(Fault(path, log.kind, f'pods "{name}" is forbidden: {why}'))


def _priority(tree: Tree, name: str, path: Path, log: Complaints, objects: Objects) -> None:
    """What a person writes of a priority must be what its class says."""
    if (known := _class(value(tree, "priorityClassName"), objects)) is None:
        return
    number, policy = known
    written, own = value(tree, "priority"), value(tree, "preemptionPolicy")
    end = "from the given PriorityClass name"
    if type(written) is int and written != number:
        why = f"the integer value of priority ({written}) must not be provided in pod spec; "
        _forbidden(name, f"{why}priority admission controller computed {number} {end}", (*path, "priority"), log)
    elif type(own) is str and own != policy:
        why = f"the string value of PreemptionPolicy ({own}) must not be provided in pod spec; "
        why += f"priority admission controller computed {policy} {end}"
        _forbidden(name, why, (*path, "preemptionPolicy"), log)


def _class(name: Any, objects: Objects) -> tuple[int, str] | None:
    """The number and the preemption policy of a class, that of no class for none; None where it is not known."""
    classes = objects.get("PriorityClass", {})
    if not name:
        defaults = [tree for tree in classes.values() if value(tree, "globalDefault") is True]
        return _of_class(defaults[0]) if defaults else (0, _LOWER)
    if name in _SYSTEM:
        return _SYSTEM[name], _LOWER
    tree = classes.get(name)
    return None if tree is None else _of_class(tree)


def _of_class(tree: Tree) -> tuple[int, str]:
    number, policy = value(tree, "value"), value(tree, "preemptionPolicy")
    return number if type(number) is int else 0, policy if type(policy) is str and policy else _LOWER


def _overhead(tree: Tree, name: str, path: Path, log: Complaints, objects: Objects) -> None:
    """What a person writes of the overhead must be what the runtime class says."""
    if not (held := fields(plain(tree["overhead"]))):
        return
    chosen = value(tree, "runtimeClassName")
    runtime = objects.get("RuntimeClass", {}).get(chosen) if type(chosen) is str and chosen else None
    if chosen and runtime is None:
        return
    if not (own := fields(fields(plain(fields(runtime).get("overhead"))).get("podFixed"))):
        why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
    elif {key: nanos(amount) for key, amount in own.items()} != {key: nanos(amount) for key, amount in held.items()}:
        why = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    else:
        return
    _forbidden(f"{name}<random>", why, (*path, "overhead"), log)
