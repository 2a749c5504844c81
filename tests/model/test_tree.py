"""The one merge: the API machinery's results for what a patch can reach, and its laws."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainc.model.sourced import Origin, Sourced, Span
from trainc.model.tree import (
    MissingKeyError,
    UnknownDirectiveError,
    first_leaf,
    get,
    leaves,
    merge,
    plain,
    stamp,
    value,
)
from trainc.text.merge_keys import MERGE_KEYS


def named(*names: str, **extra: object) -> list[dict[str, object]]:
    return [{"name": name, **extra} for name in names]


def merged(base: object, patch: object, *, append: bool = False, exact: bool = False) -> Any:
    return plain(merge(stamp(base, "base"), stamp(patch, "patch"), MERGE_KEYS, append=append, exact=exact))


@pytest.mark.parametrize(
    ("base", "patch", "order"),
    [
        ("ABC", ["D", "B"], "DABC"),
        ("ABCDE", ["X", "D", "N", "B", "M"], "XACDNBME"),
        ("AB", ["B", "A"], "BA"),
        ("A", ["B"], "BA"),
        ("ABC", [], "ABC"),
        ("", ["A", "B"], "AB"),
        ("ABC", ["C"], "ABC"),
        ("ABC", ["A"], "ABC"),
    ],
)
def test_order_of_merged_lists(base: str, patch: list[str], order: str) -> None:
    found = merged({"env": named(*base)}, {"env": named(*patch)})
    assert "".join(item["name"] for item in found["env"]) == order
    assert "".join(merged({"finalizers": list(base)}, {"finalizers": patch})["finalizers"]) == order


@pytest.mark.parametrize(("base", "patch", "order"), [("ABC", "DB", "ABCD"), ("AB", "BA", "AB"), ("", "AB", "AB")])
def test_order_of_upserts(base: str, patch: str, order: str) -> None:
    found = merged({"env": named(*base)}, {"env": named(*patch)}, append=True)
    assert "".join(item["name"] for item in found["env"]) == order


RULES = [
    (
        "value and valueFrom are left side by side",
        {"env": [{"name": "A", "value": "1"}]},
        {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]},
        {"env": [{"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]},
    ),
    (
        "mounts merge by their path, not their name",
        {"volumeMounts": [{"name": "a", "mountPath": "/x"}]},
        {"volumeMounts": [{"name": "b", "mountPath": "/x"}, {"name": "a", "mountPath": "/y"}]},
        {"volumeMounts": [{"name": "b", "mountPath": "/x"}, {"name": "a", "mountPath": "/y"}]},
    ),
    (
        "the sources of one volume are left side by side",
        {"volumes": [{"name": "v", "emptyDir": {}}]},
        {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]},
        {"volumes": [{"name": "v", "emptyDir": {}, "persistentVolumeClaim": {"claimName": "c"}}]},
    ),
    (
        "lists inside a volume are replaced",
        {"volumes": [{"name": "v", "configMap": {"items": [{"key": "a"}], "name": "m"}}]},
        {"volumes": [{"name": "v", "configMap": {"items": [{"key": "b"}]}}]},
        {"volumes": [{"name": "v", "configMap": {"items": [{"key": "b"}], "name": "m"}}]},
    ),
    (
        "tolerations are replaced as a whole",
        {"tolerations": [{"key": "a"}, {"key": "b"}]},
        {"tolerations": [{"key": "c"}]},
        {"tolerations": [{"key": "c"}]},
    ),
    (
        "objects of affinity merge, their lists are replaced",
        {"affinity": {"nodeAffinity": {"preferred": [1]}, "podAffinity": {"required": [1, 2]}}},
        {"affinity": {"podAffinity": {"required": [3]}}},
        {"affinity": {"nodeAffinity": {"preferred": [1]}, "podAffinity": {"required": [3]}}},
    ),
    (
        "security contexts merge, their lists are replaced",
        {"securityContext": {"runAsUser": 1, "capabilities": {"add": ["A"], "drop": ["B"]}}},
        {"securityContext": {"runAsUser": 0, "capabilities": {"add": ["C"]}}},
        {"securityContext": {"runAsUser": 0, "capabilities": {"add": ["C"], "drop": ["B"]}}},
    ),
    (
        "pull secrets and gates merge by name",
        {"imagePullSecrets": named("a"), "schedulingGates": named("g")},
        {"imagePullSecrets": named("b"), "schedulingGates": named("g")},
        {"imagePullSecrets": named("b", "a"), "schedulingGates": named("g")},
    ),
    ("labels merge by key", {"labels": {"a": "1", "b": "2"}}, {"labels": {"b": "3", "c": "4"}}, {"labels": {"a": "1", "b": "3", "c": "4"}}),
    ("a null removes", {"a": 1, "b": {"c": 1, "d": 2}}, {"a": None, "b": {"c": None}}, {"b": {"d": 2}}),
    ("a null removes nothing that is not there", {"a": 1}, {"x": None, "y": {"z": None}}, {"a": 1, "y": {}}),
    ("a map is replaced on demand", {"nodeSelector": {"a": "1"}}, {"nodeSelector": {"$patch": "replace", "k": "v"}}, {"nodeSelector": {"k": "v"}}),
    ("a map is emptied on demand", {"nodeSelector": {"a": "1"}}, {"nodeSelector": {"$patch": "delete"}}, {"nodeSelector": {}}),
    ("a scalar gives way to a map", {"a": 1}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ("a map gives way to a scalar", {"a": {"b": 1}}, {"a": 1}, {"a": 1}),
    ("a list that is not there is taken", {}, {"env": named("B", "A")}, {"env": named("B", "A")}),
    ("sets are united", {"finalizers": ["a", "a", "b"]}, {"finalizers": ["b", "c", "c"]}, {"finalizers": ["a", "b", "c"]}),
    ("items without their key stand for themselves", {"env": [{"value": "1"}]}, {"env": [{"value": "2"}]}, {"env": [{"value": "2"}, {"value": "1"}]}),
    (
        "merges reach through lists",
        {"replicatedJobs": [{"name": "node", "template": {"spec": {"containers": [{"name": "c", "image": "i", "env": named("A")}]}}}]},
        {"replicatedJobs": [{"name": "node", "template": {"spec": {"containers": [{"name": "c", "env": named("B")}]}}}]},
        {"replicatedJobs": [{"name": "node", "template": {"spec": {"containers": [{"name": "c", "image": "i", "env": named("B", "A")}]}}}]},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("base", "patch", "expected"), [rule[1:] for rule in RULES], ids=[rule[0] for rule in RULES])
def test_rule(base: object, patch: object, expected: object) -> None:
    assert merged(base, patch) == expected


def test_any_other_directive_is_refused() -> None:
    with pytest.raises(UnknownDirectiveError) as error:
        merged({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"$patch": "explode"}})
    assert error.value.leaf.value == "explode"


EXACTLY = [
    ("a map with a directive is not taken where there is none", {"a": 1}, {"nodeSelector": {"$patch": "replace", "k": "v"}}, {"a": 1}),
    ("nor where it has an unknown one", {"a": 1}, {"labels": {"$patch": "explode"}}, {"a": 1}),
    ("nor below what is new", {}, {"template": {"labels": {"$patch": "delete"}, "x": [{"labels": {"$patch": "delete"}}]}}, {"template": {"x": [{}]}}),
    ("a directive counts where there is a map", {"labels": {"a": "1"}}, {"labels": {"$patch": "replace", "b": "2"}}, {"labels": {"b": "2"}}),
    (
        "a new item is taken as it stands",
        {"containers": [{"name": "a"}]},
        {"containers": [{"name": "b", "labels": {"$patch": "delete"}}]},
        {"containers": [{"name": "b", "labels": {"$patch": "delete"}}, {"name": "a"}]},
    ),
    (
        "a key that the patch has twice is one item",
        {"volumeMounts": [{"name": "a", "mountPath": "/x"}]},
        {"volumeMounts": [{"name": "b", "mountPath": "/y"}, {"name": "c", "mountPath": "/y", "readOnly": True}]},
        {"volumeMounts": [{"name": "c", "mountPath": "/y", "readOnly": True}, {"name": "a", "mountPath": "/x"}]},
    ),
    (
        "but not in a list that is new",
        {},
        {"volumeMounts": [{"name": "b", "mountPath": "/y"}, {"name": "c", "mountPath": "/y"}]},
        {"volumeMounts": [{"name": "b", "mountPath": "/y"}, {"name": "c", "mountPath": "/y"}]},
    ),
    ("a text where a list is wanted takes the place of a text", {"labels": {"a": "1"}}, {"labels": {"$deleteFromPrimitiveList/a": "2", "$deleteFromPrimitiveList/b": "2"}}, {"labels": {"a": "2"}}),
    ("and is an entry where there is no map", {}, {"labels": {"$retainKeys": "a"}}, {"labels": {"$retainKeys": "a"}}),
    ("items without key are taken where there is no list", {}, {"imagePullSecrets": [{}]}, {"imagePullSecrets": [{}]}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("base", "patch", "expected"), [rule[1:] for rule in EXACTLY], ids=[rule[0] for rule in EXACTLY]
)
def test_corner_of_the_api_machinery(base: object, patch: object, expected: object) -> None:
    assert merged(base, patch, exact=True) == expected


@pytest.mark.parametrize(("base", "patch"), [([{}], named("a")), (named("a"), [{}])])
def test_an_item_without_its_key_cannot_be_merged(base: list[object], patch: list[object]) -> None:
    with pytest.raises(MissingKeyError) as error:
        merged({"imagePullSecrets": base}, {"imagePullSecrets": patch}, exact=True)
    assert (error.value.field, error.value.key) == ("imagePullSecrets", "name")


@pytest.mark.parametrize("key", ["$retainKeys", "$setElementOrder/a", "$setElementOrder", "$deleteFromPrimitiveList"])
def test_a_directive_without_its_list_cannot_be_merged(key: str) -> None:
    with pytest.raises(UnknownDirectiveError) as error:
        merged({"labels": {"a": "1"}}, {"labels": {key: "a"}}, exact=True)
    assert error.value.name == key


def test_the_merge_key_keeps_the_place_where_it_was_first_written() -> None:
    base = {"env": [{"name": Sourced("A", Origin(by="base")), "value": Sourced("1", Origin(by="base"))}]}
    patch = {"env": [{"name": Sourced("A", Origin(by="patch")), "value": Sourced("2", Origin(by="patch"))}]}
    [item] = merge(base, patch, MERGE_KEYS)["env"]
    assert [item["name"].origin.by, item["value"].origin.by] == ["base", "patch"]


NAMES = st.sampled_from(["A", "B", "C", "D"])
SCALARS = st.integers(0, 9) | st.sampled_from(["x", "y"])
ITEMS = st.builds(
    lambda name, rest: {"name": name, **rest}, NAMES, st.dictionaries(st.sampled_from(["value", "b"]), SCALARS)
)
ENV = st.lists(ITEMS, max_size=4, unique_by=lambda item: item["name"])
SETS = st.lists(NAMES, max_size=4, unique=True)
MAPS = st.dictionaries(st.sampled_from(["k1", "k2", "k3"]), SCALARS, max_size=3)
INNER = st.fixed_dictionaries({}, optional={"labels": MAPS, "args": st.lists(SCALARS, max_size=3), "env": ENV})
OBJECTS = st.fixed_dictionaries(
    {}, optional={"env": ENV, "finalizers": SETS, "labels": MAPS, "s": SCALARS, "spec": INNER}
)


@pytest.mark.slow
@given(OBJECTS, OBJECTS, st.booleans())
def test_neither_input_is_changed(base: Any, patch: Any, append: bool) -> None:
    a, b = stamp(base, "base"), stamp(patch, "patch")
    before = deepcopy((plain(a), plain(b)))
    merge(a, b, MERGE_KEYS, append=append)
    assert (plain(a), plain(b)) == before


@given(OBJECTS, OBJECTS, st.booleans())
def test_no_leaf_is_made_or_altered(base: Any, patch: Any, append: bool) -> None:
    a, b = stamp(base, "base"), stamp(patch, "patch")
    given_leaves = {id(leaf) for tree in (a, b) for _, leaf in leaves(tree)}
    for _, leaf in leaves(merge(a, b, MERGE_KEYS, append=append)):
        assert id(leaf) in given_leaves


@pytest.mark.slow
@given(OBJECTS)
def test_nothing_changes_nothing_and_once_is_enough(tree: Any) -> None:
    assert merged(tree, {}) == tree
    assert merged({}, tree) == tree
    assert merged(tree, tree) == tree


def contents(tree: Any) -> Any:
    """A tree without the order of its merged lists, which depends on what was there before."""
    if isinstance(tree, dict):
        return {key: contents(node) for key, node in tree.items()}
    if isinstance(tree, list) and tree and (isinstance(tree[0], dict) or tree[0] in {"A", "B", "C", "D"}):
        return sorted((contents(item) for item in tree), key=str)
    return tree


@pytest.mark.slow
@given(OBJECTS, OBJECTS, OBJECTS)
def test_associative_but_for_the_order_of_lists(a: Any, b: Any, c: Any) -> None:
    assert contents(merged(merged(a, b), c)) == contents(merged(a, merged(b, c)))


@pytest.mark.slow
@given(OBJECTS, OBJECTS, OBJECTS)
def test_upserts_are_associative(a: Any, b: Any, c: Any) -> None:
    for tree in (a, b, c):
        tree.pop("finalizers", None)  # a set has one order, whoever adds to it
    left = merged(merged(a, b, append=True), c, append=True)
    assert left == merged(a, merged(b, c, append=True), append=True)


TREE = stamp({"a": {"b": [1, {"c": None}]}, "d": "x"}, "test")


def test_walks() -> None:
    assert [(path, leaf.value) for path, leaf in leaves(TREE)] == [
        (("a", "b", 0), 1),
        (("a", "b", 1, "c"), None),
        (("d",), "x"),
    ]
    assert value(TREE, "a", "b", 0) == 1
    assert value(TREE, "a", "b", -1, "c") is None
    assert value(TREE, "a") is None
    assert get(TREE, "a", "b", 5) is None
    assert get(TREE, "d", "x") is None
    assert get(TREE) is TREE
    assert first_leaf(TREE) is get(TREE, "a", "b", 0)
    assert first_leaf({}) is None


def test_stamps() -> None:
    span = Span("f", 1, 2, 1, 3)
    known = Sourced(1, Origin(span))
    tree = stamp({"a": known, "b": (2,)}, "torch", known)
    assert tree["a"] is known
    assert tree["b"][0].origin == Origin(None, "torch", (Origin(span),))
    assert plain(tree) == {"a": 1, "b": [2]}
