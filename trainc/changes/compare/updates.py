"""What replacing one form of an object by another changes, and what of it a server lets nobody change."""

from __future__ import annotations

from trainc.apiserver.fault import compact
from trainc.apiserver.jobs.fixed_fields import fixed_fields
from trainc.apiserver.schema.log import Log
from trainc.apiserver.schema.walker import walk
from trainc.apiserver.verdict import kind_of, verdict
from trainc.changes.compare.operations import OF_FILES, SERVER_SIDE, sent, stored
from trainc.changes.compare.order import keys, moved, orders
from trainc.model.bundle import keeps_job
from trainc.model.finding import Refusal
from trainc.model.paths import keyed, keyed_leaves, keyed_step, shown
from trainc.model.sourced import Sourced
from trainc.model.tree import dotted, get, leaves, value
from trainc.text.masking import MASK, named_secret, variable_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NamedTuple

    from trainc.apiserver.served import Served
    from trainc.model.bundle import Bundle
    from trainc.model.paths import Steps
    from trainc.model.sourced import Span
    from trainc.model.tree import Path, Tree

    Key = tuple[str, str, str, str]
else:
    from trainc.text.record import NamedTuple

_LONGEST = 60  # characters of a value that are shown
_ON_CHANGE = ("cel", "webhook")  # the stages of a server that compare the new object with the stored one
_ABSENT = object()


class LeafUpdate(NamedTuple):
    """One leaf that differs: its path in any form, its place or the nearest one above it in the new form, both values.

    Of a list in another order: its path, the first item that stands elsewhere, the names that moved.
    """

    steps: Steps
    path: Path
    old: object
    new: object

    @property
    def shown(self) -> str:
        """The path as people write it."""
        return shown(self.steps)

    def __str__(self) -> str:
        hidden = named_secret(variable_of(self.shown))
        old, new = (MASK if hidden and side is not None else _text(side) for side in (self.old, self.new))
        return f"{self.shown}: {old} -> {new}"


class Update(NamedTuple):
    """The new form of an object, all leaves that change, those of them that a server refuses to change, and its words."""

    tree: Tree
    changed: list[LeafUpdate]
    refused: list[LeafUpdate]
    refusal: Refusal | None

    def place(self, change: LeafUpdate, bundle: Bundle) -> Span:
        """Where the value, or what is left around it, is written in the user's files."""
        return bundle.span(self.tree, change.path)

    def cause(self, change: LeafUpdate, bundle: Bundle) -> str:
        """The file that says what the field is now, empty where trainc alone decides."""
        leaf = get(self.tree, *change.path) if len(change.path) >= len(change.steps) else None
        if leaf is None:
            return self.place(change, bundle).file
        spans = [span for span in leaf.origin.spans() if span.file not in bundle.document.files]
        return spans[0].file if spans else ""

    def is_of(self, change: LeafUpdate, bundle: Bundle) -> bool:
        """Whether the job's own file has a part in what the field is now."""
        leaf = get(self.tree, *change.path)
        spans = leaf.origin.spans() if type(leaf) is Sourced else (self.place(change, bundle),)
        return any(span.file in bundle.document.files for span in spans)


def key_of(bundle: Bundle, tree: Tree) -> Key:
    """What makes two objects the same one: cluster, kind, namespace, name."""
    names = (value(tree, "kind"), value(tree, "metadata", "namespace") or "default", value(tree, "metadata", "name"))
    return (bundle.cluster, *(str(name) for name in names))  # type: ignore[return-value] # four of them


