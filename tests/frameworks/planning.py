"""Plans made from a few lines of YAML, as a framework sees them."""

from collections.abc import Mapping
from typing import Any

from trainc.compiler.resolve import roles_of
from trainc.compiler.resolve.template import Prepared
from trainc.frameworks import framework
from trainc.frameworks.base.requirements import check_reserved
from trainc.model.patch import Patch
from trainc.model.patches import Contribution
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import get, plain
from trainc.yaml.reader import read

ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"


def role(name: str, container: str = "{name: node}", *, trainer: bool = True, parallelism: int = 1) -> str:
    """One replicatedJob in flow style."""
    labels = f"metadata: {{labels: {{{ANCESTOR}: trainer}}}}, " if trainer else ""
    pods = f"spec: {{parallelism: {parallelism}, template: {{spec: {{containers: [{container}]}}}}}}"
    return f"{{name: {name}, template: {{{labels}{pods}}}}}"


def plan(
    policy: str, roles: str, job: str = "{}", *, label: str = "", secrets: Mapping[str, str] | None = None
) -> Plan:
    """The plan of a job `run` whose `spec.trainer` is `job`, with a runtime of that policy and those roles."""
    trainer = f"trainer: {job}" if job else ""
    text = f"""
metadata: {{name: torchtune-llama3.2-1b, labels: {{trainer.kubeflow.org/framework: {label or "plain"}}}}}
spec: {{mlPolicy: {policy}, template: {{spec: {{replicatedJobs: [{roles}]}}}}}}
---
metadata: {{name: run, namespace: team}}
spec:
  runtimeRef: {{name: torchtune-llama3.2-1b}}
  {trainer}
"""
    heard = Report()
    runtime, document = read(text, "case.yaml", heard)
    assert heard.findings == []
    prepared = Prepared(runtime, runtime.tree)
    return Plan(
        document=document,
        runtime=runtime,
        name=document.tree["metadata"]["name"],
        namespace=get(document.tree, "metadata", "namespace"),
        framework=label or prepared.framework,
        policy=prepared.policy,
        gang=None,
        template=prepared.template,
        roles=roles_of(get(document.tree, "spec", "trainer", "numNodes"), prepared, prepared.template),
        secrets={name: Sourced(text, Origin(by="project")) for name, text in (secrets or {}).items()},
    )


def lowered(plan: Plan) -> Contribution:
    """What the plan's framework contributes."""
    found = framework(plan.framework)
    assert found is not None
    return found.lower(plan).attach_origin(found.name)


def patches(plan: Plan, name: str) -> list[Patch]:
    """The framework's patches on the role of that name."""
    index = plan.role(name).index if plan.role(name) else -1  # type: ignore[union-attr]
    return [patch for patch in lowered(plan).patches if patch.role == index]


def env(plan: Plan, name: str = "node", container: str = "node") -> dict[str, Any]:
    """The variables the framework sets in a container, in order; those from the downward API as the path they read."""
    found = {}
    for patch in patches(plan, name):
        for entry in (*patch.env, *patch.sets.get("env", ())) if patch.container == container else ():
            text = plain(entry)
            found[text["name"]] = text.get("value", get(text, "valueFrom", "fieldRef", "fieldPath"))
    return found


def sets(plan: Plan, field: str, name: str = "node") -> Any:
    """What the framework sets a field of the node container to."""
    return next(plain(patch.sets[field]) for patch in patches(plan, name) if field in patch.sets)


def said(plan: Plan) -> list[str]:
    """The names of the rules that refuse or question a plan, sorted."""
    return sorted(finding.rule.name for finding in heard(plan).findings)


def heard(plan: Plan) -> Report:
    """What the framework says about a plan."""
    report = Report()
    found = framework(plan.framework)
    assert found is not None
    for ask in (found.refuse, found.verify):
        if ask is not None:
            ask(plan, report)
    check_reserved(plan, found, report)
    return report


def refusals(plan: Plan) -> list[str]:
    """The words of the servers that refuse a plan."""
    return [finding.refusal.text for finding in heard(plan).findings if finding.refusal]
