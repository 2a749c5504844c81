"""How runtimes and components get on with each other: who extends whom, what they need and exclude, who goes first."""

from collections.abc import Collection, Iterator, Sequence

from trainc.apiserver.fault import compact
from trainc.compiler.resolve.components import COMPONENT_KEYS, Switched
from trainc.compiler.resolve.composed import ADDING, RuntimePart
from trainc.compiler.resolve.runtimes import shipped
from trainc.compiler.resolve.template import FRAMEWORK_LABEL, POLICIES, RUNTIME, UPSTREAM_LABELS
from trainc.model.catalog import SHIPPED, Catalog
from trainc.model.document import Document, Identity
from trainc.model.finding import ERROR, WARNING, Finding, Label, Rule, place
from trainc.model.paths import Steps, shown
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Tree, first_leaf, get, plain, value
from trainc.text.spelling import meant

Clash = tuple[Steps, Tree, Tree]  # the field, and what each of the two says about it

REQUIRED = Rule("component-required", ERROR, admission=True)
EXCLUDED = Rule("components-exclude", ERROR, admission=True)
CLASH = Rule("components-clash", ERROR, admission=True)
CONTRADICTORY = Rule("contradictory-order", ERROR, admission=True)
UNRELATED = Rule("unknown-relation", WARNING)
_WORD = "$patch"
CYCLE = Rule("inheritance-cycle", ERROR, admission=True)
MISSING_PARENT = Rule("missing-parent", ERROR, admission=True)
FRAMEWORK_CHANGED = Rule("framework-changed", ERROR, admission=True)


def ordered(components: Sequence[Switched], report: Report) -> list[Switched] | None:
    """The components in the order named, moved only as far as `after` asks; None where that cannot be done."""
    left = list(components)
    done: list[Switched] = []
    while left:
        waiting = {one.name for one in left}
        ready = next((one for one in left if not waiting & (set(one.listed("after")) - {one.name})), None)
        if ready is None:
            ring = _circle(left)
            text = " after ".join(f"`{one.name}`" for one in (*ring, ring[0]))
            places = [_where(one, "after", later.name) for one, later in zip(ring, [*ring[1:], ring[0]], strict=True)]
            also = [Label(place, "requires it here") for place in places[1:]]
            help_ = "remove one of these `after`"
            report.add(CONTRADICTORY.at(places[0], f"no order is possible: {text}", also=also, help=help_))
            return None
        left.remove(ready)
        done.append(ready)
    return done


def _circle(left: list[Switched]) -> list[Switched]:
    """The smallest ring among components that all wait for another one."""
    by_name = {one.name: one for one in left}
    ring = [min(left, key=lambda one: one.name)]
    while True:
        last = ring[-1]
        following = next(by_name[name] for name in last.listed("after") if name in by_name and name != last.name)
        if following in ring:
            return ring[ring.index(following) :]
        ring.append(following)


def check(
    applied: Sequence[tuple[Switched, list[RuntimePart]]], known: Collection[str], catalog: Catalog, report: Report
) -> None:
    """Findings about components in the order in which they were applied; `known` are those a parent brought along."""
    components = [one for one, _ in applied]
    on = {one.name for one in components} | set(known)
    for one in components:
        for name in one.listed("requires"):
            if name not in on:
                there, help_ = catalog.runtimes.names("RuntimeComponent", "", one.use.file), f"enable `{name}`, too"
                if name not in there:
                    help_ = meant(name, there, f"add a RuntimeComponent of that name, and {help_}")
                message = f"component `{one.name}` requires `{name}`, which is not enabled"
                also = [Label(_where(one, "requires", name), "required here")]
                report.add(REQUIRED.at(one.span, message, also=also, help=help_))
        for name in one.listed("conflictsWith"):
            if name in on and name != one.name:
                report.add(_excluded(one, name, components))
        for field in ("after", "conflictsWith"):
            for name in one.listed(field):
                if name not in on and not catalog.runtimes.has_component(name, one.use.file):
                    there = catalog.runtimes.names("RuntimeComponent", "", one.use.file)
                    message = f"`{field}` of component `{one.name}` names `{name}`, which does not exist"
                    help_ = meant(name, there, "remove the name")
                    report.add(UNRELATED.at(_where(one, field, name), message, help=help_))
    report.add_all(_clashes(applied))


