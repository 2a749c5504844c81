"""Who is asked about a plan: its framework and its scheduler, once both have let it in."""

from __future__ import annotations

from trainc import schedulers
from trainc.frameworks import framework
from trainc.frameworks.base.reserved import check_reserved
from trainc.lower.computable import is_computable
from trainc.model.finding import ERROR, Rule
from trainc.model.patch import Patch
from trainc.model.patches import PODS, Contribution, Framework
from trainc.model.report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from trainc.model.cluster import Cluster
    from trainc.model.plan import Plan, Role
    from trainc.model.settings import Selection

UNKNOWN_FRAMEWORK = Rule(
    "unknown-framework",
    ERROR,
    "a runtime's framework label names nothing that trainc or an installed package knows",
    "Without a policy the label selects the framework; an unknown one would leave the processes unconnected.",
)


def contributor(plan: Plan, cluster: Cluster, selection: Selection, report: Report) -> Framework:
    """The framework of a plan; where it is not known, or somebody refuses the job, one that adds nothing to a barred plan.

    The webhook says all that it has against a job, so a job that is refused already is judged all the same.
    """
    found = framework(plan.framework)
    if found is None:
        report.add(
            UNKNOWN_FRAMEWORK.at(
                plan.document.span(("spec", "runtimeRef", "name")),
                f"no framework is called `{plan.framework}`",
                help="correct the runtime's label `trainer.kubeflow.org/framework`, or install the package that adds it",
            )
        )
        return _barred(plan, Framework(plan.framework, _adds_nothing))
    if plan.barred:
        return _barred(plan, found)
    if not is_computable(plan, found, report):
        return _barred(plan, found) if report.compiles else _silent(found)
    if plan.refused:
        _let_in(plan, found, cluster, report)
        return _barred(plan, found)
    alike = _alike(plan, found)
    if alike is None or plan.shared is None:
        return found if _judged(plan, found, cluster, selection, report) else _barred(plan, found)
    judge = (found.name, selection.admission_only, alike)
    silent = plan.shared.silent
    if judge in silent:
        return found
    heard = Report()
    fine = _judged(plan, found, cluster, selection, heard)
    for finding in heard.findings:
        report.add(finding)
    if fine and not heard.findings and len(silent) < _MOST:
        silent.add(judge)
    return found if fine else _barred(plan, found)


_MOST = 1_000  # kinds of jobs remembered for each runtime


def _barred(plan: Plan, found: Framework) -> Framework:
    """What goes on with a job that is refused: what its framework would add is unknown."""
    plan.barred = True
    plan.overrides = tuple(_without_reserved(plan.overrides, found.vocabulary.reserved))
    return _silent(found)


def _without_reserved(patches: Iterable[Patch], reserved: Sequence[str]) -> Iterator[Patch]:
    """Patches without the variables that a framework keeps for itself: what they would be is as unknown as the rest."""
    for patch in patches:
        kept = tuple([entry for entry in patch.env if entry["name"].value not in reserved])
        if len(kept) == len(patch.env):
            yield patch
        else:
            yield patch.restricted(without=("env",))
            yield Patch(patch.role, patch.container, env=kept)


def _silent(found: Framework) -> Framework:
    return Framework(found.name, _adds_nothing, vocabulary=found.vocabulary)


def _adds_nothing(plan: Plan) -> Contribution:  # noqa: ARG001 (what any framework is given)
    """What a framework adds that cannot compute with numbers which are filled in later: a check goes on without."""
    return Contribution()


def _alike(plan: Plan, found: Framework) -> Hashable | None:
    """All on which the judgement of a job can depend beside the runtime, None where it may be anything."""
    if found.alike is None or plan.shared is None or type(plan.block) is not dict:
        return None
    if PODS in found.needs(plan) or (plan.gang is not None and schedulers.judges(plan)):
        return None
    pods: Hashable = None
    if not plan.shared.is_whole(plan.template):
        pods = _containers(plan.roles, plan.shared.kept)
        if pods is None:
            return None
    said = found.alike(plan)
    return None if said is None else (pods, said)


def _containers(roles: tuple[Role, ...], kept: Mapping[int, object]) -> Hashable | None:
    """The roles, each with its lists of containers by identity, None where they are not those of the runtime."""
    out = []
    for role in roles:
        own, first = role.pod.get("containers"), role.pod.get("initContainers")
        if id(own) not in kept or not (first is None or id(first) in kept):
            return None
        out.append((role.name.value, role.ancestor, id(own), id(first)))
    return tuple(out)


def _judged(plan: Plan, found: Framework, cluster: Cluster, selection: Selection, report: Report) -> bool:
    """Whether a job can be built and nobody refuses it; what its framework thinks of it is reported as well."""
    if not _let_in(plan, found, cluster, report):
        return False
    if not selection.admission_only:
        if found.verify is not None:
            found.verify(plan, report)
        if plan.block is not None or found.verify is None:
            check_reserved(plan, found, report)
    return True


def _let_in(plan: Plan, found: Framework, cluster: Cluster, report: Report) -> bool:
    """Whether neither framework nor scheduler refuses the job; what they say is reported."""
    if found.refuse is None and plan.gang is None:
        return True
    heard = Report()
    if found.refuse is not None:
        found.refuse(plan, heard)
    schedulers.refuse(plan, cluster, heard)
    findings = heard.findings
    # Only a job that is let in can turn out impossible to build.
    barred = plan.refused or any(finding.refusal and finding.refusal.by == "webhook" for finding in findings)
    for finding in findings:
        if not (barred and finding.refusal and finding.refusal.by == "build"):
            report.add(finding)
    return not findings or not heard.failed
