"""How jobs end: masked exit codes, roles that wait for one another, deadlines and clean-up."""

from trainc.frameworks.base.vocabularies import EVERY
from trainc.lint.facts.job import Container, ExpandedRole, Findings, Job, each
from trainc.lint.facts.shell import Simple, simple_commands
from trainc.lint.facts.timing import counts, never_ends, waits, waits_for
from trainc.lint.facts.values import table, text, texts
from trainc.model.finding import ERROR, NOTE, WARNING, Label, Rule
from trainc.model.sourced import Sourced
from trainc.model.tree import get, value
from trainc.text.object_keys import KUEUE_QUEUE

MASKED = Rule("masked-exit-code", ERROR)
SELF = Rule("depends-on-itself", ERROR)
WAITS = Rule("waits-for-endless-role", ERROR)
SUCCESS = Rule("success-waits-for-endless-role", ERROR)
TTL_CHILD = Rule("ttl-on-child-job", WARNING)
TTL_GITOPS = Rule("self-deleting-job", NOTE)
DEADLINE = Rule("deadline-on-queue", NOTE)
AT_ONCE = Rule("deadline-passes-at-once", ERROR)

_HARMLESS = frozenset((
    "touch", "echo", "date", "sync", "sleep", "true", "ls", "rm", "cp", "gsutil", "aws", "gcloud", "cat", "printf",
    ":", "kill", "wait",
))  # fmt: skip

_SAFE_PROGRAMS = frozenset(
    (
        "apt", "apt-get", "cd", "cp", "curl", "date", "df", "echo", "env", "export", "find", "free", "git", "grep", "hostname", "ip", "kill", "ldconfig", "ls", "lscpu", "mkdir", "mount", "nvidia-smi", "pip", "pip3", "pkill", "ps", "pwd", "rm", "service", "set", "sleep", "source", "sysctl", "touch", "trap", "ulimit", "unset", "wget", "which", "yum", "cat", "ln", "printf", "test", "[", "[[", "chmod", "chown", "tar", "unzip", "true", ":", "nproc", "ssh-keyscan", "getent", "nslookup", "ping", "nc", "modprobe", "ibstat", "ibv_devinfo", "ss", "lsof", "id", "whoami", "uname", "rocm-smi", "jq", "mv", "gsutil", "gcloud", "aws", "tee", "if", "fi", "done", "read", "shift", "local", "declare",
    )
)  # fmt: skip

_PIPES = ("|", "|&")
_LAUNCHERS = tuple(dict.fromkeys(word for launcher in EVERY.launchers for word in launcher.words))
_TRAINING = (*_LAUNCHERS, "torch.distributed", "python", ".py", "train")
_SECOND, _HALF = 10**9, 2**63  # nanoseconds are counted in 64 bits with a sign


def masked_exit_code(job: Job) -> Findings:
    for container in job.main if not _is_submitted(job) else ():
        script = container.script
        if not script or not any(mark in script for mark in (";", "|", "&", "\n")):
            continue
        if (masked := _masked(container)) is None:
            continue
        simple, next_, (how, help_) = masked
        program = _called(simple)
        lost = f"when `{program}` fails, "
        at = container.at_word(program, program.partition(" ")[0])
        message = f"the exit code of `{program}` is lost: {how}"
        label = "discarded here"
        effect = f"{lost}the pod succeeds, and the Job counts as complete"
        if next_ is not None:
            effect = f"{lost}the script continues with `{_called(next_)}`"
        yield MASKED.at(at, message, label=label, effect=effect, help=help_, level=ERROR if next_ is None else WARNING)


