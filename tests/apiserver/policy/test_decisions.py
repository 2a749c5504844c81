"""Decisions of the validating plugin, case by case: failure policies, match conditions, messages, annotations, actions.

The situations are those of the tables in k8s.io/apiserver pkg/admission/plugin/policy/validating (validator_test.go,
admission_test.go), pkg/admission/plugin/cel (condition_test.go, composition_test.go) and
pkg/admission/plugin/webhook/matchconditions (matcher_test.go), Kubernetes 1.34.
"""

from typing import Any

import pytest

from tests.apiserver.policy.judging import Judged, binding, cluster, policy
from tests.apiserver.policy.test_expressions import QUESTION, compiled
from trainc.apiserver.expressions import compiler as compiled_policy

BROKEN = "object.nothing == 1"  # an error when it is evaluated
OUT = "validation failed due to running out of cost budget, no further validation rules will be run"
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "one validation holds": (policy("object.spec.replicas == 3"), "admit"),
    "two validations hold": (policy("object.spec.replicas == 3", "object.kind == 'Deployment'"), "admit"),
    "a validation fails": (policy("object.spec.replicas < 3"), "deny"),
    "the second fails": (policy("true", "object.spec.replicas < 3"), "deny"),
    "an error without a failure policy": (policy(BROKEN), "deny"),
    "an error with Fail": (policy(BROKEN, failurePolicy="Fail"), "deny"),
    "an error with Ignore": (policy(BROKEN, failurePolicy="Ignore"), "admit"),
    "a failure with Ignore still refuses": (policy("false", failurePolicy="Ignore"), "deny"),
    "an ignored error beside a failure": (policy(BROKEN, "false", failurePolicy="Ignore"), "deny"),
    "annotations alone": (policy(auditAnnotations=[{"key": "k", "valueExpression": "'v'"}]), "admit"),
    "an annotation that is null": (policy(auditAnnotations=[{"key": "k", "valueExpression": "null"}]), "admit"),
    "an annotation that fails, Fail": (
        policy(auditAnnotations=[{"key": "k", "valueExpression": f"string({BROKEN})"}]),
        "deny",
    ),
    "an annotation that fails, Ignore": (
        policy(auditAnnotations=[{"key": "k", "valueExpression": f"string({BROKEN})"}], failurePolicy="Ignore"),
        "admit",
    ),
    "a condition that holds": (policy("false", matchConditions=[{"name": "a", "expression": "true"}]), "deny"),
    "a condition that does not": (policy("false", matchConditions=[{"name": "a", "expression": "false"}]), "admit"),
    "two conditions hold": (
        policy("false", matchConditions=[{"name": "a", "expression": "true"}, {"name": "b", "expression": "true"}]),
        "deny",
    ),
    "the last of two does not": (
        policy("false", matchConditions=[{"name": "a", "expression": "true"}, {"name": "b", "expression": "false"}]),
        "admit",
    ),
    "a condition in error, no failure policy": (
        policy("true", matchConditions=[{"name": "a", "expression": BROKEN}]),
        "deny",
    ),
    "a condition in error, Fail": (
        policy("true", matchConditions=[{"name": "a", "expression": BROKEN}], failurePolicy="Fail"),
        "deny",
    ),
    "a condition in error, Ignore": (
        policy("false", matchConditions=[{"name": "a", "expression": BROKEN}], failurePolicy="Ignore"),
        "admit",
    ),
    "a false condition outweighs an error before it": (
        policy("false", matchConditions=[{"name": "a", "expression": BROKEN}, {"name": "b", "expression": "false"}]),
        "admit",
    ),
    "true conditions do not outweigh an error": (
        policy("true", matchConditions=[{"name": "a", "expression": "true"}, {"name": "b", "expression": BROKEN}]),
        "deny",
    ),
    "a condition has no namespaceObject": (
        policy("true", matchConditions=[{"name": "a", "expression": "namespaceObject.metadata.name == 'shop'"}]),
        "deny",
    ),
    "a condition sees no variables": (
        policy(
            "true",
            variables=[{"name": "v", "expression": "true"}],
            matchConditions=[{"name": "a", "expression": "variables.v"}],
        ),
        "invalid",
    ),
    "oldObject is null": (policy("oldObject == null"), "admit"),
    "a field of oldObject": (policy("oldObject.spec.replicas == 3"), "deny"),
    "the request creates": (policy("request.operation == 'CREATE'"), "admit"),
    "the kind of the request": (policy("request.kind.kind == 'Deployment' && request.kind.group == 'apps'"), "admit"),
    "the resource of the request": (policy("request.resource.resource == 'deployments'"), "admit"),
    "the name and namespace of the request": (policy("request.name == 'web' && request.namespace == 'shop'"), "admit"),
    "a field that requests lack": (policy("request.object == null"), "invalid"),
    "a subresource is absent": (policy("!has(request.subResource)"), "admit"),
    "who asks is not known": (policy("request.userInfo.username == 'ada'"), "unknown"),
    "who asks does not matter": (policy("object.kind == 'Deployment' || request.userInfo.username == 'ada'"), "admit"),
    "who asks does not matter, on the left": (policy("request.userInfo.username == 'ada' && false"), "deny"),
    "the authorizer is not known": (policy("authorizer.group('').resource('pods').check('get').allowed()"), "unknown"),
    "the authorizer of the request": (policy("authorizer.requestResource.check('create').allowed()"), "unknown"),
    "labels of the namespace": (policy("namespaceObject.metadata.labels.env == 'prod'"), "admit"),
    "a label that the namespace lacks": (policy("namespaceObject.metadata.labels.tier == 'a'"), "deny"),
    "a namespace has its own name as a label": (
        policy("namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'shop'"),
        "admit",
    ),
    "a field that namespaces lack": (policy("namespaceObject.metadata.owners == []"), "invalid"),
    "a generated value is not known": (policy("object.metadata.uid != ''"), "unknown"),
    "no parameters without their kind": (policy("params == null"), "invalid"),
    "not a boolean": (policy("object.spec.replicas"), "invalid"),
    "a number is no boolean": (policy("1"), "invalid"),
    "no syntax": (policy("object.spec."), "invalid"),
    "an unknown name": (policy("objekt.spec == 1"), "invalid"),
    "types that do not fit": (policy("'a' + 1 == 'a1'"), "invalid"),
    "numbers of different types compare": (policy("object.spec.replicas < 3.5"), "admit"),
    "an integer and a double as literals": (policy("1 < 1.5"), "admit"),
    "a list of different types": (policy("[1, 'a'].size() == 2"), "invalid"),
    "a pattern that is none": (policy("object.metadata.name.matches('(')"), "invalid"),
    "a duration that is none": (policy("duration('1x') == duration('1s')"), "invalid"),
    "a variable": (
        policy("variables.count == 3", variables=[{"name": "count", "expression": "object.spec.replicas"}]),
        "admit",
    ),
    "a variable of another variable": (
        policy(
            "variables.b == 4",
            variables=[
                {"name": "a", "expression": "object.spec.replicas"},
                {"name": "b", "expression": "variables.a + 1"},
            ],
        ),
        "admit",
    ),
    "a variable before it is defined": (
        policy(
            "variables.a == 4",
            variables=[
                {"name": "a", "expression": "variables.b + 1"},
                {"name": "b", "expression": "object.spec.replicas"},
            ],
        ),
        "invalid",
    ),
    "a variable that nobody asks for may be wrong": (
        policy("true", variables=[{"name": "a", "expression": BROKEN}]),
        "admit",
    ),
    "a variable in error": (policy("variables.a", variables=[{"name": "a", "expression": BROKEN}]), "deny"),
    "a variable in error beside what decides": (
        policy("object.kind == 'Deployment' || variables.a", variables=[{"name": "a", "expression": BROKEN}]),
        "admit",
    ),
    "a variable that does not compile": (
        policy("true", variables=[{"name": "a", "expression": "objekt.x"}]),
        "invalid",
    ),
    "a variable with a name of CEL": (policy("true", variables=[{"name": "in", "expression": "1"}]), "invalid"),
    "the types of variables are known": (
        policy("variables.l[0] == 1", variables=[{"name": "l", "expression": "['1', '2']"}]),
        "invalid",
    ),
    "a list variable": (
        policy("variables.l.sum() == 6", variables=[{"name": "l", "expression": "[1, 2, 3]"}]),
        "admit",
    ),
    "a map variable": (
        policy("variables.m['a'].contains('b')", variables=[{"name": "m", "expression": "{'a': 'abc'}"}]),
        "admit",
    ),
    "has() of a variable": (policy("has(variables.a)", variables=[{"name": "a", "expression": "1"}]), "admit"),
    "three loops in each other": (
        policy("lists.range(200).all(a, lists.range(200).all(b, lists.range(200).all(c, a + b + c >= 0)))"),
        "deny",
    ),
    "three loops in each other, ignored": (
        policy(
            "lists.range(200).all(a, lists.range(200).all(b, lists.range(200).all(c, a + b + c >= 0)))",
            failurePolicy="Ignore",
        ),
        "admit",
    ),
}


