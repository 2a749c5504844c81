"""Mistakes that show only where a GitOps tool applies the manifests, again and again.

Argo CD and Flux hold the cluster to what Git says; a training run is created once and ends.
"""

from trainc.lint.facts.job import Job
from trainc.lint.facts.values import is_program_text, table, text
from trainc.lint.rules.exits import self_deleting
from trainc.lint.tables.created_once import SUBSTITUTE
from trainc.model.bundle import Bundle
from trainc.model.cluster import Cluster
from trainc.model.finding import ERROR, WARNING, Finding, Rule
from trainc.model.references import KINDS
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.model.tree import Tree, leaves, value
from trainc.text.object_keys import KUEUE_QUEUE
from trainc.text.placeholders import is_placeholder, placeholder

HOOK = Rule("training-as-hook", ERROR)
FORCED = Rule("forced-sync", ERROR)
SUBSTITUTED = Rule("substituted-by-flux", WARNING)
NO_NAMESPACE = Rule("no-namespace-under-flux", ERROR)
SUSPENDED = Rule("suspended-under-flux", ERROR)
CLUSTER_SCOPED = Rule("cluster-scoped-beside-job", WARNING)
SECRET = Rule("secret-in-git", ERROR)
MARKED = Rule("mark-of-the-tool", WARNING)
LEFT_BEHIND = Rule("annotation-left-behind", WARNING)

_ARGO, _FLUX = "argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/"
_HOOKS = (f"{_ARGO}hook", "helm.sh/hook")
_MARKS = (f"{_ARGO}tracking-id", "app.kubernetes.io/instance", f"{_FLUX}name", f"{_FLUX}namespace")
_OF_THE_CLUSTER = frozenset((
    "ClusterQueue", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "Namespace", "PersistentVolume",
    "PriorityClass", "ResourceFlavor", "StorageClass", "WorkloadPriorityClass",
))  # fmt: skip
# Kinds that stand beside jobs, as far as it is certain that they live in a namespace.
_IN_A_NAMESPACE = frozenset((
    *KINDS, "CronJob", "Deployment", "Job", "LocalQueue", "NetworkPolicy", "Pod", "PodDisruptionBudget", "PodGroup",
    "PodMonitor", "ResourceQuota", "Role", "RoleBinding", "SecretStore", "Service", "ServiceMonitor",
))  # fmt: skip
UNFILLED = Rule("unfilled-placeholder", ERROR)
_TOOLS = {"argocd": "Argo CD", "flux": "Flux"}


def delivered(bundle: Bundle, delivery: str, report: Report) -> None:
    """A finding for everything in a bundle that goes wrong with the tool that applies it."""
    if bundle.jobset is None:
        _beside(bundle, bundle.objects[0], delivery, report)
        return
    if type(bundle.jobset) is dict:
        _job(bundle, delivery, report)
    _unfilled(bundle, delivery, report)


def _job(bundle: Bundle, delivery: str, report: Report) -> None:
    job = Job(bundle, bundle.jobset, Cluster(), report)
    metadata = table(job.tree, "metadata")
    if "ttlSecondsAfterFinished" in job.spec:
        report.add_all(self_deleting(job, level=ERROR))
    for field in ("labels", "annotations"):
        _keys(job, field, table(metadata, field))
    if delivery == "flux" and not job.namespace:
        report.add(_no_namespace(job.at(("metadata", "name")), job.name))
    is_suspended = value(job.tree, "spec", "suspend") is True and KUEUE_QUEUE not in table(metadata, "labels")
    if delivery == "flux" and is_suspended:
        patch = f"kubectl patch jobset {job.name} -n {job.namespace or 'NAMESPACE'} --type merge"
        message = f"Flux creates `{job.name}` suspended, and nothing resumes it"
        effect = "it never starts: Flux does not apply a later edit of `suspend` to an existing JobSet"
        help_ = (
            "remove `suspend`, or name a queue that resumes the job; to start an existing one, run "
            f'`{patch} -p \'{{"spec":{{"suspend":false}}}}\'`'
        )
        report.add(SUSPENDED.at(job.at(("spec", "suspend")), message, effect=effect, help=help_))
    if (plan := bundle.plan) is not None and plan.document.kind == "TrainJob":
        for key in table(table(plan.document.tree, "metadata"), "annotations"):
            if key.startswith((_ARGO, _FLUX, *_HOOKS)):
                at = plan.document.span(("metadata", "annotations", key), key=True)
                message = f"`{key}` on a TrainJob reaches none of its objects"
                effect = "the tool never sees it, and treats the job's objects like any other"
                help_ = (
                    "set it under `runtimePatches[].trainingRuntimeSpec.template.metadata.annotations`: the "
                    "JobSet gets these annotations"
                )
                report.add(LEFT_BEHIND.at(at, message, effect=effect, help=help_))
    theirs = {_key(document.tree) for document in plan.companions} if plan is not None else set()
    for tree in bundle.objects if theirs else ():
        if _key(tree) in theirs:
            _beside(bundle, tree, delivery, report)