def _masked(container: Container) -> tuple[Simple, Simple | None, tuple[str, str]] | None:
    """A program whose exit code is lost, the like of it that runs later, and how and what helps.

    Nothing is said of what prepares or watches the training: its failure is not that of the pod. What is asked about
    the commands behind each is found in one pass from the end.
    """
    commands = container.commands
    count = len(commands)
    lines = [" ".join(simple.words) if _trains(simple) else "" for simple in commands]
    # 2 for a launcher, 1 for another program that trains, 0 for the rest.
    weights = [bool(line) + any(word in line for word in _LAUNCHERS) for line in lines]
    after = list(range(1, count + 1))  # where the pipeline of each has ended
    heaviest: list[int | None] = [None] * (count + 1)  # the heaviest foreground command from an index on
    # Whether all lines from an index on are harmless, and whether one of them waits.
    harmless, waiting = [True] * (count + 1), [False] * (count + 1)
    for index in range(count - 1, -1, -1):
        simple, best = commands[index], heaviest[index + 1]
        if simple.end in _PIPES and index < count - 1:
            after[index] = after[index + 1]
        if simple.end != "&" and (best is None or weights[index] >= weights[best]):
            best = index
        heaviest[index] = best
        harmless[index] = harmless[index + 1] and bool(simple.words) and simple.program in _HARMLESS
        waiting[index] = waiting[index + 1] or simple.program in ("wait", "fg", "tail")
    strict, script = _strict(container), container.script
    marks = {word for word in ("PIPESTATUS", "pipefail", "wait", "$?", "trap") if word in script}
    marks |= {"pipefail"} if "pipefail" in container.shell else set()
    for index, simple in enumerate(commands):
        best = heaviest[after[index]]
        later = 0 if best is None else weights[best]
        if not weights[index] or later > weights[index]:
            continue
        lost = _lost(commands, index, marks, strict=strict, harmless=harmless[index + 1], waiting=waiting[index + 1])
        if lost is not None and later < weights[index]:
            return simple, None, lost
        if lost is not None and simple.end != "&" and best is not None:
            return simple, commands[best], lost
    return None


def _lost(
    commands: list[Simple], index: int, marks: set[str], *, strict: bool, harmless: bool, waiting: bool
) -> tuple[str, str] | None:
    """How a script loses the exit code of one of its commands, and what helps; `marks` are words that it holds."""
    simple, first = commands[index], commands[index + 1].program if index + 1 < len(commands) else None
    if simple.end in _PIPES and first is not None and "PIPESTATUS" not in marks:
        if "pipefail" in marks:
            return None
        return f"the pipe returns the exit code of `{first}`", "start the script with `set -o pipefail`"
    if simple.end == "||" and first in ("true", ":", "echo"):
        return f"`|| {first}` turns it into success", f"remove `|| {first}`"
    if simple.end == "&" and not waiting and "wait" not in marks:
        help_ = "remove the `&`, or run `wait $!` at the end"
        return "it runs in the background, and the script does not wait for it", help_
    last = commands[-1].program
    is_seen = first is None or last == "wait" or not marks.isdisjoint(("$?", "trap"))
    if simple.end in (";", "\n") and not strict and not is_seen and harmless:
        how = f"the script continues and returns that of `{last}`"
        return how, "start the script with `set -e`, or save `$?` and `exit` with it"
    return None


def _strict(container: Container) -> bool:
    options = container.shell.split()
    if any(o.startswith("-") and not o.startswith("--") and "e" in o.replace("pipefail", "") for o in options):
        return True
    settings = [word for simple in container.commands if simple.program == "set" for word in simple.words[1:]]
    return any(word == "errexit" or (word.startswith("-") and "e" in word) for word in settings)


def _trains(simple: Simple) -> bool:
    if not simple.words or simple.program in _SAFE_PROGRAMS or simple.program.startswith(("$", "apt", "pip")):
        return False
    if simple.words[1:3] == ["-m", "pip"] or "--version" in simple.words or "-c" in simple.words[1:2]:
        return False
    line = " ".join(simple.words)
    return any(word in line for word in _TRAINING)