def _where(component: Switched, field: str, name: str) -> Span:
    return component.document.span(("spec", field, component.listed(field).index(name)))


def _excluded(component: Switched, name: str, components: Sequence[Switched]) -> Finding:
    others = [one for one in components if one.name == name]
    first, *rest = sorted([component, *others], key=lambda one: (one.span, one.name))
    return EXCLUDED.at(
        first.span,
        f"components `{min(component.name, name)}` and `{max(component.name, name)}` exclude each other",
        also=[
            *(Label(one.span, f"`{one.name}` is enabled here") for one in rest),
            Label(_where(component, "conflictsWith", name), "excluded here"),
        ],
        help="disable one of them",
    )


def _clashes(applied: Sequence[tuple[Switched, list[RuntimePart]]]) -> Iterator[Finding]:
    reported: set[tuple[str, str]] = set()
    for index, (later, parts) in enumerate(applied):
        for earlier, before in applied[:index]:
            pair = (earlier.name, later.name)
            if earlier.name == later.name or pair in reported or earlier.name in later.listed("after"):
                continue
            clashes = filter(None, (clash(old.tree, new.tree) for old in before for new in parts))
            if (found := next(clashes, None)) is not None:
                reported.add(pair)
                yield _clash(earlier, later, found)


def _clash(one: Switched, two: Switched, found: Clash) -> Finding:
    steps, old, new = found
    if two.name in one.listed("after"):
        return CONTRADICTORY.at(
            _where(one, "after", two.name),
            f"`{one.name}` must come after `{two.name}`, but {two.use.by} applies `{two.name}` later",
            also=[Label(one.span, f"{one.use.by} enables it"), Label(two.span, f"{two.use.by} enables it")],
            help="enable both in the same place",
        )
    return CLASH.at(
        _spot(two, new),
        f"components `{one.name}` and `{two.name}` set `{shown(steps)}` to different values",
        label=f"component `{two.name}` {_says(new)}",
        also=[
            Label(_spot(one, old), f"component `{one.name}` {_says(old)}"),
            Label(two.span, f"enabled by {two.use.by}"),
        ],
        help=f"add `after: [{one.name}]` to `{two.name}`, or disable one of them",
    )


def _spot(component: Switched, node: Tree) -> Span:
    leaf = first_leaf(node)
    return (place(leaf.origin) if leaf is not None else None) or component.span


def _says(node: Tree) -> str:
    """What a component does to a field, in words."""
    if type(node) is not Sourced:
        return "sets it" if type(node) is dict else f"sets it to `{compact(plain(node))}`"
    return "removes it" if node.value in (None, "delete") else f"sets it to `{node.value}`"


def clash(one: Tree, two: Tree, steps: Steps = (), field: str = "") -> Clash | None:
    """The first field that two pieces set to different values, None where the order of the two does not matter."""
    if type(one) is dict and type(two) is dict:
        if _WORD not in one and _WORD not in two:
            for key, node in one.items():
                if key in two and (inner := clash(node, two[key], (*steps, key), key)) is not None:
                    return inner
            return None
        return None if plain(one) == plain(two) else (steps, one.get(_WORD, one), two.get(_WORD, two))
    if type(one) is list and type(two) is list and field in COMPONENT_KEYS:
        return _of_items(one, two, steps, field)
    return None if plain(one) == plain(two) else (steps, one, two)


def _of_items(one: list[Tree], two: list[Tree], steps: Steps, field: str) -> Clash | None:
    """Two lists that merge item by item; those that only grow never clash."""
    if field in ADDING:
        return None
    key = COMPONENT_KEYS[field]
    others = {value(item, key): item for item in two if type(item) is dict}
    for item in one if key else ():
        name = value(item, key)
        if name in others and (inner := clash(item, others[name], (*steps, (key, name)))) is not None:
            return inner
    old, new = _sweeping(one, key), _sweeping(two, key)
    return None if (old is one and new is two) or plain(one) == plain(two) else (steps, old, new)


def _sweeping(items: list[Tree], key: str) -> Tree:
    """The word in a list about all of it, such as `$patch: replace`, else the list itself."""
    for item in items:
        if type(item) is dict and _WORD in item and (value(item, _WORD) == "replace" or key not in item):
            return item[_WORD]
    return items


