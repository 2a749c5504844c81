"""Annotations and labels of a job that nobody reads where they are written."""

from __future__ import annotations

from trainc.lint.facts.values import table
from trainc.model.finding import WARNING, Rule
from trainc.text.object_keys import KUEUE_QUEUE, TRAINC_PREFIX
from trainc.text.spelling import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Findings, Job

MISSPELT = Rule("misspelt-annotation", WARNING)
_READ = (
    "cluster",
    "cluster-domain",
    "compat-names",
    "compile",
    "components",
    "jax-variables",
    "keep",
    "keep-ttl",
    "lenient",
    "rank-layout",
    "run",
    "run-to-completion",
)


def misspelt_annotation(job: Job) -> Findings:
    written = table(table(job.bundle.document.tree, "metadata"), "annotations")
    for key in (*written, *(key for key in table(job.metadata, "annotations") if key not in written)):
        name = key.removeprefix(TRAINC_PREFIX)
        if name == key or name in _READ or name.startswith("override-"):
            continue
        near = nearest(name, _READ)
        yield MISSPELT.at(
            job.bundle.document.span(("metadata", "annotations", key), key=True)
            if key in written
            else job.at(("metadata", "annotations", key), key=True),
            f"trainc does not read `{key}`",
            effect="the job is compiled as if the annotation were not there",
            help=f"did you mean `{TRAINC_PREFIX}{near}`?"
            if near
            else "remove it; docs/project.md lists those of `trainc.dev/`",
        )


def queue_in_annotation(job: Job) -> Findings:
    document = job.bundle.document
    if document.kind != "TrainJob" or KUEUE_QUEUE not in table(table(document.tree, "metadata"), "annotations"):
        return
    from trainc.lint.facts.placement import MISPLACED_QUEUE  # noqa: PLC0415 (few jobs make the mistake)

    yield MISPLACED_QUEUE.at(
        document.span(("metadata", "annotations", KUEUE_QUEUE), key=True),
        f"`{KUEUE_QUEUE}` is not read here",
        effect="the job is not queued: it starts at once, outside every quota",
        help="make it one of `metadata.labels`",
    )


CHECKS = (misspelt_annotation, queue_in_annotation)
