"""What replacing one form of an object by another changes, and what of it a server lets nobody change.

The order of keyed lists is compared as well: a server compares it, and the paths of their fields do not show it. What
reaches the server is put as a whole, or applied by client or server: structured merge (server-side apply of one manager,
without force) and kubectl's three-way JSON merge patch, which is what kubectl and Argo CD do for kinds that are not
Kubernetes' own.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from trainc.apiserver.fault import compact
from trainc.apiserver.jobs.fixed_fields import fixed_fields
from trainc.apiserver.jobset import defaults as jobset
from trainc.apiserver.schema.log import Log
from trainc.apiserver.schema.node import SchemaNode
from trainc.apiserver.schema.walker import walk
from trainc.apiserver.served import Served
from trainc.apiserver.verdict import kind_of, verdict
from trainc.model.bundle import Bundle, keeps_job
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import ERROR, SAFE, UNSAFE, WARNING, Finding, Label, Refusal, Rule
from trainc.model.paths import Steps, in_order, item_step, keyed, shown
from trainc.model.run import RUN, RUN_PATH, run_of
from trainc.model.sourced import Origin, Sourced, Span
from trainc.model.tree import Path, Tree, dotted, get, value
from trainc.text.counting import counted
from trainc.text.masking import MASK, named_secret, variable_of
from trainc.text.merge_keys import MERGE_KEYS
from trainc.text.numbers import with_octal

Key = tuple[str, str, str, str]
Keys = Sequence[object]
Names = Sequence[tuple[Path, Sourced[Any]]]  # the key of each item, with its path in the object

(SERVER_SIDE, CLIENT_SIDE, PUT, SERVER_SIDE_FILES) = (
    "server-side-apply", "client-side-apply", "put", "server-side-apply-files",
)  # fmt: skip
OF_FILES = (PUT, SERVER_SIDE_FILES)  # what is written goes to the server, not what trainc builds of it
_LONGEST = 60  # characters of a value that are shown
_ON_CHANGE = ("cel", "webhook")  # the stages of a server that compare the new object with the stored one
_ABSENT = object()
IMMUTABLE_CHANGE = Rule("immutable-change", ERROR, verdict=True, compares=True)
_MAX_FIELDS_NAMED = 8  # fields named in one finding
MOVED_RUN = Rule("moved-run", WARNING)


def stored(tree: Tree, server: Served) -> Tree:
    """An object as it is kept once it was created, before any queue touched it."""
    judged = verdict(tree, server.table, replace(server.profile, kueue=False, unqueued=False))
    if judged.accepted or kind_of(tree) != jobset.KIND:
        return judged.stored
    root = server.table.root(jobset.KIND)
    return judged.stored if root is None else walk(root, jobset.with_defaults(walk(root, tree, Log())), Log())


def _by_client(last: Tree, live: Tree, new: Tree) -> Tree:
    """A merge in which lists are replaced, and what the last text had and the new one lacks is gone."""
    if type(new) is not dict or type(live) is not dict:
        return new
    before = last if type(last) is dict else {}
    out = {key: live[key] for key in live if key in new or key not in before}
    for key, node in new.items():
        out[key] = _by_client(before.get(key), live[key], node) if key in live else node
    return out


def _by_server(node: SchemaNode | None, last: Tree, live: Tree, new: Tree) -> Tree:
    """A merge along the schema: keyed lists by their keys, other lists as a whole."""
    if node is None:
        return new
    if type(new) is dict and type(live) is dict:
        before = last if type(last) is dict else {}
        out: dict[str, Tree] = {}
        for key, held in live.items():
            if key in new:
                out[key] = _by_server(node.prop(key), before.get(key), held, new[key])
            elif key not in before:
                out[key] = held
            elif (left := _without(node.prop(key), before[key], held)) is not None:
                out[key] = left
        return {**out, **{key: tree for key, tree in new.items() if key not in live}}
    if type(new) is list and type(live) is list and node.keys:
        former = {_key(node, one): one for one in last} if type(last) is list else {}
        present, names, item = {_key(node, one): one for one in live}, [_key(node, one) for one in new], node.item()
        merged = [
            _by_server(item, former.get(name), present[name], tree) if name in present else tree
            for name, tree in zip(names, new, strict=True)
        ]
        return [*merged, *(tree for name, tree in present.items() if name not in names and name not in former)]
    return new


def _without(node: SchemaNode | None, last: Tree, live: Tree) -> Tree:
    """What is left of a field that is no longer applied: what others wrote below it; None for nothing."""
    if node is None or type(last) is not dict or type(live) is not dict:
        return None
    kept = {}
    for key, held in live.items():
        left = _without(node.prop(key), last[key], held) if key in last else held
        if left is not None:
            kept[key] = left
    return kept or None


def _key(node: SchemaNode, item: Tree) -> tuple[object, ...]:
    return tuple(value(item, name) for name in node.keys)


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

    @property
    def name(self) -> str:
        """The end of the path, from a field that people know it by: `command[0]`, `env[LR].value`."""
        first = max(index for index, step in enumerate(self.steps) if type(step) is str)
        while first and (type(self.steps[first - 1]) is tuple or shown(self.steps[first:]).startswith("[")):
            first -= 1
        return shown(self.steps[first:])

    def __str__(self) -> str:
        hidden = named_secret(variable_of(self.shown))
        sides = []
        for side in (self.old, self.new):
            text = "none" if side is _ABSENT else compact(side)
            text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
            sides.append(MASK if hidden and side is not None else with_octal(self.shown, text))
        return f"{self.shown}: {' -> '.join(sides)}"


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
        if (leaf := self._leaf(change)) is None:
            return self.place(change, bundle).file
        spans = [span for span in leaf.origin.spans() if span.file not in bundle.document.files]
        return spans[0].file if spans else ""

    def is_removal(self, change: LeafUpdate) -> bool:
        """Whether the field is set no more, so that nothing shows which file set it."""
        return self._leaf(change) is None

    def _leaf(self, change: LeafUpdate) -> Tree:
        return get(self.tree, *change.path) if len(change.path) >= len(change.steps) else None

    def refused_by(self, bundle: Bundle, *, own: bool) -> "Update":
        """The same with those refused fields alone in whose present value the job's own file has a part, or has none."""
        parts = [(change, {at.file for at in self.spans(change, bundle)}) for change in self.refused]
        return self._replace(refused=[one for one, files in parts if files.isdisjoint(bundle.document.files) != own])

    def spans(self, change: LeafUpdate, bundle: Bundle) -> Collection[Span]:
        """The places that what the field is now comes from."""
        leaf = get(self.tree, *change.path)
        return leaf.origin.spans() if type(leaf) is Sourced else (self.place(change, bundle),)


