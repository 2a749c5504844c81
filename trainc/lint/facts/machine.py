"""The machine that the pods of a role run on, as far as their node selector tells."""

from __future__ import annotations

from trainc.lint.facts.values import table, text
from trainc.lint.tables.machines import ACCELERATOR, ACCELERATORS, INSTANCE_LABELS, MACHINES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import ExpandedRole
    from trainc.lint.tables.machines import Machine
    from trainc.model.tree import Path, Tree


def _selected(selector: Tree) -> tuple[Machine | None, str]:
    """The machine that a node selector names, and the label that does."""
    for label in INSTANCE_LABELS:
        machine = MACHINES.get(text(selector, label).removeprefix("ml.")) if label in selector else None  # of HyperPod
        if machine is not None:
            return machine, label
    name = ACCELERATORS.get(text(selector, ACCELERATOR)) if ACCELERATOR in selector else None
    return (MACHINES[name] if name else None), ACCELERATOR


def machine_of(role: ExpandedRole) -> tuple[Machine | None, Path]:
    """The machine that a role's node selector names, and where it does."""
    machine, label = _selected(table(role.pod, "nodeSelector"))
    return machine, (*role.pod_path, "nodeSelector", label)
