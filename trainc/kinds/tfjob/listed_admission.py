"""What the first TensorFlow operator refused: mlkube.io and its successors with a list of replica specs."""

from __future__ import annotations

from trainc.kinds.shared.refusals import Refuser, containers
from trainc.kinds.shared.replica_lists import ListedReplica, listed, spelled
from trainc.model.tree import get, value
from trainc.text.placeholders import is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path

PREFIX = "invalid job spec: "


def refuse(r: Refuser) -> None:
    """Report everything that fails the set-up of such a job."""
    entries = listed(r.document.tree)
    for entry in entries:
        _entry(r, entry)
    _twice(r, entries)
    _chief(r, entries)
    board = spelled(r.spec, "tensorboard")
    if board is not None and not value(spelled(board, "logDir")):
        text = f"{PREFIX}tbReplicaSpec.LogDir must be specified"
        r.say(("spec", "tensorboard"), text, "`tensorboard` has no `logDir`")


def _entry(r: Refuser, entry: ListedReplica) -> None:
    role = entry.role
    if role not in r.kind.roles:
        text = f"tfReplicaSpec.TfReplicaType is {role} but must be one of [MASTER PS WORKER]"
        r.say(entry.path, text, f"`{role}` is not a replica type", help="one of MASTER, PS, WORKER")
        return
    for name, leaf in (("replicas", entry.count), ("tfPort", entry.port)):
        content: object = leaf.value
        if type(content) is not int and not is_placeholder(content):
            r.say(
                (*entry.path, name),
                f"{PREFIX}{name} must be a 32-bit integer",
                f"`{name}` of {role} is not a number",
                help="write a whole number",
            )
    if entry.template is None:
        if role != "PS":
            r.say(entry.path, f"Replica type {role} is missing a template", f"the {role} entry has no template")
        return
    if all(value(c, "name") != r.kind.container for c in containers(entry.tree)):
        text = f"Replica type {role} is missing a container named {r.kind.container}"
        r.say((*entry.path, "template"), text, f"no container of {role} is called `{r.kind.container}`")
    if role == "MASTER" and entry.count.value != 1 and not is_placeholder(entry.count.value):
        r.say(
            (*entry.path, "replicas"), "The MASTER must have Replicas = 1", f"{entry.count.value} masters are asked for"
        )


def _twice(r: Refuser, entries: list[ListedReplica]) -> None:
    seen: set[str] = set()
    for entry in entries:
        if entry.role in seen:
            text = f"{PREFIX}more than one entry of type {entry.role}"
            r.say(entry.path, text, f"two entries are of type {entry.role}", help="join them into one entry")
        seen.add(entry.role)


def _chief(r: Refuser, entries: list[ListedReplica]) -> None:
    chief = get(spelled(r.spec, "terminationPolicy"), "chief")
    name = value(chief, "replicaName")
    path: Path = ("spec", "terminationPolicy")
    if chief is not None and (name is None or value(chief, "replicaIndex") is None):
        r.say(path, f"{PREFIX}invalid termination policy", "the chief needs `replicaName` and `replicaIndex`")
        return
    name = name or "MASTER"
    if all(entry.role != name for entry in entries):
        r.say(("spec",), f"{PREFIX}Missing ReplicaSpec for chief: {name}", f"no entry is of the chief's type, {name}")
