"""The one substance, trees of dicts, lists and `Sourced` leaves, and the one strategic merge over them."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trainc.model.sourced import Origin, Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    Tree = Any
    Path = tuple[str | int, ...]
else:
    Tree, Path = object, tuple  # for modules that import the names of types with all others

_DELETION = "$deleteFromPrimitiveList"


def has_nulls(node: "Tree") -> bool:
    """Whether anything at all is null, which hardly any document says."""
    todo = [node]
    while todo:
        inner = todo.pop()
        if type(inner) is Sourced:
            if inner.value is None:
                return True
        elif type(inner) is dict:
            todo += inner.values()
        elif type(inner) is list:
            todo += inner
        elif inner is None:
            return True
    return False


def plain(tree: "Tree") -> Any:
    """The values of a tree without their origins, as fresh dicts and lists."""
    kind = type(tree)
    if kind is Sourced:
        return tree.value
    if kind is dict:
        return {key: plain(value) for key, value in tree.items()}
    if kind is list:
        return [plain(item) for item in tree]
    return tree


def stamp(tree: Any, by: str, *of: Sourced[Any]) -> "Tree":
    """A tree whose bare scalars are `Sourced`, derived by `by` from `of`; leaves that know their origin keep it."""
    return _stamp(tree, Origin(None, by, tuple([s.origin for s in of])))


def _stamp(tree: Any, origin: Origin) -> "Tree":
    kind = type(tree)
    if kind is Sourced:
        return tree
    if kind is dict:
        return {key: _stamp(value, origin) for key, value in tree.items()}
    if kind is list or kind is tuple:
        return [_stamp(item, origin) for item in tree]
    return Sourced(tree, origin)


def dotted(path: "Path") -> str:
    """A path as the schema validator prints it: `spec.jobs[0].name`."""
    text = ""
    for step in path:
        if type(step) is int:
            text += f"[{step}]"
        else:
            text += f".{step}" if text else str(step)
    return text


def leaves(tree: "Tree", path: "Path" = ()) -> "Iterator[tuple[Path, Sourced[Any]]]":
    """Every leaf with its path, in order."""
    kind = type(tree)
    if kind is dict or kind is list:
        for step, inner in tree.items() if kind is dict else enumerate(tree):
            if type(inner) is Sourced:
                yield (*path, step), inner
            else:
                yield from leaves(inner, (*path, step))
    else:
        yield path, tree


def get(tree: "Tree", *path: str | int) -> "Tree":
    """The node at `path`, or None where the path ends early."""
    for step in path:
        if type(tree) is dict:
            tree = tree.get(step)
        elif type(tree) is list and type(step) is int and -len(tree) <= step < len(tree):
            tree = tree[step]
        else:
            return None
    return tree


def value(tree: "Tree", *path: str | int) -> Any:
    """The bare scalar at `path`, or None where there is none."""
    for step in path:
        tree = tree.get(step) if type(tree) is dict else get(tree, step)
    return tree.value if type(tree) is Sourced else None


def given(*nodes: "Tree") -> "Tree":
    """The first of some nodes that is there: what `or` would say if leaves had a truth value."""
    return next((node for node in nodes if node is not None), None)


def filled(tree: "Tree", *path: str | int) -> "Tree":
    """The scalar at `path` where it says something: None where it is null, empty, false or 0, or there is none."""
    leaf = get(tree, *path)
    return leaf if type(leaf) is Sourced and leaf.value else None


def first_leaf(tree: "Tree") -> Sourced[Any] | None:
    """The first leaf below a node: where something was written when the node itself has no place."""
    return next((leaf for _, leaf in leaves(tree)), None)


def merge(base: "Tree", patch: "Tree", keys: Mapping[str, str], *, append: bool = False, exact: bool = False) -> "Tree":
    """Kubernetes' strategic merge of `patch` over `base`; neither is changed, and no leaf is looked into.

    `keys` names the merge key of each list field that merges; other lists are replaced. A null removes. The maps'
    `$patch: replace|delete` is honoured. Items that only the patch has come out before the originals that it does
    not name, as the API machinery orders them; with `append` they come last, as controllers' upserts do.
    In keyed lists an item with `$patch: delete` removes its namesake, one with `$patch: replace` all that was there.

    With `exact` the API machinery's corners count too (k8s.io/apimachinery/pkg/util/strategicpatch 0.36): what the
    base lacks is taken without the maps that hold a directive, a new item of a list is taken as it stands, and an
    item without its key is refused.
    """
    return _merge(base, patch, _How(keys, append, exact), "")


class _How(NamedTuple):
    """What a merge goes by on its way down."""

    keys: Mapping[str, str]
    append: bool
    exact: bool


def _merge(base: "Tree", patch: "Tree", how: _How, field: str) -> "Tree":
    if type(patch) is dict:
        return _merge_maps(base, patch, how)
    if type(patch) is list and field in how.keys:
        if key := how.keys[field]:
            return _merge_lists(base if type(base) is list else [], patch, how, (field, key))
        return _merge_sets(base, patch) if type(base) is list else patch
    return patch


def _merge_maps(base: "Tree", patch: "dict[str, Tree]", how: _How) -> "Tree":
    if (directive := patch.get("$patch")) is not None:
        if directive.value == "delete":
            return {}
        if directive.value != "replace":
            raise UnknownDirectiveError(directive)
        return {key: node for key, node in patch.items() if key != "$patch"}
    if how.exact and type(base) is dict and any(key[:1] == "$" for key in patch):
        patch = _without_list_directives(base, patch)
    out = dict(base) if type(base) is dict else {}
    for key, node in patch.items():
        kind = type(node)
        if kind is Sourced:
            if node.value is None:
                out.pop(key, None)
            else:
                out[key] = node
        elif how.exact and type(out.get(key)) is not kind:
            out[key] = _undirected(node)
            if out[key] is None:
                del out[key]
        elif kind is dict:
            out[key] = _merge_maps(out.get(key), node, how)
        else:
            out[key] = _merge(out.get(key), node, how, key)
    return out


def _without_list_directives(base: "Tree", patch: "dict[str, Tree]") -> "dict[str, Tree]":
    """A patch of a map where a user may write any key, with what its directives other than `$patch` amount to.

    Source: k8s.io/apimachinery/pkg/util/strategicpatch 0.36. They want a list, which no map of texts can hold.

    Raises:
        UnknownDirectiveError: for one that needs a list.
    """
    out = {}
    for key, node in patch.items():
        word, mark, target = key.partition("/")
        deletes = key.startswith(_DELETION)
        if key == "$retainKeys" or key.startswith("$setElementOrder") or (deletes and (word, mark) != (_DELETION, "/")):
            raise UnknownDirectiveError(node, key)
        if not deletes:
            out[key] = node
        elif target in base:
            # A text is not a list to delete from: it takes the place of the text that is there.
            out[target] = node
    return out


def _undirected(node: "Tree") -> "Tree":
    """A part without the maps that hold a directive; None for one that holds it itself."""
    if type(node) is dict:
        if "$patch" in node:
            return None
        return {key: kept for key, part in node.items() if (kept := _undirected(part)) is not None}
    if type(node) is list:
        return [kept for part in node if (kept := _undirected(part)) is not None]
    return None if type(node) is Sourced and node.value is None else node


class UnknownDirectiveError(ValueError):
    """A `$patch` that is neither `replace` nor `delete`, or another directive that cannot be; carries the leaf."""

    def __init__(self, leaf: Sourced[Any], name: str = "$patch") -> None:
        super().__init__(name, leaf.value)
        self.leaf = leaf
        self.name = name


class MissingKeyError(ValueError):
    """An item of a merged list that lacks the key by which it would be found; carries the names of both."""

    def __init__(self, field: str, key: str) -> None:
        super().__init__(field, key)
        self.field = field
        self.key = key


def _key_of(item: "Tree", key: str) -> object:
    leaf = item.get(key) if type(item) is dict else None
    return leaf.value if type(leaf) is Sourced else None


def _merge_lists(base: "list[Tree]", patch: "list[Tree]", how: _How, keyed: tuple[str, str]) -> "list[Tree]":
    field, key = keyed
    for item in patch:
        if type(item) is dict and "$patch" in item:
            base, patch = _directed(base, patch, key)
            break
    if how.exact:
        for item in (*base, *patch):
            if _key_of(item, key) is None:
                raise MissingKeyError(field, key)
    position: dict[object, int] = {}
    for index, item in enumerate(base):
        position.setdefault(_key_of(item, key), index)
    position.pop(None, None)  # items without their key stand for themselves
    merged: list[tuple[int | None, Tree]] = []
    made: dict[object, int] = {}  # a key that the patch has twice is one item
    for item in patch:
        item_key = _key_of(item, key)
        at, again = position.get(item_key), made.get(item_key)
        if again is not None:
            merged[again] = (at, _over(merged[again][1], item, how, key))
            continue
        if item_key is not None:
            made[item_key] = len(merged)
        merged.append((at, _over(base[at] if at is not None else None, item, how, key)))
    if how.append:
        out = list(base)
        for at, item in merged:
            if at is None:
                out.append(item)
            else:
                out[at] = item
        return out
    touched = {at for at, _ in merged}
    return _interleave(merged, [(at, item) for at, item in enumerate(base) if at not in touched])


def _directed(base: "list[Tree]", patch: "list[Tree]", key: str) -> "tuple[list[Tree], list[Tree]]":
    """What the directives in a keyed list leave of the base, and the other items of the patch."""
    rest = []
    for item in patch:
        directive = item.get("$patch") if type(item) is dict else None
        if directive is None:
            rest.append(item)
        elif directive.value == "delete":
            base = [old for old in base if _key_of(old, key) != _key_of(item, key)]
        elif directive.value == "replace":
            base = []
        else:
            raise UnknownDirectiveError(directive)
    return base, rest


def _over(base: "Tree", item: "Tree", how: _How, key: str) -> "Tree":
    if type(item) is not dict or (how.exact and base is None):
        return item
    merged = _merge_maps(base, item, how)
    # The item's identity keeps the place where it was first written: the patch only points at it.
    if base is not None:
        merged[key] = base[key]
    return merged


def _interleave(patched: "list[tuple[int | None, Tree]]", kept: "list[tuple[int, Tree]]") -> "list[Tree]":
    """The API machinery's order: an original precedes a patched item only if both were there and it stood first."""
    out = []
    left, right = 0, 0
    while left < len(kept) and right < len(patched):
        if (at := patched[right][0]) is not None and kept[left][0] < at:
            out.append(kept[left][1])
            left += 1
        else:
            out.append(patched[right][1])
            right += 1
    return [*out, *[item for _, item in kept[left:]], *[item for _, item in patched[right:]]]


def _merge_sets(base: "list[Tree]", patch: "list[Tree]") -> "list[Tree]":
    base = _distinct(base)
    places = [(base.index(item) if item in base else None, item) for item in _distinct(patch)]
    touched = {at for at, _ in places}
    return _interleave(
        [(at, item if at is None else base[at]) for at, item in places],
        [(at, item) for at, item in enumerate(base) if at not in touched],
    )


def _distinct(items: "list[Tree]") -> "list[Tree]":
    """Each item once, maps (which have no hash) by what they hold."""
    if any(type(item) is dict for item in items):
        return [item for at, item in enumerate(items) if item not in items[:at]]
    return list(dict.fromkeys(items))
