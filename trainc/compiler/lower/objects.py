"""The JobSet and its headless Service, with every default that the JobSet webhook would write."""

from __future__ import annotations

from trainc.apiserver.jobset.defaults import with_defaults
from trainc.model.plan import TRAINER
from trainc.model.sourced import Origin, Sourced
from trainc.text.object_keys import JOBSET_API, JOBSET_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan, Role
    from trainc.model.tree import Tree

_STEPS = (TRAINER, "dataset-initializer", "model-initializer")


_ONE = Sourced(1, Origin(by="Trainer runs one Job for each step"))
_API_VERSION = Sourced(JOBSET_API, Origin(by="lowering"))
_KIND = Sourced("JobSet", Origin(by="lowering"))
_V1, _SERVICE = Sourced("v1", Origin(by="lowering")), Sourced("Service", Origin(by="lowering"))
_NONE = Sourced("None", Origin(by="headless Service of the JobSet controller"))


def single(role: Role, plan: Plan) -> Sourced[int] | None:
    """One replica for a role that is a step of the job and has another number of them, else None.

    The Trainer runs one Job for a step; a runtime of trainc's own kind may ask for several, one for each slice.
    """
    free = plan.runtime is not None and plan.runtime.composed
    if free or role.ancestor not in _STEPS:
        return None
    written = role.tree.get("replicas")
    return None if type(written) is Sourced and written.value == 1 else _ONE


def jobset(plan: Plan, metadata: Tree) -> Tree:
    """The complete JobSet of a plan, as JobSet's webhook leaves it."""
    tree = {"apiVersion": _API_VERSION, "kind": _KIND, "metadata": metadata, "spec": plan.template["spec"]}
    return with_defaults(tree)


def waiting(plan: Plan, spec: Tree) -> Tree:
    """A JobSet spec with the job's wish to wait.

    A queue owns the field: only a wish is written, never the permission to run.
    """
    suspend = spec.get("suspend")
    if suspend is not None:
        spec = {key: node for key, node in spec.items() if key != "suspend"}
    if plan.runtime is not None:
        suspend = plan.job["spec"].get("suspend")
    return {**spec, "suspend": suspend} if suspend is not None and suspend.value is True else spec


def service(plan: Plan, spec: Tree, there: Tree) -> Tree | None:
    """The twin of the Service that the JobSet controller makes, None where DNS names are switched off.

    `there` is what the metadata of all of the job's objects says of their namespace.
    """
    network = spec["network"]
    if network["enableDNSHostnames"].value is False:
        return None
    return {
        "apiVersion": _V1,
        "kind": _SERVICE,
        "metadata": {"name": network.get("subdomain", plan.name), **there},
        "spec": {
            "clusterIP": _NONE,
            "publishNotReadyAddresses": network["publishNotReadyAddresses"],
            "selector": {JOBSET_NAME: plan.name},
        },
    }
