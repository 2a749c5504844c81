"""Plan -> Bundle: what machines need, laid over what people said."""

from collections.abc import Iterable, Mapping

from trainc import schedulers
from trainc.apiserver.jobset.additions import without_newer_defaults
from trainc.apiserver.jobset.defaults import with_claim_status, with_defaults
from trainc.apiserver.served import served
from trainc.apiserver.versions import LEAVES_CLAIM_STATUS_OUT
from trainc.compiler.lower.contributors import Draft, contributor
from trainc.model.bundle import Bundle, job_of, keeps_job
from trainc.model.cluster import Cluster
from trainc.model.finding import ERROR, WARNING, Rule, place
from trainc.model.patch import Patch
from trainc.model.patches import Contribution, Framework
from trainc.model.plan import TRAINER, Plan, Role
from trainc.model.report import Report
from trainc.model.run import RUN, run_of
from trainc.model.settings import Project
from trainc.model.sourced import Origin, Sourced, known
from trainc.model.tree import Tree, first_leaf, get, plain, value
from trainc.schedulers.gang import INITIALIZERS
from trainc.text.object_keys import JOBSET_API, JOBSET_NAME, MULTIKUEUE

Names = Mapping[str, Sourced[str]]
_NOTHING = Contribution()
DEADLINE_NOT_ENFORCED = Rule("deadline-not-enforced", ERROR)
_STEPS = (TRAINER, "dataset-initializer", "model-initializer")
_ONE = Sourced(1, Origin(by="Trainer runs one Job for each step"))
_API_VERSION = Sourced(JOBSET_API, Origin(by="lowering"))
_KIND = Sourced("JobSet", Origin(by="lowering"))
_V1, _SERVICE = Sourced("v1", Origin(by="lowering")), Sourced("Service", Origin(by="lowering"))
_NONE = Sourced("None", Origin(by="headless Service of the JobSet controller"))
LOST_PORT = Rule("lost-port", WARNING)
LOST_CLAIMS = Rule("claims-dropped", WARNING)
LOST_VALUE = Rule("value-dropped", WARNING)


def lower(plan: Plan, project: Project, report: Report) -> Bundle | None:
    """The complete objects of a plan, in apply order; of a plan that is barred on the way, what can be known of them.

    None for a barred plan where only what servers say counts.
    """
    cluster, checks = project.cluster, project.checks
    around = plan.companions or plan.beside
    if around or checks.closed_world:
        cluster = cluster.with_objects((document.tree for document in around), closed=checks.closed_world)
    if not plan.framework:
        template = {**plan.template, "spec": waiting(plan, plan.template["spec"])}
        return _placed(plan.lowered(template, plan.roles), {}, _NOTHING, project, cluster, report)
    framework = contributor(plan, cluster, report, admission_only=checks.admission_only)
    if plan.barred and checks.admission_only:
        return None
    contribution = framework.lower(plan).attach_origin(framework.name)
    drafts = {role.index: Draft(role.tree) for role in plan.roles}
    roles = _with_patches(plan, drafts, contribution, framework, report)
    is_trainjob = plan.runtime is not None
    spec, manager = plan.template["spec"], plan.job["spec"].get("managedBy") if is_trainjob else None
    # What MultiKueue runs elsewhere becomes a JobSet of that kind.
    if manager is not None and manager.value == MULTIKUEUE:
        spec = {**spec, "managedBy": manager}
    spec = waiting(plan, spec)
    if roles:
        spec = {**spec, "replicatedJobs": [role.tree for role in roles]}
    if is_trainjob:
        lost_claims(plan, report)
        lost_values(plan, report)
        spec = deadline(plan, spec, project, report)
    step = ("framework", framework.name, None, contribution.patches, None)
    lowered = plan.lowered({**plan.template, "spec": spec}, roles, step)
    return _placed(lowered, drafts, contribution, project, cluster, report)


