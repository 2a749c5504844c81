"""What policies say of one object, without a project around it."""

from typing import Any

import yaml

from trainc.apiserver.expressions.budget import begin_run
from trainc.apiserver.policy.judge import announce_policies, judge_request, policies_of
from trainc.apiserver.policy.requests import AdmissionRequest
from trainc.model.cluster import Cluster
from trainc.model.finding import Finding
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.tree import plain, stamp
from trainc.yaml.reader import read

RULES = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]
OBJECT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
    "spec": {"replicas": 3, "containers": [{"name": "a", "image": "one/a:1"}, {"name": "b", "image": "two/b:2"}]},
}
NAMESPACES = {"shop": {"team": "shop", "env": "prod"}, "lab": {"team": "lab"}}


def policy(*expressions: str | dict[str, Any], name: str = "p", **spec: Any) -> dict[str, Any]:
    """A policy with these validations; `constraints` are added to rules that match everything."""
    validations = [{"expression": one} if isinstance(one, str) else one for one in expressions]
    constraints = {"resourceRules": RULES, **spec.pop("constraints", {})}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {"matchConstraints": constraints, **({"validations": validations} if validations else {}), **spec},
    }


def binding(*actions: str, name: str = "b", of: str = "p", **spec: Any) -> dict[str, Any]:
    """A binding of a policy."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": of, "validationActions": list(actions or ("Deny",)), **spec},
    }


def cluster(**more: Any) -> Cluster:
    """A cluster whose dumps show some namespaces."""
    shown = {
        name: stamp({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}, "a dump")
        for name, labels in NAMESPACES.items()
    }
    return Cluster(objects={"Namespace": shown}, **more)


class Judged:
    """What policies say of an object."""

    def __init__(self, *documents: dict[str, Any], of: dict[str, Any] | None = None, on: Cluster | None = None) -> None:
        begin_run()
        text = yaml.safe_dump_all(documents, width=1000).encode()
        self.report = Report()
        project = Project("/", clusters=(on or cluster(),), policies=tuple(read(text, "policies.yaml", self.report)))
        announce_policies(project, self.report)
        (document,) = read(yaml.safe_dump(of or OBJECT).encode(), "object.yaml", self.report)
        policies = policies_of(project)
        assert policies is not None
        request = AdmissionRequest(document.tree, document, project.cluster, written=True)
        judge_request(policies, request, self.report, set())

    def findings(self, rule: str) -> list[Finding]:
        """The findings of one rule."""
        return [finding for finding in self.report.findings if finding.rule.name == rule]

    @property
    def answers(self) -> list[str]:
        """What the API server would answer, word for word, for each refusal."""
        return [finding.refusal.text for finding in self.findings("policy-denied") if finding.refusal]

    @property
    def messages(self) -> list[str]:
        """The messages of the refusals alone."""
        return [answer.partition(" denied request: ")[2] for answer in self.answers]

    @property
    def verdict(self) -> str:
        """`deny`, `warn`, `audit` or `admit`, the first that holds; `invalid` for a policy that is none, `unknown` else."""
        for rule, word in (
            ("invalid-policy", "invalid"),
            ("policy-denied", "deny"),
            ("policy-warning", "warn"),
            ("policy-audit", "audit"),
        ):
            if self.findings(rule):
                return word
        if self.findings("unjudged-policy"):
            return "unjudged"
        return "unknown" if self.report.unknown else "admit"


def with_spec(**spec: Any) -> dict[str, Any]:
    """The object with another spec."""
    return {**OBJECT, "spec": spec}


__all__ = ["NAMESPACES", "OBJECT", "Judged", "binding", "cluster", "plain", "policy", "with_spec"]
