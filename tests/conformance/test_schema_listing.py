"""The generated CRDs say of every path what the CRDs of Trainer v2.3.0 and JobSet say, and nothing more."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.compiling import ROOT
from tests.conformance.archives import RECORDED
from trainc.api import ClusterTrainingRuntime, JobSet, Resource, TrainingRuntime, TrainJob
from trainc.apiserver.shipped import crd_path

# Paths that trainc adds, agreed upon with those who apply TrainJobs directly.
OWN: frozenset[str] = frozenset()
UNLISTED = ("type", "description", "properties", "items", "additionalProperties")


def crd_lines(kind: type[Resource]) -> list[str]:
    text = (ROOT / "schemas" / crd_path(kind.NAMES)).read_text(encoding="utf-8")
    definition = yaml.load(text, Loader=yaml.CSafeLoader)
    return list(lines(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"], ""))


def lines(node: dict[str, Any], path: str) -> Iterator[str]:
    """`path type {constraints}` for a node and all below it, as the listings are written."""
    facts = {key: value for key, value in node.items() if key not in UNLISTED}
    kind = "int-or-string" if node.get("x-kubernetes-int-or-string") else node["type"]
    yield f"{path} {kind} {json.dumps(facts, sort_keys=True) if facts else ''}"
    for name, child in node.get("properties", {}).items():
        yield from lines(child, f"{path}.{name}")
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if key in node:
            yield from lines(node[key], path + mark)


def listed(name: str) -> list[str]:
    return (RECORDED / "definitions" / name).read_text(encoding="utf-8").splitlines()


def report(capsys: pytest.CaptureFixture[str], line: str) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\n{line} ")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (TrainJob, "trainjob.txt"),
        (TrainingRuntime, "runtime.txt"),
        (ClusterTrainingRuntime, "runtime.txt"),
    ],
)
def test_same_paths(kind: type[Resource], name: str, capsys: pytest.CaptureFixture[str]) -> None:
    ours, theirs = [line for line in crd_lines(kind) if line.partition(" ")[0] not in OWN], listed(name)
    assert sorted(set(ours) - set(theirs)) == [], "Trainer has no such path; if it is meant, name it in OWN"
    assert sorted(set(theirs) - set(ours)) == []
    assert len(ours) == len(theirs)
    report(capsys, f"{kind.__name__}: {len(ours)} paths equal {len(theirs)} listed ones")


def test_jobset_is_what_runtimes_embed(capsys: pytest.CaptureFixture[str]) -> None:
    """JobSet 0.13 differs from the 0.12 inside a runtime by one bound."""
    ours = {line for line in crd_lines(JobSet) if line.startswith(".spec")}
    prefix = ".spec.template"
    theirs = {
        line.removeprefix(prefix)
        for line in listed("runtime.txt")
        if line.startswith((f"{prefix}.spec.", f"{prefix}.spec "))
    }
    assert ours - theirs == {'.spec.replicatedJobs[].replicas integer {"default": 1, "format": "int32", "minimum": 0}'}
    assert theirs - ours == {'.spec.replicatedJobs[].replicas integer {"default": 1, "format": "int32"}'}
    report(capsys, f"JobSet: {len(ours & theirs)} of {len(ours)} paths below spec equal those inside a runtime")
