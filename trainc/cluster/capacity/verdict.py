"""What Kueue answers for one job: why flavors were passed over, and the one reason that it reports of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from trainc.cluster.capacity.facts import Cell
from trainc.cluster.capacity.pods import PodSet

WEBHOOK, WORKLOAD, RECONCILER = "jobset webhook", "workload webhook", "jobset reconciler"
NO_FLAVOR, TOO_MUCH, NO_PLACE = "NoMatchingFlavor", "ExceedsMaxQuota", "TopologyPlacementFailed"
WAITS = "WaitingForQuota"


class KueueVerdict:
    """Whether Kueue admits a job, with which flavors and where, or the reason why it does not.

    `missing` names what the dump does not tell and the answer rests on; with it there is no verdict.
    """

    def __init__(self) -> None:
        self.is_managed = True
        self.queue = ""
        self.cluster_queue = ""
        self.podsets: Sequence[PodSet] = ()
        self.assigned: Sequence[PodSetAssignment] = ()
        self.has_quota = self.is_admitted = False
        self.borrowing = 0
        self.borrowed: list[tuple[str, int, str]] = []  # resource, amount and the cohort that lends it
        self.checks: list[str] = []  # that have to be ready before the job starts
        self.reason = ""
        self.message = ""
        self.messages: list[str] = []  # of each cycle that refused
        self.detail = ""  # why a queue is inactive
        self.cycles = 0
        self.refusal = ""  # the text of a request that is refused
        self.refused_by = ""
        self.priority: int | None = None
        self.priority_class = ""
        self.seconds = 0  # after which Kueue stops the job
        self.missing = ""

    @property
    def is_refused(self) -> bool:
        """Whether the job never starts as things are configured, however long it waits."""
        return self.is_managed and not self.has_quota and not self.missing

    @property
    def taken(self) -> dict[Cell, int]:
        """What the job takes of each flavor and resource."""
        out: dict[Cell, int] = {}
        for member in self.assigned:
            for name, choice in member.choices.items():
                cell = (choice.flavor, name)
                out[cell] = out.get(cell, 0) + member.requests.get(name, 0)
        return out


class PodSetAssignment:
    """What one cycle gives a pod set: flavors, or the reasons why it gets none."""

    def __init__(self, pods: PodSet, requests: dict[str, int]) -> None:
        self.pods = pods
        self.requests = requests
        self.choices: dict[str, FlavorAssignment] = {}
        self.reasons: list[str] = []
        self.error = ""
        self.attempts: dict[str, str] = {}  # the worst that each flavor came to, empty where it fits
        self.flavor = ""  # whose topology places the pods
        self.levels: list[str] = []
        self.domains: list[tuple[tuple[str, ...], int]] | None = None
        self.is_delayed = False

    @property
    def message(self) -> str:
        """Why this pod set waits, empty where it does not."""
        if self.error:
            return f"failed to assign flavors to pod set {self.pods.name}: {self.error}"
        if not self.reasons:
            return ""
        return f"couldn't assign flavors to pod set {self.pods.name}: {', '.join(sorted(self.reasons))}"


@dataclass(eq=False)
class FlavorAssignment:
    """The flavor of one resource: how far up it borrows, and where the next cycle goes on (-1: from the start)."""

    flavor: str
    borrowing: int
    tried: int = -1
