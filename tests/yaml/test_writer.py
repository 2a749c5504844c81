"""One spelling: order, quoting, blocks, numbers, and which line shows which path."""

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.yaml.reading import only
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import plain, stamp
from trainc.yaml import spelling
from trainc.yaml.writer import dump, dump_all, dump_json, order


def test_a_whole_object() -> None:
    tree = {
        "spec": {"b": [1, {"z": 1, "name": "n"}, [["x"], {}], "on"], "a": {}, "e": [], "c": "two\n\nlines\n"},
        "metadata": {"namespace": "q", "labels": {"b": "1", "a": "x"}, "name": "m"},
        "kind": "JobSet",
        "apiVersion": "v1",
    }
    text = """\
apiVersion: v1
kind: JobSet
metadata:
  name: m
  namespace: q
  labels:
    a: x
    b: "1"
spec:
  a: {}
  b:
  - 1
  - name: "n"
    z: 1
  - - - x
    - {}
  - "on"
  c: |
    two

    lines
  e: []
"""
    assert dump(tree) == text
    assert dump(stamp(tree, "test")) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-5, "-5"),
        (1.5, "1.5"),
        (2.0, "2.0"),
        (1e-5, "1.0e-05"),
        (1e16, "1.0e+16"),
        (1.25e-7, "1.25e-07"),
        ({}, "{}"),
        ([], "[]"),
        ((), "[]"),
        ("", '""'),
        ("plain", "plain"),
        ("two words", "two words"),
        ("/mnt/data", "/mnt/data"),
        ("--lr=1e-4", "--lr=1e-4"),
        ("a:b", "a:b"),
        ("a: b", '"a: b"'),
        ("a:", '"a:"'),
        ("a #b", '"a #b"'),
        ("a#b", '"a#b"'),
        ("- a", '"- a"'),
        ("---", '"---"'),
        ("y", '"y"'),
        ("No", '"No"'),
        ("tRue", '"tRue"'),
        ("null", '"null"'),
        ("~", '"~"'),
        ("1", '"1"'),
        ("1e3", '"1e3"'),
        ("12:30", '"12:30"'),
        ("100Mi", "100Mi"),
        ("1.5Gi", "1.5Gi"),
        ("500m", "500m"),
        ("1E", '"1E"'),
        ("2Ei", '"2Ei"'),
        ("$(VAR)", '"$(VAR)"'),
        ("a  b", '"a  b"'),
        (" a", '" a"'),
        ("a\tb", '"a\\tb"'),
        ('"', '"\\""'),
        ("\\", '"\\\\"'),
        ("Größe 中😀", '"Größe 中😀"'),
        ("\x00\x07\x7f\x85\xa0\xad", '"\\u0000\\u0007\\x7f\\x85\\xa0\\xad"'),
        ("\u200b\u2028\u202e\ufeff\uffff", '"\\u200b\\u2028\\u202e\\ufeff\\uffff"'),
        ("\U000e0001", '"\\U000e0001"'),
        ("\n", '"\\n"'),
        ("a\n", "|\n    a"),
        ("a\nb", "|-\n    a\n    b"),
        ("#!/bin/sh\nset -e\n\n# done\n", "|\n    #!/bin/sh\n    set -e\n\n    # done"),
        ("a\n\n", '"a\\n\\n"'),
        ("a \nb", '"a \\nb"'),
        ("a\nb ", '"a\\nb "'),
        ("\na", '"\\na"'),
        (" a\nb", '" a\\nb"'),
        ("a\n\tb", '"a\\n\\tb"'),
        ("a\r\nb", '"a\\r\\nb"'),
    ],
)
def test_scalar(value: object, text: str) -> None:
    assert dump({"m": {"k": value}}) == f"m:\n  k: {text}\n"
    assert dump({"m": {"k": Sourced(value, Origin())}}) == f"m:\n  k: {text}\n" or type(value) in {dict, list, tuple}


@pytest.mark.parametrize("value", [float("inf"), float("nan"), b"x", {1, 2}])
def test_what_has_no_spelling(value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        dump({"a": value})


@pytest.mark.parametrize("tree", ["text", "a\nb\n", 1, None, [], {}, [[]], [{"a": "x\ny"}, "x\ny"]])
def test_roots(tree: object) -> None:
    assert yaml.safe_load(dump(tree)) == tree
    assert dump(tree).endswith("\n")


def test_long_keys_are_written_so_that_readers_take_them() -> None:
    tree: Any = {"a" * 1100: {"b": 1}, "c" * 1100: [1, {"d" * 1100: "x\ny"}], "é" * 300: "\u200b" * 400}
    assert yaml.safe_load(dump(tree)) == tree
    assert plain(only(dump(tree)).tree) == tree


@given(st.text('ab \n\t\x00\x1f\x7f~!"\\', min_size=1))
def test_what_is_told_without_a_pattern(text: str) -> None:
    assert spelling.is_visible(text) == bool(re.fullmatch("[!-~][ -~]*(?:\n[ -~]*)*\n?", text))
    assert yaml.safe_load(spelling.quoted(text)) == text
    assert re.fullmatch("[ -~]*", spelling.quoted(text))


def test_order() -> None:
    assert order(["spec", "name", "a", "kind", "metadata", "apiVersion", "namespace", "Z"]) == [
        "apiVersion",
        "kind",
        "metadata",
        "name",
        "namespace",
        "Z",
        "a",
        "spec",
    ]


def test_streams_and_json() -> None:
    trees = [{"b": 1, "a": "é"}, {"c": [None, 1.5]}]
    assert dump_all(trees) == 'a: "é"\nb: 1\n---\nc:\n- null\n- 1.5\n'
    assert dump_json(stamp({"kind": "x", "b": [1, {}], "a": "é"}, "t")) == '{"kind":"x","a":"é","b":[1,{}]}'
    with pytest.raises(ValueError, match="JSON"):
        dump_json(float("nan"))


@pytest.mark.slow
def test_neither_hash_nor_history_decides() -> None:
    first = dump({"b": "x", "a": "y"})
    for n in range(60_000):
        dump({f"k{n % 3000}": str(n)})
    assert dump({"a": "y", "b": "x"}) == first


def test_a_bare_tree_may_change_between_two_texts() -> None:
    tree: dict[str, Any] = {"a": {}, "b": [], "c": {"d": "x"}, "e": 1}
    assert dump(tree) == "a: {}\nb: []\nc:\n  d: x\ne: 1\n"
    tree["a"]["x"], tree["c"]["d"], tree["e"] = 1, "w", True
    tree["b"].append({"z": []})
    assert dump(tree) == "a:\n  x: 1\nb:\n- z: []\nc:\n  d: w\ne: true\n"


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["a\nb", "x\n\ny\n", "on", "1", "- a"]
)
FRACTIONS = st.floats(-1e15, 1e15).filter(lambda x: x % 1 != 0)  # whole ones come back as integers
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | FRACTIONS | TEXT
TREES = st.recursive(SCALARS, lambda t: st.lists(t, max_size=4) | st.dictionaries(TEXT, t, max_size=4), max_leaves=20)
MAPS = st.dictionaries(TEXT, TREES, min_size=1, max_size=4)


@pytest.mark.slow
@given(MAPS)
def test_read_back(tree: dict[str, Any]) -> None:
    text = dump(tree)
    assert plain(only(text).tree) == tree
    assert yaml.safe_load(text) == tree
    assert json.loads(dump_json(tree)) == tree
    assert dump(only(text).tree) == text
