"""What an API server says to replacing one rendering by another: refused as immutable, or changed in place."""

from __future__ import annotations

from typing import NamedTuple

from trainc.model.finding import ERROR, NOTE, Refusal, Rule
from trainc.model.paths import keyed, keyed_leaves, located, shown
from trainc.model.tree import get, value
from trainc.schema.fault import compact
from trainc.schema.served import Served
from trainc.schema.verdict import verdict
from trainc.schema.walker import Log, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.model.bundle import Bundle
    from trainc.model.finding import Finding
    from trainc.model.paths import Steps
    from trainc.model.report import Report
    from trainc.model.settings import Project
    from trainc.model.tree import Path, Tree

IMMUTABLE_FIELD = Rule(
    "immutable-field",
    ERROR,
    "an edit that the API server refuses on an object that exists",
    "A JobSet's jobs, policies and network are fixed once it is created; the new text could not be applied.",
    verdict=True,
)
CHANGED_IN_PLACE = Rule(
    "changed-in-place",
    NOTE,
    "an edit that changes a running object",
    "The API server takes it, and the controller acts on it while the job runs.",
    admission=True,
)

Key = tuple[str, str, str, str]


def judge(old: Iterable[Bundle], new: Iterable[Bundle], project: Project, report: Report) -> None:
    """Findings for every object that stands on both sides and differs."""
    before = {key_of(bundle, tree): tree for bundle in old for tree in bundle.objects}
    servers = {cluster.name: Served(cluster) for cluster in project.clusters}
    for bundle in new:
        for tree in bundle.objects:
            known = before.get(key_of(bundle, tree))
            if known is not None:
                _judge(bundle, tree, update(known, tree, servers[bundle.cluster]), report)


def key_of(bundle: Bundle, tree: Tree) -> Key:
    """What makes two objects the same one: cluster, kind, namespace, name."""
    names = (value(tree, "kind"), value(tree, "metadata", "namespace") or "default", value(tree, "metadata", "name"))
    return (bundle.cluster, *(str(name) for name in names))  # type: ignore[return-value] # four of them


def update(old: Tree, new: Tree, server: Served) -> Update:
    """What changes between two forms of one object, and what of it the server refuses."""
    root = server.table.root(f"{value(new, 'apiVersion')}/{value(new, 'kind')}")
    if root is not None:
        # As stored: what only one side spells out, and the schema gives the other, is no change.
        old, new = walk(root, old, Log()), walk(root, new, Log())
    changed = differences(old, new)
    said = verdict(new, server.table, server.profile, old=old) if root is not None and changed else None
    if said is None or said.accepted:
        return Update(changed, [])
    refused = [
        (change, Refusal(said.by, fault.message))
        for fault in said.faults
        for change in changed
        if change.steps[: len(fault.path)] == _steps(fault.path, new, old)
    ]
    return Update(changed, refused)


def _steps(path: Path, *trees: Tree) -> Steps:
    return next((keyed(tree, path) for tree in trees if get(tree, *path) is not None), path)


def _judge(bundle: Bundle, tree: Tree, found: Update, report: Report) -> None:
    for change, refusal in found.refused:
        report.add(_refused(bundle, tree, change, refusal))
    if found.changed and not found.refused:
        report.add(_in_place(bundle, tree, [change.shown for change in found.changed]))


def _refused(bundle: Bundle, tree: Tree, change: Change, refusal: Refusal) -> Finding:
    kind = value(tree, "kind")
    if change.path is None:
        what = f"`{change.shown}` cannot be taken away (it was {_text(change.old)})"
    elif change.old is _ABSENT:
        what = f"`{change.shown}` cannot be added"
    else:
        what = f"`{change.shown}` cannot change from {_text(change.old)} to {_text(change.new)}"
    return IMMUTABLE_FIELD.at(
        bundle.span(tree, change.path or ()),
        f"{kind} `{bundle.name}`: {what}",
        effect=f"the API server refuses the new text of the {kind}; the one in the cluster stays as it was",
        help="take the edit back, or delete the old object first",
        refusal=refusal,
    )


def _in_place(bundle: Bundle, tree: Tree, changed: list[str]) -> Finding:
    shown = ", ".join(f"`{path}`" for path in changed[:5]) + (
        f" and {len(changed) - 5} more" if len(changed) > 5 else ""
    )
    return CHANGED_IN_PLACE.at(bundle.span(tree), f"{value(tree, 'kind')} `{bundle.name}` changes in place: {shown}")


def _text(content: object) -> str:
    text = compact(content)
    return text if len(text) <= 60 else f"{text[:57]}..."


class Change(NamedTuple):
    """One leaf that differs: its path in any form of the object, its place in the new one, and both values."""

    steps: Steps
    path: Path | None
    old: object
    new: object

    @property
    def shown(self) -> str:
        """The path as people write it."""
        return shown(self.steps)


class Update(NamedTuple):
    """All leaves that change, and those that the server refuses to change, with its words."""

    changed: list[Change]
    refused: list[tuple[Change, Refusal]]


_ABSENT = object()


def differences(old: Tree, new: Tree) -> list[Change]:
    """The leaves at which two objects differ, items of keyed lists matched by their key, sorted by path."""
    before = {steps: leaf.value for steps, leaf in keyed_leaves(old)}
    after = {steps: leaf.value for steps, leaf in keyed_leaves(new)}
    found = []
    for steps in {**before, **after}:
        was, now = before.get(steps, _ABSENT), after.get(steps, _ABSENT)
        if was != now:
            found.append(Change(steps, located(new, steps), was, now))
    return sorted(found, key=lambda change: change.shown)
