"""The comparison with the recordings is strict: a single change anywhere in trainc's output is noticed."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.compiling import compile_in
from tests.conformance.archives import SEPARATOR, packed
from tests.conformance.harness import Case, carried_labels, read, reduced
from tests.conformance.test_trainer import CASES, leniency, reason
from tests.sampling import sampled

ACCEPTED = [case for case in CASES if not case.refusals and not reason(case)][::8]
# Defaults of the JobSet CRD may be written or left to the server; scripts of Flux are our own; empty maps say nothing.
UNNOTICED = {
    ("delete", "groupName"),
    ("delete", "queue"),
    ("delete", "replicas"),
    ("delete", "restartStrategy"),
    ("delete", "protocol"),
    ("delete", "metadata"),
    ("change", "entrypoint.sh"),
    ("change", "init.sh"),
}


@pytest.mark.parametrize(
    "case",
    sampled(ACCEPTED, [case.id for case in ACCEPTED], quick=("coscheduling/defaults", "mpi/launcher-listed-first")),
)
def test_every_change_is_noticed(case: Case, tmp_path: Path) -> None:
    (tmp_path / "input.yaml").write_text(case.text, "utf-8")
    run = compile_in(tmp_path, "build", "input.yaml", "--only", "admission", "--closed-world", *leniency(case))
    own = [tree for tree in run.objects if tree not in case.documents and tree["kind"] != "Service"]
    answers = [reduced(read(text), recorded=True) for text in case.answers]
    carried = carried_labels(case.documents)
    assert reduced(deepcopy(own), recorded=False, carried=carried) in answers
    tried = [
        (kind, path)
        for index, tree in enumerate(own)
        for kind, path, changed in _changes(tree)
        if _reduced([*own[:index], changed, *own[index + 1 :]], carried) in answers
    ]
    assert {(kind, path[-1]) for kind, path in tried} <= UNNOTICED, tried


def test_an_object_too_many_is_noticed() -> None:
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "b"}}
    secret = {**made, "kind": "Secret"}
    assert reduced([deepcopy(secret)], recorded=True) == {}
    assert reduced([deepcopy(secret)], recorded=False) != {}
    with pytest.raises(AssertionError, match="twice"):
        reduced([deepcopy(made), deepcopy(made)], recorded=False)


def _reduced(objects: list[Any], carried: frozenset[str]) -> dict[str, Any] | None:
    """The reduced objects; None where the change leaves nothing that can be compared."""
    try:
        return reduced(deepcopy(objects), recorded=False, carried=carried)
    except (KeyError, AttributeError, AssertionError, TypeError):
        return None


def _other(old: str | int) -> str | int:
    if isinstance(old, bool):
        return not old
    return old + 1 if isinstance(old, int) else f"{old}1"


def _changes(tree: Any) -> Iterator[tuple[str, tuple[Any, ...], Any]]:
    for path in list(_paths(tree)):
        old = _at(tree, path)
        yield "delete", path, _with(tree, path, None)
        if isinstance(old, str | int):
            yield "change", path, _with(tree, path, _other(old))
        elif isinstance(old, list) and len(old) > 1 and old[0] != old[1]:
            yield "swap", path, _with(tree, path, [old[1], old[0], *old[2:]])
        elif isinstance(old, dict):
            yield "add", path, _with(tree, path, {**old, "surplus": "1"})


def _paths(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for step, child in children:
        yield (*path, step)
        yield from _paths(child, (*path, step))


def _at(tree: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        tree = tree[step]
    return tree


def _with(tree: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy with another value at the path; None removes it."""
    copy = deepcopy(tree)
    parent = _at(copy, path[:-1])
    if new is None:
        del parent[path[-1]]
    else:
        parent[path[-1]] = new
    return copy


def test_an_archive_reads_back_and_a_separator_inside_a_text_is_refused() -> None:
    texts = {"b/input.yaml": "a: 1\n", "a.yaml": "# --\n"}
    _, *parts = SEPARATOR.split(packed(texts))
    assert dict(zip(parts[::2], parts[1::2], strict=True)) == texts
    with pytest.raises(ValueError, match="separator"):
        packed({"a.yaml": "x\n-- b --\n"})
