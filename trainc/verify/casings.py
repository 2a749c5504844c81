"""All of a pod but the containers that train: what the jobs of one runtime leave as it is."""

from __future__ import annotations

from trainc.verify.contents import Contents
from trainc.verify.data.machines import MACHINE_LABELS
from trainc.verify.disks import VOLUMES
from trainc.verify.frames import frame_of
from trainc.verify.rules.accelerators import ordinary_machine
from trainc.verify.rules.life import PREEMPTIBLE
from trainc.verify.values import rows, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.model.shared import Shared
    from trainc.model.tree import Tree
    from trainc.verify.contents import Outline as ContainerOutline
    from trainc.verify.disks import Volumes
    from trainc.verify.frames import Frame
    from trainc.verify.variables import Need

    Outline = tuple[Frame, Volumes, tuple[ContainerOutline, ...]]


class Casing:
    """The pods of a role without their main containers and their node selector, read once for all jobs that share them.

    `init` are the init containers, `outline` is what jobs may have in common, `traits` are what single texts show.
    `needs` are kind and name of the objects that they need.
    """

    __slots__ = ("disks", "frame", "init", "needs", "outline", "traits")

    def __init__(self, pod: Mapping[str, Tree], shared: Shared | None) -> None:
        self.frame = frame_of(pod)
        self.disks = VOLUMES[pod.get("volumes")]
        init = rows(pod, "initContainers") if "initContainers" in pod else ()
        self.init = [Contents(tree) if shared is None else shared.once(tree, Contents) for tree in init]
        self.outline: Outline = self.frame, self.disks, tuple([contents.outline for contents in self.init])
        self.traits = self._traits()
        self.needs = frozenset(self._needs(pod))

    def _needs(self, pod: Mapping[str, Tree]) -> list[Need]:
        secrets = rows(pod, "imagePullSecrets") if "imagePullSecrets" in pod else ()
        return [
            *[(kind, name) for kind, name, _ in self.disks.references],
            *[("Secret", text(secret, "name")) for secret in secrets],
            *[need for contents in self.init for need in contents.needs],
        ]

    def _traits(self) -> frozenset[str]:
        found: set[str] = set()
        for contents in self.init:
            found |= contents.traits
            if text(contents.tree, "restartPolicy") != "Always":
                found.add("before the others")
            if contents.names.addressed:
                found.add("address in init container")
        return frozenset(found)


def casing_of(pod: Mapping[str, Tree], shared: Shared | None) -> Casing:
    """What the spec of a pod says besides its main containers and its node selector."""
    rest = dict(pod)
    rest.pop("containers", None)
    rest.pop("nodeSelector", None)
    return Casing(rest, shared) if shared is None else shared.alike(rest, Casing)


class Selector:
    """A node selector: its `machine` where that is a known one that can be taken whole, and what is worth a look."""

    __slots__ = ("chooses", "machine", "traits")

    def __init__(self, tree: Tree) -> None:
        labels = tree if type(tree) is dict else {}
        self.chooses = not MACHINE_LABELS.isdisjoint(labels)
        self.machine = ordinary_machine(labels) if self.chooses else None
        self.traits = frozenset(() if PREEMPTIBLE.isdisjoint(labels) else ("preemptible",))


NO_SELECTOR = Selector(None)
