"""Which roles start after which: dependsOn, and the older startupPolicy."""

from __future__ import annotations

from trainc.lint.facts.values import rows, table, text, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.lint.facts.job import ExpandedRole, Job
    from trainc.model.tree import Path


class Wait:
    """`role` waits until `on` is `Ready` or `Complete`; `path` is where that is said."""

    __slots__ = ("on", "path", "role", "status")

    def __init__(self, role: ExpandedRole, on: ExpandedRole, status: str, path: Path) -> None:
        self.role = role
        self.on = on
        self.status = status
        self.path = path


def in_order(job: Job) -> bool:
    """Whether the roles start one after the other, as they are listed."""
    return text(table(job.spec, "startupPolicy"), "startupPolicyOrder") == "InOrder"


def waits(role: ExpandedRole) -> list[Wait]:
    """What a role itself waits for."""
    job = role.job
    if in_order(job) and role.index:
        return [Wait(role, job.roles[role.index - 1], "Ready", ("spec", "startupPolicy", "startupPolicyOrder"))]
    all_waits = []
    for index, item in enumerate(rows(role.tree, "dependsOn")):
        on = job.role(text(item, "name"))
        if on is not None:
            all_waits.append(Wait(role, on, text(item, "status"), (*role.path, "dependsOn", index)))
    return all_waits


def waits_for(role: ExpandedRole, on: ExpandedRole) -> Wait | None:
    """The wait that puts `role` after `on`, directly or through others; the one for its end where there are several."""
    last_waits: dict[ExpandedRole, Wait | None] = {on: None}
    todo = [role]
    while todo:
        current = todo[-1]
        direct = [wait for wait in waits(current) if wait.on.index < current.index]  # JobSet refuses others
        unknown = [wait.on for wait in direct if wait.on not in last_waits]
        todo += unknown
        if not unknown:
            todo.pop()
            last_waits[current] = _last(direct, on, last_waits)
    return last_waits[role]


def _last(direct: list[Wait], on: ExpandedRole, last_waits: Mapping[ExpandedRole, Wait | None]) -> Wait | None:
    last: Wait | None = None
    for wait in direct:
        hit = wait if wait.on is on else last_waits[wait.on]
        if hit is not None and wait.status == "Complete":
            hit = wait
        if hit is not None and (last is None or hit.status == "Complete"):
            last = hit
    return last


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
    return any(not _is_over(role, other) and not _is_over(other, role) for other in others)


def _is_over(role: ExpandedRole, other: ExpandedRole) -> bool:
    """Whether a role has ended before the other one starts."""
    wait = waits_for(other, role)
    return wait is not None and wait.status == "Complete"
