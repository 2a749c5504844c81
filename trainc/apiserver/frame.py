"""The frame of a JobSet: its spec by value, without what a server has nothing to say about.

Most JobSets of a repository have a frame in common with others: they differ in names, images, arguments, values of
variables, numbers of pods and the nodes that they ask for. A verdict that does not rest on these is found once for each
frame. What is odd is a part of the frame as it is: an empty text, a name that is none, a number that no job has.
"""

from collections.abc import Hashable
from itertools import count

from trainc.apiserver.metadata import are_good_labels, is_good_name
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree
from trainc.text.memo import Memo

_COUNTS = frozenset(("replicas", "completions", "parallelism"))
# Fields that are compared with these.
_COUNTING = frozenset(("successPolicy", "backoffLimitPerIndex", "maxFailedIndexes"))
_MAX_COUNT = 10_000
_MAX_PARTS = 4_000
# Of parts that jobs share, as those of a runtime are; each is held, so that its identity stays its own.
_parts: dict[int, tuple[Tree, Hashable]] = {}
_latest: list[tuple[Tree, int]] = []
_numbers = count()
_frames: Memo[Hashable, int] = Memo(lambda _: next(_numbers))


def frame_of(jobset: Tree) -> int:
    """The number of a JobSet's frame, which no other frame gets; `1`, `1.0` and `true` are not the same in it."""
    if not _latest or _latest[0][0] is not jobset:
        frame = _below(jobset.get("spec"), ("replicatedJobs", "template", "spec", "template", "spec"))
        _latest[:] = [(jobset, _frames[frame])]
    return _latest[0][1]


def _below(node: Tree, way: tuple[str, ...]) -> Hashable:
    """What stands on the way down to the pods, and the pods."""
    if node.__class__ is list:
        return (list, *[_below(item, way) for item in node])
    if node.__class__ is not dict:
        return frozen(node)
    step = way[0] if way else ""
    out: list[Hashable] = []
    for key, part in node.items():
        out.append(key)
        if key == step:
            out.append(_below(part, way[1:]))
        elif part.__class__ is Sourced:
            # A number of pods or Jobs that no server has anything against.
            is_count = key in _COUNTS and part.value.__class__ is int and 0 < part.value <= _MAX_COUNT
            if is_count and _COUNTING.isdisjoint(node):
                out.append(len(str(part.value)))
            elif key == "serviceAccountName" and is_good_name(part.value):
                out.append(True)
            else:
                out.append(frozen(part))
        elif key == "nodeSelector" and part.__class__ is dict and are_good_labels(part):
            out.append(True)
        elif not step and key in ("containers", "initContainers") and part.__class__ is list:
            out.append((list, *map(_container, part)))
        else:
            out.append(_part(part))
    return tuple(out)


def _container(tree: Tree) -> Hashable:
    """A container: of the texts that only its program reads, no more than that they are texts."""
    if tree.__class__ is not dict:
        return frozen(tree)
    out: list[Hashable] = []
    for key, part in tree.items():
        out.append(key)
        if part.__class__ is Sourced:
            text = part.value
            is_reference = key == "image" and text.__class__ is str and text != "" and text == text.strip()
            out.append(True if is_reference else frozen(part))
        elif key == "env" and part.__class__ is list:
            out.append(tuple(map(_variable, part)))
        elif key in ("command", "args") and part.__class__ is list:
            are_texts = all(leaf.__class__ is Sourced and leaf.value.__class__ is str for leaf in part)
            out.append(True if part and are_texts else frozen(part))
        else:
            out.append(_part(part))
    return tuple(out)


def _variable(entry: Tree) -> Hashable:
    """The name of a variable whose value is a text; of any other one, all of it."""
    if entry.__class__ is dict and len(entry) == 2:
        value = entry.get("value")
        if value.__class__ is Sourced and value.value.__class__ is str:
            return frozen(entry.get("name"))
    return _part(entry)


def _part(node: Tree) -> Hashable:
    """A part of a JobSet by value, found once where many jobs have the very same."""
    known = _parts.get(id(node))
    if known is None:
        if len(_parts) >= _MAX_PARTS:
            _parts.clear()
        known = _parts[id(node)] = node, frozen(node)
    return known[1]


def frozen(node: Tree) -> Hashable:
    """A tree by value, without its origins."""
    kind = node.__class__
    if kind is Sourced:
        value = node.value
        return value if value.__class__ is str else (value.__class__, value)
    out: list[Hashable] = [kind]
    if kind is dict:
        for key, inner in node.items():
            out.append(key)
            if inner.__class__ is Sourced and inner.value.__class__ is str:
                out.append(inner.value)
            else:
                out.append(frozen(inner))
    elif kind is list:
        out += map(frozen, node)
    else:
        out.append(node)
    return tuple(out)
