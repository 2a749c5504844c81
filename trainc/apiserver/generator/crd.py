"""A kind as a CustomResourceDefinition that kubectl installs."""

from trainc.apiserver.generator.core_schemas import GO_TYPE, Schema
from trainc.apiserver.generator.structural import relaxed, structural, without
from trainc.apiserver.models.node import Resource

_UNKNOWN = ("x-kubernetes-patch-merge-key", "x-kubernetes-patch-strategy", GO_TYPE)


def root(kind: type[Resource]) -> Schema:
    """The structural schema of the whole object; metadata is the server's own business."""
    schema = structural(kind, inline=True)
    properties = {**schema["properties"], "metadata": {"type": "object"}}
    return {**schema, "properties": properties}


def crd(*versions: type[Resource]) -> Schema:
    """The manifest of the definition; of several versions of a kind the last one is stored."""
    names = versions[-1].NAMES
    spelled: Schema = {"kind": names.kind, "listKind": f"{names.kind}List", "plural": names.plural}
    if names.short:
        spelled["shortNames"] = list(names.short)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names.plural}.{names.group}"},
        "spec": {
            "group": names.group,
            "names": {**spelled, "singular": names.kind.lower()},
            "scope": "Namespaced" if names.namespaced else "Cluster",
            "versions": [_version(kind, stored=kind is versions[-1]) for kind in versions],
        },
    }


def _version(kind: type[Resource], *, stored: bool) -> Schema:
    names = kind.NAMES
    version: Schema = {"name": names.version, "served": True, "storage": stored}
    if names.columns:
        version["additionalPrinterColumns"] = [
            {"name": column.name, "jsonPath": column.path, "type": column.type}
            | ({"priority": column.priority} if column.priority else {})
            for column in names.columns
        ]
    if names.status:
        version["subresources"] = {"status": {}}
    return {**version, "schema": {"openAPIV3Schema": without(relaxed(root(kind)), *_UNKNOWN)}}
