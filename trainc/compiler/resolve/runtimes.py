"""Which runtime a job names, and what to say when there is none."""

from trainc.apiserver.fault import compact
from trainc.model.catalog import SHIPPED, Catalog
from trainc.model.document import Document
from trainc.model.finding import ERROR, NOTE, WARNING, Finding, Label, Refusal, Rule
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import get, plain, value
from trainc.text.spelling import meant

GROUP = "trainer.kubeflow.org"

UNSUPPORTED_RUNTIME = Rule("unsupported-runtime", ERROR, verdict=True)
MISSING_RUNTIME = Rule("missing-runtime", ERROR, verdict=True)
SHIPPED_RUNTIME = Rule("shipped-runtime", NOTE)
DEPRECATED_RUNTIME = Rule("deprecated-runtime", WARNING, admission=True)

_LISTED = "`trainc runtimes` lists those that trainc ships"
_DUMP = (
    "`kubectl get clustertrainingruntimes,trainingruntimes -A -o yaml` prints those of a cluster, "
    "and trainc.yaml names the folder that holds them (`clusters`)"
)
_POLICY_URL = "https://trainer.kubeflow.org/en/latest/operator-guides/runtime.html#runtime-deprecation-policy"


def runtime_for(document: Document, catalog: Catalog, project: Project, report: Report) -> Document | None:
    """The admitted runtime of a job, None with findings where there is none to compile with."""
    reference = get(document.tree, "spec", "runtimeRef")
    leaves = map(reference.get, ("kind", "apiGroup", "name")) if type(reference) is dict else (None, None, None)
    kind, group, name = [(leaf.value if type(leaf) is Sourced else None) or "" for leaf in leaves]
    if group != GROUP or kind not in ("TrainingRuntime", "ClusterTrainingRuntime"):
        if kind or group:
            message = f"no Trainer serves runtimes of kind `{kind}` in group `{group}`"
            hint = (
                "`kind` is ClusterTrainingRuntime (the default) or TrainingRuntime, `apiGroup` is trainer.kubeflow.org"
            )
        else:
            message = "the job does not name a runtime"
            hint = f"add `runtimeRef: {{name: NAME}}` to `spec`; {_LISTED}"
        # Kubernetes writes a kind of no group without the dot.
        refusal = Refusal("webhook", f"unsupported runtime: {kind}{group and f'.{group}'}")
        span = document.span(("spec", "runtimeRef", "kind"))
        report.add(UNSUPPORTED_RUNTIME.at(span, message, help=hint, refusal=refusal))
        return None
    namespace = ""
    if kind == "TrainingRuntime":
        cluster = project.cluster.namespace
        namespace = document.namespace or (cluster.value if cluster is not None else "default")
    runtime = catalog.runtimes.find((kind, namespace, name), document.file)
    if runtime is None:
        report.add(_missing(document, kind, namespace, name, catalog, project))
        return None
    if runtime.document is None:
        return None
    if runtime.source == SHIPPED:
        report.add(shipped(document.span(("spec", "runtimeRef", "name")), name, project))
    labels = runtime.document.tree["metadata"].get("labels") if kind == "ClusterTrainingRuntime" else None
    if labels and value(labels, "trainer.kubeflow.org/support") == "deprecated":
        report.add(_uses_deprecated(document, runtime.document, name))
    return runtime.document


def reference_text(document: Document) -> str:
    """`runtimeRef` as the webhook prints it."""
    written = plain(document.tree["spec"]["runtimeRef"])
    return compact({key: written[key] for key in ("name", "apiGroup", "kind") if key in written})


def _missing(document: Document, kind: str, namespace: str, name: str, catalog: Catalog, project: Project) -> Finding:
    where = f" in namespace `{namespace}`" if namespace else ""
    other = "TrainingRuntime" if kind == "ClusterTrainingRuntime" else "ClusterTrainingRuntime"
    twin = catalog.runtimes.names(other, "" if namespace else document.namespace or "default", document.file)
    notes = [f"looked in {', '.join(catalog.runtimes.places(document.file))}"]
    if name in twin:
        hint = f"a {other} of that name exists: set `kind: {other}` in `runtimeRef`"
    else:
        hint = meant(name, catalog.runtimes.names(kind, namespace, document.file))
        if not hint and project.gap is not None:
            hint = project.gap.help
        elif not hint:
            notes.append(_DUMP)
            hint = f"add the {kind} next to the job or in a `runtimes` folder; {_LISTED}"
    path = "spec.runtimeRef" if namespace else "spec.RuntimeRef"  # the webhook's own spelling
    reference = reference_text(document)
    lower = kind[0].lower() + kind[1:]
    text = (
        f'{path}: Invalid value: {reference}: {kind.lower()}s.{GROUP} "{name}" not found: '
        f"specified {lower} must be created before the TrainJob is created"
    )
    return MISSING_RUNTIME.at(
        document.span(("spec", "runtimeRef", "name")),
        f"no {kind} `{name}`{where}",
        help=hint,
        notes=notes,
        refusal=Refusal("webhook", text),
    )


def shipped(span: Span, name: str, project: Project) -> Finding:
    """The finding for a reference to a runtime or component that only trainc's own catalogue holds."""
    message, help_ = f"`{name}` is a runtime that trainc ships", f"run `trainc runtimes copy {name}` to pin it"
    effect, level = "", NOTE
    if project.gap is not None:
        message, help_ = f"`{name}` is in none of the files {project.gap.present}", project.gap.help
        effect = "the runtime of that name that trainc ships may differ from the repository's, and the training with it"
        level = ERROR
    elif project.file:
        message += ", and this is a project"
        effect = "an upgrade of trainc can change the manifests of this job without an edit"
        help_, level = f"run `trainc runtimes copy {name}` and commit the file", ERROR
    return SHIPPED_RUNTIME.at(span, message, effect=effect, help=help_, level=level)


def _uses_deprecated(document: Document, runtime: Document, name: str) -> Finding:
    return DEPRECATED_RUNTIME.at(
        document.span(("spec", "runtimeRef", "name")),
        f"ClusterTrainingRuntime `{name}` is deprecated",
        also=[Label(runtime.span(("metadata", "labels", "trainer.kubeflow.org/support")), "marked here")],
        effect="a later release removes it",
        refusal=Refusal(
            "webhook",
            f'Referenced ClusterTrainingRuntime "{name}" is deprecated and will be removed in a future release of '
            f"Kubeflow Trainer. See runtime deprecation policy: {_POLICY_URL}",
        ),
    )
