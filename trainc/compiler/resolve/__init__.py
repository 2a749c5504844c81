"""Catalog -> Plans: what people said about each job, looked up and merged."""

from collections.abc import Iterator

from trainc.compiler.patched import PATCH, Patched
from trainc.compiler.resolve.runtimes import runtime_for
from trainc.compiler.resolve.template import COMPONENTS, RUNTIME, Prepared, gives_values, names_of, patched
from trainc.compiler.resolve.trainer_block import overrides
from trainc.compiler.resolve.webhook import check
from trainc.model.catalog import Catalog, Entry, RefusedEntry, RemovedSpans, stretch
from trainc.model.document import Document
from trainc.model.finding import ERROR, Finding, Refusal, Rule, place
from trainc.model.internal_error import Seam
from trainc.model.plan import TRAINER, Plan, Role, Step
from trainc.model.report import Report
from trainc.model.run import check_run, run_name
from trainc.model.settings import Project
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import MissingKeyError, Tree, UnknownDirectiveError, get
from trainc.schedulers.gang import at_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.compiler.resolve.compose import Bases
Made = tuple[Prepared | None, list[Finding]]
Steps = tuple[Step, ...]
UNKNOWN_DIRECTIVE = Rule("unknown-patch-directive", ERROR, verdict=True)
UNFINDABLE_ITEM = Rule("unfindable-item", ERROR, verdict=True)
# The webhook goes on without the template that could not be merged, and dies of that.
_PANIC = Refusal("webhook", "panic: runtime error: invalid memory address or nil pointer dereference [recovered]")


class PreparedRuntimes:
    """The runtimes that are ready for jobs, by identity and by the components named with them, and what they began with."""

    def __init__(self) -> None:
        self.made: dict[tuple[int, tuple[str, ...]], Made] = {}
        self.bases: Bases = {}


def resolve(catalog: Catalog, project: Project, report: Report) -> Iterator[Plan]:
    """A plan for each job of the catalog that can be planned, in the order of the files."""
    prepared = PreparedRuntimes()
    for entry in catalog.entries():
        document = entry.document
        report.begin(document)
        report.account.advance()
        plan: Plan | None = None
        with Seam(report, document, f"the plan of this {document.kind}"):
            plan = _plan(entry, catalog, prepared, project, report)
        if plan is None:
            catalog.unread.append(document)
        else:
            yield plan
    report.end()


def _plan(entry: Entry, catalog: Catalog, prepared: PreparedRuntimes, project: Project, report: Report) -> Plan | None:
    document = entry.document
    check_run(document, report)
    if document.kind == "TrainJob":
        plan = _trainjob(entry, catalog, prepared, project, report)
        if plan is not None and plan.runtime is not None and plan.runtime.composed:
            from trainc.compiler.resolve.components import switches  # noqa: PLC0415 (most runtimes stand in one file)

            report.switched_on = switches(document, plan.runtime)
    else:
        # A finding where a job without runtime asks for components.
        annotations = get(document.tree, "metadata", "annotations")
        if type(annotations) is dict and (COMPONENTS in annotations or gives_values(annotations)):
            from trainc.compiler.resolve.components import idle  # noqa: PLC0415 (hardly anybody tries)

            report.add(idle(document))
        plan = jobset_plan(entry) if document.kind == "JobSet" else _other(entry, project, report)
    return plan if plan is None or plan.namespace is not None else plan.placed(project.cluster.namespace)


def _other(entry: Entry, project: Project, report: Report) -> Plan | None:
    from trainc.kinds.registry import page_of  # noqa: PLC0415 (most runs meet none)
    from trainc.kinds.shared.job import LegacyOptions  # noqa: PLC0415 (as above)

    there = project.cluster
    options = LegacyOptions(
        gang=there.scheduler.value
        if there.scheduler is not None and there.scheduler.value not in {"none", "kueue"}
        else "",
        is_free=there.scheduler is None,
        kubernetes=there.kubernetes,
        jobset=there.jobset,
        secrets=project.secrets,
        namespace=there.namespace,
    )
    return page_of(entry.document).plan(entry, options, report)


