"""Job kinds of other operators that trainc compiles, and which plain Jobs are training."""

from trainc.model.bundle import KEEP
from trainc.model.document import Document
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree, get, value
from trainc.text.object_keys import JOB_NAME_LABELS, TRAINC_PREFIX

JOB = ("batch/v1", "Job")
# By API version and kind; `trainc.kinds.registry` has the page of each.
LEADER_WORKER_SET = ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")
GROUP_INDEX = "leaderworkerset.sigs.k8s.io/group-index"  # an annotation that tells the groups of a set apart
ARMADA = ("armadaproject.io/v1", "ArmadaJob")  # what the documents of a submit file are called here
INPUT_KINDS = frozenset((
    ARMADA, JOB, LEADER_WORKER_SET,
    ("batch.volcano.sh/v1alpha1", "Job"), ("flux-framework.org/v1alpha2", "MiniCluster"), ("ray.io/v1", "RayJob"),
))  # fmt: skip
RUNS_TO_COMPLETION = f"{TRAINC_PREFIX}run-to-completion"
COMPILE = f"{TRAINC_PREFIX}compile"


def is_input_kind(document: Document) -> bool:
    """Whether a document is a job of another operator that trainc compiles."""
    key = document.api_version, document.kind
    if key == LEADER_WORKER_SET:
        return str(value(document.tree, "metadata", "annotations", RUNS_TO_COMPLETION)) == "true"
    return key in INPUT_KINDS and (key != JOB or is_training(document.tree))


def holds_several(document: Document) -> bool:
    """Whether a document holds jobs that become a JobSet each: groups of a LeaderWorkerSet, Armada's submit file."""
    tree = document.tree
    if document.kind == LEADER_WORKER_SET[1]:
        return is_input_kind(document)
    if document.kind or document.api_version or "jobs" not in tree:  # neither is in a submit file
        return False
    return "jobSetId" in tree or ("queue" in tree and type(tree["jobs"]) is list)


def is_training(job: Tree) -> bool:
    """Whether a plain Job is training: it says so, or has several indexed pods, several at once, or a device.

    Plain Jobs are everywhere: migrations, downloads, queues of work. The annotation `trainc.dev/compile` decides.
    """
    if (annotation := value(job, "metadata", "annotations", COMPILE)) is not None:
        return str(annotation) == "true"
    if value(job, "metadata", "annotations", KEEP) is not None:
        return True
    spec = get(job, "spec")
    if type(spec) is not dict or get(job, "metadata", "ownerReferences") is not None:
        return False  # what a controller made is its own
    width, size = _number(spec, "parallelism"), _number(spec, "completions")
    if value(spec, "completionMode") == "Indexed":
        return width != 1 or size not in {None, 1} or _has_devices(spec)
    return width != 1 and size == width


def selected_job(tree: Tree) -> str:
    """The name of the Job whose pods a Service selects, empty where it selects them by other labels."""
    selector = get(tree, "spec", "selector") if value(tree, "kind") == "Service" else None
    names = [value(selector, label) for label in JOB_NAME_LABELS] if type(selector) is dict else []
    return next((name for name in names if type(name) is str), "")


def _number(spec: Tree, field: str) -> object:
    leaf = spec.get(field)
    number = leaf.value if type(leaf) is Sourced else None
    return 1 if number is None and field == "parallelism" else number


def _has_devices(spec: Tree) -> bool:
    """Whether a container asks for an extended resource, as accelerators are."""
    containers, sections = get(spec, "template", "spec", "containers"), ("limits", "requests")
    listed = containers if type(containers) is list else []
    amounts = [get(container, "resources", section) for container in listed for section in sections]
    return any("/" in name for one in amounts if type(one) is dict for name in one)
