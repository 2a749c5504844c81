"""Older jobs as TrainJobs: the user's own nodes, with their comments, in their new places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.migrate.chunks import alone, fresh, reshape
from trainc.migrate.wanted import OF_SERVER, wanted
from trainc.model.legacy_kinds import KINDS, LISTED

if TYPE_CHECKING:
    from trainc.migrate.wanted import Wanted

_FIELDS = {"image": "image", "command": "command", "args": "args", "env": "env", "resourcesPerNode": "resources"}
# A replicatedJob that stands for a role of another name: the roles it may come from, the first that is there.
_FORMER = {"node": ("master", "worker"), "leader": ("worker",), "master-rest": ("master",)}


def rewrite(
    root: Any, plain: dict[str, Any], objects: list[Any], namespaces: frozenset[str]
) -> tuple[list[Any], Wanted]:
    """The documents that take the place of one older job, the TrainJob first; `root` becomes the TrainJob."""
    want = wanted(plain, objects, namespaces)
    templates = _templates(root, plain)
    runtime = fresh(want.runtime)
    for index, job in enumerate(want.runtime["spec"]["template"]["spec"]["replicatedJobs"]):
        former = next((old for old, new in want.roles.items() if new == job["name"]), job["name"])
        node = _template(templates, former)
        if node is not None:
            wish = job["template"]["spec"]["template"]
            placed = runtime["spec"]["template"]["spec"]["replicatedJobs"][index]["template"]["spec"]
            _call_node(node, want.containers)
            placed["template"] = reshape(alone(node), wish)
    _job(root, want, templates)
    return [root, runtime, *(fresh(extra) for extra in want.extras)], want


# What no TrainJob says: where it stands in an older job, and why it is left behind.
_LEFT = (
    (("schedulingPolicy",), "a TrainJob is a gang as a whole, its queue and priority are said to the scheduler"),
    (("ttlSecondsAfterFinished",), "a job that is deleted after its time is applied again from Git"),
    (("cleanPodPolicy",), "a JobSet ends what still runs and keeps what has finished"),
    (("elasticPolicy", "metrics"), "nothing can scale a JobSet"),
    (("enableDynamicWorker",), "the number of workers cannot change while the job runs"),
    (("tensorboard",), "run it as a Deployment of its own"),
)


def left_behind(old: dict[str, Any], objects: list[Any]) -> list[str]:
    """What an older job says that its TrainJob does not, one sentence each."""
    spec = old["spec"]
    kept = next(tree["spec"] for tree in objects if tree["kind"] == "JobSet")
    said = []
    for path, why in _LEFT:
        places = [(*above, *path) for above in ((), ("runPolicy",))]
        found = next((place for place in places if _at(spec, place)), None)
        if found is not None and path[-1] not in kept:
            said.append(f"`spec.{'.'.join(found)}` is left behind: {why}")
    dropped = [f"`metadata.{key}`" for key in old["metadata"] if key in OF_SERVER]
    dropped += ["`status`"] if "status" in old else []
    return [*said, f"{', '.join(dropped)}: dropped, because nobody but a server writes it"] if dropped else said


def _at(node: Any, path: tuple[str, ...]) -> bool:
    """Whether something is said at a path: a zero says something, an empty map does not."""
    for key in path:
        node = node.get(key) if isinstance(node, dict) else None
    return node is not None and node is not False and node not in ("", {}, [])


def _templates(root: Any, plain: dict[str, Any]) -> dict[str, Any]:
    """The pod templates of a job by role, in lower case."""
    kind = KINDS[plain["apiVersion"], plain["kind"]]
    if kind.field != LISTED:
        roles = root["spec"].get(kind.field) or {}
        return {str(key).lower(): role.get("template") for key, role in roles.items() if isinstance(role, dict)}
    found: dict[str, Any] = {}
    for key, entries in root["spec"].items():
        if str(key).replace("_", "").lower() == LISTED.lower():
            for entry in entries:
                names = [
                    value for name, value in entry.items() if str(name).replace("_", "").lower() == "tfreplicatype"
                ]
                found[str(names[0] if names else "MASTER").lower()] = entry.get("template")
    return found


def _template(templates: dict[str, Any], role: str) -> Any:
    names = (role, *_FORMER.get(role, ()))
    return next((templates[name] for name in names if templates.get(name) is not None), None)


def _call_node(template: Any, containers: dict[str, str]) -> None:
    """Give the main container its new name first, so that it is found again by it."""
    for container in template["spec"]["containers"]:
        if isinstance(container, dict) and container.get("name") in containers:
            container["name"] = containers[container["name"]]


def _job(root: Any, want: Wanted, templates: dict[str, Any]) -> None:
    wish = want.job
    root["apiVersion"], root["kind"] = wish["apiVersion"], wish["kind"]
    root["metadata"] = reshape(root["metadata"], wish["metadata"])
    spec = fresh(wish["spec"])
    former = next(iter(want.roles), "")
    template = _template(templates, former) if former else None
    if template is not None:
        main = next(c for c in template["spec"]["containers"] if isinstance(c, dict) and c.get("name") == "node")
        for field, old in _FIELDS.items():
            if field in wish["spec"]["trainer"] and old in main:
                spec["trainer"][field] = reshape(alone(main[old]), wish["spec"]["trainer"][field])
    root["spec"] = spec
    for key in [key for key in root if key not in wish]:
        del root[key]
