"""Paths that mean the same in every layer: items of keyed lists by their key, as people write them."""

from collections.abc import Iterator
from typing import Any

from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree, get, value
from trainc.text.merge_keys import MERGE_KEYS

Step = str | int | tuple[str, object]  # a key, an index, or (merge key, its value)
Steps = tuple[Step, ...]


def keyed(tree: Tree, path: Path) -> Steps:
    """A path with indices of keyed lists replaced by the key of the item: it means the same in every layer."""
    steps: list[Step] = []
    field = ""
    for step in path:
        tree = tree[step]
        steps.append(item_step(field, step, tree) if type(step) is int else step)
        field = step if type(step) is str else field
    return tuple(steps)


def keyed_leaves(tree: Tree, steps: Steps = (), field: str = "") -> Iterator[tuple[Steps, Sourced[Any]]]:
    """Every leaf with its keyed path, in order; empty maps and lists have none."""
    if type(tree) is dict:
        for name, node in tree.items():
            yield from keyed_leaves(node, (*steps, name), name)
    elif type(tree) is list:
        for index, item in enumerate(tree):
            yield from keyed_leaves(item, (*steps, item_step(field, index, item)), field)
    else:
        yield steps, tree


def item_step(field: str, index: int, item: Tree) -> Step:
    """The step to an item of a list that a field holds: by its key where it has one."""
    key = MERGE_KEYS.get(field, "")
    name = value(item, key) if key and type(item) is dict else None
    return index if name is None else (key, name)


def located(tree: Tree, steps: Steps) -> Path | None:
    """Where a keyed path leads in this tree, None where the tree has nothing there."""
    path: list[str | int] = []
    for step in steps:
        if (at := _position(tree, step)) is None:
            return None
        path.append(at)
        tree = tree[at]
    return tuple(path)


def _position(tree: Tree, step: Step) -> str | int | None:
    if type(step) is tuple:
        items = tree if type(tree) is list else []
        return next((index for index, item in enumerate(items) if value(item, step[0]) == step[1]), None)
    if type(step) is int:
        return step if type(tree) is list and step < len(tree) else None
    return step if type(tree) is dict and type(step) is str and step in tree else None


def at_path(tree: Tree, steps: Steps) -> Tree:
    """The node that a keyed path leads to, None where there is none."""
    path = located(tree, steps)
    return None if path is None else get(tree, *path)


def names(steps: Steps) -> list[str]:
    """The steps of a path as words: keys, indices and the keys of items."""
    return [str(step[1]) if type(step) is tuple else str(step) for step in steps]


def shown(steps: Steps) -> str:
    """A path as people write it: `spec.replicatedJobs[node].template`; a key with dots stands in brackets."""
    text = ""
    for step in steps:
        if type(step) is str and "." not in step and "[" not in step:
            text += f".{step}" if text else step
        else:
            text += f"[{step[1] if type(step) is tuple else step}]"
    return text


def _flat(text: str) -> str:
    return text.replace("[", ".").replace("]", "").strip(".")


def matches(steps: Steps, wanted: str, path: Path = ()) -> bool:
    """Whether `wanted` (`env[RANK].value`, `image`) is a run of whole steps of the path.

    After a point at its start it begins at the root. `*` stands for any text of a step, `**` for any steps; an item
    of a keyed list may be named by its number too, where the plain `path` is given.
    """
    if not wanted:
        return True
    words = [{_flat(name)} for name in names(steps)]
    for at, step in enumerate(path):
        words[at].add(str(step))
    starts = range(1) if wanted.startswith(".") else range(len(words))
    text = _flat(wanted)
    if "*" in text:
        import re  # noqa: PLC0415 (few people ask by patterns)

        parts = (re.escape(part).replace(r"\*", "[^.]*") for part in text.split("**"))
        pattern = re.compile(".*".join(parts))
        every = [[min(one) for one in words], [max(one) for one in words]]
        return any(
            pattern.fullmatch(".".join(known[first:end]))
            for known in every
            for first in starts
            for end in range(first + 1, len(words) + 1)
        )
    return any(_runs(words[first:], text) for first in starts)


def _runs(words: list[set[str]], wanted: str) -> bool:
    """Whether a text is the first of some steps, each of which has several names."""
    if not words:
        return False
    return any(
        wanted == word or (wanted.startswith(f"{word}.") and _runs(words[1:], wanted[len(word) + 1 :]))
        for word in words[0]
    )


def parsed(text: str, tree: Tree) -> Steps | None:
    """The path that `text` names in a tree, None where the tree has nothing there.

    Keys with dots need no brackets: of the keys that fit, the longest counts.
    """
    return _parsed(_flat(text), tree, "")


def _parsed(text: str, tree: Tree, field: str) -> Steps | None:
    if not text:
        return ()
    if type(tree) is not dict and type(tree) is not list:
        return None
    fitting = [child for child in _children(tree, field) if text == child[1] or text.startswith(f"{child[1]}.")]
    for step, word, node in sorted(fitting, key=lambda child: -len(child[1])):
        if (rest := _parsed(text[len(word) + 1 :], node, step if type(step) is str else field)) is not None:
            return (step, *rest)
    return None


def _children(tree: Tree, field: str) -> Iterator[tuple[Step, str, Tree]]:
    if type(tree) is dict:
        for name, node in tree.items():
            yield name, _flat(name), node
        return
    for index, item in enumerate(tree):
        step = item_step(field, index, item)
        yield step, _flat(names((step,))[0]), item


def in_order(path: str) -> list[tuple[int, int, str]]:
    """The order of paths: names by their letters, items by their numbers."""
    parts = path.replace("[", "[\0").replace("]", "\0]").split("\0")
    return [(0, int(part), "") if part.isdecimal() and len(part) < 10 else (1, 0, part) for part in parts]
