"""What Volcano's webhook refuses of life cycle policies; of each list it reports the first mistake."""

from __future__ import annotations

from trainc.model.tree import get, plain, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.tree import Path, Tree

ANY = "*"
EVENTS = (ANY, "PodFailed", "PodEvicted", "PodPending", "Unknown", "TaskCompleted", "TaskFailed", "JobUpdated")
ACTIONS = (
    "AbortJob",
    "RestartJob",
    "RestartTask",
    "RestartPod",
    "RestartPartition",
    "TerminateJob",
    "CompleteJob",
    "ResumeJob",
)


def refused_policies(holder: Tree, above: Path, field: str) -> Iterator[tuple[Path, str, str]]:
    """Where in the policies of a job or a task the webhook finds a mistake, its words, and what to do.

    `field` is the path that it prints, which has no index.
    """
    events: set[str] = set()
    codes: set[int] = set()
    policies = get(holder, "policies")
    for index, policy in enumerate(policies if type(policies) is list else ()):
        mistake = _mistake(policy, field, events, codes)
        if mistake is not None:
            name, text, help_ = mistake
            path: Path = (*above, "policies", index)
            yield ((*path, name) if name else path), text, help_
            break
    if ANY in events and len(events) > 1:
        yield (*above, "policies"), "if there's * here, no other policy should be here", "name the events one by one"


def events_of(policy: Tree) -> list[str]:
    """The events of a policy: its list, then the single one, each once."""
    single = value(policy, "event")
    return list(dict.fromkeys([*(plain(get(policy, "events")) or ()), *([single] if single else ())]))


def _mistake(policy: Tree, field: str, events: set[str], codes: set[int]) -> tuple[str, str, str] | None:
    names, code = events_of(policy), value(policy, "exitCode")
    if names and code is not None:
        return "exitCode", "must not specify event and exitCode simultaneously", "keep one of them"
    if not names and code is None:
        return "", "either event and exitCode should be specified", "say what has to happen"
    if names:
        return _of_events(policy, names, field, events)
    if code == 0:
        return "exitCode", "0 is not a valid error code", "write a code from 1 to 255"
    if code in codes:
        return "exitCode", f"duplicate exitCode {code}", "keep one of them"
    codes.add(code)
    return None


def _of_events(policy: Tree, names: list[str], field: str, events: set[str]) -> tuple[str, str, str] | None:
    where = "event" if get(policy, "event") is not None else "events"
    for event in names:
        action = value(policy, "action") or ""
        if event not in EVENTS:
            return where, f'{field}: Invalid value: "{event}": invalid policy event', f"one of {', '.join(EVENTS)}"
        if action not in ACTIONS:
            help_ = f"one of {', '.join(ACTIONS)}"
            return "action", f'{field}: Invalid value: "{action}": invalid policy action', help_
        if event in events:
            return where, f"duplicate event {event}  across different policy", "keep one of them"
        events.add(event)
    return None
