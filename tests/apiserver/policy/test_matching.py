"""Which requests a policy and its bindings are about, and with which parameters they look at them.

The situations are those of the tables in k8s.io/apiserver pkg/admission/plugin/policy/matching (matching_test.go),
pkg/admission/plugin/webhook/predicates and pkg/admission/plugin/policy/validating (admission_test.go), Kubernetes 1.34.
"""

from typing import Any

import pytest

from tests.apiserver.policy.judging import OBJECT, Judged, binding, cluster, policy
from trainc.model.cluster import Definitions

CREATE = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}
RULES: dict[str, tuple[dict[str, Any], str]] = {
    "everything": (
        {"resourceRules": [{**CREATE, "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}]},
        "deny",
    ),
    "the very resource": ({"resourceRules": [CREATE]}, "deny"),
    "another group": ({"resourceRules": [{**CREATE, "apiGroups": [""]}]}, "admit"),
    "another version": ({"resourceRules": [{**CREATE, "apiVersions": ["v1beta1"]}]}, "admit"),
    "another resource": ({"resourceRules": [{**CREATE, "resources": ["pods"]}]}, "admit"),
    "the second rule": ({"resourceRules": [{**CREATE, "resources": ["pods"]}, CREATE]}, "deny"),
    "another operation": ({"resourceRules": [{**CREATE, "operations": ["UPDATE", "DELETE"]}]}, "admit"),
    "every operation": ({"resourceRules": [{**CREATE, "operations": ["*"]}]}, "deny"),
    "a subresource": ({"resourceRules": [{**CREATE, "resources": ["deployments/scale"]}]}, "admit"),
    "every subresource, and the resource": ({"resourceRules": [{**CREATE, "resources": ["deployments/*"]}]}, "deny"),
    "everything and its subresources": ({"resourceRules": [{**CREATE, "resources": ["*/*"]}]}, "deny"),
    "objects in namespaces": ({"resourceRules": [{**CREATE, "scope": "Namespaced"}]}, "deny"),
    "objects of the cluster": ({"resourceRules": [{**CREATE, "scope": "Cluster"}]}, "admit"),
    "any scope": ({"resourceRules": [{**CREATE, "scope": "*"}]}, "deny"),
    "its name": ({"resourceRules": [{**CREATE, "resourceNames": ["web", "api"]}]}, "deny"),
    "another name": ({"resourceRules": [{**CREATE, "resourceNames": ["api"]}]}, "admit"),
    "another name, then its own": (
        {"resourceRules": [{**CREATE, "resourceNames": ["api"]}, {**CREATE, "resourceNames": ["web"]}]},
        "deny",
    ),
    "excluded": ({"resourceRules": [CREATE], "excludeResourceRules": [CREATE]}, "admit"),
    "another one excluded": (
        {"resourceRules": [CREATE], "excludeResourceRules": [{**CREATE, "resources": ["pods"]}]},
        "deny",
    ),
    "excluded by name": (
        {"resourceRules": [CREATE], "excludeResourceRules": [{**CREATE, "resourceNames": ["web"]}]},
        "admit",
    ),
    "another name excluded": (
        {"resourceRules": [CREATE], "excludeResourceRules": [{**CREATE, "resourceNames": ["api"]}]},
        "deny",
    ),
    "no rules": ({"resourceRules": []}, "invalid"),
    "an empty selector of namespaces": ({"resourceRules": [CREATE], "namespaceSelector": {}}, "deny"),
    "a label of the namespace": (
        {"resourceRules": [CREATE], "namespaceSelector": {"matchLabels": {"env": "prod"}}},
        "deny",
    ),
    "another label of the namespace": (
        {"resourceRules": [CREATE], "namespaceSelector": {"matchLabels": {"env": "test"}}},
        "admit",
    ),
    "namespaces but some": (
        {
            "resourceRules": [CREATE],
            "namespaceSelector": {
                "matchExpressions": [
                    {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["shop", "lab"]}
                ]
            },
        },
        "admit",
    ),
    "namespaces with a label": (
        {"resourceRules": [CREATE], "namespaceSelector": {"matchExpressions": [{"key": "env", "operator": "Exists"}]}},
        "deny",
    ),
    "namespaces without a label": (
        {
            "resourceRules": [CREATE],
            "namespaceSelector": {"matchExpressions": [{"key": "env", "operator": "DoesNotExist"}]},
        },
        "admit",
    ),
    "NotIn holds where there is no label": (
        {
            "resourceRules": [CREATE],
            "objectSelector": {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["a"]}]},
        },
        "deny",
    ),
    "a label of the object": ({"resourceRules": [CREATE], "objectSelector": {"matchLabels": {"app": "web"}}}, "deny"),
    "another label of the object": (
        {"resourceRules": [CREATE], "objectSelector": {"matchLabels": {"app": "api"}}},
        "admit",
    ),
    "Exact": ({"resourceRules": [CREATE], "matchPolicy": "Exact"}, "deny"),
    "an operator that is none": (
        {"resourceRules": [CREATE], "objectSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}},
        "invalid",
    ),
    "In without values": (
        {"resourceRules": [CREATE], "objectSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
        "invalid",
    ),
    "a star beside a group": ({"resourceRules": [{**CREATE, "apiGroups": ["*", "apps"]}]}, "invalid"),
    "no operations": ({"resourceRules": [{**CREATE, "operations": []}]}, "invalid"),
    "an operation that is none": ({"resourceRules": [{**CREATE, "operations": ["create"]}]}, "invalid"),
}


@pytest.mark.parametrize(("constraints", "wanted"), RULES.values(), ids=RULES.keys())
def test_constraints_of_a_policy(constraints: dict[str, Any], wanted: str) -> None:
    assert Judged(policy("false", constraints=constraints), binding()).verdict == wanted


@pytest.mark.parametrize(("resources", "wanted"), RULES.values(), ids=RULES.keys())
def test_resources_of_a_binding(resources: dict[str, Any], wanted: str) -> None:
    """A binding narrows the policy in the same words; without rules it takes every request."""
    wanted = "deny" if resources == {"resourceRules": []} else wanted
    assert Judged(policy("false"), binding(matchResources=resources)).verdict == wanted


def test_a_namespace_that_no_dump_shows_is_not_known() -> None:
    elsewhere = {**OBJECT, "metadata": {"name": "web", "namespace": "other"}}
    selecting = policy("false", constraints={"namespaceSelector": {"matchLabels": {"env": "prod"}}})
    assert Judged(selecting, binding(), of=elsewhere).verdict == "unknown"
    missing = policy("false", constraints={"resourceRules": [{**CREATE, "resources": ["pods"]}], **SELECTOR})
    assert Judged(missing, binding(), of=elsewhere).verdict == "admit"  # it would not match whatever the labels are


SELECTOR = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}


def test_an_object_that_names_no_namespace() -> None:
    nowhere = {**OBJECT, "metadata": {"name": "web"}}
    assert Judged(policy("object.metadata.namespace == 'shop'"), binding(), of=nowhere).verdict == "unknown"
    assert Judged(policy("request.namespace == 'shop'"), binding(), of=nowhere).verdict == "unknown"
    assert Judged(policy("object.spec.replicas == 3"), binding(), of=nowhere).verdict == "admit"


def test_an_object_of_the_cluster_has_no_namespace() -> None:
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch"},
    }
    assert (
        Judged(policy("namespaceObject == null && !has(request.namespace)"), binding(), of=runtime).verdict == "admit"
    )
    selecting = policy("false", constraints=SELECTOR)
    assert Judged(selecting, binding(), of=runtime).verdict == "deny"  # the selector is about namespaces alone


def test_a_value_that_is_filled_in_later_is_not_known() -> None:
    later = {**OBJECT, "spec": {"image": "${IMAGE}", "replicas": 3}}
    assert Judged(policy("object.spec.image.startsWith('a')"), binding(), of=later).verdict == "unknown"
    assert Judged(policy("object.spec.replicas == 3"), binding(), of=later).verdict == "admit"


@pytest.mark.parametrize(("matching", "wanted"), [("Equivalent", "unknown"), ("Exact", "admit")])
def test_another_version_of_the_kind(matching: str, wanted: str) -> None:
    """The server converts the object to the version that the rule names, unless the policy wants it as it is."""
    older = {**CREATE, "apiVersions": ["v1beta2"]}
    written = policy("false", constraints={"resourceRules": [older], "matchPolicy": matching})
    served = Definitions({"kinds": {"apps/v1/Deployment": 0, "apps/v1beta2/Deployment": 1}})
    assert Judged(written, binding(), on=cluster(definitions=(served,))).verdict == wanted
    assert Judged(written, binding()).verdict == "admit"  # nothing says that the cluster serves it


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("has(object.spec.args)", "admit"),
        ("has(object.metadata.uid) && has(object.spec.image)", "admit"),
        ("object.spec.args.size() == 2", "admit"),
        ("object.spec.args.join(' ') == 'x'", "unknown"),
        ("object.spec.args.max() == 'x'", "unknown"),
        ("'a' in object.spec.args", "admit"),
        ("'b' in object.spec.args", "unknown"),
        ("object.spec.args == ['a', 'b']", "unknown"),
        ("object.spec.args.all(one, one != '')", "unknown"),
        ("object.spec.args.exists(one, one == 'a')", "admit"),
        ("'%s'.format([object.spec.args]) == ''", "unknown"),
        ("object.spec.args[1] == 'b'", "unknown"),
        ("object.spec.args.map(one, one).size() == 2", "unknown"),
    ],
)
def test_a_part_that_is_filled_in_later(expression: str, wanted: str) -> None:
    later = {**OBJECT, "spec": {"args": ["a", "${B}"], "image": "${IMAGE}"}}
    judged = Judged(policy(expression), binding(), of=later)
    assert judged.verdict == wanted, judged.report.findings