@pytest.mark.parametrize(
    ("written", "wanted"),
    [pytest.param(*case, id=name, marks=pytest.mark.slow if "loops" in name else ()) for name, case in CASES.items()],
)
def test_what_a_policy_says(written: dict[str, Any], wanted: str) -> None:
    judged = Judged(written, binding())
    assert judged.verdict == wanted, [*judged.report.findings, judged.report.unknown]


MESSAGES: dict[str, tuple[dict[str, str], str]] = {
    "the message": ({"expression": "false", "message": "no"}, "no"),
    "blanks around it": ({"expression": "false", "message": "  no "}, "no"),
    "without one the expression": ({"expression": " false "}, "failed expression: false"),
    "an expression instead": (
        {"expression": "false", "message": "no", "messageExpression": "'not ' + object.kind"},
        "not Deployment",
    ),
    "an expression alone": ({"expression": "false", "messageExpression": "'  not so '"}, "not so"),
    "it is empty": ({"expression": "false", "message": "no", "messageExpression": "''"}, "no"),
    "it is blank": ({"expression": "false", "message": "no", "messageExpression": "'  '"}, "no"),
    "it has two lines": ({"expression": "false", "message": "no", "messageExpression": "'a\\nb'"}, "no"),
    "it is too long": (
        {
            "expression": "false",
            "message": "no",
            "messageExpression": "'a'.replace('a', 'b') + lists.range(6000).map(i, 'x').join()",
        },
        "no",
    ),
    "it ends in an error": ({"expression": "false", "message": "no", "messageExpression": "object.nothing"}, "no"),
    "it ends in an error, and nothing else is there": (
        {"expression": "false", "messageExpression": "string(object.nothing)"},
        "failed expression: false",
    ),
}


