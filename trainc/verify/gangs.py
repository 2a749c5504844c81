"""Gangs: groups of pods that a scheduler places together or not at all, whatever their kind is called."""

from __future__ import annotations

from trainc.verify.values import table, text, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path, Tree
    from trainc.verify.job import Job
    from trainc.verify.pods import Role

VOLCANO = "scheduling.k8s.io/group-name"
COSCHEDULING = "scheduling.x-k8s.io/pod-group"


class Gang:
    """`count` pods of the group `name` are placed together; `path` is where the PodGroup says so."""

    __slots__ = ("count", "name", "path", "scheduler", "tree")

    def __init__(self, name: str, scheduler: str, count: int | None, tree: Tree, path: Path) -> None:
        self.name = name
        self.scheduler = scheduler
        self.count = count
        self.tree = tree
        self.path = path


def gangs(job: Job) -> list[Gang]:
    """The PodGroups beside the job."""
    if "PodGroup" not in job.kinds:
        return []
    return [_gang(tree) for tree in job.kinds["PodGroup"]]


def _gang(tree: Tree) -> Gang:
    group = text(tree, "apiVersion").partition("/")[0]
    name = text(table(tree, "metadata"), "name")
    spec = table(tree, "spec")
    if group == "scheduling.k8s.io":
        count = whole(table(table(spec, "schedulingPolicy"), "gang"), "minCount")
        path: Path = ("spec", "schedulingPolicy", "gang", "minCount")
    else:
        count, path = whole(spec, "minMember"), ("spec", "minMember")
    scheduler = {"scheduling.volcano.sh": "volcano", "scheduling.k8s.io": "default"}.get(group, "coscheduling")
    return Gang(name, scheduler, count if type(count) is int else None, tree, path)


def members(job: Job, gang: Gang) -> list[Role]:
    """The roles whose pods say that they belong to the gang."""
    return [role for role in job.roles if gang.name in _groups(role)]


def _groups(role: Role) -> set[str]:
    names = {text(role.labels, COSCHEDULING), text(role.annotations, VOLCANO)}
    names.add(text(table(role.pod, "schedulingGroup"), "podGroupName"))
    return names - {""}
