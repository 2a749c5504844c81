"""Plugins of a Volcano Job that a JobSet cannot have, or whose flags say something else than meant."""

from __future__ import annotations

from trainc.model.finding import ERROR, WARNING, Rule
from trainc.model.tree import get, leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.volcanojob.spec import JobOfTasks
    from trainc.model.sourced import Span

UNCOMPILED = Rule(
    "plugin-not-compiled",
    ERROR,
    "a Volcano plugin does something that a JobSet cannot",
    "Volcano changes each pod individually; the pods of a Job share one template.",
)
IGNORED = Rule(
    "plugin-flags-ignored",
    WARNING,
    "Volcano does not read some flags of a plugin",
    "Volcano parses flags up to the first error, writes the error to its log, and continues with the defaults.",
)
KEY = Rule(
    "private-key-in-flags",
    ERROR,
    "the flags of a plugin contain a private key",
    "Everyone who can read the job can read the key: in Git, in the cluster and in every copy.",
)
_HIGHEST_PORT = 65535


def check_plugins(job: JobOfTasks) -> bool:
    """Whether every plugin can be compiled; what cannot, and flags that are not read, are reported."""
    _check_flags(job)
    verdicts = (_no_hccl(job), _no_endless_ray(job), _no_private_key(job))
    return all(verdicts)


def _at(job: JobOfTasks, plugin: str) -> Span:
    return job.span(("spec", "plugins", plugin), key=True)


def _check_flags(job: JobOfTasks) -> None:
    for name, flags in job.plugins.items():
        if flags.stopped >= 0:
            path = ("spec", "plugins", name, flags.stopped)
            reason = flags.problem or "this is not a flag"
            message = f"the plugin `{name}` reads no flag from here on: {reason}"
            job.say(IGNORED.at(job.span(path), message, effect="the defaults hold", help="write `--name=value`"))
    ssh = job.plugins.get("ssh")
    if ssh is not None and not 0 < ssh.number("ssh-port") <= _HIGHEST_PORT:
        message = f"`--ssh-port={ssh.number('ssh-port')}` is not a port: 22 is used"
        job.say(IGNORED.at(_at(job, "ssh"), message, help="write a port from 1 to 65535"))


def _no_hccl(job: JobOfTasks) -> bool:
    if "hcclrank" not in job.plugins:
        return True
    message = "the annotation `hccl/rankIndex` of the plugin `hcclrank` differs from pod to pod"
    effect = "all pods of a Job share one template, so no pod would know its rank"
    help_ = "let the program take its rank from JOB_COMPLETION_INDEX, and remove the plugin"
    job.say(UNCOMPILED.at(_at(job, "hcclrank"), message, effect=effect, help=help_))
    return False


def _no_endless_ray(job: JobOfTasks) -> bool:
    """Whether the job has no Ray cluster, or one to which another task submits the work."""
    ray = job.plugins.get("ray")
    if ray is None:
        return True
    head, worker = ray.text("head"), ray.text("worker")
    if job.task(head) is None:
        message = f"the job has no head task `{head}` for its Ray cluster"
        effect = "Volcano fails each pod that it makes"
        job.say(UNCOMPILED.at(_at(job, "ray"), message, effect=effect, help=f"call a task `{head}`"))
        return False
    if any(task.count.value for task in job.tasks if task.role not in {head, worker}):
        return True
    message = "nothing submits work to this Ray cluster, and nothing ends it"
    help_ = "write a RayJob, or add a task that runs `ray job submit` and whose TaskCompleted does CompleteJob"
    effect = "`ray start --block` holds its accelerators until somebody deletes the job"
    job.say(UNCOMPILED.at(_at(job, "ray"), message, effect=effect, help=help_))
    return False


def _no_private_key(job: JobOfTasks) -> bool:
    ssh = job.plugins.get("ssh")
    if ssh is None or not ssh.text("ssh-private-key"):
        return True
    flags = get(job.spec, "plugins", "ssh")
    leaf = next((leaf for _, leaf in leaves(flags) if "ssh-private-key" in str(leaf.value)), None)
    span = leaf.origin.at if leaf is not None and leaf.origin.at is not None else _at(job, "ssh")
    message = "a private key is written in the flags of the plugin `ssh`"
    help_ = "put it into a Secret with the keys `id_rsa`, `id_rsa.pub` and `authorized_keys`, and change the key"
    job.say(KEY.at(span, message, effect="everybody who reads the repository has the key", help=help_))
    return False