def _placed(
    plan: Plan, drafts: dict[int, Draft], contribution: Contribution, project: Project, cluster: Cluster, report: Report
) -> Bundle:
    """The bundle of a plan, which nobody else has, once its scheduler's wishes and its cluster's images are laid on."""
    gang = _NOTHING if plan.barred else schedulers.contribute(plan, cluster, report)
    if gang.patches:
        _over(plan, drafts, gang.patches)
        plan.steps += (("scheduler", ", ".join(schedulers.chosen(plan, cluster)), None, gang.patches, None),)
    if cluster.images and (patches := image_patches(plan.roles, cluster.images)):
        _over(plan, drafts, patches)
        plan.steps += (("images", cluster.name, None, patches, None),)
    labels = copied_labels(plan, project)
    if labels:
        patches = tuple([Patch(role.index, labels=labels) for role in plan.roles])
        _over(plan, drafts, patches)
        plan.steps += (("identity", "copyLabels", None, patches, None),)
    bundle = _bundle(plan, contribution, gang, project.cluster, report, labels)
    if not (project.delivery or plan.companions):
        return bundle
    from trainc.compiler.lower.tool_marks import applied  # noqa: PLC0415 (most projects name no tool that delivers)

    return applied(bundle, project.delivery, project.cluster.namespace)


def _over(plan: Plan, drafts: dict[int, Draft], patches: tuple[Patch, ...]) -> None:
    """Lay patches on the roles of a plan: on those that are drafts in place, on the others each as a new draft."""
    for patch in patches:
        draft = drafts.get(patch.role)
        if draft is None:
            role = plan.roles[patch.role]
            draft = drafts[patch.role] = Draft(role.tree)
            drafted = role.with_patches(draft.job, draft.pod, role.count)
            plan.roles = tuple([drafted if other is role else other for other in plan.roles])
            plan.trainer = drafted if plan.trainer is role else plan.trainer
            jobs = [other.tree for other in plan.roles]
            plan.template = {**plan.template, "spec": {**plan.template["spec"], "replicatedJobs": jobs}}
        draft.lay(patch)


def _with_patches(
    plan: Plan, drafts: dict[int, Draft], contribution: Contribution, framework: Framework, report: Report
) -> tuple[Role, ...]:
    """The roles with everything laid on that the job and its framework ask for."""
    for patch in in_order(plan.overrides, contribution, env_first=framework.env_first):
        drafts[patch.role].lay(patch)
    # The controller of a TrainJob writes ports back in its own way; older jobs keep theirs.
    if plan.runtime is not None:
        for draft in drafts.values():
            for was, now in draft.fold_ports():
                lost_ports(plan, was, now, report)
    for patch in plan.overrides:
        if patch.container in INITIALIZERS:
            drafts[patch.role].lay(patch)
    roles = []
    for role in plan.roles:
        draft = drafts[role.index]
        count = contribution.counts.get(role.index, role.count)
        if plan.runtime is not None or role.index in contribution.counts:
            draft.count(count, single(role, plan))
        roles.append(role.with_patches(draft.job, draft.pod, count))
    return tuple(roles)


def in_order(overrides: tuple[Patch, ...], contribution: Contribution, *, env_first: bool) -> list[Patch]:
    """The trainer's overrides and the framework's patches as the controller's steps order them.

    A framework that puts its env first still loses to the job's own variables, which are laid on after it.
    """
    trainer = [patch for patch in overrides if patch.container not in INITIALIZERS]
    if not env_first:
        trainer += contribution.patches
        return trainer
    return [
        *[patch.restricted(without=("env",)) for patch in trainer],
        *contribution.patches,
        *[patch.restricted(only=("env",)) for patch in trainer],
    ]


def _bundle(
    plan: Plan,
    contribution: Contribution,
    gang: Contribution,
    cluster: Cluster,
    report: Report,
    copied: Mapping[str, Tree],
) -> Bundle:
    own_metadata = plan.template["metadata"]
    there: Tree = {} if plan.namespace is None else {"namespace": plan.namespace}
    metadata = {"name": plan.name, **there}
    if labels := _joined(own_metadata.get("labels"), copied, carried_labels(plan), contribution.labels, gang.labels):
        metadata["labels"] = labels
    written = own_metadata.get("annotations")
    if written and RUN in written:  # it is in the name; built again, the JobSet is no later run of itself
        written = {key: leaf for key, leaf in written.items() if key != RUN}
    if annotations := _joined(written, contribution.annotations, gang.annotations):
        metadata["annotations"] = annotations
    server = served(cluster)
    table = server.table
    tree = {"apiVersion": _API_VERSION, "kind": _KIND, "metadata": metadata, "spec": plan.template["spec"]}
    whole = without_newer_defaults(table.completed(with_defaults(tree)), server.profile.jobset)
    companions = plan.companions
    if not server.profile.jobset_does(LEAVES_CLAIM_STATUS_OUT):
        whole = with_claim_status(whole)
    if run_of(plan.job) > 1:
        from trainc.compiler.lower.run_hosts import of_this_run  # noqa: PLC0415 (most jobs have one run)

        whole, companions = of_this_run(plan, whole, report)
    keeps = value(plan.job, "kind") == "Job" and keeps_job(plan.job)
    twin = None if keeps else service(plan, whole["spec"], there)
    objects = [document.tree for document in companions] if companions else []
    for made in contribution.objects + gang.objects:
        objects.append(table.completed({**made, "metadata": {**made["metadata"], **there}}))
    if twin is not None and not _has_service(plan, twin):
        objects.append(twin)
    objects.append(job_of(whole) if keeps else whole)
    return Bundle(plan.document, tuple(objects), plan, cluster=cluster.name, jobset=whole)


