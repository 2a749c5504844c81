"""The verdict on one request, stage by stage as the API server runs them.

Order: decode, unknown fields, mutating webhooks (create only), schema and list types, CEL rules, validating webhooks.
"""

from __future__ import annotations

from trainc.model.object_keys import VOLCANO_POD_GROUP
from trainc.model.sourced import Sourced
from trainc.server import metadata
from trainc.server.cel.operators import bare
from trainc.server.fault import Fault, Verdict
from trainc.server.jobset import create, defaults
from trainc.server.schema.fast_walk import DoubtError, walk_valid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree
    from trainc.server.profile import Profile
    from trainc.server.schema.node import SchemaNode
    from trainc.server.schema.table import Table


def kind_of(tree: Tree) -> str:
    """`<group>/<version>/<Kind>` of an object, as tables spell it."""
    version, kind = tree.get("apiVersion"), tree.get("kind")
    if version.__class__ is Sourced and kind.__class__ is Sourced:
        return f"{version.value}/{kind.value}"
    return f"{bare(version)}/{bare(kind)}"


def verdict(tree: Tree, table: Table, profile: Profile, *, old: Tree | None = None, strict: bool = True) -> Verdict:
    """The answer to creating `tree`, or to replacing the stored object `old` by it.

    `strict` is the field validation of kubectl and of a strict server-side apply: unknown fields are refused.
    """
    kind = kind_of(tree)
    node, typed = table.root(kind), table.own_types(kind)
    if node is not None and old is None and (usual := _usual(tree, node, typed, kind, profile)):
        return usual
    judged = Verdict(tree)
    if node is None:
        return judged.refuse("decode", [_unserved(tree)])
    from trainc.server.stages import judge  # noqa: PLC0415 (most objects are plainly valid)

    return judge(judged, kind, node, table, profile, old, strict=strict)


def _unserved(tree: Tree) -> Fault:
    text = f'no matches for kind "{bare(tree.get("kind"))}" in version "{bare(tree.get("apiVersion"))}"'
    return Fault(("kind",), "decode", text)


def _usual(tree: Tree, node: SchemaNode, typed: SchemaNode | None, kind: str, profile: Profile) -> Verdict | None:
    """The answer to a new object that is plainly valid, also by the types that webhooks read it by."""
    judged = Verdict(tree)
    fits = _is_plainly_valid(judged, node, typed or node, kind, profile)
    if fits and typed is not None:
        fits = _is_plainly_valid(Verdict(judged.stored), typed, typed, kind, profile)
    return judged if fits else None


def _is_plainly_valid(judged: Verdict, node: SchemaNode, types: SchemaNode, kind: str, profile: Profile) -> bool:
    """Whether a new object is taken with nothing but the defaults of its schema; if not, every stage has to speak."""
    tree = judged.stored
    if kind == VOLCANO_POD_GROUP or "status" in tree or not metadata.is_sound(tree.get("metadata")):
        return False
    try:
        stored = walk_valid(node, tree)
    except DoubtError:
        return False
    if kind == defaults.KIND:
        if not _untouched(stored, types, profile):
            return False
        if profile.kueue and not _unqueued(stored, profile):
            return False
        judged.empty_patch = True
    judged.stored = stored
    return True


def _untouched(stored: Tree, types: SchemaNode, profile: Profile) -> bool:
    """Whether JobSet's own webhooks leave a JobSet as it is, and let it pass."""
    return defaults.with_defaults(stored) is stored and not create.create_faults(stored, types, profile)


def _unqueued(stored: Tree, profile: Profile) -> bool:
    """Whether Kueue leaves a JobSet alone."""
    from trainc.server.kueue import jobset_webhook as kueue  # noqa: PLC0415 (as below)

    return kueue.with_defaults(stored, profile) is stored and not kueue.create_faults(stored)