def _called(simple: Simple) -> str:
    words = simple.words
    if simple.program.startswith("python") and len(words) > 1:
        return " ".join([simple.program, *words[1:3]]) if words[1] == "-m" else f"{simple.program} {words[1]}"
    return simple.program


def entrypoint_in_the_driver(job: Job) -> Findings:
    """Find what the shell of a RayJob's driver runs itself: it hands the first command alone to Ray."""
    document = job.bundle.document
    entrypoint = value(document.tree, "spec", "entrypoint") if _is_submitted(job) else None
    if type(entrypoint) is not str:
        return
    commands = simple_commands(entrypoint.strip())
    behind = next((simple for simple in commands[1:] if _trains(simple)), None)
    last = commands[-1].end if commands else ""
    if behind is None and not last:
        return
    first = commands[0]
    message, help_ = f"`entrypoint` ends with `{last}`", f"remove the `{last}`"
    effect = "the driver's shell cannot parse its script, and submits nothing"
    if behind is not None:
        message = f"`{_called(behind)}` runs in the driver's pod, outside the Ray cluster: `{first.end.strip() or 'a new line'}` ends what Ray gets"
        effect = f"Ray runs `{_called(first)}` alone, and the job succeeds or fails with it"
        help_ = "hand the whole line to a shell: `bash -c 'LINE'`"
    yield MASKED.at(document.span(("spec", "entrypoint")), message, effect=effect, help=help_)


def _is_submitted(job: Job) -> bool:
    """Whether a job is a RayJob whose driver has no command of its own: the dashboard says how the program ended."""
    document = job.bundle.document
    own = ("spec", "submitterPodTemplate", "spec", "containers", 0, "command")
    return document.kind == "RayJob" and not get(document.tree, *own)


def depends_on_itself(role: ExpandedRole) -> Findings:
    for wait in waits(role) if "dependsOn" in role.tree else ():
        if wait.on is role:
            message = f"`{role.name}` waits for itself"
            effect = "its Jobs are never created, with no error"
            yield SELF.at(role.job.at(wait.path), message, effect=effect, help="name the role that must start first")


def waits_for_endless_role(role: ExpandedRole) -> Findings:
    for wait in waits(role) if "dependsOn" in role.tree else ():
        if wait.status == "Complete" and wait.on is not role and never_ends(wait.on):
            message = f"`{role.name}` starts after `{wait.on.name}` has completed, but `{wait.on.name}` never ends"
            also = [Label(wait.on.at(), "never ends on its own")]
            help_ = "wait for it with `status: Ready`"
            yield WAITS.at(role.job.at(wait.path), message, also=also, effect=f"`{role.name}` never starts", help=help_)
        elif wait.status == "Complete" and wait.on is not role and _ends_the_job(role.job, wait.on):
            message = f"`{role.name}` starts after `{wait.on.name}` has completed, and so is the job then"
            also = [Label(role.job.at(("spec", "successPolicy"), key=True), "the job succeeds by this")]
            effect = f"`{role.name}` never starts: a JobSet that has succeeded creates no Jobs"
            help_ = f"add `{role.name}` to `targetReplicatedJobs`, or wait with `status: Ready`"
            yield WAITS.at(role.job.at(wait.path), message, also=also, effect=effect, help=help_)


def _ends_the_job(job: Job, last: ExpandedRole) -> bool:
    """Whether the job succeeds at the latest when all Jobs of a role have completed."""
    deciding = [role for role in job.roles if counts(role)]
    policy = table(job.spec, "successPolicy")
    if text(policy, "operator") == "Any":
        return last.name in (texts(policy, "targetReplicatedJobs") or [last.name])
    before = [waits_for(last, role) for role in deciding if role is not last]
    return bool(deciding) and all(wait is not None and wait.status == "Complete" for wait in before)


