"""A module of rules that is not loaded for a job would have found nothing in it."""

from __future__ import annotations

from copy import deepcopy
from importlib import import_module
from inspect import isfunction
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiling import ROOT
from trainc.model.bundle import Bundle
from trainc.model.cluster import Cluster
from trainc.model.report import Report
from trainc.verify import expand, look
from trainc.verify.refused import refused
from trainc.verify.table import all_checks
from trainc.yaml.reader import read

if TYPE_CHECKING:
    from pathlib import Path
    from types import FunctionType

CASES = sorted(ROOT.glob("tests/cases/verify/*/*/input/*.yaml"))
ODD = st.sampled_from(
    ["", "Lo", "a b", "-1", -1, 0, 1.5, True, None, [], {}, [None], {"a": "b"}, "$(X)", "${X}", "0.5", "x" * 70, "/x"]
)
WORDS = st.sampled_from(
    ["--nnodes=3", "--nproc-per-node=4", "--save=/dev/shm", "$HOME", "sleep infinity", "hf_aBcDeFgHiJkLmNoP12345"]
)


def found(text: str, *, everything: bool, closed: bool = False) -> list[tuple[object, ...]] | None:
    """What is found in the JobSet of a text, by the modules whose fields are in it or by all; None for a text without one."""
    documents = [document for document in read(text, "jobset.yaml", Report()) if type(document.tree) is dict]
    first = next((document for document in documents if document.kind == "JobSet"), None)
    if first is None:
        return None
    bundle, cluster, report = Bundle(first, tuple(d.tree for d in documents)), Cluster(closed=closed), Report()
    if everything:
        job = expand(bundle, cluster, report)
        assert job is not None
        refused(job)
        for check in all_checks():
            check(job)
    else:
        look(bundle, cluster, report)
    return [finding.identity() for finding in report.findings]


@pytest.mark.parametrize("case", CASES, ids=[str(case.relative_to(ROOT / "tests/cases/verify")) for case in CASES])
def test_in_the_cases(case: Path) -> None:
    text = case.read_text("utf-8")
    assert found(text, everything=False) == found(text, everything=True)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(CASES), st.data())
def test_in_cases_that_were_changed(case: Path, data: st.DataObject) -> None:
    documents = [document for document in yaml.safe_load_all(case.read_text("utf-8")) if document]
    for _ in range(data.draw(st.integers(1, 3))):
        change(documents, data)
    text = yaml.safe_dump_all(documents, sort_keys=False)
    closed = data.draw(st.booleans())
    try:
        expected = found(text, everything=True, closed=closed)
    except (AttributeError, TypeError):
        return  # what the schema refuses never comes here
    assert found(text, everything=False, closed=closed) == expected


def change(documents: Any, data: st.DataObject) -> None:
    """Drop, replace or double one node somewhere in the documents, or add a word to a command."""
    node = documents
    while True:
        keys = list(range(len(node))) if type(node) is list else sorted(node)
        key = data.draw(st.sampled_from(keys))
        below = node[key]
        if type(below) not in (dict, list) or not below or data.draw(st.integers(0, 9)) == 0:
            break
        node = below
    action = data.draw(st.sampled_from(["drop", "replace", "add"]))
    if node is documents:
        return
    if action == "drop":
        del node[key]
    elif action == "replace":
        node[key] = deepcopy(data.draw(ODD))  # a later change may go below it
    elif type(node) is list:
        node.append(data.draw(WORDS) if type(node[key]) is str else node[key])


def test_every_module_of_rules_is_listed_with_all_its_checks() -> None:
    listed = {check.__module__ for check in all_checks()}
    for file in sorted((ROOT / "trainc/verify/rules").rglob("*.py")):
        path = file.relative_to(ROOT).with_suffix("")
        module = import_module(".".join(path.parts))
        checks = [
            function
            for name, function in vars(module).items()
            if isfunction(function)
            and function.__module__ == module.__name__
            and name[0] != "_"
            and takes_job(function)
        ]
        assert set(checks) == set(getattr(module, "CHECKS", ())), module.__name__
        assert not checks or module.__name__ in listed


def takes_job(function: FunctionType) -> bool:
    return function.__annotations__ == {"job": "Job", "return": "None"}
