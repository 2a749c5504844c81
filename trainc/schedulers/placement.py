"""A JobSet with the groups beside it and the ties of its pods, read back from what will be applied."""

from __future__ import annotations

from trainc.model.gang import members, roles_of
from trainc.model.sourced import Sourced
from trainc.model.tree import get, value
from trainc.schedulers.keys import (
    API_GROUPS,
    COSCHEDULING_LABEL,
    KUEUE_QUEUE,
    NATIVE_FIELD,
    PROFILES,
    VOLCANO_GROUP,
    pod_metadata,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.bundle import Bundle
    from trainc.model.cluster import Cluster
    from trainc.model.plan import Role
    from trainc.model.sourced import Span
    from trainc.model.tree import Path, Tree

POD = ("template", "spec", "template")


class Tie:
    """What makes the pods of a role part of a group: whose it is, where it stands, and the group it names."""

    __slots__ = ("back_end", "group", "path", "role")

    def __init__(self, back_end: str, role: Role, path: Path, group: Sourced[str]) -> None:
        self.back_end = back_end
        self.role = role
        self.path = path  # inside the JobSet
        self.group = group


class Group:
    """One PodGroup: whose it is and the fewest pods that it lets start."""

    __slots__ = ("back_end", "minimum", "minimum_path", "tree")

    def __init__(self, back_end: str, tree: Tree) -> None:
        self.back_end = back_end
        self.tree = tree
        self.minimum_path: Path = (
            ("spec", "schedulingPolicy", "gang", "minCount") if back_end == "native" else ("spec", "minMember")
        )
        self.minimum: int | None = _whole(get(tree, *self.minimum_path))

    @property
    def name(self) -> str:
        """The name its pods tie themselves to."""
        return value(self.tree, "metadata", "name") or ""


class Placement:
    """Everything about placing the pods of one bundle that a rule may want to look at."""

    __slots__ = ("bundle", "cluster", "groups", "jobset", "members", "roles", "ties")

    def __init__(self, bundle: Bundle, cluster: Cluster) -> None:
        self.bundle = bundle
        self.cluster = cluster
        self.jobset = bundle.jobset
        self.roles = roles_of(get(self.jobset, "spec"))
        self.groups = [g for tree in bundle.of_kind("PodGroup") if (g := _group(tree)) is not None]
        self.ties = [tie for role in self.roles for tie in _ties(role)]
        self.members = members(self.roles)

    def at(self, *path: str | int) -> Span:
        """The place of a node of the JobSet in the user's files."""
        return self.bundle.span(self.jobset, path)

    def role_at(self, role: Role, *path: str | int) -> Span:
        """The place of a node of one role's replicatedJob."""
        return self.at("spec", "replicatedJobs", role.index, *path)

    @property
    def queue(self) -> Sourced[str] | None:
        """Kueue's queue, None where the JobSet names none."""
        leaf = get(self.jobset, "metadata", "labels", KUEUE_QUEUE)
        return leaf if type(leaf) is Sourced and leaf.value else None

    def tied(self, back_end: str) -> list[Role]:
        """The roles whose pods belong to a group of that back end."""
        return [tie.role for tie in self.ties if tie.back_end == back_end]

    @property
    def back_ends(self) -> list[str]:
        """Whose groups or ties are there, each once."""
        return list(dict.fromkeys([*(g.back_end for g in self.groups), *(t.back_end for t in self.ties)]))

    @property
    def volcano(self) -> bool:
        """Whether Volcano has a say: a group, a tie, or a pod that asks for its scheduler."""
        return "volcano" in self.back_ends or any(
            value(role.pod, "schedulerName") == PROFILES["volcano"] for role in self.roles
        )


def _ties(role: Role) -> list[Tie]:
    metadata = (*POD, "metadata")
    places = (
        ("coscheduling", (*metadata, "labels", COSCHEDULING_LABEL)),
        ("volcano", (*metadata, "annotations", VOLCANO_GROUP)),
        ("native", (*POD, "spec", NATIVE_FIELD, "podGroupName")),
    )
    found = [(name, path, get(role.tree, *path)) for name, path in places]
    return [
        Tie(name, role, ("spec", "replicatedJobs", role.index, *path), leaf)
        for name, path, leaf in found
        if type(leaf) is Sourced and type(leaf.value) is str
    ]


def _group(tree: Tree) -> Group | None:
    group = (value(tree, "apiVersion") or "").partition("/")[0]
    return Group(API_GROUPS[group], tree) if group in API_GROUPS else None


def _whole(node: Tree) -> int | None:
    return node.value if type(node) is Sourced and type(node.value) is int else None


def pod_annotations(role: Role) -> Tree:
    """The annotations of a role's pods, empty where there are none."""
    found = get(pod_metadata(role), "annotations")
    return found if type(found) is dict else {}
