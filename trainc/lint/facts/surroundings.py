"""Where a job runs and with what: its cluster, queue, gang, world size, images, volumes, and nodes of its own."""

from __future__ import annotations

from trainc.lint.facts.hostfile import hostfile
from trainc.lint.facts.instance import trainers
from trainc.lint.facts.mpi_ranks import processes_in_all
from trainc.lint.facts.values import rows, table, text, whole
from trainc.text.object_keys import EXCLUSIVE, KUEUE_QUEUE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.lint.facts.job import ExpandedRole, Job


def surroundings(job: Job, processes: dict[str, int | str | None]) -> dict[str, Any]:
    """What stands around the roles of a job; `processes` are those of a pod, by role. None where nothing is known."""
    groups = [tree for tree in job.bundle.objects if text(tree, "kind") == "PodGroup"]
    waiting = [text(table(group, "spec"), "queue") for group in groups]
    queue = text(table(job.metadata, "labels"), KUEUE_QUEUE) or next(filter(None, waiting), "")
    return {
        "cluster": job.bundle.cluster or None,
        "queue": queue or None,
        "gangs": [
            {"name": text(table(group, "metadata"), "name"), "pods": _number(table(group, "spec"))} for group in groups
        ],
        "worldSize": _world_size(job, processes),
        "exclusiveTopology": _exclusive(job),
    }


def images(role: ExpandedRole) -> list[str]:
    """The images of the containers that run side by side, each once."""
    return list(dict.fromkeys(image for container in role.main if (image := text(container.tree, "image"))))


def volumes(role: ExpandedRole) -> dict[str, str]:
    """The volumes of a pod by name, with what each is: the kind of its source."""
    own = {name: next((key for key in tree if key != "name"), "emptyDir") for name, tree in role.volumes.items()}
    mounted = {text(mount, "name") for container in role.containers for mount in rows(container.tree, "volumeMounts")}
    return {**own, **dict.fromkeys(sorted(role.job.claimed & mounted - own.keys()), "persistentVolumeClaim")}


def _number(spec: Any) -> int | None:
    number = whole(spec, "minMember")
    return number if type(number) is int else None


def _world_size(job: Job, processes: dict[str, int | str | None]) -> int | None:
    """How many processes train together: those of mpirun, of a hostfile, else of every pod; None where unknown."""
    if hostfile(job)[0]:
        return processes_in_all(job)
    total = 0
    for role in trainers(job):
        count, each = role.count, processes.get(role.name)
        is_together = role.indexed and role.width == role.size
        if not is_together or type(count) is not int or type(each) is not int:
            return None
        total += count * each
    return total


def _exclusive(job: Job) -> str | None:
    """The node label whose values each hold one Job alone; None where Jobs share."""
    own = [text(table(table(table(role.tree, "template"), "metadata"), "annotations"), EXCLUSIVE) for role in job.roles]
    return next(filter(None, (text(table(job.metadata, "annotations"), EXCLUSIVE), *own)), None)
