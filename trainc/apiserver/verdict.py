"""The verdict on one request, stage by stage as the API server runs them.

Order: decode, unknown fields, mutating webhooks (create only), schema and list types, CEL rules, validating webhooks.
"""

from __future__ import annotations

from trainc.apiserver.cel.operators import bare
from trainc.apiserver.fault import Fault, Verdict
from trainc.apiserver.stages import judge
from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.apiserver.profile import Profile
    from trainc.apiserver.schema.node import Table
    from trainc.model.tree import Tree


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
    node = table.root(kind)
    if node is None:
        return Verdict(tree).refuse("decode", [_unserved(tree)])
    return judge(Verdict(tree), kind, node, table, profile, old, strict=strict)


def _unserved(tree: Tree) -> Fault:
    text = f'no matches for kind "{bare(tree.get("kind"))}" in version "{bare(tree.get("apiVersion"))}"'
    return Fault(("kind",), "decode", text)