def _key(tree: Tree) -> tuple[object, object]:
    return value(tree, "kind"), value(tree, "metadata", "name")


def _keys(job: Job, field: str, keys: Tree) -> None:
    for key in keys:
        span = job.at(("metadata", field, key), key=True)
        if key in _HOOKS:
            effect = "each sync starts the training again, and the application is healthy even if it fails"
            job.report.add(HOOK.at(span, f"`{key}` turns the job into a hook", effect=effect, help="remove it"))
        elif forced := _forced(key, text(keys, key)):
            effect = "any edit, even a typo, deletes the running job and starts the training over"
            help_ = 'remove it, and start a new run with `trainc.dev/run: "2"`'
            job.report.add(FORCED.at(span, f"`{key}: {forced}` replaces the job", effect=effect, help=help_))
        elif key in _MARKS:
            effect = "the tool attributes the job to another application and may prune it"
            job.report.add(MARKED.at(span, f"`{key}` is set by the tool itself", effect=effect, help="remove it"))


def _forced(key: str, written: str) -> str:
    """What of an annotation's value lets the tool delete a job, empty where nothing does."""
    if key == f"{_ARGO}sync-options":
        options = [option.strip() for option in written.split(",")]
        return ",".join(option for option in options if option in ("Force=true", "Replace=true"))
    return written if key == f"{_FLUX}force" and written.lower() == "enabled" else ""


def _no_namespace(span: Span, name: str) -> Finding:
    effect = "Flux fails the whole Kustomization unless it sets `targetNamespace`"
    help_ = "set `metadata.namespace`, or `namespace` for the cluster in trainc.yaml"
    return NO_NAMESPACE.at(span, f"`{name}` sets no namespace", effect=effect, help=help_)


def _beside(bundle: Bundle, tree: Tree, delivery: str, report: Report) -> None:
    """A finding for what goes wrong with an object that people wrote, and that is applied for a job."""
    kind, name = text(tree, "kind"), text(table(tree, "metadata"), "name")
    if kind in _OF_THE_CLUSTER:
        message = f"{kind} `{name}` is cluster-scoped"
        effect = "the application may lack permission to create it, and prunes it together with the job"
        help_ = "move it to a file and an application of its own"
        report.add(CLUSTER_SCOPED.at(bundle.span(tree, ("kind",)), message, effect=effect, help=help_))
    if delivery == "flux" and kind in _IN_A_NAMESPACE and not text(table(tree, "metadata"), "namespace"):
        report.add(_no_namespace(bundle.span(tree, ("metadata", "name")), name))
    if kind == "Secret" and not tree.get("sops") and (table(tree, "data") or table(tree, "stringData")):
        message = f"the data of Secret `{name}` is in Git"
        effect = "everyone who can read the repository can read it"
        help_ = "commit an ExternalSecret or a SealedSecret, or name a Secret that exists"
        report.add(SECRET.at(bundle.span(tree, ("kind",)), message, effect=effect, help=help_))
    substitute = text(table(table(tree, "metadata"), "annotations"), f"{_FLUX}substitute")
    holds_variable = any(type(leaf.value) is str and "${" in leaf.value for _, leaf in leaves(tree))
    if delivery == "flux" and substitute.lower() != "disabled" and holds_variable:
        message = f"{kind} `{name}` contains `${{`, which Flux substitutes"
        effect = "Flux replaces the variable in the script, or fails the Kustomization"
        help_ = f"annotate it with `{_FLUX}substitute: disabled`, or write `$NAME`"
        report.add(SUBSTITUTED.at(bundle.span(tree, ("kind",)), message, effect=effect, help=help_))


def _unfilled(bundle: Bundle, delivery: str, report: Report) -> None:
    """A finding for each placeholder of a JobSet in a field that a server reads; one for each text."""
    tree = bundle.jobset
    if not _holds_dollar(tree):
        return
    if delivery == "flux" and value(tree, "metadata", "annotations", SUBSTITUTE) != "disabled":
        return
    seen: set[str] = set()
    for path, leaf in leaves(tree):
        if not is_placeholder(leaf.value) or is_program_text(path) or leaf.value in seen:
            continue
        seen.add(leaf.value)
        name = placeholder(leaf.value)
        message = f"{_TOOLS[delivery]} does not fill in `{name}`"
        effect = "the API server gets the placeholder as literal text: it rejects the job, or the pods never start"
        help_ = "substitute it before `trainc build`, or write the value"
        report.add_or_skip(UNFILLED.at(bundle.span(tree, path), message, effect=effect, help=help_))


def _holds_dollar(tree: Tree) -> bool:
    """Whether any text holds a `$`; few jobs' do, and paths are made for those alone."""
    if type(tree) is dict:
        return any(map(_holds_dollar, tree.values()))
    if type(tree) is list:
        return any(map(_holds_dollar, tree))
    return type(tree.value) is str and "$" in tree.value
