"""The text of an older job's new documents: the user's own lines, with their comments, in their new places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.changes.migrate.other_sources import roles_of_other
from trainc.changes.migrate.placed_text import Writer
from trainc.changes.migrate.source_reader import source_of
from trainc.changes.migrate.source_text import SourceEntry, SourceNode, apart, at, composed
from trainc.changes.migrate.target import OF_SERVER
from trainc.kinds.table import KINDS, LISTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.changes.migrate.target import MigrationTarget

OTHER_ENDS = frozenset("\r\x85\u2028\u2029")  # line ends that the parser counts and a text editor may not
_FIELDS = {"image": "image", "command": "command", "args": "args", "env": "env", "resourcesPerNode": "resources"}
# A replicatedJob that stands for a role of another name: the roles it may come from, the first that is there.
_FORMER = {"node": ("master", "worker"), "leader": ("worker",), "master-rest": ("master",)}


def written(text: str, plain: dict[str, Any], want: MigrationTarget) -> str:
    """The documents that take the place of one older job's `text`, which says `plain`."""
    source = source_of(text, plain)
    writer = Writer(want.containers, deeper=source.deeper)
    is_older = (plain.get("apiVersion"), plain.get("kind")) in KINDS
    roles = _roles(source.root, plain) if is_older else roles_of_other(source.root, plain)
    former = {new: old for old, new in want.roles.items()}
    pods = {name: _role_of(roles, former.get(name, name)) for name in _names(want)}
    out = [*source.above, *writer.document(want.job, _job(source.root, pods, want))]
    if want.own_runtime:
        out += ["---", *writer.document(want.runtime, _runtime(pods, want))]
    for extra in want.extras:
        out += ["---", *writer.document(extra, None)]
    return "".join(f"{line}\n" for line in [*_stripped(out), *source.below])


def _stripped(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


def unplaced(text: str, want: MigrationTarget) -> str:
    """The documents in a layout of their own: nothing is copied from the text but the mark that starts it."""
    start = "---\n" if text.startswith("---") else ""
    writer = Writer({}, deeper=False)
    documents = ["".join(f"{line}\n" for line in writer.document(tree, None)) for tree in want.documents]
    return start + "---\n".join(documents)


def _names(want: MigrationTarget) -> list[str]:
    return [role["name"] for role in want.roles_of_runtime]


def _roles(root: SourceNode, plain: dict[str, Any]) -> dict[str, SourceEntry]:
    """Where the roles of a job stand, by their names in lower case."""
    kind = KINDS[plain["apiVersion"], plain["kind"]]
    if kind.field != LISTED:
        field = at(root, "spec", kind.field)
        children = field.node.children if field is not None else None
        return {key.lower(): entry for key, entry in children.items()} if isinstance(children, dict) else {}
    spec = at(root, "spec")
    entries = spec.node.children if spec is not None else None
    if not isinstance(entries, dict):
        return {}
    listed = next((one.node.children for key, one in entries.items() if _is_key(key, LISTED)), None)
    return {_listed_role(entry): entry for entry in (listed if isinstance(listed, list) else [])}


def _is_key(key: str, name: str) -> bool:
    return key.replace("_", "").lower() == name.lower()


def _listed_role(entry: SourceEntry) -> str:
    value = entry.node.value if isinstance(entry.node.value, dict) else {}
    return str(next((one for key, one in value.items() if _is_key(key, "tfReplicaType")), "MASTER")).lower()


def _role_of(roles: Mapping[str, SourceEntry], name: str) -> SourceEntry | None:
    return next((roles[one] for one in (name, *_FORMER.get(name, ())) if one in roles), None)


def _job(root: SourceNode, pods: Mapping[str, SourceEntry | None], want: MigrationTarget) -> SourceNode:
    """Where the TrainJob's parts come from."""
    trainer = None
    if want.policy is not None:
        main = _main(pods.get(want.policy.trainers[0]), want)
        fields = {new: at(main, old) for new, old in _FIELDS.items()}
        trainer = apart(composed(**fields))
    spec, kept = at(root, "spec"), composed(trainer=trainer)
    return composed(
        apiVersion=at(root, "apiVersion"),
        kind=at(root, "kind"),
        metadata=at(root, "metadata"),
        spec=spec.holding(kept) if spec is not None else None,
    )


def _main(role: SourceEntry | None, want: MigrationTarget) -> SourceNode | None:
    """The main container of a role, where it stands."""
    listed = at(role.node, "template", "spec", "containers") if role is not None else None
    items = listed.node.children if listed is not None else None
    for entry in items if isinstance(items, list) else []:
        if isinstance(entry.node.value, dict) and entry.node.value.get("name") in want.containers:
            return entry.node
    return None


def _runtime(pods: Mapping[str, SourceEntry | None], want: MigrationTarget) -> SourceNode:
    """Where the runtime's parts come from: the pods of its roles from those of the job."""
    jobs = SourceNode(0, 0)
    jobs.children = []
    for name in _names(want):
        role = pods[name]
        template = at(role.node, "template") if role is not None else None
        node = composed(template=apart(composed(spec=apart(composed(template=template)))))
        node.value = {"name": name}
        jobs.children.append(role.holding(node) if role is not None else apart(node))
    inner = apart(composed(replicatedJobs=apart(jobs)))
    return composed(spec=apart(composed(template=apart(composed(spec=inner)))))


# What no TrainJob says: where it stands in an older job, and why it is left behind.
_LEFT = (
    (("schedulingPolicy",), "a TrainJob is a gang as a whole, its queue and priority are said to the scheduler"),
    (("ttlSecondsAfterFinished",), "a job that is deleted after its time is applied again from Git"),
    (("cleanPodPolicy",), "a JobSet ends what still runs and keeps what has finished"),
    (("elasticPolicy", "metrics"), "nothing can scale a JobSet"),
    (("enableDynamicWorker",), "the number of workers cannot change while the job runs"),
    (("tensorboard",), "run it as a Deployment of its own"),
)


def left_behind(old: dict[str, Any], jobset: dict[str, Any]) -> list[str]:
    """What an older job says that its TrainJob does not, one sentence each."""
    spec = old["spec"]
    sentences = []
    for path, why in _LEFT:
        places = [(*above, *path) for above in ((), ("runPolicy",))]
        stated_place = next((place for place in places if _at(spec, place)), None)
        if stated_place is not None and path[-1] not in jobset["spec"]:
            sentences.append(f"`spec.{'.'.join(stated_place)}` is left behind: {why}")
    dropped = [f"`metadata.{key}`" for key in old["metadata"] if key in OF_SERVER]
    dropped += ["`status`"] if "status" in old else []
    return (
        [*sentences, f"{', '.join(dropped)}: dropped, because nobody but a server writes it"] if dropped else sentences
    )


def _at(node: Any, path: tuple[str, ...]) -> bool:
    """Whether something is said at a path: a zero says something, an empty map does not."""
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return node is not None and node is not False and node not in ("", {}, [])
