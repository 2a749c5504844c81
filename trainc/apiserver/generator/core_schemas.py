"""Shapes of Kubernetes 1.36 as nodes of a structural schema, from the OpenAPI document in kubernetes-validate."""

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from trainc.apiserver.models.node import INT_OR_STRING, QUANTITY

Schema = dict[str, Any]

GO_TYPE = "x-go"
"""What a Go program calls a shape, for the run-time table alone."""
_DOCUMENT = "kubernetes-json-schema/v1.36.0-local/_definitions.json"
_GROUPS = ("io.k8s.api.core.v1", "io.k8s.api.batch.v1", "io.k8s.apimachinery.pkg.apis.meta.v1")
_UNUSED = ("description", "enum", "x-kubernetes-group-version-kind", "x-kubernetes-unions")
_SCALARS: dict[str, Schema] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {**INT_OR_STRING, "pattern": QUANTITY},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": INT_OR_STRING,
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": {},  # read by its own program
}
ATOMIC_MAPS = frozenset(
    {"ConfigMapEnvSource", "ConfigMapProjection", "ConfigMapVolumeSource", "SecretEnvSource", "SecretProjection"}
)
TEMPLATE_META = ("annotations", "finalizers", "labels", "name", "namespace")


def over_children(node: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """A copy of a node with `change` done to the schemas right below it."""
    copy = dict(node)
    if "properties" in node:
        copy["properties"] = {name: change(child) for name, child in node["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            copy[key] = change(node[key])
    return copy


def below(node: Schema) -> list[Schema]:
    """The schemas right below a node."""
    nested = [node[key] for key in ("items", "additionalProperties") if isinstance(node.get(key), dict)]
    return [*node.get("properties", {}).values(), *nested]


def full_name(short: str) -> str:
    """`PodSpec` as `io.k8s.api.core.v1.PodSpec`; a shape of another group is named in full."""
    names = (short, *(f"{group}.{short}" for group in _GROUPS))
    return next(name for name in names if name in _definitions())


@cache
def expand(name: str) -> Schema:
    """The shape with every reference replaced by what it refers to."""
    return _resolve(definition(name))


def metadata() -> Schema:
    """The metadata of a whole object, of which `definition` leaves what a CRD keeps inside a template."""
    return _resolve({**_structural(_definitions()[full_name("ObjectMeta")]), GO_TYPE: "v1.ObjectMeta"})


@cache
def definition(name: str) -> Schema:
    """The shape as structural schema; references to other shapes are left as `$ref` with the full name."""
    if name in _SCALARS:
        return _SCALARS[name]
    node = _structural(_definitions()[name])
    short = name.rpartition(".")[2]
    if short == "ObjectMeta":
        fields = {field: node["properties"][field] for field in TEMPLATE_META}
        node["properties"] = {
            field: {word: value for word, value in child.items() if not word.startswith("x-kubernetes-list")}
            for field, child in fields.items()
        }
    for field, value in node.get("properties", {}).items():
        if (short, field) in DEFAULTS:
            value["default"] = DEFAULTS[short, field]
    if short in ATOMIC_MAPS:
        node["x-kubernetes-map-type"] = "atomic"
    return {**node, GO_TYPE: f"v1.{short}"} if "properties" in node else node


@cache
def _definitions() -> dict[str, Schema]:
    text = files("kubernetes_validate").joinpath(_DOCUMENT).read_text(encoding="utf-8")
    definitions: dict[str, Schema] = json.loads(text)["$defs"]
    return definitions


def _structural(given: Schema) -> Schema:
    node = {key: value for key, value in given.items() if key not in _UNUSED}
    if isinstance(node.get("type"), list):
        node["type"] = node["type"][0]
    if "$ref" in node:
        node["$ref"] = node["$ref"].rpartition("/")[2]
    if "required" in node:
        node["required"] = sorted(node["required"])
    if "properties" in node:
        node["properties"] = dict(sorted(node["properties"].items()))
    return over_children(node, _structural)


def _resolve(node: Schema) -> Schema:
    if "$ref" in node:
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return {**expand(node["$ref"]), **beside}
    return over_children(node, _resolve)


DEFAULTS: dict[tuple[str, str], str | bool] = {
    ("AzureDiskVolumeSource", "fsType"): "ext4",
    ("AzureDiskVolumeSource", "readOnly"): False,
    ("ConfigMapEnvSource", "name"): "",
    ("ConfigMapKeySelector", "name"): "",
    ("ConfigMapProjection", "name"): "",
    ("ConfigMapVolumeSource", "name"): "",
    ("ContainerPort", "protocol"): "TCP",
    ("FileKeySelector", "optional"): False,
    ("GRPCAction", "service"): "",
    ("ISCSIVolumeSource", "iscsiInterface"): "default",
    ("LocalObjectReference", "name"): "",
    ("RBDVolumeSource", "keyring"): "/etc/ceph/keyring",
    ("RBDVolumeSource", "pool"): "rbd",
    ("RBDVolumeSource", "user"): "admin",
    ("ScaleIOVolumeSource", "fsType"): "xfs",
    ("ScaleIOVolumeSource", "storageMode"): "ThinProvisioned",
    ("SecretEnvSource", "name"): "",
    ("SecretKeySelector", "name"): "",
    ("SecretProjection", "name"): "",
}

"""Shapes that server-side apply replaces whole; the OpenAPI document marks only the others."""

"""The metadata fields that a CRD keeps inside a template."""
