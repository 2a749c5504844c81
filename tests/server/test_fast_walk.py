"""The quick look never passes what the walker would speak about, and stores what the walker would store."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.server.seeds import seeds
from tests.server.test_fuzz import COUNT, ODD, ROUNDS, mutate
from trainc.model.sourced import Sourced
from trainc.model.tree import stamp
from trainc.server.cel.rules import check
from trainc.server.schema.fast_walk import DoubtError, walk_valid
from trainc.server.schema.table import Table, compile_table, load
from trainc.server.schema.walker import Log, walk
from trainc.server.verdict import kind_of

TEXT = {"type": "string"}


def node(schema: dict[str, Any]) -> Any:
    return Table(compile_table({"t/v1/T": {"type": "object", "properties": {"x": schema}}})).root("t/v1/T")


def stored_by_fast_walk(root: Any, tree: Any) -> Any:
    try:
        return walk_valid(root, tree)
    except DoubtError:
        return None


def walked(root: Any, tree: Any) -> tuple[Any, bool]:
    """What the walker stores, and whether anything has to be said about the object."""
    log = Log()
    stored = walk(root, tree, log)
    said = bool(log.unknown or log.schema or log.lists or log.unchecked or log.loose)
    if said:
        return stored, said
    waiting = [(at, path, part if path else stored) for at, path, part in log.rules]
    unchecked: list[Any] = []
    return stored, bool(check(waiting, unchecked) or unchecked)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_fast_walk_and_walker_agree(seed: int) -> None:
    chance = random.Random(2000 + seed)  # noqa: S311 (the same objects on every run)
    table = load()
    passed = 0
    for _ in range(COUNT // ROUNDS):
        given = chance.choice(seeds())
        for _ in range(chance.choice((0, 1, 1, 2))):
            mutate(given, chance)
        tree = stamp(given, "test")
        root = table.root(kind_of(tree))
        assert root is not None
        first, again = stored_by_fast_walk(root, tree), stored_by_fast_walk(root, tree)
        stored, said = walked(root, tree)
        if first is None:
            assert again is None
            continue
        passed += 1
        assert not said, given
        assert (first is tree) is (stored is tree)
        for found in (first, again):
            assert repr(found) == repr(stored)
    assert passed


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_parts_met_before_change_nothing(seed: int) -> None:
    """Objects that share most of their parts, as the JobSets of one runtime do."""
    chance = random.Random(3000 + seed)  # noqa: S311 (the same objects on every run)
    table = load()
    for seed_tree in seeds():
        tree = stamp(seed_tree, "test")
        root = table.root(kind_of(tree))
        for _ in range(COUNT // ROUNDS // 5):
            other = {**tree, "spec": changed(tree["spec"], chance)}
            found = stored_by_fast_walk(root, other)
            stored, said = walked(root, other)
            assert found is None or (not said and repr(found) == repr(stored)), other
            stored_by_fast_walk(root, tree)


def changed(tree: Any, chance: random.Random) -> Any:
    """The tree with one change somewhere; everything beside the way to it is shared."""
    if type(tree) is dict and tree and chance.random() < 0.95:
        key = chance.choice(list(tree))
        if chance.random() < 0.05:
            return {name: part for name, part in tree.items() if name != key}
        return {**tree, key: changed(tree[key], chance)}
    if type(tree) is list and tree and chance.random() < 0.95:
        at = chance.randrange(len(tree))
        return [*tree[:at], changed(tree[at], chance), *tree[at + chance.randrange(2) :]]
    return stamp(chance.choice(ODD), "test")


@pytest.mark.parametrize(
    ("schema", "value", "passes"),
    [
        (TEXT, "a", True),
        (TEXT, None, False),
        (TEXT, {}, False),
        ({"type": "object", "additionalProperties": TEXT}, {"a": "b"}, True),
        ({"type": "object", "additionalProperties": TEXT}, {"a": 1}, False),
        ({"type": "object", "additionalProperties": {"type": "array", "items": TEXT}}, {"a": ["b"]}, True),
        ({"type": "object", "additionalProperties": TEXT, "maxProperties": 1}, {"a": "b"}, True),
        ({"type": "object", "additionalProperties": TEXT, "maxProperties": 1}, {"a": "b", "c": "d"}, False),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {"a": {"b": [1]}}, True),
        ({"x-kubernetes-preserve-unknown-fields": True}, {"a": {"b": [1]}}, True),
        ({"type": "object"}, {"a": "b"}, False),
        ({"type": "array", "items": {"type": "array", "items": TEXT}}, [["a"], []], True),
        ({"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}, ["a", "a"], False),
        ({"type": "integer", "x-kubernetes-validations": [{"rule": "self >= 1"}]}, 1, True),
        ({"type": "integer", "x-kubernetes-validations": [{"rule": "self >= 1"}]}, 0, False),
        ({**TEXT, "x-kubernetes-validations": [{"rule": "self.format()"}]}, "a", False),
        ({"type": "object", "additionalProperties": {**TEXT, "x-kubernetes-validations": [{"rule": "self == ''"}]}}, {"a": {}}, False),
        ({**TEXT, "maxLength": 3}, "abc", True),
        ({**TEXT, "maxLength": 3}, "abcd", False),
        ({**TEXT, "maxLength": 9}, "${A}", False),
        ({"type": "array", "items": {**TEXT, "minLength": 2}}, ["ab", "abc"], True),
        ({"type": "array", "items": {**TEXT, "minLength": 2}}, ["ab", "a"], False),
        ({"type": "array", "items": {**TEXT, "maxLength": 9}}, ["${A}"], False),
        ({"type": "array", "items": {"type": "integer"}}, [1, 2**70], False),
        ({"type": "array", "items": TEXT, "x-kubernetes-validations": [{"rule": "!self.exists(c, c == 'node')"}]}, ["a"], True),
        ({"type": "array", "items": TEXT, "x-kubernetes-validations": [{"rule": "!self.exists(c, c == 'node')"}]}, ["node"], False),
    ],
)  # fmt: skip
def test_small_schemas(schema: dict[str, Any], value: Any, *, passes: bool) -> None:
    root = node(schema)
    tree = {"x": stamp(value, "test")}
    for _ in range(2):
        found = stored_by_fast_walk(root, tree)
        assert (found is not None) is passes
        assert found is None or found == tree
        if passes:
            assert not walked(root, tree)[1]


def test_a_refused_rule_is_refused_again() -> None:
    root = node({"type": "object", "properties": {"a": TEXT}, "x-kubernetes-validations": [{"rule": "has(self.a)"}]})
    tree: dict[str, Any] = {"x": {}}
    assert stored_by_fast_walk(root, tree) is None
    assert stored_by_fast_walk(root, tree) is None


def test_shapes_are_bounded() -> None:
    root = node({"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    for number in range(1000):
        tree = {"x": {f"key{number}": Sourced("a", stamp("a", "test").origin)}}
        assert stored_by_fast_walk(root, tree) is tree
    assert len(root.prop("x").shapes) < 200
