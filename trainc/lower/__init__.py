"""Plan -> Bundle: what machines need, laid over what people said."""

from __future__ import annotations

from trainc import schedulers
from trainc.lower.applied import applied
from trainc.lower.contributors import contributor
from trainc.lower.delivery import carried_labels, deadline, managed_by
from trainc.lower.images import image_patches
from trainc.lower.jobset import counted, identity, jobset, service
from trainc.lower.lay import fold_ports, lay
from trainc.lower.notes import lost_ports
from trainc.model.bundle import Bundle
from trainc.model.patches import Contribution, Patch
from trainc.model.plan import Layer, Role

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.cluster import Cluster
    from trainc.model.patches import Framework
    from trainc.model.plan import Plan
    from trainc.model.report import Report
    from trainc.model.settings import Project, Selection
    from trainc.model.tree import Tree

_INITIALIZERS = ("dataset-initializer", "model-initializer")


def lower(plan: Plan, project: Project, selection: Selection, report: Report) -> Bundle | None:
    """The complete objects of a plan, in apply order; None with findings where the controller would refuse the job."""
    cluster = project.cluster.seeing((d.tree for d in plan.companions), closed=selection.closed_world)
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
    lowered = plan.lowered({**plan.template, "spec": spec}, roles).with_layers((*plan.layers, layer))
    return _placed(lowered, contribution, project, cluster, report)


def _placed(plan: Plan, contribution: Contribution, project: Project, cluster: Cluster, report: Report) -> Bundle:
    """The bundle of a plan with everything laid on but what its scheduler and its cluster's images ask for."""
    gang = schedulers.contribute(plan, cluster, report)
    plan = _over(plan, Layer("scheduler", ", ".join(schedulers.chosen(plan, cluster)), patches=gang.patches))
    if cluster.images:
        patches = (patch for role in plan.roles for patch in image_patches(role, cluster.images))
        plan = _over(plan, Layer("images", cluster.name, patches=tuple(patches)))
    return applied(_bundle(plan, contribution + gang, cluster.name), project.delivery)


def _over(plan: Plan, layer: Layer) -> Plan:
    """The plan with one more layer of patches laid on."""
    if not layer.patches:
        return plan
    jobs = [role.tree for role in plan.roles]
    for patch in layer.patches:
        jobs[patch.role] = lay(jobs[patch.role], patch)
    template = {**plan.template, "spec": {**plan.template["spec"], "replicatedJobs": jobs}}
    roles = tuple(Role(role.index, jobs[role.index], role.count) for role in plan.roles)
    return plan.lowered(template, roles).with_layers((*plan.layers, layer))


def _laid(plan: Plan, contribution: Contribution, framework: Framework, report: Report) -> tuple[Role, ...]:
    """The roles with everything laid on that the job and its framework ask for."""
    jobs = [role.tree for role in plan.roles]
    for patch in in_order(plan.overrides, contribution, env_first=framework.env_first):
        jobs[patch.role] = lay(jobs[patch.role], patch)
    # The controller of a TrainJob writes ports back in its own way; older jobs keep theirs.
    folded = [fold_ports(job) for job in jobs] if plan.runtime is not None else list(jobs)
    lost_ports(plan, jobs, folded, report)
    for patch in plan.overrides:
        if patch.container in _INITIALIZERS:
            folded[patch.role] = lay(folded[patch.role], patch)
    counts = [contribution.counts.get(role.index, role.count) for role in plan.roles]
    # The Trainer runs one Job for a step; a runtime of trainc's own kind may ask for several, one for each slice.
    single = plan.runtime is None or not plan.runtime.composed
    return tuple(Role(i, counted(job, counts[i], single=single), counts[i]) for i, job in enumerate(folded))


def in_order(overrides: tuple[Patch, ...], contribution: Contribution, *, env_first: bool) -> Iterator[Patch]:
    """The trainer's overrides and the framework's patches as the controller's steps order them.

    A framework that puts its env first still loses to the job's own variables, which are laid on after it.
    """
    trainer = [patch for patch in overrides if patch.container not in _INITIALIZERS]
    if not env_first:
        yield from trainer
        yield from contribution.patches
        return
    yield from (Patch(patch.role, patch.container, sets=patch.sets) for patch in trainer)
    yield from contribution.patches
    yield from (Patch(patch.role, patch.container, env=patch.env) for patch in trainer)


def _bundle(plan: Plan, contribution: Contribution, cluster: str) -> Bundle:
    metadata = {key: dict(part) for key, part in plan.template["metadata"].items()}
    labels = {**metadata.get("labels", {}), **carried_labels(plan), **contribution.labels}
    annotations = {**metadata.get("annotations", {}), **contribution.annotations}
    metadata = {k: v for k, v in (("labels", labels), ("annotations", annotations)) if v}
    whole = jobset(plan, plan.template["spec"], metadata)
    twin = service(plan, whole["spec"])
    objects = [
        *(document.tree for document in plan.companions),
        *({**tree, "metadata": {**tree["metadata"], **_namespace(plan)}} for tree in contribution.objects),
        *([twin] if twin is not None else []),
        whole,
    ]
    return Bundle(plan.document, tuple(objects), plan, cluster=cluster)


def _namespace(plan: Plan) -> Tree:
    return {key: node for key, node in identity(plan).items() if key == "namespace"}
