"""Armada: what a job is told of its queue, its job set and its gang; the user's own variables win."""

from __future__ import annotations

from trainc.kinds.armada.admission import CARDINALITY, GANG, UNIFORMITY, annotation
from trainc.model.patch import Patch
from trainc.model.patches import Contribution, Framework, variable
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan
    from trainc.model.tree import Tree


def lower(plan: Plan) -> Contribution:
    """The variables of Armada that are known before a job is submitted, in every container."""
    spec = plan.job["spec"]
    own: dict[str, object] = {"ARMADA_QUEUE": spec["queue"], "ARMADA_JOB_SET_ID": spec["jobSetId"]}
    if value(plan.settings, "gang") is True:
        names = {
            "ARMADA_GANG_ID": GANG,
            "ARMADA_GANG_CARDINALITY": CARDINALITY,
            "ARMADA_GANG_NODE_UNIFORMITY_LABEL_NAME": UNIFORMITY,
        }
        leaves = {name: annotation(spec["jobs"][0], key) for name, key in names.items()}
        own.update({name: leaf for name, leaf in leaves.items() if leaf is not None})
    patches = []
    for role in plan.roles:
        for container in filter(_is_map, (*role.init_containers, *role.containers)):
            users = container.get("env") or []
            taken = {value(entry, "name") for entry in users}
            more = [variable(name, content) for name, content in own.items() if name not in taken]
            patches.append(Patch(role.index, value(container, "name"), sets={"env": [*users, *more]}))
    return Contribution(patches)


def _is_map(container: Tree) -> bool:
    return type(container) is dict


FRAMEWORK = Framework("armada", lower)
