"""Inventory: what decides whether jobs start on a cluster, as `trainc inventory` writes it; no server ever sees it."""

from typing import Annotated, Any, Literal

from pydantic import Field

from trainc.apiserver.inventory_kinds import DECISIVE
from trainc.apiserver.models.node import ApiObject, Keywords, Name, Names, Quantity, Resource, StringMap, optional

Kind = Annotated[str, Keywords({"enum": [*DECISIVE]})]
Object = Annotated[
    dict[str, Any], Keywords({"required": ["apiVersion", "kind"], "x-kubernetes-preserve-unknown-fields": True})
]


class InventoryTaint(ApiObject):
    """A taint of a node."""

    key: Name = Field(description="Its key.")
    value: str | None = optional("Its value.")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
    """What it does to pods that do not tolerate it."""


class InventoryNodes(ApiObject):
    """Nodes that are alike in everything but their names."""

    names: list[Name] = Field(description="Their names.")
    labels: StringMap | None = optional("Their labels, without that of the host name where it is the node's own name.")
    without_hostname: bool | None = optional("Whether they have no label with their host name.")
    allocatable: dict[str, Quantity] = Field(description="What one of them can hold.")
    system: dict[str, Quantity] | None = optional("What pods of the cluster itself take of one of them.")
    jobs: dict[str, Quantity] | None = optional("What pods of jobs took of one of them when the dump was made.")
    taints: list[InventoryTaint] | None = optional("Their taints.")
    not_ready: bool | None = optional("Whether they were not ready.")
    unschedulable: bool | None = optional("Whether they were cordoned.")


class InventorySpec(ApiObject):
    """Facts of a cluster, with the date on which they were true."""

    date: str | None = optional("When the dump was made.")
    kinds: list[Kind] | None = None
    """Kinds of which the inventory lists all there are; of others, nothing follows from what is not there."""
    nodes: list[InventoryNodes] | None = optional("The nodes, alike ones together.")
    objects: list[Object] | None = None
    """Objects of Kueue and Volcano, quotas, limits, classes and namespaces, with those of their fields that decide."""


class Inventory(Resource):
    """What decides whether jobs start on a cluster; read by trainc alone."""

    NAMES = Names("trainc.dev", "v1alpha1", "Inventory", "inventories", namespaced=False, served=False)

    spec: InventorySpec | None = optional("The facts.")
