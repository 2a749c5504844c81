"""What a server and JobSet's webhooks say of values that nobody should write, in every stage."""

from typing import Any

import pytest

from trainc.apiserver.fault import SKIPPED_RULES, Verdict, compact, number, shown
from trainc.apiserver.golang.time import time_fault
from trainc.apiserver.profile import Profile
from trainc.apiserver.schema.node import load
from trainc.apiserver.verdict import verdict
from trainc.model.tree import plain, stamp


def jobset(metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "a", **(metadata or {})},
        "spec": spec,
    }


def role(job: dict[str, Any] | None = None, pod: dict[str, Any] | None = None, **container: Any) -> dict[str, Any]:
    pods = {"containers": [{"name": "c", "image": "i", **container}], **(pod or {})}
    return {"name": "w", "template": {"spec": {"template": {"spec": pods}, **(job or {})}}}


def judged(tree: Any, **more: Any) -> Verdict:
    return verdict(stamp(tree, "test"), load(), Profile(), **more)


DECODED = "json: cannot unmarshal"
POD = "spec.replicatedJobs.template.spec.template.spec"


@pytest.mark.parametrize(
    ("tree", "by", "message"),
    [
        ({**jobset(), "metadata": "a"}, "decode", f"{DECODED} string into Go value of type v1.ObjectMeta"),
        (jobset({"generation": 0.5}), "decode", f"{DECODED} number 0.5 into Go struct field ObjectMeta.generation of type int64"),
        (jobset({"generation": 1e20}), "decode", f"{DECODED} number 1{'0' * 20} into Go struct field ObjectMeta.generation of type int64"),
        (jobset({"labels": "x"}), "decode", f"{DECODED} string into Go struct field ObjectMeta.labels of type map[string]string"),
        (jobset({"labels": ["x"]}), "decode", f"{DECODED} array into Go struct field ObjectMeta.labels of type map[string]string"),
        (jobset({"finalizers": [{}]}), "decode", f"{DECODED} object into Go struct field ObjectMeta.finalizers of type string"),
        (jobset({"ownerReferences": [1]}), "decode", f"{DECODED} number into Go struct field ObjectMeta.ownerReferences of type v1.OwnerReference"),
        (jobset({"creationTimestamp": 1, "labels": {"x": 1}}), "decode", f"{DECODED} number into Go struct field ObjectMeta.creationTimestamp of type string"),
        (jobset({"ownerReferences": [{"foo": 1}]}), "unknown-field", 'unknown field "metadata.ownerReferences[0].foo"'),
        (jobset(failurePolicy={"restartStrategy": 1}), "webhook", f"{DECODED} number into Go struct field FailurePolicy.spec.failurePolicy.restartStrategy of type v1alpha2.JobSetRestartStrategy"),
        (jobset(replicatedJobs=[role(imagePullPolicy=1)]), "webhook", f"{DECODED} number into Go struct field Container.{POD}.containers.imagePullPolicy of type v1.PullPolicy"),
        (jobset(replicatedJobs=[role(pod={"volumes": [{"name": "v", "nfs": 1}]})]), "webhook", f"{DECODED} number into Go struct field Volume.{POD}.volumes.nfs of type v1.NFSVolumeSource"),
        (jobset(replicatedJobs=[role(livenessProbe={"httpGet": {"port": 1.5}})]), "webhook", f"{DECODED} number 1.5 into Go struct field HTTPGetAction.{POD}.containers.livenessProbe.httpGet.port of type int32"),
        (jobset(ttlSecondsAfterFinished=1e-7), "webhook", f"{DECODED} number 1e-7 into Go struct field JobSetSpec.spec.ttlSecondsAfterFinished of type int32"),
        (jobset(ttlSecondsAfterFinished=1e21), "webhook", f"{DECODED} number 1e+21 into Go struct field JobSetSpec.spec.ttlSecondsAfterFinished of type int32"),
    ],
)  # fmt: skip
def test_what_cannot_be_read(tree: Any, by: str, message: str) -> None:
    found = judged(tree)
    assert (found.by, found.messages) == (by, [message])


