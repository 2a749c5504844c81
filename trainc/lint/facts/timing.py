"""Which roles start after which: dependsOn, and the older startupPolicy."""

from typing import NamedTuple

from trainc.lint.facts.job import Container, ExpandedRole, Job
from trainc.lint.facts.shell import unconditional
from trainc.lint.facts.values import rows, table, text, texts
from trainc.model.tree import Path

_DAEMON_PROGRAMS = frozenset((
    "sshd", "tcpgpudmarxd", "fluent-bit", "fluentd", "node_exporter", "dcgm-exporter", "tensorboard", "jupyter",
    "jupyter-lab", "nginx", "redis-server", "etcd", "vmtouch", "gcsfuse",
))  # fmt: skip
# Words without which a program leaves the foreground, and words with which it does, or ends.
_STAYS = {"gcsfuse": ("--foreground",), "nginx": ("daemon off",), "vmtouch": ("-l",)}
_LEAVES = {"redis-server": ("--daemonize",), "etcd": ("--version",), "jupyter": ("nbconvert", "execute", "run ")}
_LOOPS = ("while true", "while :", "while [ 1 ]", "while [[ 1", "while sleep", "until false")


class Wait(NamedTuple):
    """`role` waits until `on` is `Ready` or `Complete`; `path` is where that is said."""

    role: ExpandedRole
    on: ExpandedRole
    status: str
    path: Path


def in_order(job: Job) -> bool:
    """Whether the roles start one after the other, as they are listed."""
    return text(table(job.spec, "startupPolicy"), "startupPolicyOrder") == "InOrder"


def waits(role: ExpandedRole) -> list[Wait]:
    """What a role itself waits for."""
    job = role.job
    if in_order(job) and role.index:
        return [Wait(role, job.roles[role.index - 1], "Ready", ("spec", "startupPolicy", "startupPolicyOrder"))]
    return [
        Wait(role, on, text(item, "status"), (*role.path, "dependsOn", index))
        for index, item in enumerate(rows(role.tree, "dependsOn"))
        if (on := job.role(text(item, "name"))) is not None
    ]


def waits_for(role: ExpandedRole, on: ExpandedRole) -> Wait | None:
    """The wait that puts `role` after `on`, directly or through others; the one for its end where there are several."""
    last_waits: dict[ExpandedRole, Wait | None] = {on: None}
    todo = [role]
    while todo:
        current = todo[-1]
        direct = [wait for wait in waits(current) if wait.on.index < current.index]  # JobSet refuses others
        unknown = [wait.on for wait in direct if wait.on not in last_waits]
        todo += unknown
        if unknown:
            continue
        todo.pop()
        last: Wait | None = None
        for wait in direct:
            hit = wait if wait.on is on else last_waits[wait.on]
            if hit is not None and wait.status == "Complete":
                hit = wait
            if hit is not None and (last is None or hit.status == "Complete"):
                last = hit
        last_waits[current] = last
    return last_waits[role]


def stages(job: Job) -> list[list[ExpandedRole]]:
    """The roles in the order in which they can start; roles of one stage start together."""
    missing = {role: {wait.on for wait in waits(role)} for role in job.roles}
    followers: dict[ExpandedRole, list[ExpandedRole]] = {role: [] for role in job.roles}
    for role, before in missing.items():
        for other in before:
            followers[other].append(role)
    out: list[list[ExpandedRole]] = []
    now = [role for role, before in missing.items() if not before]
    while now:
        out.append(now)
        freed = []
        for role in now:
            del missing[role]
            for follower in followers[role]:
                missing[follower].remove(role)
                if not missing[follower]:
                    freed.append(follower)
        now = sorted(freed, key=lambda role: role.index)
    return [*out, [*missing]] if missing else out


def counts(role: ExpandedRole) -> bool:
    """Whether a job cannot succeed before the pods of a role have."""
    policy = table(role.job.spec, "successPolicy")
    targets = texts(policy, "targetReplicatedJobs") or [one.name for one in role.job.roles]
    return role.name in targets and (len(targets) == 1 or text(policy, "operator") != "Any")


def has_peers(role: ExpandedRole) -> bool:
    """Whether a pod of a role computes beside others: of its own role, or of another one with accelerators."""
    if role.several or not role.devices:
        return role.several
    others = [other for other in role.job.roles if other is not role and other.devices and other.count != 0]
    ends_first = [{wait.status for pair in ((one, role), (role, one)) if (wait := waits_for(*pair))} for one in others]
    return any("Complete" not in statuses for statuses in ends_first)


def endless(container: Container) -> bool:
    """Whether the command visibly runs forever: an endless sleep, a tail on nothing, a loop without an end."""
    if not (line := container.text):
        return False
    is_following = any(tail in line for tail in ("tail -f", "tail -F", "tail --follow")) and "--pid" not in line
    if "sleep inf" in line or "sleep 2147483647" in line or is_following:
        # The wait is the last thing that the command does, and nothing else ends it.
        commands = [c for c in container.commands if c.words]
        if not commands or commands[-1].program not in ("sleep", "tail"):
            return False
        is_left = any(c.program in ("exit", "exec") for c in unconditional(commands[:-1]))
        return not is_left and commands[-1].end != "&" and not any(c.end == "||" for c in commands[-2:-1])
    if not (loop := next((loop for loop in _LOOPS if loop in line), "")):
        return False
    body = line[line.index(loop) :]
    ends = [rest.lstrip(" )}") for rest in body.split("done")[1:]]
    is_in_background = any(rest.startswith("&") and not rest.startswith("&&") for rest in ends)
    return "break" not in body and "exit" not in body and not is_in_background


def is_daemon(container: Container) -> bool:
    """Whether the command is a daemon that stays in the foreground."""
    if "git-sync" in text(container.tree, "image").rpartition("/")[2]:
        return "one-time" not in container.text and not container.sets("GITSYNC_ONE_TIME", "GIT_SYNC_ONE_TIME")
    if not any(program in container.text for program in _DAEMON_PROGRAMS):
        return False
    for simple in container.commands:
        if simple.program in _DAEMON_PROGRAMS and simple.end != "&":
            if simple.program == "sshd":
                return any(flag.startswith("-") and "D" in flag for flag in simple.words[1:])
            line = " ".join(simple.words[1:])
            wanted, leaving = _STAYS.get(simple.program, ("",)), _LEAVES.get(simple.program, ())
            if any(word in line for word in wanted) and not any(word in line for word in leaving):
                return True
    return False


def never_ends(role: ExpandedRole) -> bool:
    """Whether the pods of a role visibly never end by themselves."""
    return any(endless(container) or is_daemon(container) for container in role.main)