def jobset_plan(entry: Entry) -> Plan:
    """A JobSet given as input: all of it is what people said, and no framework is asked about it."""
    tree = entry.document.tree
    spec = dict(tree.get("spec") or {})
    metadata = {key: node for key, node in tree["metadata"].items() if key in ("annotations", "finalizers", "labels")}
    jobs = spec.get("replicatedJobs") or ()
    return Plan(
        document=entry.document,
        runtime=None,
        name=run_name(tree),
        namespace=get(tree, "metadata", "namespace"),
        framework="",
        policy=None,
        gang=None,
        template={"metadata": metadata, "spec": spec},
        roles=tuple(Role(index, job, at_once(job)) for index, job in enumerate(jobs)),
        steps=(("overrides", "the JobSet itself", {"metadata": metadata, "spec": spec}, (), None),),
        companions=entry.companions,
        beside=entry.beside,
    )


def _trainjob(
    entry: Entry, catalog: Catalog, prepared: PreparedRuntimes, project: Project, report: Report
) -> Plan | None:
    document = entry.document
    if (runtime_document := runtime_for(document, catalog, project, report)) is None:
        return None
    runtime, findings = _prepared(runtime_document, document, catalog, prepared, project)
    report.add_all(findings)
    if runtime is None:
        return None
    plan = planned(entry, runtime, project, report)
    if plan is None:
        # A job without the first of its patches that cannot be merged.
        document = entry.document
        spec = document.tree["spec"]
        patches = spec["runtimePatches"]
        at = next(index for index in range(len(patches)) if not _is_mergeable(runtime.template, patches[: index + 1]))
        patch = stretch(patches[at])
        taken = RemovedSpans([patch] if patch is not None else [], document.tree)
        rest = {**document.tree, "spec": {**spec, "runtimePatches": patches[:at] + patches[at + 1 :]}}
        catalog.refused.append(RefusedEntry(entry._replace(document=document.admitted(rest)), taken))
        return None
    if runtime.locks:
        from trainc.compiler.resolve.locks import check_job  # noqa: PLC0415 (few runtimes lock anything)

        check_job(plan, runtime, report)
    plan.refused = not check(plan, report)
    return plan


def planned(entry: Entry, runtime: Prepared, project: Project, report: Report) -> Plan | None:
    """The plan of a TrainJob with its runtime, None with findings where a patch cannot be merged."""
    document = entry.document
    spec, metadata = document.tree["spec"], document.tree["metadata"]
    try:
        template, steps = patched(runtime.template, spec.get("runtimePatches") or [])
    except (MissingKeyError, UnknownDirectiveError) as error:
        report.add(_unmergeable(document, error))
        return None
    trainer = spec.get("trainer")
    nodes = trainer.get("numNodes") if type(trainer) is dict else None
    roles = roles_of(nodes, runtime, template)
    patches = overrides(document.tree, runtime.policy, roles)
    return Plan(
        document=document,
        runtime=runtime.document,
        name=run_name(document.tree),
        namespace=metadata.get("namespace"),
        framework=runtime.framework,
        policy=runtime.policy,
        gang=runtime.gang,
        template=template,
        roles=roles,
        overrides=patches,
        steps=_steps(
            document, steps, ("overrides", "spec.trainer, spec.initializer", None, patches, nodes), runtime, roles
        ),
        below=runtime.layers,
        companions=entry.companions,
        beside=entry.beside,
        secrets=project.secrets,
    )


def _steps(document: Document, patches: Steps, overriding: Step, runtime: Prepared, roles: tuple[Role, ...]) -> Steps:
    """The steps of precedence of a job; what its TrainJobPatch says is a step of its own above the job's."""
    if not isinstance(document, Patched):
        return (*patches, overriding)
    named = (PATCH, document.cluster)
    steps = (*patches, overriding)
    if document.legal is not None and get(document.legal.tree, "spec") is not None:
        job = document.legal.tree
        patches = patched(runtime.template, job["spec"].get("runtimePatches") or [])[1]
        own = overrides(job, runtime.policy, roles)
        overriding = (*overriding[:3], own, get(job, "spec", "trainer", "numNodes"))
    return (*patches, *((*named, *step[2:]) for step in steps[:-1]), overriding, (*named, *steps[-1][2:]))


