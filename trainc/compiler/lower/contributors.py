"""Who is asked about a plan: its framework and its scheduler, once both have let it in."""

from __future__ import annotations

from trainc import schedulers
from trainc.frameworks import framework
from trainc.frameworks.base.requirements import check_unread
from trainc.frameworks.base.reserved import check_reserved
from trainc.model.finding import ERROR, Rule, place
from trainc.model.patch import Patch
from trainc.model.patches import PODS, PROCESSES, Contribution, Framework
from trainc.model.plan import TRAINER
from trainc.model.report import Report
from trainc.model.sourced import Sourced
from trainc.schedulers.gang import UNKNOWN_SIZE
from trainc.text.placeholders import is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.model.cluster import Cluster
    from trainc.model.plan import Plan
    from trainc.model.tree import Tree

UNKNOWN_FRAMEWORK = Rule(
    "unknown-framework",
    ERROR,
    "a runtime's framework label names an unknown framework",
    "Without an mlPolicy the label selects the framework; with an unknown one the processes would get no rendezvous.",
)


def contributor(plan: Plan, cluster: Cluster, report: Report, *, admission_only: bool) -> Framework:
    """The framework of a plan; where it is not known, or somebody refuses the job, one that adds nothing to a barred plan.

    The webhook says all that it has against a job, so a job that is refused already is judged all the same.
    """
    chosen = framework(plan.framework)
    if chosen is None:
        report.add(
            UNKNOWN_FRAMEWORK.at(
                plan.document.span(("spec", "runtimeRef", "name")),
                f"no framework is called `{plan.framework}`",
                help="correct the runtime's label `trainer.kubeflow.org/framework`, or install the package that adds it",
            )
        )
        return _barred(plan, Framework(plan.framework, _adds_nothing))
    if plan.barred:
        return _barred(plan, chosen)
    if not is_computable(plan, chosen, report):
        return _barred(plan, chosen) if report.compiles else _silent(chosen)
    if plan.refused:
        _let_in(plan, chosen, cluster, report)
        return _barred(plan, chosen)
    return chosen if _judged(plan, chosen, cluster, report, admission_only=admission_only) else _barred(plan, chosen)


def _barred(plan: Plan, chosen: Framework) -> Framework:
    """What goes on with a job that is refused: what its framework would add is unknown."""
    plan.barred = True
    plan.overrides = tuple(_without_reserved(plan.overrides, chosen.vocabulary.reserved))
    return _silent(chosen)


def _without_reserved(patches: Iterable[Patch], reserved: Sequence[str]) -> Iterator[Patch]:
    """Patches without the variables that a framework keeps for itself: what they would be is as unknown as the rest."""
    for patch in patches:
        kept = tuple([entry for entry in patch.env if entry["name"].value not in reserved])
        if len(kept) == len(patch.env):
            yield patch
        else:
            yield patch.restricted(without=("env",))
            yield Patch(patch.role, patch.container, env=kept)


def _silent(chosen: Framework) -> Framework:
    return Framework(chosen.name, _adds_nothing, vocabulary=chosen.vocabulary)


def _adds_nothing(plan: Plan) -> Contribution:  # noqa: ARG001 (what any framework is given)
    """What a framework adds that cannot compute with numbers which are filled in later: a check goes on without."""
    return Contribution()


def _judged(plan: Plan, chosen: Framework, cluster: Cluster, report: Report, *, admission_only: bool) -> bool:
    """Whether a job can be built and nobody refuses it; what its framework thinks of it is reported as well."""
    if not _let_in(plan, chosen, cluster, report):
        return False
    if not admission_only:
        if chosen.verify is not None:
            chosen.verify(plan, report)
        if plan.block is not None or chosen.verify is None:
            check_reserved(plan, chosen, report)
        if not chosen.has_slots:
            check_unread(plan, chosen.name, report)
    return True


def _let_in(plan: Plan, chosen: Framework, cluster: Cluster, report: Report) -> bool:
    """Whether neither framework nor scheduler refuses the job; what they say is reported."""
    if chosen.refuse is None and plan.gang is None:
        return True
    own_report = Report()
    if chosen.refuse is not None:
        chosen.refuse(plan, own_report)
    schedulers.refuse(plan, cluster, own_report)
    findings = own_report.findings
    # Only a job that is let in can turn out impossible to build.
    barred = plan.refused or any(finding.refusal and finding.refusal.by == "webhook" for finding in findings)
    for finding in findings:
        if not (barred and finding.refusal and finding.refusal.by == "build"):
            report.add(finding)
    return not findings or not own_report.failed


def is_computable(plan: Plan, framework: Framework, report: Report) -> bool:
    """Whether every number is known that the framework computes with; what is not is reported where it is needed."""
    processes = plan.trainer_field("numProcPerNode")
    ok = True
    needs = framework.needs(plan)
    if PODS in needs:
        from trainc.frameworks.base.hosts import own_count  # noqa: PLC0415 (torch computes with none)

        advice = f"write the number: {framework.name} computes addresses and sizes with it"
        trainers = [role for role in plan.roles if role.ancestor == TRAINER]
        own = [own_count(role) for role in trainers] if len(trainers) > 1 else ()  # `numNodes` is for one of them
        sizes = [leaf for role in plan.roles for leaf in (role.count, role.replicas)]
        for leaf in (plan.trainer_field("numNodes"), *sizes, *own):
            ok &= _known(leaf, "how many pods there are", advice, plan, report)
        for leaf in (processes, plan.settings.get("numProcPerNode")):
            ok &= _known(leaf, _PROCESSES, advice, plan, report)
    if PROCESSES in needs and processes is None:
        advice = "write the amount, or set `numProcPerNode`: otherwise the number of processes follows from it"
        for leaf in plan.inferred.counted:
            ok &= _known(leaf, _PROCESSES, advice, plan, report)
    return ok


_PROCESSES = "how many processes a node runs"


def _known(leaf: Tree, what: str, advice: str, plan: Plan, report: Report) -> bool:
    if type(leaf) is not Sourced or type(leaf.value) is not str or not is_placeholder(leaf.value):
        return True
    at = place(leaf.origin) or plan.document.span(("metadata", "name"))
    message = f"{what} is not known here: `{leaf.value}` is filled in later"
    report.add_or_skip(UNKNOWN_SIZE.at(at, message, help=advice))
    return False