@pytest.mark.parametrize(("validation", "wanted"), MESSAGES.values(), ids=MESSAGES.keys())
def test_the_message_of_a_refusal(validation: dict[str, str], wanted: str) -> None:
    if validation.get("messageExpression") == "object.nothing":
        validation = {**validation, "messageExpression": "string(object.nothing)"}
    assert Judged(policy(validation), binding()).messages == [wanted]


def test_every_validation_that_fails_has_its_message() -> None:
    both = policy(
        {"expression": "false", "message": "one"}, "true", {"expression": "false", "messageExpression": "'three'"}
    )
    assert sorted(Judged(both, binding()).messages) == ["one", "three"]


@pytest.mark.parametrize(
    ("budget", "wanted"),
    [
        (8, {"value": False, "message": "no: web"}),  # 4 for the validation, and as much for its message
        (7, {"error": f"failed messageExpression: {OUT}"}),
        (3, {}),
    ],
)
def test_validations_and_messages_share_a_budget(
    budget: int, wanted: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_policy, "BUDGET", budget)
    answer = compiled("object.metadata.name == 'x' ? true : false", message="'no: ' + object.metadata.name").judge(
        QUESTION
    )
    if wanted:
        assert {key: answer["results"][0].get(key) for key in wanted} == wanted
    else:
        assert answer["fatal"] == OUT


def test_the_server_is_quoted_word_for_word() -> None:
    answers = Judged(policy({"expression": "false", "message": "no"}, name="p"), binding(name="b")).answers
    assert answers == ["ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"]
    broken = Judged(policy("object.nothing == 1"), binding()).messages
    assert broken == ["expression 'object.nothing == 1' resulted in error: no such key: nothing"]
    lazy = Judged(policy("variables.a", variables=[{"name": "a", "expression": BROKEN}]), binding()).messages
    assert lazy == [
        "expression 'variables.a' resulted in error: composited variable \"a\" fails to evaluate: no such key: nothing"
    ]


