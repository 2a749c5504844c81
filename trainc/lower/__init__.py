"""Plan -> Bundle: what machines need, laid over what people said."""

from __future__ import annotations

from trainc import schedulers
from trainc.lower.applied import applied
from trainc.lower.contributors import contributor
from trainc.lower.delivery import carried_labels, deadline, managed_by
from trainc.lower.images import image_patches
from trainc.lower.jobset import jobset, namespace, service, single
from trainc.lower.lay import Draft
from trainc.lower.notes import lost_ports
from trainc.model.bundle import Bundle
from trainc.model.patches import Contribution, Patch
from trainc.model.plan import Layer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.cluster import Cluster
    from trainc.model.patches import Framework
    from trainc.model.plan import Plan, Role
    from trainc.model.report import Report
    from trainc.model.settings import Project, Selection
    from trainc.model.tree import Tree

_INITIALIZERS = ("dataset-initializer", "model-initializer")


def lower(plan: Plan, project: Project, selection: Selection, report: Report) -> Bundle | None:
    """The complete objects of a plan, in apply order; None with findings where the controller would refuse the job."""
    cluster = project.cluster
    if plan.companions or selection.closed_world:
        cluster = cluster.seeing((document.tree for document in plan.companions), closed=selection.closed_world)
    if not plan.framework:
        return _placed(plan, Contribution(), project, cluster, report)
    framework = contributor(plan, cluster, selection, report)
    if framework is None:
        return None
    contribution = framework.lower(plan).stamped(framework.name)
    roles = _laid(plan, contribution, framework, report)
    spec = dict(plan.template["spec"])
    if roles:
        spec["replicatedJobs"] = [role.tree for role in roles]
    if plan.runtime is not None and not selection.admission_only:
        spec = managed_by(plan, deadline(plan, spec, project, report))
    layer = Layer("framework", framework.name, patches=contribution.patches)
    lowered = plan.lowered({**plan.template, "spec": spec}, roles, (*plan.layers, layer))
    return _placed(lowered, contribution, project, cluster, report)


def _placed(plan: Plan, contribution: Contribution, project: Project, cluster: Cluster, report: Report) -> Bundle:
    """The bundle of a plan with everything laid on but what its scheduler and its cluster's images ask for."""
    gang = schedulers.contribute(plan, cluster, report)
    if gang.patches:
        plan = _over(plan, Layer("scheduler", ", ".join(schedulers.chosen(plan, cluster)), patches=gang.patches))
    if cluster.images:
        patches = tuple([patch for role in plan.roles for patch in image_patches(role, cluster.images)])
        if patches:
            plan = _over(plan, Layer("images", cluster.name, patches=patches))
    return applied(_bundle(plan, contribution + gang, cluster.name), project.delivery)


def _over(plan: Plan, layer: Layer) -> Plan:
    """The plan with one more layer of patches laid on."""
    drafts: dict[int, Draft] = {}
    for patch in layer.patches:
        if patch.role not in drafts:
            drafts[patch.role] = Draft(plan.roles[patch.role].tree)
        drafts[patch.role].lay(patch)
    roles = tuple(
        [role.laid(drafts[role.index].job, role.count) if role.index in drafts else role for role in plan.roles]
    )
    jobs = [role.tree for role in roles]
    template = {**plan.template, "spec": {**plan.template["spec"], "replicatedJobs": jobs}}
    return plan.lowered(template, roles, (*plan.layers, layer))


def _laid(plan: Plan, contribution: Contribution, framework: Framework, report: Report) -> tuple[Role, ...]:
    """The roles with everything laid on that the job and its framework ask for."""
    drafts = [Draft(role.tree) for role in plan.roles]
    for patch in in_order(plan.overrides, contribution, env_first=framework.env_first):
        drafts[patch.role].lay(patch)
    # The controller of a TrainJob writes ports back in its own way; older jobs keep theirs.
    if plan.runtime is not None:
        for draft in drafts:
            for was, now in draft.fold_ports():
                lost_ports(plan, was, now, report)
    for patch in plan.overrides:
        if patch.container in _INITIALIZERS:
            drafts[patch.role].lay(patch)
    roles = []
    for role, draft in zip(plan.roles, drafts, strict=True):
        count = contribution.counts.get(role.index, role.count)
        draft.count(count, single(role, plan))
        roles.append(role.laid(draft.job, count))
    return tuple(roles)


def in_order(overrides: tuple[Patch, ...], contribution: Contribution, *, env_first: bool) -> list[Patch]:
    """The trainer's overrides and the framework's patches as the controller's steps order them.

    A framework that puts its env first still loses to the job's own variables, which are laid on after it.
    """
    trainer = [patch for patch in overrides if patch.container not in _INITIALIZERS]
    if not env_first:
        return [*trainer, *contribution.patches]
    return [
        *[Patch(patch.role, patch.container, sets=patch.sets) for patch in trainer],
        *contribution.patches,
        *[Patch(patch.role, patch.container, env=patch.env) for patch in trainer],
    ]


def _bundle(plan: Plan, contribution: Contribution, cluster: str) -> Bundle:
    said = plan.template["metadata"]
    labels = {**said.get("labels", {}), **carried_labels(plan), **contribution.labels}
    annotations = {**said.get("annotations", {}), **contribution.annotations}
    metadata: Tree = {}
    if labels:
        metadata["labels"] = labels
    if annotations:
        metadata["annotations"] = annotations
    whole = jobset(plan, plan.template["spec"], metadata)
    twin = service(plan, whole["spec"])
    objects = [document.tree for document in plan.companions]
    for tree in contribution.objects:
        objects.append({**tree, "metadata": {**tree["metadata"], **namespace(plan)}})
    if twin is not None:
        objects.append(twin)
    objects.append(whole)
    return Bundle(plan.document, tuple(objects), plan, cluster=cluster)
