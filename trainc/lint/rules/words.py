"""Words of a command that nothing can follow: a shell's where no shell is, and scripts that are not there."""

from __future__ import annotations

import os.path

from trainc.lint.facts.shell import SHELLS
from trainc.lint.facts.storage import mount_of
from trainc.lint.facts.values import rows, templated, text, texts
from trainc.lint.repository import repository
from trainc.model.finding import ERROR, WARNING, Label, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, Findings, Job
    from trainc.model.cluster import Cluster

SHELL_WORDS = Rule("shell-words-without-shell", ERROR)
NO_SCRIPT = Rule("script-not-in-image", WARNING)
_JOINING = frozenset(("&&", "||", "|", ";", ">", ">>", "2>", "2>&1", "&>", "<"))
# Public images that hold a framework and no program, each with its working directory; empty where that is not known.
LIBRARY_IMAGES = {
    "docker.io/library/python": "/",
    "docker.io/library/ubuntu": "/",
    "docker.io/paddlepaddle/paddle": "",
    "docker.io/pytorch/pytorch": "/workspace",
    "docker.io/tensorflow/tensorflow": "",
    "ghcr.io/kubeflow/trainer/deepspeed-runtime": "/home/mpiuser",
    "ghcr.io/kubeflow/trainer/mlx-runtime": "/home/mpiuser",
    "ghcr.io/kubeflow/trainer/torchtune-trainer": "/workspace",
    "ghcr.io/kubeflow/trainer/xgboost-runtime": "/workspace",
    "nvcr.io/nvidia/jax": "",
}
# Directories in which such an image has scripts of its own.
_SYSTEM = ("/bin/", "/etc/", "/lib", "/opt/", "/sbin/", "/usr/", "/home/mpiuser/.local/")
# Variants of their tags that hold programs or notebooks.
_WITH_PROGRAMS = ("jupyter", "maxtext", "paxml", "rosetta")
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 (a path of the pod)


def shell_words_without_shell(job: Job) -> Findings:
    for container in job.containers:
        place = _joining(container)
        if place is None:
            continue
        field, index, word = place
        yield SHELL_WORDS.at(
            job.at((*container.path, field, index)),
            f"no shell reads `{word}` here",
            effect=f"`{container.words[0]}` gets `{word}` and what follows as its own arguments",
            help=f'run it in a shell: `[sh, -c, "set -e; {_line(container)}"]`',
        )


def _joining(container: Container) -> tuple[str, int, str] | None:
    """Where the first word stands that only a shell understands; None where a shell, or an unknown program, reads it."""
    if _JOINING.isdisjoint(container.words) or not texts(container.tree, "command") or _has_shell(container.words):
        return None
    before = ""
    for field in ("command", "args"):
        for index, word in enumerate(texts(container.tree, field)):
            if word in _JOINING and before and not before.startswith("-"):
                return field, index, word
            before = word
    return None


def _has_shell(words: list[str]) -> bool:
    return any(word.rpartition("/")[2] in SHELLS for word in words) or "-c" in words


def _line(container: Container) -> str:
    """The command as one line of a shell, shortened where it is long."""
    line = " ".join(container.words)
    return line if len(line) <= 60 and '"' not in line else f"{line[:50].replace(chr(34), '')} ..."


def script_not_in_image(job: Job) -> Findings:
    seen: set[tuple[str, str]] = set()
    for container in job.main:
        image = text(container.tree, "image")
        public = _library_image(image, job.cluster)
        script = _script(container) if public else ""
        if not script or (script, public) in seen or _may_be_there(container, script, LIBRARY_IMAGES[public]):
            continue
        seen.add((script, public))
        field = "`spec.trainer.image`" if job.bundle.document.kind == "TrainJob" else "`image`"
        yield NO_SCRIPT.at(
            job.at_word(container, script),
            f"`{script}` is not in the public image `{public}`",
            also=[Label(job.at((*container.path, "image")), "this image holds libraries only")],
            effect="the pods get their machines, start, and fail: there is no such file",
            help=f"put the program into an image of your own, and name it in {field}; or mount a volume that holds it",
        )


def _library_image(image: str, cluster: Cluster) -> str:
    """The public repository of an image that holds no program of a user; empty for all others."""
    name, tag = repository(image, cluster)
    return name if name in LIBRARY_IMAGES and not any(variant in tag for variant in _WITH_PROGRAMS) else ""


def _script(container: Container) -> str:
    """The file that a command runs as a program; empty where it is a module, a text, a shell's line or not known here."""
    launch = container.launch
    if container.script or "lifecycle" in container.tree or (launch and not {"m", "module"}.isdisjoint(launch.flags)):
        return ""
    words = launch.program if launch is not None else container.words
    index = 0
    while index < len(words):
        word = words[index]
        if word.endswith((".py", ".sh")):
            return "" if word.startswith("-") or "://" in word or "$" in word or templated(word) else word
        if not word.startswith("-") and not _is_interpreter(word):
            return ""
        if word.startswith(("-m", "-c")):
            return ""
        index += 2 if word in ("-W", "-X") else 1
    return ""


def _is_interpreter(word: str) -> bool:
    base = word.rpartition("/")[2]
    return base in SHELLS or base.startswith("python")


def _may_be_there(container: Container, script: str, directory: str) -> bool:
    """Whether a volume may hold the script, or the image has a script of that path itself."""
    mounts = [mount for mount in rows(container.tree, "volumeMounts") if text(mount, "mountPath") != _SHARED_MEMORY]
    where = text(container.tree, "workingDir") or directory
    if "$" in where or any("$" in text(mount, "mountPath") for mount in mounts):
        return True
    if not where and not script.startswith("/"):
        return bool(mounts)
    path = os.path.normpath(os.path.join(where, script))
    return not directory or path.startswith(_SYSTEM) or bool(mount_of(container, path)[0])


CHECKS = (shell_words_without_shell, script_not_in_image)
