"""What is said one step past a limit is not said at the limit."""

import json
from typing import Any

import pytest

from tests.lint.reading import bundle_of, verified
from trainc.apiserver.jobs.child import children
from trainc.apiserver.schema.features import Features
from trainc.apiserver.versions import KUBERNETES
from trainc.lint import look
from trainc.model.cluster import Cluster
from trainc.model.report import Report

SLICE, TOP = "kueue.x-k8s.io/podset-slice-size", "kueue.x-k8s.io/podset-slice-required-topology"
JOB_NAME = "batch.kubernetes.io/job-name"
ENV = [
    {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
    {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}},
]
OF_THE_SET = {"jobset.sigs.k8s.io/jobset-name": "reef"}
EVERY = [{"secretRef": {"name": "all-s"}}, {"configMapRef": {"name": "all-c"}}]


def jobset(name: str = "reef", pod: Any = None, metadata: Any = None, replicas: int = 1, **spec: Any) -> str:
    """A JobSet of one role."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "trainer", "image": "r/x:1"}], **(pod or {})}
    template = {"metadata": metadata or {}, "spec": pod}
    role = {
        "name": "w",
        "replicas": replicas,
        "template": {"spec": {"completions": 1, "parallelism": 1, **spec, "template": template}},
    }
    head = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": name}}
    return json.dumps({**head, "spec": {"replicatedJobs": [role]}})


def run(**container: Any) -> str:
    return jobset(pod={"containers": [{"name": "trainer", "image": "r/x:1", **container}]})


def shell(script: str) -> str:
    return run(command=["bash", "-c", script])


def with_service(selector: Any, *, name: str = "reef", address: str = "None") -> str:
    """A JobSet, and a Service that may stand in the way of its own."""
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}}
    return f"{jobset()}\n---\n{json.dumps({**service, 'spec': {'clusterIP': address, 'selector': selector}})}"


def sliced(size: int) -> str:
    """Four pods in slices of so many."""
    return jobset(metadata={"annotations": {SLICE: str(size), TOP: "rack"}}, completions=4, parallelism=4)


def labelled(key: str, value: str, **spec: Any) -> str:
    return jobset(metadata={"labels": {key: value}}, **spec)


def servers(count: int) -> dict[str, Any]:
    return {"dnsConfig": {"nameservers": ["10.0.0.1"] * count}}


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (sliced(2), []),
        (sliced(4), []),
        (sliced(3), ["topology-annotation"]),
        (sliced(5), ["topology-annotation"]),
        (jobset(), []),
        (jobset(replicas=0), ["no-pods"]),
        (jobset(parallelism=0), ["no-pods"]),
        (jobset(completions=0, parallelism=0), ["no-pods"]),
        (jobset(pod=servers(3)), []),
        (jobset(pod=servers(4)), ["pod-template-refused"]),
        (labelled("job-name", "reef-w-0"), []),
        (labelled(JOB_NAME, "reef-w-0"), []),
        (labelled("job-name", "reef-w-1"), ["bad-label"]),
        (labelled(JOB_NAME, "reef-w-1"), ["bad-label"]),
        (labelled("controller-uid", "x"), ["bad-label"]),
        (labelled("job-name", "x", manualSelector=True, selector={"matchLabels": {"job-name": "x"}}), []),
        (jobset("a" * 57, completions=10, parallelism=10), []),
        (jobset("a" * 58, completions=10, parallelism=10), ["pod-name-too-long"]),
        (jobset("a" * 57, completions=100, parallelism=10), ["pod-name-too-long"]),
        *((shell(f"set {words}\npython train.py\necho done"), []) for words in ("-e", "-eu", "-o errexit")),
        *(
            (shell(f"set {words}\npython train.py\necho done"), ["masked-exit-code"])
            for words in ("-x", "-u", "+e", "-o pipefail", "pipefail", "--")
        ),
        *((run(image=f"r/x:{tag}"), []) for tag in ("a_b.c-1", "_a", "a" * 128)),
        *((run(image=f"r/x:{tag}"), ["bad-image"]) for tag in ("-a", ".a", "a" * 129, "a+b", "\u00e4")),
        (with_service(OF_THE_SET), []),
        (with_service({**OF_THE_SET, "a": "b"}), ["service-shadows-peers"]),
        (with_service({"a": "b"}), ["service-shadows-peers"]),
        (with_service({}), ["service-shadows-peers"]),
        (with_service(OF_THE_SET, address="10.0.0.1"), ["service-shadows-peers"]),
        (with_service({"a": "b"}, name="other", address="10.0.0.1"), []),
        *((run(command=["python", f"--a={word}"]), []) for word in ("$$NAME", "$1", "$", "$$")),
        *(
            (run(command=["python", f"--a={word}"]), ["variable-without-shell"])
            for word in ("$NAME", "$$A$NAME", "$1$NAME")
        ),
    ],
)
def test_a_rule_has_its_limit(text: str, rules: list[str]) -> None:
    assert [finding.rule.name for finding in verified(text).findings] == rules


def test_each_object_that_a_variable_names_is_missed_once() -> None:
    container = {"name": "trainer", "image": "r/x:1", "env": ENV, "envFrom": EVERY}
    report = Report()
    look(bundle_of(jobset(pod={"containers": [container]})), Cluster(closed=True), report)
    named = [finding.message.partition(" is neither")[0] for finding in report.findings]
    assert named == ["Secret `s`", "ConfigMap `c`", "Secret `all-s`", "ConfigMap `all-c`"]


@pytest.mark.parametrize(
    ("bundles", "said"),
    [
        ([{"name": "b", "path": "a"}, {"name": "b", "path": "b"}], []),
        ([{"name": "b", "path": "a"}, {"name": "b", "path": "a"}], ["conflicting duplicate paths"]),
        ([{"name": "example.com:signer:b", "path": "a"}], []),
        ([{"name": "example.com:signer:B", "path": "a"}], ["not a valid clustertrustbundlename"]),
        ([{"name": "", "path": "a"}], ["must be a valid object name", "not a valid clustertrustbundlename"]),
        ([{"signerName": "example.com/a", "path": "a"}], []),
        ([{"signerName": "", "path": "a"}], ["must be a valid signer name"]),
        ([{"name": "b", "signerName": "example.com/a", "path": "a"}], ["only one of name and signerName may be used"]),
        ([{"name": "b", "labelSelector": {}, "path": "a"}], ["labelSelector must be unset if name is specified"]),
        ([{"path": "a"}], ["either name or signerName must be specified"]),
    ],
)
def test_bundles_of_trust(bundles: list[Any], said: list[str]) -> None:
    """As Kubernetes' validateClusterTrustBundleProjection says it, where its feature gate is on."""
    volume = {"name": "v", "projected": {"sources": [{"clusterTrustBundle": bundle} for bundle in bundles]}}
    features = Features(KUBERNETES, frozenset(("ClusterTrustBundleProjection",)))
    faults = children(bundle_of(jobset(pod={"volumes": [volume]})).jobset, features, {}).faults
    lines = [
        line
        for fault in faults
        for line in fault.message.split("\n")
        if "clusterTrustBundle" in line or "conflict" in line
    ]
    assert [any(word in line for line in lines) for word in said] == [True] * len(said), lines
    assert bool(lines) == bool(said), lines