def lineage(
    document: Document, catalog: Catalog, project: Project, report: Report, orphans: set[Identity] | None = None
) -> tuple[Document, ...] | None:
    """The runtime with its ancestors before it, None with findings where they cannot all be found.

    `orphans` holds runtimes of which that is reported already, for one who asks about many.
    """
    chain = [document]
    if not _climb(chain, catalog, project, report, orphans or ()):
        if orphans is not None:
            orphans.update(document.identity for document in chain)
        return None
    chain.reverse()
    return tuple(chain) if _one_framework(chain, report) else None


def _climb(
    chain: list[Document], catalog: Catalog, project: Project, report: Report, orphans: Collection[Identity]
) -> bool:
    """Put the ancestors of a runtime behind it; False where they cannot all be found."""
    places = {chain[0].identity: 0}
    while (leaf := _parent(chain[-1])) is not None:
        child = chain[-1]
        if child.identity in orphans:
            return False
        parent = catalog.runtimes.parent(leaf.value, child.namespace, child.file)
        if parent is None:
            name, kinds = leaf.value, ("Runtime", "ClusterTrainingRuntime")
            known = {one for kind in kinds for one in catalog.runtimes.names(kind, "", child.file)} - {child.name}
            notes = [f"{chained(chain)} -> `{name}`"] if len(chain) > 1 else []
            notes.append(f"looked in {', '.join(catalog.runtimes.places(child.file))}")
            message = f"`{child.name}` extends `{name}`, which does not exist"
            help_ = meant(name, sorted(known), "add the runtime to one of these places, or name an existing one")
            report.add(MISSING_PARENT.at(child.span(("spec", "extends")), message, help=help_, notes=notes))
            return False
        if parent.document is None:
            return False
        if parent.source == SHIPPED and not child.file.startswith("trainc:"):
            report.add(shipped(child.span(("spec", "extends")), leaf.value, project))
        seen = places.setdefault(parent.document.identity, len(chain))
        if seen < len(chain):
            ring = chain[seen:]
            at = min(range(len(ring)), key=lambda index: ring[index].name)
            start, *others = [*ring[at:], *ring[:at]]  # one ring, one finding, whichever runtime led into it
            message = f"`{start.name}` inherits from itself: {chained([start, *others, start])}"
            also = [Label(one.span(("spec", "extends")), f"`{one.name}` is enabled here") for one in others]
            help_ = "remove one of these `extends`"
            report.add(CYCLE.at(start.span(("spec", "extends")), message, also=also, help=help_))
            return False
        chain.append(parent.document)
    return True


def _parent(document: Document) -> Sourced[str] | None:
    """The name of the runtime that it extends; null is no parent, as if the field was not there."""
    leaf = get(document.tree, "spec", "extends") if document.kind == RUNTIME else None
    return leaf if type(leaf) is Sourced and leaf.value is not None else None


def chained(chain: Sequence[Document]) -> str:
    """Names of runtimes as people read inheritance: the child first."""
    return " -> ".join(f"`{document.name}`" for document in chain)


def _one_framework(chain: Sequence[Document], report: Report) -> bool:
    """Whether no child selects another framework than the first ancestor that selects one."""
    first: tuple[str, Document] | None = None
    for document in chain:
        for name in selected(document):
            if first is None:
                first = (name, document)
            elif first[0] != name and first[1] is not document:
                parent, inherited = first[1], first[0]
                also = [Label(_place_of(inherited, parent), f"`{parent.name}` selects {inherited}")]
                message = f"`{document.name}` selects the framework {name}, and inherits {inherited}"
                help_ = f"extend a runtime for {name}, or one that selects no framework"
                notes = [chained(list(reversed(chain)))]
                place_of = _place_of(name, document)
                report.add(FRAMEWORK_CHANGED.at(place_of, message, also=also, help=help_, notes=notes))
                return False
    return True


def selected(document: Document) -> list[str]:
    """The frameworks that a runtime itself selects: its policies, without any the label that stands for one."""
    names = [name for name in POLICIES if type(get(document.tree, "spec", "mlPolicy", name)) is dict]
    label = value(document.tree, "metadata", "labels", FRAMEWORK_LABEL)
    if not names and type(label) is str and label and label not in UPSTREAM_LABELS:
        return [label]
    return names


def _place_of(framework: str, document: Document) -> Span:
    if framework in POLICIES:
        return document.span(("spec", "mlPolicy", framework), key=True)
    return document.span(("metadata", "labels", FRAMEWORK_LABEL))
