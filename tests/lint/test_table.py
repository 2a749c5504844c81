"""A module of rules that is not loaded for a job would have found nothing in it."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiling import ROOT
from tests.lint.reading import job_of
from tests.sampling import sampled
from trainc.lint import expand, look, refused
from trainc.lint.facts.job import Findings, Job
from trainc.lint.registry import MODULES, Checks, _objects, all_checks, checks_of
from trainc.model.bundle import Bundle
from trainc.model.cluster import Cluster
from trainc.model.finding import NOTE, Rule
from trainc.model.report import Report
from trainc.yaml.reader import read

CASES = sorted(ROOT.glob("tests/cases/verify/*/*/input/*.yaml"))
RENDERED = [  # each job as a JobSet
    manifests if manifests.exists() else case
    for case in CASES
    for manifests in [case.parent.parent / "expected/manifests.yaml"]
    if case == min(case.parent.glob("*.yaml"))
]
ODD = st.sampled_from(
    ["", "Lo", "a b", "-1", -1, 0, 1.5, True, None, [], {}, [None], {"a": "b"}, "$(X)", "${X}", "0.5", "x" * 70, "/x"]
)
WORDS = st.sampled_from(
    ["--nnodes=3", "--nproc-per-node=4", "--save=/dev/shm", "$HOME", "sleep infinity", "hf_aBcDeFgHiJkLmNoP12345"]
)


def test_a_field_that_a_module_declares_belongs_to_an_object_that_is_looked_at() -> None:
    job = job_of((ROOT / "tests/cases/verify/checkpoints-in-empty-dir/fails/input/jobset.yaml").read_text("utf-8"))
    looked_at = {"JobSet", "roles", "containers", *(name for name, _ in _objects(job))}
    declared = [path for paths in MODULES.values() for path in paths]
    assert [path for path in declared if path.partition(".")[0] not in looked_at] == []


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
            for finding in check(job):
                report.add(finding)
    else:
        look(bundle, cluster, report)
    return [finding.identity() for finding in report.findings]


@pytest.mark.parametrize(
    "case", sampled(CASES, [str(case.relative_to(ROOT / "tests/cases/verify")) for case in CASES], every=4)
)
def test_in_the_cases(case: Path) -> None:
    text = case.read_text("utf-8")
    assert found(text, everything=False) == found(text, everything=True)


@pytest.mark.slow
@settings(max_examples=120, deadline=None)
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


@pytest.mark.slow
def test_a_check_is_silent_without_the_fields_that_its_module_declares() -> None:
    wrong = {sentence for case in RENDERED for sentence in undeclared(case.read_text("utf-8"), MODULES)}
    assert not wrong, "\n".join(["", *sorted(wrong)])


def test_a_check_that_reads_an_undeclared_field_is_named() -> None:
    def look(job: Job) -> Findings:
        if "failurePolicy" in job.spec:
            yield Rule("restarts", NOTE, "a", "b").at(job.at(("spec",)), "a", effect="b", help="c")

    jobset = "kind: JobSet\nspec: {failurePolicy: {}, replicatedJobs: []}\n"
    assert list(undeclared(jobset, {"files": ("spec.failurePolicy",)}, lambda _: (look,))) == []
    assert list(undeclared(jobset, {"files": ("pod.volumes",)}, lambda _: (look,))) == [
        (
            "tests.lint.test_table: look reports restarts in a job without pod.volumes, and trainc does not call it for such"
            " a job: add the field that it reads to the line of `files` in MODULES of trainc/lint/registry.py"
        )
    ]


def undeclared(
    text: str, modules: dict[str, tuple[str, ...]], load: Callable[[str], Checks] = checks_of
) -> Iterator[str]:
    """A sentence for each check that finds something in a job without any field that its module declares."""
    reporting = rules_of(text, tuple(check for module in modules for check in load(module)))
    for module, fields in modules.items():
        if "JobSet" in fields or reporting.keys().isdisjoint(load(module)):
            continue
        documents = without(list(yaml.safe_load_all(text)), frozenset(fields))
        for check, rules in rules_of(yaml.safe_dump_all(documents), load(module)).items():
            yield (
                f"{check.__module__}: {check.__name__} reports {', '.join(sorted(rules))} in a job without"
                f" {', '.join(sorted(fields))}, and trainc does not call it for such a job: add the field that it reads"
                f" to the line of `{module}` in MODULES of trainc/lint/registry.py"
            )


def rules_of(text: str, checks: Checks) -> dict[Callable[[Job], Findings], set[str]]:
    """The checks that find something in the JobSet of a text, each with the names of the rules that it reports."""
    documents = [document for document in read(text, "jobset.yaml", Report()) if type(document.tree) is dict]
    first = next((document for document in documents if document.kind == "JobSet"), None)
    if first is None:
        return {}
    job = expand(Bundle(first, tuple(d.tree for d in documents)), Cluster(), Report())
    assert job is not None
    by_check = {check: {finding.rule.name for finding in check(job)} for check in checks}
    return {check: rules for check, rules in by_check.items() if rules}


def without(documents: list[Any], fields: frozenset[str]) -> list[Any]:
    """The documents without the fields of a job that `MODULES` calls so."""
    kinds = {field.removeprefix("beside.") for field in fields if field.startswith("beside.")}
    kept = [deepcopy(document) for document in documents if document and document["kind"] not in kinds]
    for jobset in kept:
        if jobset["kind"] == "JobSet":
            for parent, tree in objects(jobset):
                for field in [field for field in tree if f"{parent}.{field}" in fields]:
                    del tree[field]
            shorten(jobset, fields)
    return kept


def objects(jobset: Any) -> Iterator[tuple[str, Any]]:
    """The objects that a job consists of, each with what `MODULES` calls it."""
    yield "written", jobset.get("metadata", {})
    yield "spec", jobset["spec"]
    yield "failurePolicy", jobset["spec"].get("failurePolicy", {})
    for role in jobset["spec"]["replicatedJobs"]:
        job = role["template"]["spec"]
        pod = job["template"].get("spec", {})
        yield from (("role", role), ("Job", job), ("pod", pod), ("template", job["template"].get("metadata", {})))
        yield from (("volume", volume) for volume in pod.get("volumes", ()))
        for container in (*pod.get("containers", ()), *pod.get("initContainers", ())):
            yield "container", container
            for amounts in container.get("resources", {}).values():
                yield "resources", amounts


def shorten(jobset: Any, fields: frozenset[str]) -> None:
    """Leave one role and one container where fields are those of further ones."""
    if "roles.1" in fields:
        del jobset["spec"]["replicatedJobs"][1:]
    for role in jobset["spec"]["replicatedJobs"] if "containers.1" in fields else ():
        del role["template"]["spec"]["template"]["spec"]["containers"][1:]


def test_every_module_of_rules_is_listed_with_all_its_checks() -> None:
    for file in sorted((ROOT / "trainc/lint/rules").glob("[a-z]*.py")):
        module = import_module(f"trainc.lint.rules.{file.stem}")
        public = [one for name, one in vars(module).items() if isfunction(one) and name[0] != "_"]
        own = {one.__name__ for one in public if one.__module__ == module.__name__ and is_check(one)}
        listed = {name for check in getattr(module, "CHECKS", ()) for name in check.__name__.split(", ")}
        assert own == listed, f"{module.__name__}: CHECKS lacks {', '.join(sorted(own - listed))}"
        assert not own or file.stem in MODULES, f"trainc/lint/registry.py does not load {module.__name__}"


def is_check(function: FunctionType) -> bool:
    """Whether a function takes one thing, a job or a part of one, and gives findings."""
    return len(function.__annotations__) == 2 and function.__annotations__["return"] == Findings
