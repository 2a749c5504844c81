"""Specs that went wrong somewhere: recorded and made-up inputs with one or a few nodes deleted, doubled, retyped, renamed."""

import copy
import json
import random
from collections.abc import Iterable
from functools import cache
from typing import Any

import yaml

from tests.fuzz.projects import projects

ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 65, 99_999, 2**31 - 1, 2**31, 2**63, 10**40, 1.5, 1e300, -0.0, "", " ", "x", "a" * 300, "Ünïcode", "a\nb",
    "${N}", "${N}", "${N}", "x-${N}", "$(HOME)", "-1", "1e3", "1Ei", "a/b", "..", "{}", [], {}, [None], [[]], [1], ["a", "a"], ["x", {}], {"name": "x"},
    {"x": None}, {"name": None}, {"name": 5}, {"": ""}, [{}], [{"name": 1}], [{"name": "a"}, {"name": "a"}], {"a": {"b": {"c": []}}},
)  # fmt: skip
WORDS = ("name", "value", "spec", "replicas", "metadata", "template", "kind", "x", "", "trainer", "node", "env")


@cache
def inputs() -> tuple[str, ...]:
    """The documents of every case, example and recorded case of this repository, one JSON list for each."""
    found = [_documents(project.files) for project in projects()]
    return tuple(text for text in found if text is not None)


def _documents(files: Iterable[tuple[str, bytes]]) -> str | None:
    """What lies in one folder, None where it cannot be read by everybody."""
    found: list[Any] = []
    for _, data in files:
        try:
            found += [one for one in yaml.load_all(data, yaml.CSafeLoader) if isinstance(one, dict)]
        except (yaml.YAMLError, ValueError, RecursionError):
            return None
    try:
        return json.dumps(found, default=str) if found else None
    except (TypeError, ValueError, RecursionError):
        return None


def mutant(text: str, chance: random.Random) -> list[Any]:
    """The documents of `text` after one to four mutations."""
    documents: list[Any] = json.loads(text)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        mutate(documents, chance)
    return documents


def mutate(tree: Any, chance: random.Random) -> None:
    """One change somewhere below the list of documents."""
    found = [place for place in places(tree) if place]
    if not found:
        return
    path = chance.choice(found)
    holder = at(tree, path[:-1])
    key = path[-1]
    match chance.randrange(8):
        case 0:
            del holder[key]
        case 1 if type(holder) is dict:
            holder[chance.choice((f"{key}s", key[:-1], key.lower(), *WORDS))] = holder.pop(key)
        case 2 if type(holder) is list:
            holder.insert(chance.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
        case 3 if type(holder[key]) is dict:
            holder[key][chance.choice(WORDS)] = copy.deepcopy(chance.choice(ODD))
        case 4:
            holder[key] = copy.deepcopy(at(tree, chance.choice(found)))
        case 5:
            other = chance.choice(found)
            if other[: len(path)] != path and path[: len(other)] != other:
                holder[key], at(tree, other[:-1])[other[-1]] = at(tree, other), holder[key]
        case 6:
            holder[key] = retyped(holder[key])
        case _:
            holder[key] = copy.deepcopy(chance.choice(ODD))


def retyped(node: Any) -> Any:
    """The same thing in another type, as people write it by mistake."""
    if isinstance(node, dict):
        return [{"name": key, "value": value} for key, value in node.items()]
    if isinstance(node, list):
        return {str(index): item for index, item in enumerate(node)} if len(node) > 1 else (node or [None])[0]
    if isinstance(node, str):
        return [node]
    return str(node)


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path of a tree."""
    inner: Any = ()
    if isinstance(tree, (dict, list)):
        inner = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    """The node at a path."""
    for step in path:
        tree = tree[step]
    return tree


def text_of(documents: list[Any]) -> str:
    """A stream of these documents, each node on a line of its own."""
    return "---\n".join(json.dumps(document, indent=1, ensure_ascii=False) + "\n" for document in documents)
