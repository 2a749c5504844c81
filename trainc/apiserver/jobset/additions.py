"""What a JobSet says that the schema of an older JobSet does not have."""

from collections.abc import Iterator

from trainc.apiserver.cel.operators import bare
from trainc.apiserver.fault import Fault, shown
from trainc.apiserver.versions import JOBSET_ADDITIONS, Addition, Version
from trainc.model.sourced import is_written
from trainc.model.tree import Path, Tree, dotted


def newer_than(tree: Tree, version: Version) -> list[Fault]:
    """The complaints of a server with a JobSet of `version`: about fields, values and items that came later."""
    faults = []
    missing: set[Path] = set()
    for addition in JOBSET_ADDITIONS:
        if version >= addition.since:
            continue
        for path, node in _at(tree, addition.path, ()):
            fault = None if path in missing else _fault(addition, path, node)
            if fault is not None:
                faults.append(fault)
                if fault.kind == "unknown":
                    missing.add(path)
    return faults


def without_newer_defaults(tree: Tree, version: Version) -> Tree:
    """The object without defaults of fields that came after `version`; the very same tree where it has none."""
    for addition in JOBSET_ADDITIONS:
        if version < addition.since and not addition.value and not addition.limit:
            tree = _without_default(tree, addition.path)
    return tree


def _fault(addition: Addition, path: Path, node: Tree) -> Fault | None:
    since = f"JobSet {addition.since[0]}.{addition.since[1]}"
    if addition.value:
        if bare(node) != addition.value:
            return None
        return Fault(path, "schema", f"{dotted(path)}: Unsupported value: {shown(addition.value)}", node, since=since)
    if not addition.limit:
        return Fault(path, "unknown", f'unknown field "{dotted(path)}"', since=since)
    if type(node) is not list or len(node) <= addition.limit:
        return None
    text = f"{dotted(path)}: Too many: {len(node)}: must have at most {addition.limit} items"
    return Fault(path, "schema", text, since=since)


def _at(tree: Tree, steps: tuple[str, ...], path: Path) -> Iterator[tuple[Path, Tree]]:
    """Every node of a tree that the steps of an addition lead to, with its path."""
    if not steps:
        yield path, tree
    elif steps[0] == "*":
        for index, item in enumerate(tree if type(tree) is list else ()):
            yield from _at(item, steps[1:], (*path, index))
    elif type(tree) is dict and steps[0] in tree:
        yield from _at(tree[steps[0]], steps[1:], (*path, steps[0]))


def _without_default(tree: Tree, steps: tuple[str, ...]) -> Tree:
    if steps[0] == "*":
        items = [_without_default(item, steps[1:]) for item in tree] if type(tree) is list else []
        return tree if all(new is old for new, old in zip(items, tree, strict=False)) else items
    if type(tree) is not dict or steps[0] not in tree:
        return tree
    child = tree[steps[0]]
    if len(steps) > 1:
        changed = _without_default(child, steps[1:])
        return tree if changed is child else {**tree, steps[0]: changed}
    if type(child) in (dict, list) or is_written(child):
        return tree
    return {key: node for key, node in tree.items() if key != steps[0]}
