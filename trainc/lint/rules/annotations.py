"""Annotations and labels that nothing reads where they are, and buckets half set up by annotations."""

from trainc.lint.facts.job import ExpandedRole, Findings, Job, each
from trainc.lint.facts.placement import KUEUE_UNREAD, MISPLACED_QUEUE
from trainc.lint.facts.values import rows, table, text
from trainc.model.finding import ERROR, WARNING, Rule
from trainc.model.tree import Path, Tree
from trainc.schedulers.gang import NODE_SELECTOR
from trainc.text.object_keys import EXCLUSIVE, KUEUE_QUEUE, TRAINC_PREFIX
from trainc.text.spelling import nearest

MISSPELT = Rule("misspelt-annotation", WARNING)
FUSE = Rule("bucket-mount-without-annotation", ERROR)
FUSE_UNUSED = Rule("bucket-annotation-without-mount", WARNING)

_READ = (
    "cluster", "cluster-domain", "compat-names", "compile", "components", "jax-variables", "keep", "keep-ttl",
    "lenient", "rank-layout", "run", "run-to-completion",
)  # fmt: skip
_OF_JOBSET = (EXCLUSIVE, NODE_SELECTOR)
_LABELS_OF_KUEUE = ("kueue.x-k8s.io/max-exec-time-seconds", "kueue.x-k8s.io/priority-class")


def misspelt_annotation(job: Job) -> Findings:
    written = table(table(job.bundle.document.tree, "metadata"), "annotations")
    for key in (*written, *(key for key in table(job.metadata, "annotations") if key not in written)):
        name = key.removeprefix(TRAINC_PREFIX)
        if name == key or name in _READ or name.startswith("override-"):
            continue
        span_of = job.bundle.document.span if key in written else job.at
        help_ = "remove it; docs/project.md lists the `trainc.dev/` annotations"
        if near := nearest(name, _READ):
            help_ = f"did you mean `{TRAINC_PREFIX}{near}`?"
        at, message = span_of(("metadata", "annotations", key), key=True), f"trainc does not read `{key}`"
        yield MISSPELT.at(at, message, effect="the annotation has no effect", help=help_)


def misspelt_annotation_of_jobset(job: Job) -> Findings:
    places: list[tuple[Path, dict[str, Tree]]] = [(("metadata",), job.metadata)]
    places += [((*role.path, "template", "metadata"), role.job_metadata) for role in job.roles]
    for path, metadata in places:
        for key in table(metadata, "annotations"):
            near = "" if key in _OF_JOBSET or "jobset" not in key else nearest(key, _OF_JOBSET, cutoff=0.9)
            if near:
                at = job.at((*path, "annotations", key), key=True)
                message = f"JobSet does not read `{key}`"
                yield MISSPELT.at(at, message, effect="the annotation has no effect", help=f"did you mean `{near}`?")


def queue_in_annotation(job: Job) -> Findings:
    document = job.bundle.document
    annotations = table(table(document.tree, "metadata"), "annotations") if document.kind == "TrainJob" else {}
    for key in _LABELS_OF_KUEUE:
        if key in annotations:
            at, message = document.span(("metadata", "annotations", key), key=True), f"Kueue does not read `{key}` here"
            help_ = "move it to `metadata.labels`"
            yield KUEUE_UNREAD.at(at, message, effect="the annotation has no effect", help=help_)
    if KUEUE_QUEUE not in annotations:
        return
    at = document.span(("metadata", "annotations", KUEUE_QUEUE), key=True)
    message = f"Kueue does not read `{KUEUE_QUEUE}` here"
    effect = "the job is not queued: it starts at once, outside all quotas"
    yield MISPLACED_QUEUE.at(at, message, effect=effect, help="move it to `metadata.labels`")


def bucket_mount_without_annotation(role: ExpandedRole) -> Findings:
    for index, volume in enumerate(rows(role.pod, "volumes") if role.volumes else ()):
        is_bucket = text(table(volume, "csi"), "driver") == "gcsfuse.csi.storage.gke.io"
        if is_bucket and text(role.annotations, "gke-gcsfuse/volumes") != "true":
            message = f"the pods of `{role.name}` mount a bucket but lack the annotation `gke-gcsfuse/volumes`"
            effect = "GKE injects no sidecar, and the pods stay in ContainerCreating"
            help_ = 'add `gke-gcsfuse/volumes: "true"` to the annotations of the pod template'
            yield FUSE.at(role.pod_at("volumes", index, "csi", "driver"), message, effect=effect, help=help_)


def bucket_annotation_without_mount(role: ExpandedRole) -> Findings:
    if text(role.annotations, "gke-gcsfuse/volumes") != "true":
        return
    drivers = [text(table(v, "csi"), "driver") for v in role.volumes.values()]
    has_claim = role.job.claimed or any("persistentVolumeClaim" in v for v in role.volumes.values())
    if "gcsfuse.csi.storage.gke.io" not in drivers and not has_claim:
        at = role.spec_at("template", "metadata", "annotations", "gke-gcsfuse/volumes", key=True)
        help_ = "add the volume with driver `gcsfuse.csi.storage.gke.io`, or remove the annotation"
        yield FUSE_UNUSED.at(at, f"the pods of `{role.name}` request the FUSE sidecar but mount no bucket", help=help_)


CHECKS = (
    each(lambda job: job.roles, bucket_mount_without_annotation, bucket_annotation_without_mount),
    misspelt_annotation, misspelt_annotation_of_jobset, queue_in_annotation,
)  # fmt: skip
