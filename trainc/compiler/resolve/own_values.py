"""What a runtime says itself wins over the components that it lists, as a kustomization wins over its components."""

from collections.abc import Iterator

from trainc.apiserver.fault import compact
from trainc.compiler.resolve.components import COMPONENT_KEYS
from trainc.compiler.resolve.composed import ADDING
from trainc.model.document import Document
from trainc.model.finding import NOTE, Finding, Label, Rule, place
from trainc.model.paths import Steps, at_path, shown
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree, first_leaf, leaves, plain, value
from trainc.text.merge_keys import MERGE_KEYS

COMPONENT_VALUE = Rule("component-value-replaced", NOTE)
_WORD = "$patch"
_SAME = object()


def replaced(own: Tree, spec: Tree, field: str = "") -> Tree:
    """The part of a runtime's own spec that its components changed in `spec`, to be laid over it; `{}` where they left all.

    Lists to which components add are theirs as well as the runtime's.
    """
    part = _replaced(own, spec, field)
    return {} if part is _SAME else part


def _replaced(own: Tree, spec: Tree, field: str) -> Tree:
    if type(own) is dict and type(spec) is dict:
        return _of_map(own, spec)
    if field in ADDING or (field in COMPONENT_KEYS and not COMPONENT_KEYS[field]):
        return _SAME
    if field in COMPONENT_KEYS and type(own) is list and type(spec) is list:
        return _of_items(own, spec, field)
    return _SAME if plain(own) == plain(spec) else own


def _of_map(own: Tree, spec: Tree) -> Tree:
    if value(own, _WORD) == "delete":
        return _SAME
    part = {key: _replaced(node, spec.get(key), key) for key, node in own.items() if key != _WORD}
    return {key: node for key, node in part.items() if node is not _SAME} or _SAME


def _of_items(own: list[Tree], spec: list[Tree], field: str) -> Tree:
    key = COMPONENT_KEYS[field]
    items = {value(item, key): item for item in spec if type(item) is dict}
    changed = []
    for item in own:
        if type(item) is not dict or _WORD in item or (there := items.get(value(item, key))) is None:
            continue  # a component that takes an item out has nothing to say of its fields
        part = _of_map(item, there)
        if field == "env" and plain(item) != plain(there):
            part = {**item, **{name: None for name in there if name not in item}}  # a value or a reference, never both
        if part is not _SAME:
            changed.append({key: item[key], **part})
    return changed or _SAME


def without(own: Tree, part: Tree, field: str = "") -> Tree:
    """A runtime's own spec without the values that are laid over again; every item of a list stays at its place."""
    if type(own) is dict and type(part) is dict:
        return {
            key: without(node, part[key], key) if key in part else node
            for key, node in own.items()
            if key not in part or (type(node) is type(part[key]) and _holds_more(node, key))
        }
    if type(own) is list and type(part) is list:
        key = MERGE_KEYS[field]
        parts = {value(item, key): {name: node for name, node in item.items() if name != key} for item in part}
        return [without(item, parts.get(value(item, key), {})) for item in own]
    return own


def _holds_more(node: Tree, field: str) -> bool:
    return type(node) is dict or (type(node) is list and bool(MERGE_KEYS.get(field)))


def changed_since(before: Tree, now: Tree, field: str = "") -> Tree:
    """What a component that is applied again says otherwise than before, or from another place; `{}` where nothing."""
    part = _changed_since(before, now, field)
    return {} if part is _SAME else part


def _changed_since(before: Tree, now: Tree, field: str) -> Tree:
    if type(before) is dict and type(now) is dict:
        parts = {key: _changed_since(before[key], node, key) if key in before else node for key, node in now.items()}
        return {key: node for key, node in parts.items() if node is not _SAME} or _SAME
    key = MERGE_KEYS.get(field)
    if key and type(before) is list and type(now) is list:
        items = {value(item, key): item for item in before}
        changed: list[Tree] = []
        for item in now:
            part = _changed_since(items[value(item, key)], item, "") if value(item, key) in items else item
            if part is not _SAME:
                changed.append({key: item[key], **part} if type(item) is dict and key in item else part)
        return changed or _SAME
    return _SAME if _told(before) == _told(now) else now


def _told(node: Tree) -> list[tuple[object, object, object]]:
    """The values below a node with the places that they come from."""
    return [(path, leaf.value, leaf.origin.spans()) for path, leaf in leaves(node) if type(leaf) is Sourced]


def component_values(
    part: Tree, spec: Tree, document: Document, steps: Steps = (), field: str = ""
) -> Iterator[Finding]:
    """A finding for each value of a component in `spec` in whose place the runtime has one of its own."""
    if type(part) is dict:
        for key, node in part.items():
            yield from component_values(node, spec, document, (*steps, key), key)
    elif type(part) is list and MERGE_KEYS.get(field):
        key = MERGE_KEYS[field]
        for item in part:
            yield from component_values(item, spec, document, (*steps, (key, value(item, key))))
    else:
        theirs = at_path(spec, steps)
        leaf = first_leaf(part)
        at = place(leaf.origin) if leaf is not None else None
        if theirs is None or at is None or plain(theirs) == plain(part):
            return
        there = first_leaf(theirs)
        spot = place(there.origin) if there is not None else None
        also = [Label(spot, "the component's value")] if spot is not None else []
        yield COMPONENT_VALUE.at(
            at,
            f"runtime `{document.name}` sets `{shown(steps)}` to `{_brief(part)}`, a component that it lists to `{_brief(theirs)}`",
            label="this value counts",
            also=also,
            effect="earlier versions of trainc let the component win",
            help="remove the value that is not meant, or pass it to the component in `with`",
        )


def _brief(node: Tree) -> str:
    return str(node.value) if type(node) is Sourced else compact(plain(node))