def test_policies_are_not_asked_about_policies() -> None:
    assert Judged(policy("false"), binding(), of=policy("true", name="other")).verdict == "admit"


KIND = {"apiVersion": "v1", "kind": "ConfigMap"}


def params(name: str, limit: int, namespace: str = "shop", **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"max": str(limit)}}


def limited() -> dict[str, Any]:
    within = {
        "expression": "object.spec.replicas <= int(params.data.max)",
        "messageExpression": "'at most ' + params.data.max",
    }
    return policy(within, paramKind=KIND)


def reference(action: str = "Deny", **more: Any) -> dict[str, Any]:
    return {"paramRef": {"parameterNotFoundAction": action, **more}}


PARAMS: dict[str, tuple[dict[str, Any], list[dict[str, Any]], list[str]]] = {
    "by name and namespace": (
        reference(name="limits", namespace="lab"),
        [params("limits", 2, "lab"), params("limits", 9)],
        ["at most 2"],
    ),
    "in the object's namespace": (
        reference(name="limits"),
        [params("limits", 9, "lab"), params("limits", 2)],
        ["at most 2"],
    ),
    "that allow": (reference(name="limits"), [params("limits", 9)], []),
    "missing, Deny": (
        reference(name="limits"),
        [params("limits", 9, "lab")],
        ["failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"],
    ),
    "missing, Allow": (reference("Allow", name="limits"), [params("limits", 1, "lab")], []),
    "by a selector": (
        reference(selector={"matchLabels": {"use": "limits"}}),
        [params("a", 1, use="limits"), params("b", 2, use="limits"), params("c", 0)],
        ["at most 1", "at most 2"],
    ),
    "by a selector of everything": (reference(selector={}), [params("a", 2), params("b", 9)], ["at most 2"]),
    "by a selector of nothing, Deny": (
        reference(selector={"matchLabels": {"use": "x"}}),
        [params("a", 1)],
        ["failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"],
    ),
    "by a selector of nothing, Allow": (
        reference("Allow", selector={"matchLabels": {"use": "x"}}),
        [params("a", 1)],
        [],
    ),
    "no reference: params is null": (
        {},
        [params("a", 1)],
        ["expression 'object.spec.replicas <= int(params.data.max)' resulted in error: no such key: data"],
    ),
}


