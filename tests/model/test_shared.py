"""What jobs share: found by identity, made once, written once."""

from __future__ import annotations

from typing import Any

from trainc.model.ink import fixed, ink_of
from trainc.model.patches import COMPLETION_INDEX, variable
from trainc.model.shared import Shared
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import plain, stamp
from trainc.yaml.writer import dump, dump_all

TEMPLATE = stamp({"a": {"x": 1}, "b": [{"y": 2}, {"z": "three\nlines"}], "c": {"d": {"e": "f"}}}, "runtime")


def test_a_shared_node_is_worked_on_once() -> None:
    shared, calls = Shared(TEMPLATE), []

    def make(node: Any) -> Any:
        calls.append(node)
        return {"made": node}

    first, again = shared.once(TEMPLATE["a"], make), shared.once(TEMPLATE["a"], make)
    assert first is again
    assert calls == [TEMPLATE["a"]]
    assert id(first) in shared.kept


def test_what_equals_a_shared_node_is_not_taken_for_it() -> None:
    shared, twin = Shared(TEMPLATE), dict(TEMPLATE["a"])
    assert shared.once(twin, dict) is not shared.once(twin, dict)


def test_shared_nodes_are_written_as_all_others_wherever_they_stand() -> None:
    kept = Shared(TEMPLATE).kept
    nested = {"k": {"deep": TEMPLATE["a"]}, "list": [TEMPLATE["a"], [TEMPLATE["a"]]], "top": TEMPLATE["b"]}
    for tree in (TEMPLATE, nested, TEMPLATE, {"b": TEMPLATE["c"], "c": TEMPLATE["b"]}, nested):
        assert dump_all([tree], kept) == dump(tree)


def test_a_literal_is_stamped_once_for_each_contributor() -> None:
    entry = fixed({"name": "PORT", "value": "1"})
    torch, jax = ink_of("torch").items((entry,)), ink_of("jax").items((entry,))
    assert torch[0] is ink_of("torch").items((entry,))[0]
    assert torch[0]["value"].origin == Origin(by="torch")
    assert jax[0]["value"].origin == Origin(by="jax")


def test_leaves_that_know_their_origin_keep_it() -> None:
    leaf = Sourced(3, Origin(by="job"))
    found = ink_of("torch").tree({"a": leaf, "b": [None, ("x",)]})
    assert found["a"] is leaf
    assert plain(found) == {"a": 3, "b": [None, ["x"]]}


def test_only_what_depends_on_no_job_is_the_same_entry_each_time() -> None:
    number = Sourced(1, Origin(by="job"))
    assert variable("A", 1) is variable("A", "1")
    assert variable("A", COMPLETION_INDEX) is variable("A", COMPLETION_INDEX)
    assert variable("A", number) is not variable("A", number)
    assert variable("A", number)["value"].origin == number.origin


def test_maps_of_equal_scalars_and_the_same_nodes_are_worked_on_once() -> None:
    shared = Shared(TEMPLATE)

    def make(fields: Any, _: Any) -> Any:
        return plain(fields)

    first = {"n": Sourced(1, Origin(by="job")), "a": TEMPLATE["a"]}
    known = shared.alike(first, make)
    assert shared.alike({"n": Sourced(1, Origin(by="another job")), "a": TEMPLATE["a"]}, make) is known
    for other in (True, 1.0, "1", None, id(TEMPLATE["a"])):
        assert shared.alike({**first, "n": Sourced(other, Origin(by="job"))}, make) == {**known, "n": other}
    assert shared.alike({**first, "a": TEMPLATE["b"]}, make) == {"n": 1, "a": plain(TEMPLATE["b"])}
    assert shared.alike({"n": TEMPLATE["a"], "a": first["n"]}, make) == {"n": {"x": 1}, "a": 1}
    twin = {**first, "a": dict(TEMPLATE["a"])}
    assert shared.alike(twin, make) == known
    assert shared.alike(twin, make) is not shared.alike(twin, make)
