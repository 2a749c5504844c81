"""Jobs that Kueue passes over: without the name of a queue, or with the name under a key that it does not read."""

from __future__ import annotations

from trainc.model.finding import ERROR, WARNING, Rule
from trainc.model.tree import get, value
from trainc.schedulers.keys import KUEUE
from trainc.text.object_keys import KUEUE_QUEUE
from trainc.text.spelling import nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.lint.facts.placement import Placement
    from trainc.model.report import Report
    from trainc.model.sourced import Span

NO_QUEUE = Rule("kueue-queue", WARNING)
_NAME = KUEUE_QUEUE.removeprefix(KUEUE)
_MEANT = frozenset(("queue", "queue-names", "queues", "local-queue", "local-queue-name", "localqueue", "queuename"))
_PAST_QUOTAS = "Kueue leaves the job alone: it starts at once, outside every quota"


def look(placement: Placement, report: Report) -> None:
    """Report a job that no queue of Kueue takes, once."""
    if placement.queue is not None or any(KUEUE_QUEUE in spot.keys for spot in placement.spots):
        return
    if KUEUE_QUEUE in (get(placement.bundle.document.tree, "metadata", "annotations") or ()):
        return  # reported as misplaced
    misspelt = next(_misspelt(placement), None)
    if misspelt is not None:
        key, span = misspelt
        report.add(
            NO_QUEUE.at(
                span,
                f"Kueue does not read `{key}`",
                effect=_PAST_QUOTAS,
                help=f"write it as a label: `{KUEUE_QUEUE}`",
                level=ERROR,
            )
        )
        return
    namespace = value(placement.jobset, "metadata", "namespace") or "default"
    scheduler = placement.cluster.scheduler
    if scheduler is None or scheduler.value != "kueue" or placement.cluster.has("LocalQueue", "default", namespace):
        return
    report.add(
        NO_QUEUE.at(
            placement.bundle.document.span(("metadata", "name")),
            "the job names no queue of Kueue",
            effect=_PAST_QUOTAS,
            help=f"name one by the label `{KUEUE_QUEUE}`, or set `queue` for the whole cluster",
        )
    )


def _misspelt(placement: Placement) -> Iterator[tuple[str, Span]]:
    """Keys on the job that are almost the label of its queue, each with its place."""
    document = placement.bundle.document
    for section in ("labels", "annotations"):
        own = get(document.tree, "metadata", section)
        for key in own if type(own) is dict else ():
            if _is_almost(key):
                yield key, document.span(("metadata", section, key), key=True)
    for spot in placement.spots:
        for key in spot.keys if spot.level == "jobset" else ():
            if _is_almost(key):
                yield key, placement.bundle.span(placement.jobset, (*spot.path, key))


def _is_almost(key: str) -> bool:
    domain, _, name = key.partition("/")
    if "kueue" not in domain or key == KUEUE_QUEUE:
        return False
    return name.lower().replace("_", "-") in _MEANT or nearest(name.lower(), (_NAME,)) == _NAME