@pytest.mark.parametrize(
    ("tree", "messages"),
    [
        (jobset({"name": "A"}, suspend="x"), ['metadata.name: Invalid value: "A"', 'spec.suspend: Invalid value: "string"', SKIPPED_RULES]),
        (jobset(suspend="x", replicatedJobs=[role(), role()]), ['spec.suspend: Invalid value: "string"', 'spec.replicatedJobs[1]: Duplicate value: {"name":"w"}', SKIPPED_RULES]),
        (jobset(replicatedJobs=["x", "y"]), [
            'spec.replicatedJobs[0]: Invalid value: "string"',
            'spec.replicatedJobs[1]: Invalid value: "string"',
            'spec.replicatedJobs[0]: Invalid value: "x": must be an object for an array of list-type map',
            SKIPPED_RULES,
        ]),
        (jobset(ttlSecondsAfterFinished=-1.5), [
            'spec.ttlSecondsAfterFinished: Invalid value: "float64"',
            '<nil>: Invalid value: "": Checked value must be of type integer with format int32',
            "spec.ttlSecondsAfterFinished: Invalid value: -1.5: spec.ttlSecondsAfterFinished in body should be greater",
            SKIPPED_RULES,
        ]),
        (jobset(successPolicy={"operator": [{}]}), [
            'spec.successPolicy.operator: Invalid value: "array"',
            'spec.successPolicy.operator: Unsupported value: [{}]: supported values: "All", "Any"',
            SKIPPED_RULES,
        ]),
    ],
)  # fmt: skip
def test_what_the_schema_says_of_what_a_webhook_cannot_read(tree: Any, messages: list[str]) -> None:
    found = judged(tree)
    assert found.by == "webhook"
    assert len(found.schema_faults) == len(messages)
    assert all(said.startswith(start) for said, start in zip(found.schema_faults, messages, strict=True))


INDEXED = {"completionMode": "Indexed", "completions": 2, "parallelism": 2}


@pytest.mark.parametrize(
    ("tree", "messages"),
    [
        (jobset(replicatedJobs=[{**role({"parallelism": -(2**31)}), "replicas": 2**31 - 1}]), []),
        (
            jobset({"name": "a" * 30}, coordinator={"replicatedJob": "x"}, replicatedJobs=[role(INDEXED)]),
            [
                "<nil>: Internal error: coordinator replicatedJob x does not exist",
                f'<nil>: Internal error: spec will lead to invalid label value "{"a" * 30}-x-0-0.{"a" * 30}" for',
            ],
        ),
        (jobset(replicatedJobs=[{**role(), "name": "w" * 30 + "é" * 15}]), [
            f'spec.replicatedJobs[0].name: Invalid value: "a-{"w" * 30}{"é" * 15}-0": JobSet name is too long',
            f'spec.replicatedJobs[0].name: Invalid value: "a-{"w" * 30}{"é" * 15}-0": a DNS-1035 label must',
        ]),
    ],
)  # fmt: skip
def test_the_webhook_on_odd_values(tree: Any, messages: list[str]) -> None:
    found = judged(tree)
    assert len(found.messages) == len(messages), found.messages
    assert all(said.startswith(start) for said, start in zip(found.messages, messages, strict=True))


def test_a_label_value_has_all_its_reasons_in_one_message() -> None:
    tree = jobset(
        {"name": "a" * 60}, coordinator={"replicatedJob": "Ä"}, replicatedJobs=[{**role(INDEXED), "name": "Ä"}]
    )
    label = next(text for text in judged(tree).messages if "invalid label value" in text)
    assert "must be no more than 63 bytes, a valid label must be an empty string" in label


def test_metadata_are_kept_as_they_are_read() -> None:
    tree = jobset({"labels": {"x": None}, "annotations": None, "foo": 1})
    assert plain(judged(tree, strict=False).stored["metadata"]) == {"name": "a", "labels": {"x": ""}}


