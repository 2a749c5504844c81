"""Checkpoints that end with the container that writes them."""

from __future__ import annotations

from trainc.lint.facts.storage import mount_of
from trainc.lint.facts.values import text
from trainc.model.finding import WARNING, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, Findings, Job

IN_CONTAINER = Rule("checkpoints-in-container", WARNING)
_OPTIONS = ("output_dir", "checkpoint_dir", "checkpoint_path", "ckpt_dir", "save_dir", "save", "snapshot_path")


def checkpoints_in_container(job: Job) -> Findings:
    for container in job.main:
        if not container.devices:
            continue
        path = _checkpoint_path(container)
        if path and not _is_kept(container, path):
            yield IN_CONTAINER.at(
                job.at_word(container, path),
                f"`{path}` is on no volume",
                effect="training restarts from step 0, and the result is lost when the pod ends",
                help="write to a volume: mount a claim, and use a path below its `mountPath`",
            )


def _checkpoint_path(container: Container) -> str:
    """The first path that an option names for checkpoints; empty where it is a bucket, unknown, or not there."""
    given = container.options
    path = next((given[name] for name in _OPTIONS if given.get(name)), "")
    is_path = path.startswith(("/", "./", "../")) and not any(mark in path for mark in "${<")
    return path if is_path else ""


def _is_kept(container: Container, path: str) -> bool:
    """Whether a volume holds the path, or may hold it: a relative one depends on the working directory."""
    if path.startswith("/"):
        return bool(mount_of(container, path)[0])
    if any(simple.program == "cd" for simple in container.commands):
        return True
    where = text(container.tree, "workingDir")
    return bool(where) and bool(mount_of(container, where)[0])


CHECKS = (checkpoints_in_container,)
