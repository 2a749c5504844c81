"""The policies, bindings and parameters of a project and of a cluster's dumps, and what is wrong with them."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

from trainc.apiserver.expressions.compiler import CompiledPolicy
from trainc.apiserver.pods.complaints import items
from trainc.apiserver.policy.shape import BINDING, POLICY, complaints
from trainc.apiserver.served import UNJUDGED_POLICY
from trainc.model.document import Document
from trainc.model.finding import ERROR, NOTE, WARNING, Finding, Rule
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Span
from trainc.model.tree import Path, Tree, get, plain, value
from trainc.text.counting import few

GROUP = "admissionregistration.k8s.io"
POLICY_KIND, BINDING_KIND = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
_OTHERS = ("MutatingAdmissionPolicy", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_SERVED = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
# Webhooks whose answers trainc gives itself.
_OWN_WEBHOOKS = ("jobset", "trainer.kubeflow.org", "kueue", "volcano")

INVALID_POLICY = Rule("invalid-policy", ERROR, verdict=True)
UNBOUND_POLICY = Rule("unbound-policy", WARNING, admission=True)
MISSING_PARAM = Rule("missing-policy-param", WARNING, admission=True)
WAY_OUT = "write what trainc evaluates, or accept it: `--ignore unjudged-policy`, or a level in trainc.yaml"
UNJUDGED_ADMISSION = Rule("unjudged-admission", NOTE, admission=True)


class AdmissionPolicy:
    """A policy that the server takes, with its bindings; `question` is what it consists of for the compiler."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.name = document.name
        self.spec: dict[str, Any] = plain(document.tree["spec"])
        self.bindings: list[PolicyBinding] = []
        self.fails = (self.spec.get("failurePolicy") or "Fail") == "Fail"  # whether an error refuses the request
        self.param_kind: dict[str, str] | None = self.spec.get("paramKind")
        lists = ("matchConditions", "variables", "validations", "auditAnnotations")
        self.question = {field: self.spec.get(field) or [] for field in lists} | {"params": "paramKind" in self.spec}

    @cached_property
    def compiled(self) -> CompiledPolicy:
        """Its expressions, compiled."""
        return CompiledPolicy(self.question)

    def span(self, *path: str | int) -> Span:
        """Where a field of its spec stands."""
        return self.document.span(("spec", *path))


