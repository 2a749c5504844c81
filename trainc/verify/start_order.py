"""Which roles start after which: dependsOn, and the older startupPolicy."""

from __future__ import annotations

from trainc.verify.values import rows, table, text, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path
    from trainc.verify.job import Job
    from trainc.verify.pods import Role


class Wait:
    """`role` waits until `on` is `Ready` or `Complete`; `path` is where that is said."""

    __slots__ = ("on", "path", "role", "status")

    def __init__(self, role: Role, on: Role, status: str, path: Path) -> None:
        self.role = role
        self.on = on
        self.status = status
        self.path = path


def in_order(job: Job) -> bool:
    """Whether the roles start one after the other, as they are listed."""
    return text(table(job.spec, "startupPolicy"), "startupPolicyOrder") == "InOrder"


def waits(role: Role) -> list[Wait]:
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


def waits_for(role: Role, on: Role, seen: frozenset[str] = frozenset()) -> Wait | None:
    """The wait that puts `role` after `on`, directly or through others; the one for its end where there are several."""
    last: Wait | None = None
    if role.name in seen:
        return None
    for wait in waits(role):
        if wait.on is on:
            hit: Wait | None = wait
        else:
            hit = waits_for(wait.on, on, seen | {role.name})
            if hit is not None and wait.status == "Complete":
                hit = wait
        if hit is not None and (last is None or hit.status == "Complete"):
            last = hit
    return last


def stages(job: Job) -> list[list[Role]]:
    """The roles in the order in which they can start; roles of one stage start together."""
    left = list(job.roles)
    done: list[Role] = []
    out: list[list[Role]] = []
    while left:
        now = [role for role in left if all(wait.on in done for wait in waits(role))]
        if not now:
            return [*out, left]
        out.append(now)
        done += now
        left = [role for role in left if role not in now]
    return out


def counts(role: Role) -> bool:
    """Whether a job cannot succeed before the pods of a role have."""
    policy = table(role.job.spec, "successPolicy")
    targets = texts(policy, "targetReplicatedJobs") or [one.name for one in role.job.roles]
    return role.name in targets and (len(targets) == 1 or text(policy, "operator") != "Any")