def success_waits_for_endless_role(job: Job) -> Findings:
    policy = table(job.spec, "successPolicy")
    if text(policy, "operator") == "Any" or len(job.roles) < 2:
        return
    if "targetReplicatedJobs" not in policy and job.bundle.document.kind not in ("JobSet", "TrainJob"):
        return  # which role decides is written once the numbers of pods are known
    endless = [role for role in job.roles if counts(role) and never_ends(role)]
    others = [role for role in job.roles if role not in endless]
    if endless and others:
        driver = others[-1].name
        at = job.at(("spec", "successPolicy") if policy else ("spec",), key=True)
        message = f"the job waits for `{endless[0].name}` to end, which it never does"
        effect = "the job keeps running after the training, and its resources stay allocated"
        help_ = f"add `targetReplicatedJobs: [{driver}]` to `successPolicy`"
        yield SUCCESS.at(at, message, also=[Label(endless[0].at(), "never ends on its own")], effect=effect, help=help_)


def ttl_on_child_job(role: ExpandedRole) -> Findings:
    # A finished Job that is deleted is made again only while the JobSet waits for another one.
    if "ttlSecondsAfterFinished" in role.spec and (len(role.job.roles) > 1 or role.replicas != 1):
        at = role.spec_at("ttlSecondsAfterFinished", key=True)
        message = f"the Jobs of `{role.name}` are deleted when they have finished"
        effect = "while other Jobs still run, JobSet creates a deleted one again, and its work runs twice"
        yield TTL_CHILD.at(at, message, effect=effect, help="set `ttlSecondsAfterFinished` on the JobSet instead")


def self_deleting_job(job: Job) -> Findings:
    if "ttlSecondsAfterFinished" in job.spec:
        yield from self_deleting(job)


def self_deleting(job: Job, *, level: str = "") -> Findings:
    """Say that a job deletes itself; certain to train again where a GitOps tool is known to apply it."""
    at = job.at(("spec", "ttlSecondsAfterFinished"), key=True)
    message = "the job is deleted when it has finished, but it is still in Git"
    effect = "the GitOps controller applies it again, and the training runs a second time"
    help_ = "remove the field, and delete finished jobs from Git"
    yield TTL_GITOPS.at(at, message, effect=effect, help=help_, level=level)


def deadline_on_queue(job: Job) -> Findings:
    if KUEUE_QUEUE not in table(job.metadata, "labels"):
        return
    for role in job.roles:
        if type(role.spec.get("activeDeadlineSeconds")) is Sourced:
            message = "the deadline counts from the start of each Job, again after each restart and admission"
            help_ = "to limit the time after admission, use the label `kueue.x-k8s.io/max-exec-time-seconds`"
            yield DEADLINE.at(role.spec_at("activeDeadlineSeconds", key=True), message, help=help_)


def deadline_passes_at_once(job: Job) -> Findings:
    if job.bundle.document.kind not in ("JobSet", "TrainJob"):
        return  # the other kinds have deadlines of their own, which are judged where they are read
    for role in job.roles:
        written = value(role.spec, "activeDeadlineSeconds")
        if type(written) is not int or written < 0:
            continue
        counted = (written * _SECOND + _HALF) % (2 * _HALF) - _HALF
        if counted == written * _SECOND and written:
            continue
        over = "overflows" if written else "passes at once"
        at, message = role.spec_at("activeDeadlineSeconds"), f"the deadline of {written} seconds {over}"
        effect, level = f"each Job fails after {counted // _SECOND} seconds", WARNING
        if counted <= 0:
            effect, level = "each Job fails with DeadlineExceeded before it creates a pod", ERROR
        help_ = "remove it, or set the seconds that the Job may take"
        yield AT_ONCE.at(at, message, effect=effect, help=help_, level=level)


CHECKS = (
    each(lambda job: job.roles, depends_on_itself, waits_for_endless_role, ttl_on_child_job),
    masked_exit_code, entrypoint_in_the_driver, success_waits_for_endless_role, self_deleting_job,
    deadline_passes_at_once, deadline_on_queue,
)  # fmt: skip
