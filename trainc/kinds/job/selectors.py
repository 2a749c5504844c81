"""Selectors that find the pods of a plain Job by its name: written so that they find those of its JobSet."""

from __future__ import annotations

from trainc.model.sourced import Sourced, derive
from trainc.model.tree import value
from trainc.text.object_keys import JOB_NAME_LABELS, JOBSET_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree

_FIELDS = tuple(f"metadata.labels['{label}']" for label in JOB_NAME_LABELS)


def with_jobset_selectors(tree: Tree, former: str, present: Sourced[str]) -> Tree:
    """A tree in which labels and fields that name the Job's pods by `former` name those of the JobSet `present`."""
    if type(tree) is list:
        return [with_jobset_selectors(item, former, present) for item in tree]
    if type(tree) is Sourced:
        return (
            derive("the JobSet's own label", lambda _: f"metadata.labels['{JOBSET_NAME}']", tree)
            if (tree.value in _FIELDS)
            else tree
        )
    if type(tree) is not dict:
        return tree
    out: dict[str, Tree] = {}
    for key, node in tree.items():
        if key in JOB_NAME_LABELS and type(node) is Sourced and node.value == former:
            out[JOBSET_NAME] = derive("the JobSet's own label", lambda _, name: name, node, present)
        else:
            out[key] = with_jobset_selectors(node, former, present)
    return _expression(out, former, present)


def _expression(tree: Tree, former: str, present: Sourced[str]) -> Tree:
    """A requirement of `matchExpressions` that lists the Job's name."""
    key, values = tree.get("key"), tree.get("values")
    if value(key) not in JOB_NAME_LABELS or type(values) is not list or value(tree, "operator") != "In":
        return tree
    if [value(item) for item in values] != [former]:
        return tree
    return {**tree, "key": derive("the JobSet's own label", lambda _: JOBSET_NAME, key), "values": [present]}
