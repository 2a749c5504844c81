"""Two compilations of one job side by side: every difference, and why it is there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from trainc.frameworks.vocabularies import TORCHRUN, VOCABULARIES
from trainc.model.inference import PORT
from trainc.model.masking import MASK, named_secret, variable_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

UNEXPLAINED = "not explained: compare the two before you use the new file"


class Difference(NamedTuple):
    """One field that the two differ in; None where a side does not have it."""

    path: str
    before: object
    after: object
    reason: str

    def __str__(self) -> str:
        hidden = named_secret(variable_of(self.path))
        before, after = (MASK if hidden and side is not None else _shown(side) for side in (self.before, self.after))
        return f"{self.path}: {before} -> {after} ({self.reason})"


def _shown(value: object) -> str:
    return "absent" if value is None else repr(value)


def _set(names: Iterable[str]) -> str:
    """A pattern of the paths of variables."""
    return rf"env\[({'|'.join(names)})\]"


# What the Trainer does otherwise than the operators did; the first pattern that matches the path names the reason.
_REASONS = (
    (
        r"env\[(PET_RDZV_ENDPOINT|POD_NAMESPACE)\]|/dnsConfig/searches\[",
        "the file names no namespace: the rendezvous host takes it from the pod",
    ),
    (
        _set(TORCHRUN.passes_on),
        f"torchrun meets at the Trainer's port {PORT}; programs without it still use MASTER_PORT",
    ),
    (
        _set(TORCHRUN.processes[1:]),
        "the Trainer counts processes from the resources unless `numProcPerNode` says how many",
    ),
    (_set(VOCABULARIES["torch"].reserved), "set by the Trainer's torch policy"),
    (
        _set(VOCABULARIES["jax"].reserved),
        "set by the Trainer's jax policy, so `jax.distributed.initialize()` needs no arguments",
    ),
    (
        _set(VOCABULARIES["xgboost"].reserved),
        "set by the Trainer's xgboost policy, so no script has to derive it",
    ),
    (r"^PodGroup/", "a TrainJob is a gang as a whole: its queue and priority are said to the scheduler"),
    (r"ports\[", "the port where processes meet under the Trainer"),
    (r"training\.kubeflow\.org/", "labels of an operator that is no longer involved"),
    (r"trainjob-ancestor-step", "marks the role that the Trainer scales and wires"),
    (r"/groupName$", "the server's default, written out"),
    (r"annotations/trainc\.dev/", "how the older job was compiled"),
)


def differences(
    before: list[Any], after: list[Any], roles: Mapping[str, str], containers: Mapping[str, str]
) -> list[Difference]:
    """Every field in which two lists of objects differ, roles and containers called by their new names in both."""
    old = {_renamed(path, roles, containers): value for path, value in _flat(before)}
    new = dict(_flat(after))
    found = []
    for path in [*old, *(path for path in new if path not in old)]:
        left, right = old.get(path), new.get(path)
        if left != right:
            found.append(Difference(path, left, right, _reason(path, left, right, roles, containers)))
    return found


def _reason(path: str, left: object, right: object, roles: Mapping[str, str], containers: Mapping[str, str]) -> str:
    for former, name in (*roles.items(), *containers.items()):
        if former != name and isinstance(left, str) and isinstance(right, str) and _same(left, right, former, name):
            return f"`{former}` is called `{name}` under the Trainer"
    return next((reason for pattern, reason in _REASONS if re.search(pattern, path)), UNEXPLAINED)


def _same(left: str, right: str, former: str, name: str) -> bool:
    return left.replace(f"-{former}-", f"-{name}-") == right or (left, right) == (former, name)


def _renamed(path: str, roles: Mapping[str, str], containers: Mapping[str, str]) -> str:
    for former, name in roles.items():
        path = path.replace(f"/replicatedJobs[{former}]", f"/replicatedJobs[{name}]")
    for former, name in containers.items():
        path = path.replace(f"/containers[{former}]", f"/containers[{name}]")
    return path


def _flat(objects: list[Any]) -> Iterator[tuple[str, object]]:
    for tree in objects:
        for path, value in _leaves(tree, f"{tree['kind']}/{tree['metadata']['name']}"):
            if value != "" or not path.endswith("]/value"):  # a variable without a value is an empty one
                yield path, value


def _leaves(node: Any, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(node, dict) and node:
        for key, value in node.items():
            if key != "name" or not path.endswith("]"):
                yield from _leaves(value, f"{path}/{key}")
    elif isinstance(node, list) and node:
        for index, item in enumerate(node):
            name = item.get("name", item.get("containerPort", index)) if isinstance(item, dict) else index
            yield from _leaves(item, f"{path}[{name}]")
    else:
        yield path, node