def key_of(bundle: Bundle, tree: Tree) -> Key:
    """What makes two objects the same one: cluster, kind, namespace, name."""
    names = (value(tree, "kind"), value(tree, "metadata", "namespace") or "default", value(tree, "metadata", "name"))
    return (bundle.cluster, *(str(name) for name in names))  # type: ignore[return-value] # four of them


def pairs(bundle: Bundle, old: Iterable[Tree], new: Iterable[Tree]) -> list[tuple[Tree, Tree]]:
    """The objects that are in both, in their former and their new form."""
    before = {key_of(bundle, tree): tree for tree in old}
    return [(before[key], tree) for tree in new if (key := key_of(bundle, tree)) in before]


def update(old: Tree, new: Tree, server: Served, operation: str = SERVER_SIDE) -> Update:
    """What changes between two forms of one object that are written by an operation, and what the server refuses."""
    if keeps_job(new):
        changed, paths = differences(old, new), fixed_fields(old, new)
        refused = [change for change in changed if any(change.steps[: len(path)] == path for path in paths)]
        messages = [f"{dotted(path)}: Invalid value: field is immutable" for path in paths]
        return Update(new, changed, refused, Refusal("schema", "\n".join(messages)) if refused else None)
    if (root := server.table.root(kind_of(new))) is None:
        return Update(new, differences(old, new), [], None)
    # As stored: what only one side spells out, and the schema gives the other, is not a change.
    live = stored(old, server)
    profile = server.profile
    if server.cluster.scheduler is not None and server.cluster.scheduler.value == "kueue":
        profile = replace(profile, kueue=True)  # whoever lets Kueue place jobs has its webhooks
        if is_waiting(old, server.cluster):
            live = {**live, "spec": {**live["spec"], "suspend": Sourced(True, Origin(by="Kueue"))}}
    last, written = walk(root, old, Log()), walk(root, new, Log())
    if operation == CLIENT_SIDE:
        written = _by_client(last, live, written)
    elif operation != PUT:
        written = _by_server(root, last, live, written)
    after = walk(root, written, Log())  # what reaches the server's validation
    changed = differences(live, after)
    answer = verdict(after, server.table, profile, old=live) if changed else None
    if answer is None or not answer.by or (answer.by not in _ON_CHANGE and operation not in OF_FILES):
        return Update(new, changed, [], None)
    fixed = set()
    for fault in answer.faults:
        tree = next((tree for tree in (after, live) if get(tree, *fault.path) is not None), None)
        fixed.add(keyed(tree, fault.path) if tree is not None else fault.path)
    refused = [one for one in changed if any(one.steps[:length] in fixed for length in range(len(one.steps) + 1))]
    return Update(new, changed, refused or changed, Refusal(answer.by, "\n".join(answer.messages)))