@pytest.mark.parametrize(
    ("owner", "messages"),
    [
        ({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1"}, []),
        ({"apiVersion": "a/v1", "kind": "Pod", "name": "p", "uid": "1", "controller": True}, []),
        (
            {"apiVersion": "a/", "name": "p", "uid": "1"},
            [
                'apiVersion: Invalid value: "a/": version must not be empty',
                'kind: Invalid value: "": must not be empty',
            ],
        ),
    ],
)
def test_owners(owner: dict[str, Any], messages: list[str]) -> None:
    tree = jobset({"ownerReferences": [owner]}, replicatedJobs=[])
    assert judged(tree).messages == [f"metadata.ownerReferences.{text}" for text in messages]


def test_one_owner_is_in_control() -> None:
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": name, "controller": True} for name in "pq"]
    found = judged(jobset({"ownerReferences": owners}))
    assert found.messages[0].endswith('Found "true" in references for Pod/p and Pod/q')


def test_a_name_stays() -> None:
    stored = judged(jobset(replicatedJobs=[])).stored
    for metadata, message in (
        ({"name": "B"}, 'metadata.name: Invalid value: "B": field is immutable'),
        ({"namespace": "b"}, 'metadata.namespace: Invalid value: "b": field is immutable'),
    ):
        assert judged(jobset(metadata, replicatedJobs=[]), old=stored).messages[0] == message
    assert judged(jobset({"namespace": "default"}, replicatedJobs=[]), old=stored).accepted


def test_an_empty_restart_policy_is_none() -> None:
    found = judged(jobset(replicatedJobs=[role(pod={"restartPolicy": ""})]))
    pod = found.stored["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert pod["restartPolicy"].value == "OnFailure"


def test_no_jobs_at_all_is_null() -> None:
    stored = judged(jobset(replicatedJobs=[role()])).stored
    found = judged(jobset(), old=stored)
    assert found.messages == ["spec.replicatedJobs: Invalid value: null: field is immutable"]
    found = judged(jobset(replicatedJobs=[]), old=stored)
    assert found.messages == ["spec.replicatedJobs: Invalid value: []: field is immutable"]


def test_an_empty_text_behind_a_pointer_is_something() -> None:
    stored = judged(jobset(replicatedJobs=[role(livenessProbe={"grpc": {"port": 1}})])).stored
    grown = [{**role(livenessProbe={"grpc": {"port": 1}}), "replicas": 2}]
    assert '"grpc":{"port":1,"service":""}' in judged(jobset(replicatedJobs=grown), old=stored).messages[0]


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.5, "1.5"), (1e-7, "1e-7"), (1e20, "1" + "0" * 20), (1e21, "1e+21"), (2.0, "2"), (3, "3"), (0.1, "0.1")],
)
def test_numbers_of_json(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1.5, "1.5"), (-0.5, "-0.5"), (1e30, "1e+30"), (0.00001, "1e-05"), (1234567.5, "1.2345675e+06")]
)
def test_fractions_in_messages(value: float, text: str) -> None:
    assert shown(value) == text


def test_json_is_safe_in_html() -> None:
    assert compact(["<a>&", "\u2028", "é"]) == r'["\u003ca\u003e\u0026","\u2028","é"]'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("2024-02-29T00:00:00Z", ""),
        ("2024-01-02T3:04:05.123+23:59", ""),
        ("now", ' as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"'),
        ("ü", ' as "2006-01-02T15:04:05Z07:00": cannot parse "\\xc3\\xbc" as "2006"'),
        ("2024-01-02", ' as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'),
        ("2024-13-01T00:00:00Z", ": month out of range"),
        ("2023-02-29T00:00:00Z", ": day out of range"),
        ("2024-01-02T03:04:05", ' as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"'),
        ("2024-01-02T03:04:05+25:00", ": time zone offset hour out of range"),
        ("2024-01-02T03:04:05Z!", ': extra text: "!"'),
    ],
)
def test_times(text: str, reason: str) -> None:
    quoted = text.replace("ü", "\\xc3\\xbc")
    assert time_fault(text) == (f'parsing time "{quoted}"{reason}' if reason else "")