def _prepared(runtime: Document, job: Document, catalog: Catalog, prepared: PreparedRuntimes, project: Project) -> Made:
    """The runtime ready for this job and for all that switch on the same components, and what was found in it."""
    annotations = job.tree["metadata"].get("annotations")
    components = annotations.get(COMPONENTS) if type(annotations) is dict else None
    key = (id(runtime), () if components is None else tuple(names_of(components)))
    has_values = type(annotations) is dict and gives_values(annotations)  # each job has its own, at its own place
    if key in prepared.made and not has_values:
        return prepared.made[key]
    if (
        runtime.kind != RUNTIME
        and components is None
        and not has_values
        and not project.cluster.components
        and project.cluster.patch is None
    ):
        made: Made = (Prepared(runtime, runtime.tree), [])
    else:
        from trainc.compiler.resolve.compose import composed  # noqa: PLC0415 (many projects inherit nothing)

        own_report = Report()
        made = (composed(runtime, job, catalog, project, own_report, prepared.bases), own_report.findings)
    is_explained = made[0] is not None or any(finding.level == ERROR for finding in made[1])
    if is_explained and not has_values and not (key[1] and made[1]):
        # What is found in components that a job names stands in that very job: the next one is looked at for itself.
        # So is one whose component the server refuses: the refusal is met by each job.
        prepared.made[key] = made
    return made


def _is_mergeable(template: Tree, patches: list[Tree]) -> bool:
    try:
        patched(template, patches)
    except (MissingKeyError, UnknownDirectiveError):
        return False
    return True


def _unmergeable(document: Document, error: MissingKeyError | UnknownDirectiveError) -> Finding:
    patches = document.span(("spec", "runtimePatches"))
    if isinstance(error, MissingKeyError):
        message = f"a patch merges `{error.field}`, and one item has no `{error.key}`"
        help_ = f"give every item of `{error.field}` its `{error.key}`, in the runtime and in the patch"
        return UNFINDABLE_ITEM.at(patches, message, help=help_, refusal=_PANIC)
    message = f"`{error.name}: {error.leaf.value}` is not a directive of the strategic merge"
    help_, span = "write `replace` or `delete`, or remove the key", place(error.leaf.origin) or patches
    return UNKNOWN_DIRECTIVE.at(span, message, help=help_, refusal=_PANIC)


def roles_of(count: Tree, runtime: Prepared, template: Tree) -> tuple[Role, ...]:
    """A role for each replicatedJob, with the number of pods that policy, template and job (`count`) ask for."""
    scaled = count is None or get(runtime.policy, "mpi") is not None
    roles = []
    for index, tree in enumerate(template["spec"].get("replicatedJobs") or ()):
        role = Role(index, tree, count)
        if role.ancestor == TRAINER and not scaled:
            # numNodes of the job reaches the first trainer role alone, and is not raised to 1 (Trainer v2.3.0).
            scaled = True
        else:
            role.count = _count(runtime.policy, tree, trains=role.ancestor == TRAINER)
        roles.append(role)
    return tuple(roles)


def _count(policy: Tree, tree: Tree, *, trains: bool) -> Sourced[int]:
    if trains and policy is not None:
        written, otherwise = get(policy, "numNodes"), "default of mlPolicy.numNodes"
    else:
        written, otherwise = get(tree, "template", "spec", "parallelism"), "default of parallelism"
    if written is None:
        return Sourced(1, Origin(None, otherwise, ()))
    is_enough = type(written.value) is not int or written.value >= 1
    return written if is_enough else derive("at least one pod", lambda _: 1, written)
