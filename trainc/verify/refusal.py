"""The words in which Kubernetes refuses a pod template or a Job, and where it says them."""

from __future__ import annotations

from trainc.model.finding import Refusal
from trainc.verify.values import rows, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.model.finding import Label, Rule
    from trainc.model.tree import Path
    from trainc.verify.job import Job
    from trainc.verify.pods import Role

POD, JOB = "pod", "job"


def refuse(
    job: Job,
    rule: Rule,
    path: Path,
    reason: str | tuple[str, ...],
    message: str,
    *,
    by: str = POD,
    key: bool = False,
    also: Iterable[Label] = (),
    help: str = "",  # noqa: A002 (the word users see)
    shown: Path = (),
    more: tuple[str, ...] = (),
) -> None:
    """Report that the API server will refuse the pods or the Job, in its own words as well as ours.

    `shown` is the path that the server prints where that is not where the mistake stands; several reasons for one
    mistake are lines of one refusal. `more` are lines about other places that the mistake leads to.
    """
    where = spelled(shown or path)
    reasons = (reason,) if type(reason) is str else reason
    lines = (*(f"{where}: {each}" for each in reasons), *more)
    job.refused.update(lines)
    effect = "the JobSet is accepted, its child Job is refused again and again, and no pod ever appears"
    if by is POD:
        effect = "the JobSet is accepted, but no pod can be made from this template: the job never starts"
    job.report.add(
        rule.at(
            job.at(path, key=key),
            message,
            also=also,
            effect=effect,
            help=help,
            refusal=Refusal(by, "\n".join(lines)),
        )
    )


def spelled(path: Path) -> str:
    """A path as the API server prints it; keys of maps with dots or slashes stand in brackets."""
    out = ""
    for step in path:
        if type(step) is int or "/" in str(step) or str(step).startswith("["):
            out += f"[{str(step).strip('[]')}]"
        else:
            out += f".{step}" if out else str(step)
    return out


def unsupported(value: str, supported: Iterable[str]) -> str:
    """The refusal of a word that is none of those supported."""
    words = ", ".join(f'"{word}"' for word in supported)
    return f'Unsupported value: "{value}": supported values: {words}'


def lost_mounts(role: Role, name: str) -> tuple[str, ...]:
    """What the API server says of the mounts of a volume that it refuses: to it there is none."""
    return tuple(
        f'{spelled((*container.path, "volumeMounts", index, "name"))}: Not found: "{name}"'
        for container in role.containers
        for index, mount in enumerate(rows(container.tree, "volumeMounts"))
        if text(mount, "name") == name
    )


def refused(job: Job, rule: Rule, path: Path, line: str, more: tuple[str, ...] = ()) -> None:
    """Report what the API server says about a template, unless that was said before."""
    if line in job.refused:
        return
    job.refused.update((line, *more))
    effect = "the JobSet is accepted, but no pod can be made from this template: the job never starts"
    message = f"`{path[-1]}` is refused: {line.partition(': ')[2]}"
    job.report.add(rule.at(job.at(path), message, effect=effect, refusal=Refusal(POD, "\n".join((line, *more)))))
