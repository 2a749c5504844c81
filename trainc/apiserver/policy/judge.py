"""What the admission policies of a cluster say of a request, as findings where the user wrote the cause.

Source: k8s.io/apiserver pkg/admission/plugin/policy/validating (dispatcher.go, validator.go) and
pkg/admission/plugin/policy/generic (policy_dispatcher.go, CollectParams), Kubernetes 1.34.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trainc.apiserver.expressions.budget import check_budget
from trainc.apiserver.expressions.compiler import with_unknowns
from trainc.apiserver.fault import NotJudgedError
from trainc.apiserver.jobset.defaults import with_defaults
from trainc.apiserver.pods.complaints import selects
from trainc.apiserver.policy.definitions import (
    MISSING_PARAM,
    WAY_OUT,
    AdmissionPolicy,
    Policies,
    PolicyBinding,
    read_policies,
)
from trainc.apiserver.policy.requests import NAMESPACE, AdmissionRequest, UnknownFactError, as_json, matches
from trainc.apiserver.policy.stored import children, pods, stored_job, stored_pod, stored_service, with_amounts
from trainc.apiserver.served import UNJUDGED_POLICY
from trainc.model.bundle import Bundle
from trainc.model.document import Document
from trainc.model.finding import ERROR, NOTE, WARNING, Label, Refusal, Rule
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Span
from trainc.model.tree import Path, Tree, get, plain, value

POLICY_DENIED = Rule("policy-denied", ERROR, verdict=True)
POLICY_WARNING = Rule("policy-warning", WARNING, admission=True)
POLICY_AUDIT = Rule("policy-audit", NOTE, admission=True)
POLICY_COST = Rule("policy-cost", WARNING, admission=True)
_MAX_MESSAGE = 5 * 1024
_EMITTED = frozenset({"Job", "JobSet", "Pod"})  # what is read and goes to the cluster as it is
_LONGEST = 400  # characters of a policy's message in a headline


def policies_of(project: Project) -> Policies | None:
    """The policies for the present cluster of a project, None where it has none; they are read once."""
    if not (project.policies or project.cluster.policies):
        return None
    key = project.cluster.name
    known: Policies | None = project.judged.get(key)
    if known is None:
        known = project.judged[key] = read_policies(project)
    return known


def announce_policies(project: Project, report: Report) -> None:
    """Say what is wrong with the policies for the present cluster, and what of them is not judged."""
    if (policies := policies_of(project)) is not None:
        report.add_all(policies.findings)
        for _ in range(policies.others):
            report.skip("mutating policies and webhooks of the cluster")


def judge_input(document: Document, project: Project, report: Report) -> None:
    """Judge a document that trainc reads, as the server stores it, as if it were sent to the cluster itself."""
    policies = policies_of(project)
    if policies is not None and document.kind not in _EMITTED and not document.api_version.startswith("trainc.dev/"):
        judge_request(policies, AdmissionRequest(document.tree, document, project.cluster, written=True), report, set())


def judge_bundle(bundle: Bundle, project: Project, report: Report) -> None:
    """Judge what a job becomes, and the Jobs and pods that controllers make of it."""
    if (policies := policies_of(project)) is None:
        return
    seen: set[tuple[object, ...]] = set()
    for tree in _created(bundle):
        written = tree is bundle.document.tree
        judge_request(policies, AdmissionRequest(tree, bundle.document, project.cluster, written=written), report, seen)


def _created(bundle: Bundle) -> Iterator[Tree]:
    """The objects of a bundle and their children, each as the server hands it to policies."""
    for tree in bundle.objects:
        kind, api_version = value(tree, "kind"), value(tree, "apiVersion")
        if kind == "JobSet" and str(api_version).startswith("jobset.x-k8s.io/"):
            yield {**with_amounts(with_defaults(tree)), "status": {}}
            yield from children(tree)
        elif kind == "Job" and api_version == "batch/v1":
            made = stored_job(tree)
            yield made
            yield from pods(made)
        elif kind == "Pod" and api_version == "v1":
            yield stored_pod(tree)
        elif kind == "Service" and api_version == "v1":
            yield stored_service(tree)
        else:
            yield tree


def judge_request(policies: Policies, request: AdmissionRequest, report: Report, seen: set[tuple[object, ...]]) -> None:
    """Add what every policy says of a request; `seen` is what was said of the object that it comes from."""
    if request.group == "admissionregistration.k8s.io":
        return  # the server asks no policy about policies
    for policy in policies.policies:
        _Decision(policies, policy, request, report, seen).make()


@dataclass(slots=True, eq=False)
class _Decision:
    _policies: Policies
    _policy: AdmissionPolicy
    _request: AdmissionRequest
    _report: Report
    _seen: set[tuple[object, ...]]

    def make(self) -> None:
        """Add what each binding of the policy leads to."""
        try:
            if not matches(self._policy.spec["matchConstraints"], self._request, selects_all=False):
                return
        except UnknownFactError as error:
            self._skip(str(error))
            return
        for binding in self._policy.bindings:
            resources = binding.spec.get("matchResources")
            try:
                if resources is None or matches(resources, self._request, selects_all=True):
                    self._bound(binding)
            except UnknownFactError as error:
                self._skip(str(error))

    def _unjudged(self, reason: str, at: Span) -> None:
        """Say that the policy is not judged, for a reason that no fact about the cluster settles."""
        text = f"policy `{self._policy.name}` is not evaluated: {reason}"
        self._report.add(UNJUDGED_POLICY.at(at, text, help=WAY_OUT))

    def _unknown(self, answer: dict[str, Any], at: Span) -> None:
        """Count what rests on a fact that nobody knows; what trainc does not evaluate is an error."""
        if answer.get("unjudged"):
            self._unjudged(answer["unknown"], at)
        elif not answer.get("reported"):  # with the policy
            self._skip(answer["unknown"])

    def _skip(self, reason: str) -> None:
        self._report.skip(f"policy `{self._policy.name}`: {reason}")

    def _bound(self, binding: PolicyBinding) -> None:
        """Ask the policy with each of its parameters; an UnknownFactError where these are not known."""
        for param in self._params(binding):
            question = {**self._request.question(), "params": as_json(plain(param))}
            try:
                check_budget()
            except NotJudgedError as error:
                self._unjudged(str(error), self._policy.document.span(("metadata", "name")))
                continue
            self._answered(binding, self._policy.compiled.judge(with_unknowns(question)))

    def _params(self, binding: PolicyBinding) -> list[Tree]:
        """The parameters to judge with, [None] for a policy without any; an UnknownFactError where they are not known."""
        kind, reference = self._policy.param_kind, binding.spec.get("paramRef")
        if kind is None or reference is None:
            return [None]
        listed = self._policies.params(kind)
        at = binding.document.span(("spec", "paramRef", "name" if reference.get("name") else "selector"))
        if listed is None:
            text = f"no {kind['kind']} is among the policies, nor in a dump of the cluster"
            self._report.add(MISSING_PARAM.at(at, text, effect="the policy is not evaluated", help=_add(kind)))
            raise UnknownFactError(f"its parameters of kind {kind['kind']}")
        is_namespaced = kind["kind"] == "ConfigMap" or any(namespace for namespace, _, _ in listed)
        where = reference.get("namespace") or (self._request.namespace if is_namespaced else "")
        if where is None:
            raise UnknownFactError(NAMESPACE)
        trouble = ""
        if is_namespaced and not where:
            trouble = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
        elif where and not is_namespaced:
            trouble = "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
        chosen = [] if trouble else _chosen(listed, reference, where)
        if not chosen and not trouble:
            denies = (
                reference.get("parameterNotFoundAction") == "Deny" and self._policy.fails
            )  # Ignore lets errors pass
            wanted = f"`{reference['name']}`" if reference.get("name") else "that the selector selects"
            text = f"there is no {kind['kind']} {wanted}{f' in namespace `{where}`' if where else ''}"
            also = [Label(self._request.own_place(), "for this object")] if not reference.get("namespace") else []
            does = (
                "the API server rejects every request that the policy matches"
                if denies
                else "the policy checks nothing"
            )
            self._report.add(MISSING_PARAM.at(at, text, also=also, effect=does, help=_add(kind)))
            trouble = "no params found for policy binding with `Deny` parameterNotFoundAction" if denies else ""
        if trouble:
            self._error(binding, f"failed to configure binding: {trouble}", self._request.own_place(), at)
        return chosen

    def _answered(self, binding: PolicyBinding, answer: dict[str, Any]) -> None:
        conditions = answer["conditions"]
        if any(one.get("value") is False for one in conditions):
            return
        for index, condition in enumerate(conditions):
            if "unknown" in condition:
                self._unknown(condition, self._policy.span("matchConditions", index))
                return
        if errors := [(index, one["error"]) for index, one in enumerate(conditions) if "error" in one]:
            index, text = errors[0]
            text = text if len(errors) == 1 else f"[{', '.join(text for _, text in errors)}]"
            self._error(binding, text, self._place(conditions[index]), self._policy.span("matchConditions", index))
            return
        if "fatal" in answer:
            self._costly(("spec", "validations"), answer["fatal"])
            self._error(binding, answer["fatal"], self._request.own_place(), self._policy.span("validations"))
            return
        for index, result in enumerate(answer["results"]):
            self._result(binding, index, result)
        for index, noted in enumerate(answer["annotations"] if self._policy.fails else ()):
            if "unknown" in noted:
                self._unknown(noted, self._policy.span("auditAnnotations", index, "valueExpression"))
            elif "error" in noted:
                # The server denies for this whatever the actions of the binding.
                at = self._policy.span("auditAnnotations", index, "valueExpression")
                self._act("Deny", binding, noted["error"], self._place(noted), at, index)

    def _result(self, binding: PolicyBinding, index: int, result: dict[str, Any]) -> None:
        if "unknown" in result:
            self._unknown(result, self._policy.span("validations", index, "expression"))
            return
        if result.get("value") is True:
            return
        validation = self._policy.spec["validations"][index]
        at = self._policy.span("validations", index, "expression")
        if "error" in result:
            if result.get("costly"):
                self._costly(("spec", "validations", index, "expression"), result["error"])
            self._error(binding, result["error"], self._place(result), at, index)
            return
        message = (result.get("message") or "").strip()
        if len(message.encode()) > _MAX_MESSAGE or "\n" in message:
            message = ""
        message = message or (validation.get("message") or "").strip()
        text = message or f"failed expression: {validation['expression'].strip()}"
        where = self._place(result)
        for action in binding.actions:
            self._act(action, binding, text, where, at, index)

    def _place(self, result: dict[str, Any]) -> Span:
        """Where the user wrote what a result rests on: the last of the fields that decided it.

        One that is absent beside one that is there did not: an expression goes through a list of names.
        """
        paths: list[Path] = [tuple(path) for path in result.get("paths") or ()]
        held = {path for path in paths if get(self._request.tree, *path) is not None}
        beside = {path[:-1] for path in held}
        spots = [self._request.span(path) for path in paths if path in held or path[:-1] not in beside]
        own = self._request.own_place()
        return next((spot for spot in reversed(spots) if spot != own), own)

    def _error(self, binding: PolicyBinding, text: str, where: Span, at: Span, index: int = -1) -> None:
        """An error of the policy: `failurePolicy` says what comes of it."""
        if self._policy.fails:
            for action in binding.actions if not text.startswith("failed to configure") else ["Deny"]:
                self._act(action, binding, text, where, at, index)

    def _act(self, action: str, binding: PolicyBinding, text: str, where: Span, at: Span, index: int) -> None:
        """Add what an action leads to, once for the object that this one is made of."""
        name, shown = self._policy.name, self._request.shown
        key = (action, name, binding.name, text, where, index)
        if key in self._seen:
            return
        self._seen.add(key)
        rule, what = {
            "Deny": (POLICY_DENIED, f"denies {shown}"),
            "Warn": (POLICY_WARNING, f"warns about {shown}"),
            "Audit": (POLICY_AUDIT, f"records {shown} in the audit log"),
        }[action]
        answer = f"ValidatingAdmissionPolicy '{name}' with binding '{binding.name}' denied request: {text}"
        refusal = Refusal("policy", answer) if action == "Deny" else None
        also = [Label(at, f"policy `{name}`, bound by `{binding.name}`")] if at != where else []
        self._report.add(rule.at(where, f"policy `{name}` {what}: {_short(text)}", also=also, refusal=refusal))

    def _costly(self, path: Path, text: str) -> None:
        headline = f"policy `{self._policy.name}` costs more than the API server allows for {self._request.shown}"
        at = self._policy.document.span(path)
        self._report.add(
            POLICY_COST.at(at, headline, notes=[_short(text)], help="check fewer elements, or each of them once")
        )


def _chosen(listed: list[tuple[str, str, Tree]], reference: dict[str, Any], where: str) -> list[Tree]:
    inside = [(name, tree) for namespace, name, tree in listed if (namespace or ("default" if where else "")) == where]
    if reference.get("name"):
        return [tree for name, tree in inside if name == reference["name"]]
    selector = reference.get("selector") or {}
    return [tree for _, tree in inside if selects(selector, plain(get(tree, "metadata", "labels")) or {})]


def _add(kind: dict[str, str]) -> str:
    return f"put the {kind['kind']} next to the policy, or into the dump in the cluster's folder"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