def update(old: Tree, new: Tree, server: Served, operation: str = SERVER_SIDE) -> Update:
    """What changes between two forms of one object that are written by an operation, and what the server refuses."""
    if keeps_job(new):
        return _of_job(old, new)
    root = server.table.root(kind_of(new))
    if root is None:
        return Update(new, differences(old, new), [], None)
    # As stored: what only one side spells out, and the schema gives the other, is not a change.
    live = stored(old, server)
    after = walk(root, sent(operation, walk(root, old, Log()), live, walk(root, new, Log()), root), Log())
    changed = differences(live, after)
    answer = verdict(after, server.table, server.profile, old=live) if changed else None
    if answer is None or not answer.by or (answer.by not in _ON_CHANGE and operation not in OF_FILES):
        return Update(new, changed, [], None)
    fixed = {_steps(fault.path, after, live) for fault in answer.faults}
    refused = [change for change in changed if any(change.steps[:length] in fixed for length in _lengths(change))]
    return Update(new, changed, refused or changed, Refusal(answer.by, "\n".join(answer.messages)))


def _of_job(old: Tree, new: Tree) -> Update:
    """The change of a Job that stays one."""
    changed, fixed = differences(old, new), fixed_fields(old, new)
    refused = [change for change in changed if any(change.steps[: len(path)] == path for path in fixed)]
    messages = [f"{dotted(path)}: Invalid value: field is immutable" for path in fixed]
    return Update(new, changed, refused, Refusal("schema", "\n".join(messages)) if refused else None)


def _steps(path: Path, *trees: Tree) -> Steps:
    return next((keyed(tree, path) for tree in trees if get(tree, *path) is not None), path)


def _lengths(change: LeafUpdate) -> range:
    return range(len(change.steps) + 1)


def differences(old: Tree, new: Tree) -> list[LeafUpdate]:
    """The leaves at which two objects differ, items of keyed lists matched by their key, and orders; sorted by path."""
    before: dict[Steps, object] = {steps: leaf.value for steps, _, leaf in apart(old)}
    before.update({steps: tree for steps, _, tree in empty(old)})
    after: dict[Steps, object] = {}
    ways: dict[Steps, Path] = {(): ()}
    for steps, path, leaf in apart(new):
        after[steps] = leaf.value
        for length in range(len(steps), 0, -1):
            if steps[:length] in ways:
                break
            ways[steps[:length]] = path[:length]
    for steps, path, tree in empty(new):
        after[steps] = tree
        ways.update({steps[:length]: path[:length] for length in range(len(steps) + 1)})
    changes = []
    for steps in {**before, **after}:
        was, now = before.get(steps, _ABSENT), after.get(steps, _ABSENT)
        if was != now:
            nearest = next(ways[steps[:length]] for length in range(len(steps), -1, -1) if steps[:length] in ways)
            changes.append(LeafUpdate(steps, nearest, was, now))
    one, other = orders(old), orders(new)
    for steps, was, now in moved(*({path: keys(names) for path, names in each.items()} for each in (one, other))):
        path = next(path for path, leaf in other[steps] if leaf.value == now[0])
        changes.append(LeafUpdate(steps, path, was, now))
    return sorted(changes, key=lambda change: change.shown)


def apart(tree: Tree) -> Iterator[tuple[Steps, Path, Sourced[Any]]]:
    """Every leaf with its keyed path and its own; of two items with the same key the second keeps its index."""
    seen = set()
    for (path, leaf), (steps, _) in zip(leaves(tree), keyed_leaves(tree), strict=True):
        name = steps if steps not in seen else path
        seen.add(name)
        yield name, path, leaf


def empty(tree: Tree, steps: Steps = (), path: Path = (), field: str = "") -> Iterator[tuple[Steps, Path, Tree]]:
    """Every list that is written and holds nothing: to a server it is not the same as no list."""
    if type(tree) is dict:
        for name, node in tree.items():
            yield from empty(node, (*steps, name), (*path, name), name)
    elif type(tree) is list:
        if not tree:
            yield steps, path, tree
        for index, item in enumerate(tree):
            yield from empty(item, keyed_step(steps, field, index, item), (*path, index), field)


def _text(content: object) -> str:
    text = "none" if content is _ABSENT else compact(content)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