class PolicyBinding:
    """A binding of a policy; `actions` are what a refusal leads to: Deny, Warn, Audit."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.name = document.name
        self.spec: dict[str, Any] = plain(document.tree["spec"])
        self.actions: list[str] = self.spec["validationActions"]


class Policies(NamedTuple):
    """The policies that apply to requests to one cluster, and the objects that may be their parameters.

    `findings` say what is wrong with them; `others` is the number of mutating policies and webhooks of third parties.
    """

    policies: list[AdmissionPolicy]
    project: Project
    findings: list[Finding]
    others: int

    def params(self, kind: dict[str, str]) -> list[tuple[str, str, Tree]] | None:
        """The objects of a kind: namespace, name, tree; None where nobody has listed any."""
        chosen: dict[tuple[str, str], Tree] = {}
        cluster = self.project.cluster
        listed = cluster.objects.get(kind["kind"])
        for tree in (listed or {}).values():
            if value(tree, "apiVersion") == kind["apiVersion"]:
                chosen[_key(tree)] = tree
        for document in (*cluster.policies, *self.project.policies):
            if document.kind == kind["kind"] and document.api_version == kind["apiVersion"]:
                chosen[_key(document.tree)] = document.tree
        if not chosen and listed is None:
            return None
        return [(*key, tree) for key, tree in sorted(chosen.items())]


def _key(tree: Tree) -> tuple[str, str]:
    words = [value(tree, "metadata", field) for field in ("namespace", "name")]
    namespace, name = [word if type(word) is str else "" for word in words]
    return namespace, name


def read_policies(project: Project) -> Policies:
    """The policies for the present cluster of a project.

    What the project's folder holds counts before what a dump holds under the same name.
    """
    report = Report()
    own, dumped = project.policies, project.cluster.policies
    every = (*own, *dumped)
    policies = _by_name(own, dumped, POLICY_KIND, POLICY, report)
    bindings = _by_name(own, dumped, BINDING_KIND, BINDING, report)
    named = {document.name for document in every if document.kind == POLICY_KIND}
    chosen = {name: AdmissionPolicy(document) for name, document in policies.items()}
    for document in bindings.values():
        binding = PolicyBinding(document)
        policy = chosen.get(binding.spec["policyName"])
        if policy is not None:
            policy.bindings.append(binding)
        elif document in own and binding.spec["policyName"] not in named:
            text = f"binding `{binding.name}` names policy `{binding.spec['policyName']}`, which is not defined"
            report.add(UNBOUND_POLICY.at(document.span(("spec", "policyName")), text, effect="it enforces nothing"))
    version = project.cluster.kubernetes
    taken = [
        policy
        for policy in chosen.values()
        if _is_compiled(policy, report, version if policy.document in own else None)  # one of a dump is stored already
    ]
    bound = {value(document.tree, "spec", "policyName") for document in every if document.kind == BINDING_KIND}
    for policy in taken:
        if policy.name not in bound and policy.document in own:
            text = f"policy `{policy.name}` has no binding"
            help_ = "add a ValidatingAdmissionPolicyBinding that names it in `policyName`"
            at = policy.document.span(("metadata", "name"))
            report.add(UNBOUND_POLICY.at(at, text, effect="it enforces nothing", help=help_))
    others = _name_others(every, report)  # adds findings
    return Policies(taken, project, report.findings, others)


def _by_name(
    own: tuple[Document, ...], dumped: tuple[Document, ...], kind: str, shape: dict[str, Any], report: Report
) -> dict[str, Document]:
    """The sound documents of a kind by name, in the order of names, in which the server looks at them."""
    chosen: dict[str, Document] = {}
    for document in (*own, *dumped):
        if document.kind != kind or not document.api_version.startswith(f"{GROUP}/"):
            continue
        if document.api_version not in _SERVED:
            text = f"{kind} `{document.name}` has version `{document.api_version}`, which no server serves any more"
            report.add(INVALID_POLICY.at(document.span(("apiVersion",)), text, help=f"write `{GROUP}/v1`"))
            continue
        wrong = complaints(document.tree, shape, document.name)
        for path, text, help_, is_key in wrong:
            where = document.span(path, key=is_key)
            report.add(INVALID_POLICY.at(where, f"{kind} `{document.name}`: {text}", help=help_))
        if (first := chosen.get(document.name)) is not None and document in own:
            text = f"{kind} `{document.name}` is defined twice"
            report.add(INVALID_POLICY.at(document.span(("metadata", "name")), text, help="remove one of them"))
        elif first is None and not wrong:
            chosen[document.name] = document
    return dict(sorted(chosen.items()))


def _is_compiled(policy: AdmissionPolicy, report: Report, kubernetes: tuple[int, int] | None) -> bool:
    """Whether the server, of a version if that is known, takes the expressions of a policy.

    What trainc cannot judge is an error.
    """
    path: tuple[str | int, ...]
    troubles, needs = policy.compiled.troubles(), policy.compiled.needs()
    refused = [trouble for trouble in troubles if trouble["refused"]]
    newest: dict[str, Any] = max(needs, key=lambda need: need["minor"], default={"minor": 0})
    if kubernetes is not None and kubernetes < (1, newest["minor"]):
        refused.append(newest)
        path = ("spec", *newest["path"])
        text = f"policy `{policy.name}`: {newest['word']} needs Kubernetes 1.{newest['minor']}"
        report.add(INVALID_POLICY.at(policy.document.span(path), f"{text}, and the cluster has 1.{kubernetes[1]}"))
    for trouble in troubles:
        path = ("spec", *trouble["path"])
        what = f"policy `{policy.name}`: `{trouble['path'][-1]}` "
        if trouble["refused"]:
            at = _inside(policy.document, path, trouble["line"])
            report.add(INVALID_POLICY.at(at, f"{what}does not compile: {trouble['text']}"))
        else:
            at = policy.document.span(path)
            report.add(UNJUDGED_POLICY.at(at, f"{what}is not evaluated: {trouble['text']}", help=WAY_OUT))
    return not refused


def _inside(document: Document, path: Path, line: int) -> Span:
    """The place of an error in an expression: in a block of several lines its own line, else the expression."""
    at = document.span(path)
    text = value(get(document.tree, *path))
    if line < 1 or type(text) is not str or at.end_line <= at.line:
        return at
    below = at.line + line
    return Span(at.file, below, 1, below, 1) if below <= at.end_line else at


def name_strays(documents: Iterable[Document], report: Report) -> None:
    """Name the policies that stand in a file of the run, and in none of the folders of policies."""
    for document in documents:
        if document.kind == POLICY_KIND and document.api_version.startswith(f"{GROUP}/"):
            text = f"policy `{document.name}` is not evaluated: its file is not in a folder of policies"
            help_ = "move it into `policies/`, or name its folder in `spec.policies` of trainc.yaml"
            report.add(UNJUDGED_POLICY.at(document.span(("metadata", "name")), text, help=help_))


def _name_others(documents: tuple[Document, ...], report: Report) -> int:
    """Name the policies that change objects, and the webhooks of third parties; gives their number."""
    count = 0
    for document in documents:
        if document.kind not in _OTHERS or not document.api_version.startswith(f"{GROUP}/"):
            continue
        names = [document.name]
        if document.kind.endswith("WebhookConfiguration"):
            names = [str(value(hook, "name")) for hook in items(get(document.tree, "webhooks"))]
            names = [name for name in names if not any(own in name for own in _OWN_WEBHOOKS)]
        if names:
            text = f"{document.kind} is not evaluated: {few((f'`{name}`' for name in names), 5)}"
            report.add(UNJUDGED_ADMISSION.at(document.span(("metadata", "name")), text))
            count += len(names)
    return count