def is_waiting(jobset: Tree, cluster: Cluster) -> bool:
    """Whether the dump has the Workload of a JobSet, and Kueue has not admitted it: it is suspended, and its queue may change."""
    name, namespace = value(jobset, "metadata", "name"), value(jobset, "metadata", "namespace") or "default"
    for workload in cluster.objects.get("Workload", {}).values():
        owners = get(workload, "metadata", "ownerReferences") or ()
        is_its_own = any((value(owner, "kind"), value(owner, "name")) == ("JobSet", name) for owner in owners)
        if is_its_own and (value(workload, "metadata", "namespace") or "default") == namespace:
            conditions = get(workload, "status", "conditions") or ()
            reserved = [value(one, "status") for one in conditions if value(one, "type") == "QuotaReserved"]
            return "True" not in reserved
    return False


def differences(old: Tree, new: Tree) -> list[LeafUpdate]:
    """The leaves at which two objects differ, items of keyed lists matched by their key, and orders; sorted by path."""
    was_parts, now_parts = pieces_of(old), pieces_of(new)
    before: dict[Steps, object] = {steps: leaf.value for steps, _, leaf in was_parts.leaves}
    before.update({steps: tree for steps, _, tree in was_parts.empty})
    after: dict[Steps, object] = {}
    ways: dict[Steps, Path] = {(): ()}
    for steps, path, leaf in now_parts.leaves:
        after[steps] = leaf.value
        for length in range(len(steps), 0, -1):
            if steps[:length] in ways:
                break
            ways[steps[:length]] = path[:length]
    for steps, path, tree in now_parts.empty:
        after[steps] = tree
        ways.update({steps[:length]: path[:length] for length in range(len(steps) + 1)})
    changes = []
    for steps in {**before, **after}:
        was, now = before.get(steps, _ABSENT), after.get(steps, _ABSENT)
        if was != now:
            nearest = next(ways[steps[:length]] for length in range(len(steps), -1, -1) if steps[:length] in ways)
            changes.append(LeafUpdate(steps, nearest, was, now))
    orders = ({path: keys(names) for path, names in each.orders.items()} for each in (was_parts, now_parts))
    for steps, was, now in moved(*orders):
        path = next(path for path, leaf in now_parts.orders[steps] if leaf.value == now[0])
        changes.append(LeafUpdate(steps, path, was, now))
    return sorted(changes, key=lambda change: in_order(change.shown))


class Pieces(NamedTuple):
    """What an object consists of, each with its keyed path and its own; of two items with one key the second keeps its index.

    An empty list is to a server not the same as none. `orders` has the keys of the items of every keyed list that has
    several, by the list's path.
    """

    leaves: list[tuple[Steps, Path, Sourced[Any]]]
    empty: list[tuple[Steps, Path, Tree]]
    orders: dict[Steps, Names]


