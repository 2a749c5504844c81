"""What the runtime webhooks have against a TrainingRuntime or ClusterTrainingRuntime."""

from __future__ import annotations

from trainc.apiserver.fault import compact
from trainc.apiserver.schema.node import load
from trainc.model.finding import ERROR, WARNING, Refusal, Rule
from trainc.model.plan import ANCESTOR_LABEL
from trainc.model.tree import get, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.document import Document
    from trainc.model.report import Report
    from trainc.model.tree import Path, Tree

STEP_REPLICAS = Rule(
    "step-replicas",
    ERROR,
    "a replicatedJob of a runtime's trainer or initializer does not have one replica",
    "The runtime webhook requires `replicas: 1` for replicatedJobs labelled as trainer or initializer; `numNodes` "
    "sets the node count.",
    verdict=True,
)
STEP_CONTAINER = Rule(
    "step-container",
    ERROR,
    "a replicatedJob of a runtime lacks the container of its step",
    "A TrainJob's image, command and env reach the container `node`; dataset and model reach the containers of "
    "their initializers.",
    verdict=True,
)
DEPRECATED = Rule(
    "deprecated-runtime-definition",
    WARNING,
    "a ClusterTrainingRuntime is labelled as deprecated",
    "The runtime webhook warns that a later release removes it.",
    admission=True,
)
_CONTAINERS = {
    "trainer": "node",
    "dataset-initializer": "dataset-initializer",
    "model-initializer": "model-initializer",
}
_URL = "https://trainer.kubeflow.org/en/latest/operator-guides/runtime.html#runtime-deprecation-policy"


def check_runtime(document: Document, report: Report) -> bool:
    """Whether the webhooks let the runtime in; a composed one, which they never see, may run several Jobs for a step."""
    labels = get(document.tree, "metadata", "labels")
    known = document.kind == "ClusterTrainingRuntime" and not document.composed
    if known and value(labels, "trainer.kubeflow.org/support") == "deprecated":
        _deprecated(document, report)
    if value(labels, "trainer.kubeflow.org/webhook-validation") == "disabled":
        return True
    jobs = get(document.tree, "spec", "template", "spec", "replicatedJobs") or ()
    verdicts = [_job(document, job, index, report) for index, job in enumerate(jobs)]
    return all(verdicts)


def _job(document: Document, job: Tree, index: int, report: Report) -> bool:
    step = value(job, "template", "metadata", "labels", ANCESTOR_LABEL)
    if step not in _CONTAINERS:
        return True
    path: Path = ("spec", "template", "spec", "replicatedJobs", index)
    place = f"spec.template.spec.replicatedJobs[{index}]"
    replicas = value(job, "replicas") or 0
    fine: bool = replicas == 1 or document.composed
    if not fine:
        text = f"{place}.replicas: Invalid value: {compact(replicas)}: always must be 1"
        report.add(
            STEP_REPLICAS.at(
                document.span((*path, "replicas")),
                f"the {step} step has {replicas} replicas",
                help="leave `replicas` out; set `spec.mlPolicy.numNodes` for more nodes",
                refusal=Refusal("webhook", text),
            )
        )
    containers = get(job, "template", "spec", "template", "spec", "containers")
    if not any(value(container, "name") == _CONTAINERS[step] for container in containers or ()):
        at: Path = (*path, "template", "spec", "template", "spec", "containers")
        schema = load().at(f"trainer.kubeflow.org/v1alpha1/{document.kind}", at)
        from trainc.apiserver.golang.decoding import typed  # noqa: PLC0415 (only where something is wrong)

        text = f"{place}.template.spec.template.spec.containers: Invalid value: {compact(typed(schema, containers))}: "
        report.add(
            STEP_CONTAINER.at(
                document.span(at, key=True),
                f"the {step} step has no container `{_CONTAINERS[step]}`",
                help=f"name its main container `{_CONTAINERS[step]}`",
                refusal=Refusal("webhook", f"{text}must contain the required container for the ancestor: {step}"),
            )
        )
        return False
    return fine


def _deprecated(document: Document, report: Report) -> None:
    name = document.name
    report.add(
        DEPRECATED.at(
            document.span(("metadata", "labels", "trainer.kubeflow.org/support")),
            f"ClusterTrainingRuntime `{name}` is marked as deprecated",
            refusal=Refusal(
                "webhook",
                f'ClusterTrainingRuntime "{name}" is deprecated and will be removed in a future release of Kubeflow '
                f"Trainer. See runtime deprecation policy: {_URL}",
            ),
        )
    )