RULES = {"restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [3]}}]}


@pytest.mark.parametrize(
    ("version", "first", "said"),
    [
        ((1, 34), {}, ""),
        ((1, 34), {"restartPolicy": "Always"}, ""),
        ((1, 34), {"restartPolicy": "Never"}, 'Unsupported value: "Never": supported values: "Always"'),
        ((1, 35), {"restartPolicy": "Never"}, ""),
        ((1, 35), {"restartPolicy": "Always"}, ""),
        ((1, 35), {"restartPolicy": "Never", **RULES}, ""),
        ((1, 35), {"restartPolicy": "Always", **RULES}, "not allowed for init containers with restart policy Always"),
        ((1, 35), RULES, "must specify restartPolicy when restart rules are used"),
        ((1, 36), {"restartPolicy": "Always", **RULES}, ""),
    ],
)
def test_when_a_first_container_is_started_again(version: tuple[int, int], first: dict[str, Any], said: str) -> None:
    """As the version of Kubernetes has it."""
    text = jobset(pod={"initContainers": [{"name": "first", "image": "r/x:1", **first}]})
    faults = children(bundle_of(text).jobset, Features(version, frozenset()), {}).faults
    found = [fault.message for fault in faults]
    assert len(found) == bool(said), found
    assert all(said in message for message in found), found