def _has_service(plan: Plan, twin: Tree) -> bool:
    """Whether the file of a job brings the headless Service that gives its pods their names.

    That of a plain Job may select them by any label, which then is rewritten; all others select the JobSet's pods.
    """
    name, selector = twin["metadata"]["name"].value, plain(twin["spec"]["selector"])
    services = [one.tree for one in (*plan.companions, *plan.beside) if one.kind == "Service" and one.name == name]
    headless = [tree for tree in services if value(tree, "spec", "clusterIP") == "None"]
    is_plain_job = value(plan.job, "apiVersion") == "batch/v1"
    return any(is_plain_job or plain(get(tree, "spec", "selector")) == selector for tree in headless)


def _joined(written: Tree, *added: Mapping[str, Tree]) -> Tree:
    """Labels or annotations of a template, the very same where nobody adds any."""
    for more in added:
        if more:
            written = {**written, **more} if written else more
    return written


def carried_labels(plan: Plan) -> dict[str, Tree]:
    """Kueue's labels of the TrainJob: no TrainJob will be in the cluster, so the JobSet carries them."""
    if not (labels := plan.job["metadata"].get("labels")) or "kueue.x-k8s.io/" not in "\n".join(labels):
        return {}
    return {key: leaf for key, leaf in labels.items() if key.startswith("kueue.x-k8s.io/")}


def copied_labels(plan: Plan, project: Project) -> dict[str, Tree]:
    """The labels of the job that the project wants on its JobSet and on its pods."""
    labels = plan.job["metadata"].get("labels") if project.copy_labels else None
    return {key.value: labels[key.value] for key in project.copy_labels if key.value in labels} if labels else {}


def deadline(plan: Plan, spec: Tree, project: Project, report: Report) -> Tree:
    """The deadline on every child Job where the project chooses so; otherwise an error that says it would be lost."""
    if (leaf := plan.job["spec"].get("activeDeadlineSeconds")) is None:
        return spec
    if project.deadline != "per-job":
        span = plan.document.span(("spec", "activeDeadlineSeconds"))
        message = f"no controller enforces `activeDeadlineSeconds: {leaf.value}`"
        effect = "the job runs past its deadline: only the Trainer controller has this timer"
        hint = "remove it, or set `deadline: per-job` in trainc.yaml to give every child Job this deadline"
        report.add(DEADLINE_NOT_ENFORCED.at(span, message, effect=effect, help=hint))
        return spec
    jobs = []
    for job in spec.get("replicatedJobs") or ():
        template = job["template"]
        child = {"activeDeadlineSeconds": leaf, **template["spec"]}
        jobs.append({**job, "template": {**template, "spec": child}})
    return {**spec, "replicatedJobs": jobs} if jobs else spec


def image_patches(roles: Iterable[Role], images: Mapping[str, Names]) -> tuple[Patch, ...]:
    """A patch for each container of some roles whose image the cluster wants otherwise."""
    patches = []
    for role in roles:
        for field in ("containers", "initContainers"):
            for container in role.pod.get(field) or ():
                leaf = container.get("image")
                if type(leaf) is Sourced and (image := wished(leaf, images)) is not leaf:
                    patches.append(Patch(role.index, container["name"].value, sets={"image": image}))
    return tuple(patches)


def wished(leaf: Sourced[str], images: Mapping[str, Names]) -> Sourced[str]:
    """The image with its digest pinned and its registry replaced, itself where the cluster wants neither."""
    digest = images["digests"].get(leaf.value) if "digests" in images else None
    if digest is not None and "@" not in leaf.value:  # one that has a digest keeps it
        leaf = known(f"{leaf.value}@{digest.value}", "pinned digest", (leaf, digest))
    registries, full = images.get("registries", {}), _qualified(leaf.value)
    # The longest prefix counts; each ends where a slash stands.
    prefix = max((one for one in registries if full.startswith(one.rstrip("/") + "/")), key=len, default="")
    if prefix:
        image = registries[prefix].value.rstrip("/") + full[len(prefix.rstrip("/")) :]
        leaf = known(image, "registry of the cluster", (leaf, registries[prefix]))
    return leaf


