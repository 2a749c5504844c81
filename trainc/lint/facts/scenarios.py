"""What becomes of a job: in which order it starts, and what happens when a pod fails with an exit code."""

from collections.abc import Sequence
from typing import Any

from trainc.apiserver.pods.complaints import fields, items, maps, text
from trainc.lint.facts.job import Job
from trainc.lint.facts.lifecycle import PENDING, Lifecycle
from trainc.lint.facts.values import Unknown

_MAX_FAILURES = 40  # of one pod that are played through
_MAX_CODES = 4  # exit codes of one rule that are shown
_MAX_STEPS = 10_000
_MOST = 2**31 - 1  # failures or restarts that a limit without a limit stands for


def simulate(job: Job, events: Sequence[str]) -> dict[str, Any]:
    """The start and the failures of a job, or where `events` are given what can be seen after each.

    Raises:
        EventError: for an event that cannot happen.
    """
    played = Lifecycle(job.tree)
    view: dict[str, Any] = {"name": job.name, "namespace": job.namespace or None, "services": []}
    for event in events:
        played.happen(event)
    view["timeline"] = played.steps
    if not events and played.is_foreign:
        view["start"] = [
            f"`{played.spec['managedBy']}` manages it instead of the JobSet controller: its life cycle is not simulated"
        ]
    elif not events:
        view["start"] = _start(job)
        view["failures"] = [each for role in played.roles for each in _failures(job, role)]
    view["services"] = played.services
    return view


def _start(job: Job) -> list[str]:
    """When each role starts, as sentences."""
    played, started, out = Lifecycle(job.tree), set[str](), []
    if played.is_suspended:
        out.append("nothing runs until the JobSet is resumed (a queue resumes it when it admits it)")
        played.happen("resumed")
    cause = "at once"
    for _ in range(2 * len(played.roles) + 2):
        running = {child.role for child in played.jobs.values() if child.pods}
        fresh = [name for role in played.roles if (name := text(role, "name")) in running - started]
        if fresh:
            out.append(f"{cause}: {', '.join(f'`{name}`' for name in fresh)}")
        started.update(fresh)
        if not (cause := _advance(played)):
            break
    missing = [text(role, "name") for role in played.roles if text(role, "name") not in started]
    return [*out, *(f"never: `{name}`" for name in missing)]


def _advance(played: Lifecycle) -> str:
    """Let all pods become ready, or where they are let one role end well; says which, nothing where nothing is left."""
    waiting = [
        (child.role, child.pod_name(pod))
        for child in played.jobs.values()
        for pod in child.active()
        if pod.phase == PENDING
    ]
    if waiting:
        played.happen(f"ready: {','.join(dict.fromkeys(name for _, name in waiting))}")
        roles = list(dict.fromkeys(f"`{role}`" for role, _ in waiting))
        return f"once {' and '.join(roles)} {'is' if len(roles) == 1 else 'are'} ready"
    child = next((child for child in played.jobs.values() if child.active()), None)
    if child is None or played.terminal:
        return ""
    played.happen(f"succeeded {child.name}")
    return f"once Job `{child.name}` has succeeded"


def _failures(job: Job, role: dict[str, Any]) -> list[dict[str, Any]]:
    """What happens when a pod of a role fails again and again in one way, for each way that its policy tells apart."""
    name = text(role, "name")
    if any(one.name == name and Unknown in (type(one.replicas), type(one.width), type(one.size)) for one in job.roles):
        return [{"role": name, "steps": ["the number of its pods is unknown"]}]
    ways = _ways(fields(fields(role.get("template")).get("spec")))
    return [{"role": name, "fails": how, "steps": steps} for how in ways if (steps := _played(job, name, how))]


def _ways(spec: dict[str, Any]) -> list[str]:
    """The exit codes and conditions that the policy of a Job tells apart, and an exit code that nobody expects."""
    ways = ["exit 1"]
    for _, rule in maps(fields(spec.get("podFailurePolicy")).get("rules")):
        codes = items(fields(rule.get("onExitCodes")).get("values"))
        ways += [f"exit {code}" for code in codes[:_MAX_CODES] if type(code) is int]
        ways += [text(pattern, "type") for _, pattern in maps(rule.get("onPodConditions"))]
    return list(dict.fromkeys(ways))


def _played(job: Job, role: str, how: str) -> list[str]:
    """The steps until the JobSet has failed, equal ones counted; of many the first, and how many more there are."""
    played = Lifecycle(job.tree)
    if played.is_suspended:
        played.happen("resumed")
    steps: list[tuple[str, int]] = []
    restarts = uncounted = 0
    for _ in range(_MAX_FAILURES):
        if not (pod := _pod_of(played, role)):
            break
        counted = played.counted
        step, is_restart = _step(played, pod, how)
        restarts += is_restart
        uncounted += is_restart and played.counted == counted
        if steps and steps[-1][0] == step:
            steps[-1] = step, steps[-1][1] + 1
        else:
            steps.append((step, 1))
        if played.terminal:
            break
    else:
        child = next(child for child in played.jobs.values() if child.role == role)
        per_index = child.spec.get("backoffLimitPerIndex")
        # How many failures one Job stands, each pod as often as the others; without any, all were ignored.
        of_one_job = min(per_index * child.size, child.most) if type(per_index) is int else child.most
        bound = _MOST if uncounted or not (restarts or child.failures) else played.most if restarts else of_one_job
        if restarts and len(steps) > 1:
            steps.append((f"and so on, {_up_to(bound, 'restart')}", 1))
        else:
            steps[-1] = f"{steps[-1][0]}, {_up_to(bound, 'time')}", 1
    return [words if count == 1 else f"{words}, {count} times" for words, count in steps]


def _up_to(bound: int, what: str) -> str:
    return "without limit" if bound >= _MOST else f"up to {bound} {what}{'s' if bound != 1 else ''}"


def _pod_of(played: Lifecycle, role: str) -> str:
    """The first running pod of a role, after whatever it waits for; empty where it never runs."""
    for _ in range(_MAX_STEPS):
        child = next((child for child in played.jobs.values() if child.role == role and child.active()), None)
        if child is not None:
            return child.pod_name(child.active()[0])
        if not _advance(played):
            return ""
    return ""


def _step(played: Lifecycle, pod: str, how: str) -> tuple[str, bool]:
    """What comes of a failure of a pod, and whether Jobs are made anew."""
    restarts, jobs = played.restarts, dict(played.jobs)
    played.happen(f"failed {pod} {how}")
    did = played.did.partition(" (failure")[0]
    if played.terminal == "Failed":
        return f"{did}; the JobSet fails ({played.conditions['Failed']})", False
    if played.terminal:
        return f"{did}; the JobSet has succeeded", False
    if played.restarts > restarts:
        return f"{did}; the JobSet restarts all Jobs", True
    again = [name for name, child in played.jobs.items() if name in jobs and child is not jobs[name]]
    return (f"{did}; Job `{again[0]}` alone is restarted", True) if again else (did, False)
