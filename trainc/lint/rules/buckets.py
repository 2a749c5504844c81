"""Buckets that pods mount as volumes."""

from __future__ import annotations

from trainc.lint.facts.values import rows, table, text
from trainc.model.finding import ERROR, WARNING, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Findings, Job

FUSE = Rule("bucket-mount-without-annotation", ERROR)
FUSE_UNUSED = Rule("bucket-annotation-without-mount", WARNING)


def bucket_mount_without_annotation(job: Job) -> Findings:
    for role in job.roles:
        for index, volume in enumerate(rows(role.pod, "volumes") if role.volumes else ()):
            if (
                text(table(volume, "csi"), "driver") == "gcsfuse.csi.storage.gke.io"
                and text(role.annotations, "gke-gcsfuse/volumes") != "true"
            ):
                yield FUSE.at(
                    job.at((*role.pod_path, "volumes", index, "csi", "driver")),
                    f"the pods of `{role.name}` mount a bucket, but lack the annotation `gke-gcsfuse/volumes`",
                    effect="GKE adds no side car, and the pods hang while they are being created",
                    help='add `gke-gcsfuse/volumes: "true"` to the annotations of the pod template',
                )


def bucket_annotation_without_mount(job: Job) -> Findings:
    for role in job.roles:
        if text(role.annotations, "gke-gcsfuse/volumes") != "true":
            continue
        drivers = [text(table(v, "csi"), "driver") for v in role.volumes.values()]
        if (
            "gcsfuse.csi.storage.gke.io" not in drivers
            and not any("persistentVolumeClaim" in v for v in role.volumes.values())
            and not job.claimed
        ):
            yield FUSE_UNUSED.at(
                job.at((*role.spec_path, "template", "metadata", "annotations", "gke-gcsfuse/volumes"), key=True),
                f"the pods of `{role.name}` get a FUSE side car, but mount no bucket",
                help="add the volume with driver `gcsfuse.csi.storage.gke.io`, or remove the annotation",
            )


CHECKS = (bucket_mount_without_annotation, bucket_annotation_without_mount)
