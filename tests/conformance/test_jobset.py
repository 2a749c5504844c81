"""Every recorded verdict on JobSets and PodGroups: stage, messages, patch and stored object."""

import json
import re
from functools import cache
from typing import Any

import pytest
import yaml

from tests.conformance.archives import groups, members
from tests.sampling import sampled
from trainc.apiserver.fault import Verdict
from trainc.apiserver.profile import Profile
from trainc.apiserver.schema.node import load
from trainc.apiserver.verdict import verdict
from trainc.model.report import Report
from trainc.model.tree import get, plain, value
from trainc.yaml.reader import read

STATE = {"PersistentVolumeClaim", "Queue", "LocalQueue", "WorkloadPriorityClass"}
CLUSTER_SCOPED = {"Queue", "WorkloadPriorityClass"}
CASES = sorted(
    f"{group}/{file.removesuffix('.verdict.yaml')}"
    for group in groups("jobset")
    for file in members("jobset", group)
    if file.endswith(".verdict.yaml")
)
GO_FAULT = re.compile(r"json: cannot unmarshal (.*) into Go struct field [^.]*\.(.*) of type (.*)")


@cache
def opened(case: str) -> tuple[list[Any], Profile, dict[str, Any]]:
    """The request documents of a case, the server it was sent to, and the recorded verdict."""
    group, _, name = case.partition("/")
    files = members("jobset", group)
    text = files[f"{name}.yaml"]
    report = Report()
    documents = [document.tree for document in read(text, f"{name}.yaml", report)]
    assert not report.failed
    state: dict[str, dict[tuple[str, str], Any]] = {kind: {} for kind in STATE}
    for tree in documents:
        kind = value(tree, "kind")
        if kind in STATE:
            namespace = "" if kind in CLUSTER_SCOPED else value(tree, "metadata", "namespace") or "default"
            state[kind][namespace, value(tree, "metadata", "name")] = tree
    header = text.partition("apiVersion")[0]
    profile = Profile(
        gates=frozenset(re.findall(r"(\w+)=true", header)),
        kueue="kueue" in header.partition("# setup:")[2],
        unqueued="manageJobsWithoutQueueName" in header,
        state=state,
    )
    requests = [tree for tree in documents if value(tree, "kind") not in STATE]
    recorded = yaml.load(files[f"{name}.verdict.yaml"], yaml.CSafeLoader)
    return requests, profile, recorded


def judged(case: str, *, strict: bool = True) -> Verdict:
    """Our verdict: of one document its creation, of two the change from the first to the second."""
    requests, profile, _ = opened(case)
    first = verdict(requests[0], load(), profile, strict=strict or len(requests) > 1)
    if len(requests) == 1:
        return first
    assert first.accepted, first.messages
    stored = first.stored
    if "status" in requests[0]:
        stored = {**stored, "status": requests[0]["status"]}
    return verdict(requests[1], load(), profile, old=stored, strict=strict)


def comparable(messages: list[str]) -> set[str]:
    """Messages as a set: JSON inside them without order, of Go's decoder the path and the two types."""
    return {_comparable(message) for message in messages}


def _comparable(message: str) -> str:
    found = GO_FAULT.fullmatch(message)
    if found:
        return " | ".join(found.groups())
    start = message.find(": Invalid value: ") + len(": Invalid value: ")
    if start > 20 and message[start] in "[{":
        try:
            held, end = json.JSONDecoder().raw_decode(message, start)
        except ValueError:
            return message
        return message[:start] + json.dumps(held, sort_keys=True) + message[end:]
    return message


@pytest.mark.parametrize("case", CASES)
def test_verdict(case: str) -> None:
    recorded = opened(case)[2]
    found = judged(case)
    assert ("accepted" if found.accepted else "rejected") == recorded["verdict"], found.messages
    assert found.by == recorded.get("by", "")
    assert comparable(found.messages) == comparable(recorded.get("messages", []))
    if recorded["operation"] == "create":
        # What is recorded is the patch, where the request got that far and there is a mutating webhook.
        assert found.empty_patch == recorded.get("emptyPatch")
    assert comparable(found.schema_faults) == comparable(recorded.get("schemaMessages", []))
    if "stored" in recorded:
        stored = plain(found.stored)
        stored["metadata"].setdefault("namespace", "default")
        assert stored == recorded["stored"]
    if "withoutStrictFieldValidation" in recorded:
        lenient(case, recorded["withoutStrictFieldValidation"])


def lenient(case: str, recorded: dict[str, Any]) -> None:
    found = judged(case, strict=False)
    assert ("accepted" if found.accepted else "rejected") == recorded["verdict"], found.messages
    assert found.by == recorded.get("by", "")
    assert comparable(found.messages) == comparable(recorded.get("messages", []))
    if "emptyPatch" in recorded:
        assert found.empty_patch == recorded["emptyPatch"]


@pytest.mark.parametrize("case", sampled(CASES, every=10))
def test_faults_point_into_the_object(case: str) -> None:
    """Every fault stands in a part of the object that was sent or stored."""
    found = judged(case)
    sent = opened(case)[0][-1]
    for fault in found.faults:
        assert any(get(tree, *fault.path[:1]) is not None for tree in (sent, found.stored)), (fault.message, fault.path)
