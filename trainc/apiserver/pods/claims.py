"""What is wrong with the claims that pods and JobSets make for volumes of their own."""

from __future__ import annotations

from typing import Any

from trainc.apiserver.names import label, subdomain
from trainc.apiserver.pods.amounts import nanos, spelled
from trainc.apiserver.pods.annotations import annotation_keys
from trainc.apiserver.pods.complaints import Complaints, fields, items, text
from trainc.apiserver.pods.placement import selector
from trainc.model.tree import Path

_ALONE = "ReadWriteOncePod"
_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", _ALONE)
# Fields of metadata that a template must not have, as the server names them.
_METADATA = {
    "name": "name", "generateName": "generateName", "namespace": "namespace", "selfLink": "selfLink", "uid": "uID",
    "resourceVersion": "resourceVersion", "generation": "generation", "creationTimestamp": "creationTimestamp",
    "deletionTimestamp": "deletionTimestamp", "deletionGracePeriodSeconds": "deletionGracePeriodSeconds",
    "ownerReferences": "ownerReferences", "finalizers": "finalizers", "managedFields": "managedFields",
}  # fmt: skip


def template(tree: Any, path: Path, log: Complaints) -> None:
    """The template of a claim, which has no metadata but labels and annotations."""
    metadata, at = fields(fields(tree).get("metadata")), (*path, "metadata")
    annotation_keys(fields(metadata.get("annotations")), (*at, "annotations"), log)
    log.labels((*at, "labels"), metadata.get("labels"))
    for name, printed in _METADATA.items():
        if metadata.get(name):
            log.forbidden((*at, printed), "cannot be set", at=(*at, name))
    claim(fields(fields(tree).get("spec")), (*path, "spec"), log)


def claim(spec: dict[str, Any], path: Path, log: Complaints) -> None:
    """The spec of a claim: how its volume is mounted, how large it is, and what makes it."""
    if not items(spec.get("accessModes")):
        log.required((*path, "accessModes"), "at least 1 access mode is required")
    selector(spec.get("selector"), (*path, "selector"), log)
    modes = items(spec.get("accessModes"))
    at = (*path, "accessModes")
    for index, mode in enumerate(modes):
        log.one_of(at, mode, _MODES, at=(*at, index))
    if _ALONE in modes and any(mode in _MODES[:-1] for mode in modes):
        log.forbidden(at, f"may not use {_ALONE} with other access modes")
    requests = fields(fields(spec.get("resources")).get("requests"))
    printed: Path = (*path, "resources", "[storage]")
    if "storage" not in requests:
        log.required(printed, at=path)
    elif nanos(requests["storage"]) <= 0:
        place: Path = (*path, "resources", "requests", "storage")
        log.invalid(printed, spelled(requests["storage"]), "must be greater than zero", at=place)
    for name in ("storageClassName", "volumeAttributesClassName"):
        if text(spec, name):
            log.invalid((*path, name), spec[name], *subdomain(spec[name]))
    if spec.get("volumeMode") is not None:
        log.one_of((*path, "volumeMode"), spec["volumeMode"], ("Block", "Filesystem"))
    # What a volume is filled with: two spellings, which must not contradict each other.
    one, other = spec.get("dataSource"), spec.get("dataSourceRef")
    for name in ("dataSource", "dataSourceRef"):
        if spec.get(name) is not None:
            _reference(fields(spec[name]), (*path, name), log)
    if other is None:
        return
    namespace = text(fields(other), "namespace")
    if namespace:
        log.invalid((*path, "dataSourceRef", "namespace"), namespace, *label(namespace))
    if one is not None and namespace:
        log.invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified")
    elif one is not None and any(
        fields(one).get(key) != fields(other).get(key) for key in ("apiGroup", "kind", "name")
    ):
        log.invalid(path, {}, "must match dataSourceRef")


def _reference(reference: dict[str, Any], path: Path, log: Complaints) -> None:
    for name in ("name", "kind"):
        if not reference.get(name):
            log.required((*path, name))
    kind, group = text(reference, "kind"), text(reference, "apiGroup")
    if not group and kind != "PersistentVolumeClaim":
        log.invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
    if group:
        log.invalid((*path, "apiGroup"), group, *subdomain(group))