@pytest.mark.parametrize(
    ("actions", "wanted"),
    [
        (["Deny"], ["policy-denied"]),
        (["Warn"], ["policy-warning"]),
        (["Audit"], ["policy-audit"]),
        (["Warn", "Audit"], ["policy-audit", "policy-warning"]),
        (["Deny", "Audit"], ["policy-audit", "policy-denied"]),
        (["Deny", "Warn"], ["invalid-policy"]),
    ],
)
def test_actions_of_a_binding(actions: list[str], wanted: list[str]) -> None:
    judged = Judged(policy("false"), binding(*actions))
    assert sorted(finding.rule.name for finding in judged.report.findings) == wanted


def test_levels_follow_from_actions() -> None:
    for action, level in (("Deny", "error"), ("Warn", "warning"), ("Audit", "note")):
        (finding,) = Judged(policy("false"), binding(action)).report.findings
        assert finding.level == level


@pytest.mark.parametrize(
    ("expression", "minor"),
    [
        ("object.spec.replicas == 3", 25),
        ("object.?spec.hasValue()", 29),
        ("sets.intersects([1], [1])", 30),
        ("isIP('1.2.3.4')", 31),
        ("format.dns1123Label().validate('a') == optional.none()", 32),
        ("object.spec.all(k, v, k != '')", 33),
        ("isSemver('1.0.0')", 34),
        ("lists.range(3).size() == 3", 35),
    ],
)
def test_functions_that_a_cluster_does_not_have_yet(expression: str, minor: int) -> None:
    """A server takes into a new policy what the version before it had too."""
    written = policy(expression)
    assert Judged(written, binding(), on=cluster(kubernetes=(1, minor))).verdict == "admit"
    if minor > 25:
        older = Judged(written, binding(), on=cluster(kubernetes=(1, minor - 1)))
        assert f"needs Kubernetes 1.{minor}" in older.findings("invalid-policy")[0].message


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        (f"{' + '.join(['size(object.kind)'] * 60)} > 0", "admit"),
        (f"object{'.a' * 60} == 1", "deny"),
        ("(" * 40 + "true" + ")" * 40, "admit"),
        ("(" * 260 + "true" + ")" * 260, "unjudged"),
        (f"{' + '.join(['1'] * 3000)} > 0", "unjudged"),
    ],
)
def test_what_is_too_deep_for_trainc_alone_is_an_error(expression: str, verdict: str) -> None:
    judged = Judged(policy(expression), binding())
    assert judged.verdict == verdict
    assert len(judged.findings("unjudged-policy")) == (verdict == "unjudged")
    assert all(finding.level == "error" for finding in judged.findings("unjudged-policy"))


def test_two_bindings_of_a_policy_answer_each() -> None:
    judged = Judged(policy("false"), binding("Deny", name="a"), binding("Warn", name="b"))
    assert [finding.rule.name for finding in judged.report.findings] == ["policy-denied", "policy-warning"]


def test_an_annotation_that_is_neither_text_nor_null_refuses_with_any_action() -> None:
    """The server denies for it whatever `validationActions` says."""
    broken = policy(auditAnnotations=[{"key": "k", "valueExpression": "object.spec.nothing ? 'a' : null"}])
    assert Judged(broken, binding("Audit")).verdict == "invalid"
    dynamic = policy(auditAnnotations=[{"key": "k", "valueExpression": "string(object.spec.nothing)"}])
    assert Judged(dynamic, binding("Audit")).verdict == "deny"


def test_the_name_of_a_pod_that_the_server_generates_is_unknown() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "web-", "namespace": "shop"}, "spec": {}}
    assert Judged(policy("request.name != ''"), binding(), of=pod).verdict == "unknown"
    named = {**pod, "metadata": {"name": "web", "namespace": "shop"}}
    assert Judged(policy("request.name != 'web'"), binding(), of=named).verdict == "deny"


def test_a_param_that_is_missing_lets_requests_pass_where_failures_are_ignored() -> None:
    for failures, effect in (
        ("Fail", "the API server rejects every request that"),
        ("Ignore", "the policy checks nothing"),
    ):
        kind = {"apiVersion": "v1", "kind": "ConfigMap"}
        other = {**kind, "metadata": {"name": "other", "namespace": "shop"}}
        refers = binding(paramRef={"name": "none", "parameterNotFoundAction": "Deny"})
        judged = Judged(policy("params != null", paramKind=kind, failurePolicy=failures), refers, other)
        (finding,) = judged.findings("missing-policy-param")
        assert finding.effect.startswith(effect)