def _qualified(image: str) -> str:
    """The image with the registry that container runtimes read into a short name."""
    first, slash, _ = image.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return image
    return f"docker.io/{image}" if slash else f"docker.io/library/{image}"


def single(role: Role, plan: Plan) -> Sourced[int] | None:
    """One replica for a role that is a step of the job and has another number of them, else None.

    The Trainer runs one Job for a step; a runtime of trainc's own kind may ask for several, one for each slice.
    """
    free = plan.runtime is not None and plan.runtime.composed
    if free or role.ancestor not in _STEPS:
        return None
    written = role.tree.get("replicas")
    return None if type(written) is Sourced and written.value == 1 else _ONE


def waiting(plan: Plan, spec: Tree) -> Tree:
    """A JobSet spec with the job's wish to wait; never with the permission to run: a queue owns the field."""
    suspend = spec.get("suspend")
    if suspend is not None:
        spec = {key: node for key, node in spec.items() if key != "suspend"}
    if plan.runtime is not None:
        suspend = plan.job["spec"].get("suspend")
    return {**spec, "suspend": suspend} if suspend is not None and suspend.value is True else spec


def service(plan: Plan, spec: Tree, there: Tree) -> Tree | None:
    """The twin of the Service that the JobSet controller makes, None where DNS names are switched off.

    `there` is what the metadata of all of the job's objects says of their namespace.
    """
    network = spec["network"]
    if network["enableDNSHostnames"].value is False:
        return None
    return {
        "apiVersion": _V1,
        "kind": _SERVICE,
        "metadata": {"name": network.get("subdomain", plan.name), **there},
        "spec": {
            "clusterIP": _NONE,
            "publishNotReadyAddresses": network["publishNotReadyAddresses"],
            "selector": {JOBSET_NAME: plan.name},
        },
    }


def lost_values(plan: Plan, report: Report) -> None:
    """A warning for each variable of the TrainJob that has a value and a source."""
    effect, hint = "the program gets the value of the source", "keep one of the two"
    for block in (("trainer",), ("initializer", "dataset"), ("initializer", "model")):
        entries = get(plan.job, "spec", *block, "env")
        for entry in entries if type(entries) is list else ():
            if value(entry, "value") is not None and get(entry, "valueFrom") is not None:
                span = place(entry["value"].origin) or plan.document.span(("spec", *block), key=True)
                name = value(entry, "name")
                message = f"the Trainer controller drops the value of `{name}`, which also has a source"
                report.add(LOST_VALUE.at(span, message, effect=effect, help=hint))


def lost_claims(plan: Plan, report: Report) -> None:
    """A warning for each list of device claims that `resourcesPerNode` costs the training container."""
    job_claims = get(plan.job, "spec", "trainer", "resourcesPerNode", "claims")
    lists = [("the TrainJob", job_claims)] if job_claims else []
    for patch in plan.overrides:
        container = plan.roles[patch.role].container(patch.container) if "resources" in patch.sets else None
        held = get(container, "resources", "claims")
        lists += [("the runtime", held)] if held else []
    effect = "no container of the pod reaches the devices"
    hint = "set limits, requests and claims in the runtime, and remove `resourcesPerNode`"
    for who, claims in lists:
        leaf = first_leaf(claims)
        span = (place(leaf.origin) if leaf is not None else None) or plan.document.span(("spec", "trainer"), key=True)
        message = f"the Trainer controller drops the claims of {who}"
        report.add(LOST_CLAIMS.at(span, message, effect=effect, help=hint))


def lost_ports(plan: Plan, was: Tree, now: Tree, report: Report) -> None:
    """A warning for each port that a container loses when the controller writes ports back."""
    kept = [value(port, "containerPort") for port in now["ports"]]
    effect = "the Trainer controller treats two ports without a name as one and keeps the last"
    for port in was["ports"]:
        number = port["containerPort"]
        if number.value not in kept:
            span = place(number.origin) or plan.document.span()
            message = f"port {number.value} of container `{value(was, 'name')}` is overwritten by {kept[-1]}"
            report.add(LOST_PORT.at(span, message, effect=effect, help="give every port of the container a `name`"))
