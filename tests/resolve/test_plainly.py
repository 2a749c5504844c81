"""A patch that is merged in one walk comes out as one that is normalised first and merged then."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainc.model.merge_keys import MERGE_KEYS
from trainc.model.normalise import normalise
from trainc.model.tree import MissingKeyError, leaves, merge, plain, stamp
from trainc.resolve.plainly import MoreThanSetError, laid

SCALARS = st.sampled_from(["a", "b", "1", "1000m", "", 0, 1, True, False, None, "replace", "delete"])
LISTS = {"containers": "name", "env": "name", "ports": "containerPort", "volumeMounts": "mountPath", "volumes": "name"}
LEAVES = st.sampled_from(["name", "image", "tty", "replicas", "sizeLimit", "$patch", "key", "containerPort"])


def branches(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keyed = st.sampled_from([*LISTS, "tolerations", "finalizers", "args"])
    named = st.sampled_from(["spec", "labels", "limits", "nodeSelector", "emptyDir"])
    fields = st.dictionaries(LEAVES, SCALARS, max_size=3)
    items = st.lists(st.one_of(st.builds(_item, st.sampled_from("ab"), inner), SCALARS), max_size=3)
    return st.one_of(
        fields,
        st.builds(
            lambda a, b, c: {**a, **b, **c}, fields, st.dictionaries(named, inner), st.dictionaries(keyed, items)
        ),
    )


def _item(name: str, rest: Any) -> Any:
    return {"mountPath": name, "containerPort": 1, **(rest if isinstance(rest, dict) else {}), "name": name}


TREES = st.recursive(st.dictionaries(LEAVES, SCALARS, max_size=3), branches, max_leaves=8)


def said(tree: Any) -> list[tuple[Any, str]]:
    return [(path, repr(leaf)) for path, leaf in leaves(tree)]


@settings(max_examples=600, deadline=None)
@given(TREES, TREES)
def test_one_walk_comes_to_the_same_as_two(base: Any, patch: Any) -> None:
    base, patch = normalise(stamp(_decided(base), "runtime")), stamp(patch, "patch")
    try:
        found = laid(base, patch)
    except MoreThanSetError:
        return
    tidy = normalise(patch, patch=True)
    assert said(tidy) == said(patch)
    try:
        assert said(found) == said(merge(base, tidy, MERGE_KEYS, exact=True))
    except MissingKeyError:
        return  # what lies below has an item that no server stores


def _decided(tree: Any) -> Any:
    """A tree without directives: what is merged under patches holds none."""
    if isinstance(tree, dict):
        return {key: _decided(node) for key, node in tree.items() if key != "$patch"}
    return [_decided(item) for item in tree] if isinstance(tree, list) else tree


POD = {"containers": [{"name": "a"}, {"name": "b", "image": "x"}], "nodeSelector": {"zone": "1"}}


@pytest.mark.parametrize(
    "patch",
    [
        {"serviceAccountName": "team"},
        {"nodeSelector": {"pool": "a100"}},
        {"containers": [{"name": "b", "image": "y"}]},
        {"containers": [{"name": "a", "image": "y"}, {"name": "b", "image": "z"}]},
        {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
    ],
)
def test_what_most_patches_say_takes_one_walk(patch: Any) -> None:
    base, patch = stamp(POD, "runtime"), stamp(patch, "patch")
    assert said(laid(base, patch)) == said(merge(base, normalise(patch), MERGE_KEYS))


@pytest.mark.parametrize(
    "patch",
    [
        {"nodeSelector": None},
        {"nodeSelector": {"$patch": "replace", "pool": "a100"}},
        {"containers": [{"name": "c"}]},
        {"containers": [{"name": "b"}, {"name": "a"}]},
        {"containers": [{"name": "a", "$patch": "delete"}]},
        {"containers": [{"name": "a", "resources": {"limits": {"cpu": "1000m"}}}]},
        {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1024Mi"}}]},
        {"hostNetwork": False},
        {"finalizers": ["a"]},
    ],
)
def test_more_than_that_takes_both(patch: Any) -> None:
    before = plain(stamp(POD, "runtime"))
    base = stamp(POD, "runtime")
    with pytest.raises(MoreThanSetError):
        laid(base, stamp(patch, "patch"))
    assert plain(base) == before
