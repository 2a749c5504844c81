"""All of a pod but the containers that train: what the jobs of one runtime leave as it is."""

from __future__ import annotations

from trainc.model.remembered import Fields, Nodes
from trainc.model.sourced import Sourced
from trainc.verify.contents import Contents
from trainc.verify.data.machines import MACHINE_LABELS
from trainc.verify.disks import VOLUMES
from trainc.verify.frames import frame_of
from trainc.verify.rules.accelerators import ordinary_machine
from trainc.verify.rules.life import PREEMPTIBLE
from trainc.verify.rules.templates import TOLERATIONS
from trainc.verify.texts import ODD_CLASSES, ODD_KEYS, ODD_VALUES
from trainc.verify.values import rows, table, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.model.tree import Tree
    from trainc.verify.contents import Outline as ContainerOutline
    from trainc.verify.disks import Volumes
    from trainc.verify.frames import Frame

    Outline = tuple[Frame, Volumes, tuple[ContainerOutline, ...]]

# Names of other objects that pods may give.
_NAMES = ("serviceAccountName", "runtimeClassName", "nodeName")
_MOST = 200  # of these are known at a time: each keeps volumes and init containers alive


class Casing:
    """The pods of a role without their main containers, read once for all jobs that share every part of them.

    `init` are the init containers, `outline` is what jobs may have in common, `traits` are what single texts show.
    `selects` says whether the pods choose a kind of machine, `machine` is that where it is a known one to be taken
    whole. `fine` is whether pod validation takes all this, None as long as nobody had to ask.
    """

    __slots__ = ("addressed", "disks", "fine", "frame", "init", "machine", "outline", "selects", "traits")

    def __init__(self, pod: Mapping[str, Tree]) -> None:
        self.frame = frame_of(pod)
        self.disks = VOLUMES[pod.get("volumes")]
        self.init = [_CONTENTS[tree] for tree in rows(pod, "initContainers")]
        self.addressed = any(contents.names.addressed for contents in self.init)
        self.outline: Outline = self.frame, self.disks, tuple([contents.outline for contents in self.init])
        selector = table(pod, "nodeSelector")
        self.selects = not MACHINE_LABELS.isdisjoint(selector)
        self.machine = ordinary_machine(selector) if self.selects else None
        self.traits = self._traits(pod, selector)
        self.fine: bool | None = None

    def _traits(self, pod: Mapping[str, Tree], selector: Tree) -> frozenset[str]:
        found: set[str] = set()
        if odd_labels(selector):
            found.add("odd label")
        if not PREEMPTIBLE.isdisjoint(selector):
            found.add("preemptible")
        if "tolerations" in pod and TOLERATIONS[pod["tolerations"]]:
            found.add("odd toleration")
        for field in _NAMES:
            if field in pod and (not text(pod, field) or ODD_CLASSES[text(pod, field)]):
                found.add("odd account")
        for contents in self.init:
            found |= contents.traits
            if text(contents.tree, "restartPolicy") != "Always":
                found.add("before the others")
        return frozenset(found)


def odd_labels(labels: Mapping[str, Tree]) -> bool:
    """Whether a key or a value cannot be that of a label."""
    for key, leaf in labels.items():
        if ODD_KEYS[key] or (type(leaf) is Sourced and type(leaf.value) is str and ODD_VALUES[leaf.value]):
            return True
    return False


_CONTENTS, _CASINGS = Nodes(Contents), Fields(Casing, most=_MOST)


def casing_of(pod: Mapping[str, Tree]) -> Casing:
    """What the spec of a pod says of all but its main containers."""
    rest = dict(pod)
    rest.pop("containers", None)
    return _CASINGS[rest]