def pieces_of(tree: Tree) -> Pieces:
    """The parts of an object, in order."""
    parts = Pieces([], [], {})
    seen: set[Steps] = set()

    def walk(node: Tree, steps: Steps, path: Path, field: str) -> None:
        if type(node) is dict:
            for name, child in node.items():
                walk(child, (*steps, name), (*path, name), name)
        elif type(node) is list:
            if not node:
                parts.empty.append((steps, path, node))
            key = MERGE_KEYS.get(field, "")
            names = []
            for index, item in enumerate(node):
                leaf = item.get(key) if key and type(item) is dict else None
                if type(leaf) is Sourced:
                    names.append(((*path, index, key), leaf))
                walk(item, (*steps, item_step(field, index, item)), (*path, index), field)
            if len(names) > 1:
                parts.orders[steps] = names
        else:
            parts.leaves.append((steps if steps not in seen else path, path, node))
            seen.add(parts.leaves[-1][0])

    walk(tree, (), (), "")
    return parts


def keys(names: Names) -> list[object]:
    """The keys alone."""
    return [leaf.value for _, leaf in names]


def moved(old: Mapping[Any, Keys], new: Mapping[Any, Keys]) -> Iterator[tuple[Any, list[object], list[object]]]:
    """The lists in which what both sides have stands in another order: path, and the keys that moved, old and new."""
    for path, after in new.items():
        before = old.get(path, ())
        if before == after:
            continue
        was, now = [name for name in before if name in after], [name for name in after if name in before]
        if apart := [at for at, (one, other) in enumerate(zip(was, now, strict=False)) if one != other]:
            yield path, was[apart[0] : apart[-1] + 1], now[apart[0] : apart[-1] + 1]


def immutable_change(
    bundle: Bundle, refused: Sequence[Update], *, effect: str, otherwise: str, notes: Iterable[str] = ()
) -> Finding:
    """The finding for a run with updates that a server refuses; `otherwise` is the help beside starting a new run."""
    fields = [(one, change) for one in refused for change in one.refused]
    places: dict[Span, str] = {}
    for one, change in fields:
        places.setdefault(one.place(change, bundle), change.name)
    own = [span for span in places if span.file in bundle.document.files] or list(places)
    shown = [str(change) for _, change in fields[:_MAX_FIELDS_NAMED]]
    if len(fields) > _MAX_FIELDS_NAMED:
        shown.append(f"and {len(fields) - _MAX_FIELDS_NAMED} more")
    number = run_of(bundle.document.tree) + 1
    # One cluster alone gets a new run where the number stands in its patch.
    alone = f" --cluster {bundle.cluster}" if run_holder(bundle) is not bundle.document else ""
    return IMMUTABLE_CHANGE.at(
        own[0],
        f"run `{bundle.name}` cannot change {counted(len(fields), 'field')} once it is created",
        label=places[own[0]] if len(own) > 1 else "",
        also=[Label(span, places[span]) for span in own[1:_MAX_FIELDS_NAMED]],
        effect=effect,
        help=f'to start a new run set `{RUN}: "{number}"` (`trainc run {bundle.document.name}{alone}`); {otherwise}',
        notes=[*shown, *notes],
        refusal=refused[0].refusal,
        fix=bundle.document.edits(RUN_PATH, str(number), safety=UNSAFE),
    )


def to_run(bundle: Bundle, number: int) -> Finding:
    """A finding that gives the run of a job a number, for who asks for that."""
    place = run_holder(bundle).span(("metadata", "name"))
    edits = bundle.document.edits(RUN_PATH, str(number), safety=SAFE)
    return IMMUTABLE_CHANGE.at(place, f"run `{bundle.name}` gets a number", fix=edits)


def run_holder(bundle: Bundle) -> Document:
    """The document in whose annotations the number of a job's run stands, or will."""
    return bundle.document.place_of(RUN_PATH)[0]


def moved_run(span: Span, job: str, number: int, before: str, after: str) -> Finding:
    """The finding for a run that is one object before and another one after ([CLUSTER/]NAMESPACE/NAME both)."""
    help_ = f'revert the edit; to start a new run there on purpose set `{RUN}: "{number + 1}"` (`trainc run {job}`)'
    if before.rpartition("/")[2] != after.rpartition("/")[2]:
        help_ = "revert the edit; to train both, keep this job as it was and add the new one next to it"
    return MOVED_RUN.at(
        span,
        f"run `{before}` is deleted, and starts again as `{after}`",
        effect="all its pods are deleted, and the work since the last checkpoint is lost; the new run waits for its accelerators",
        help=help_,
    )