@pytest.mark.parametrize(("bound", "documents", "wanted"), PARAMS.values(), ids=PARAMS.keys())
def test_parameters(bound: dict[str, Any], documents: list[dict[str, Any]], wanted: list[str]) -> None:
    assert sorted(Judged(limited(), binding(**bound), *documents).messages) == wanted


@pytest.mark.parametrize(
    "bound",
    [
        {"paramRef": {"name": "a"}},
        {"paramRef": {"parameterNotFoundAction": "Deny"}},
        {"paramRef": {"name": "a", "selector": {}, "parameterNotFoundAction": "Deny"}},
        {"paramRef": {"name": "a", "parameterNotFoundAction": "Ignore"}},
    ],
)
def test_references_that_the_server_refuses(bound: dict[str, Any]) -> None:
    assert Judged(limited(), binding(**bound), params("a", 1)).verdict == "invalid"


def test_missing_parameters_are_a_finding_at_the_line_of_the_binding() -> None:
    judged = Judged(limited(), binding(**reference(name="limits")), params("limits", 9, "lab"))
    (missing,) = judged.findings("missing-policy-param")
    assert "`limits` in namespace `shop`" in missing.message
    assert missing.span.file == "policies.yaml"


def test_parameters_of_a_kind_that_nobody_shows_are_not_known() -> None:
    judged = Judged(limited(), binding(**reference(name="limits")))
    assert judged.verdict == "unknown"
    assert len(judged.findings("missing-policy-param")) == 1


def test_parameters_of_a_custom_kind_that_lives_in_no_namespace() -> None:
    kind = {"apiVersion": "rules.example.com/v1", "kind": "ReplicaLimit"}
    limit = {**kind, "metadata": {"name": "limit"}, "maxReplicas": 2}
    own = policy("object.spec.replicas <= params.maxReplicas", paramKind=kind)
    assert Judged(own, binding(**reference(name="limit")), limit).verdict == "deny"
    placed = Judged(own, binding(**reference(name="limit", namespace="shop")), limit).messages
    assert placed == [
        "failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
    ]


def test_parameters_in_namespaces_for_an_object_of_the_cluster() -> None:
    runtime = {"apiVersion": "a.example.com/v1", "kind": "ClusterRole", "metadata": {"name": "torch"}}
    messages = Judged(limited(), binding(**reference(name="limits")), params("limits", 9), of=runtime).messages
    why = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
    assert messages == [f"failed to configure binding: {why}"]
