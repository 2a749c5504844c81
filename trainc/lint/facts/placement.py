"""A JobSet with the groups beside it and the ties of its pods, read back from what will be applied."""

from functools import cached_property
from typing import NamedTuple

from trainc.lint.facts.job import Job
from trainc.model.finding import ERROR, WARNING, Rule
from trainc.model.plan import Role
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Path, Tree, filled, get, value
from trainc.schedulers.gang import PROFILES, concerns, members, pod_metadata, roles_of
from trainc.text.object_keys import API_GROUPS, COSCHEDULING_LABEL, KUEUE_QUEUE, NATIVE_FIELD, VOLCANO_GROUP

POD = ("template", "spec", "template")
# What ties pods to a group, by the section of their metadata, and whose group it is.
_TIES = {"labels": COSCHEDULING_LABEL, "annotations": VOLCANO_GROUP}
_BACK_ENDS = {COSCHEDULING_LABEL: "coscheduling", VOLCANO_GROUP: "volcano"}
MISPLACED_QUEUE = Rule("queue-misplaced", ERROR)
KUEUE_UNREAD = Rule("kueue-key-unread", WARNING)


class Tie(NamedTuple):
    """What makes the pods of a role part of a group: whose it is, where it stands, and the group it names."""

    back_end: str
    role: Role
    path: Path  # inside the JobSet
    group: Sourced[str]


class Group:
    """One PodGroup: whose it is and the fewest pods that it lets start."""

    __slots__ = ("back_end", "minimum", "minimum_path", "name", "tree")

    def __init__(self, back_end: str, tree: Tree) -> None:
        self.back_end = back_end
        self.tree = tree
        self.minimum_path: Path = (
            ("spec", "schedulingPolicy", "gang", "minCount") if back_end == "native" else ("spec", "minMember")
        )
        minimum = value(tree, *self.minimum_path)
        self.minimum: int | None = minimum if type(minimum) is int else None
        name = value(tree, "metadata", "name")
        self.name: str = name if type(name) is str else ""  # its pods tie themselves to it


class Gang(NamedTuple):
    """The roles whose pods name one group: whose it is, and the group itself where it is among these files."""

    back_end: str
    group: Group | None
    roles: list[Role]


class Spot(NamedTuple):
    """The labels or annotations written at one place of a JobSet: on itself, on a role's Job, or on its pods."""

    level: str  # jobset, job or pod
    path: Path
    section: str
    keys: Tree


class Placement:
    """Everything about placing the pods of one bundle that a rule may want to look at.

    `jobs` are the named replicatedJobs, those that are roles, `pods` the specs of their pods, `queue` is Kueue's, None
    where the JobSet names none; `spots` are left out where nothing is said to any scheduler or queue.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.bundle = bundle = job.bundle
        self.cluster = job.cluster
        self.report = job.report
        self.jobset = job.tree
        self.queue: Sourced[str] | None = filled(self.jobset, "metadata", "labels", KUEUE_QUEUE)
        self.spots = _spots("jobset", (), self.jobset)
        self.ties: list[Tie] = []
        self.jobs: list[Tree] = []
        self.pods: list[Tree] = []
        for role in job.roles:
            if type(role.tree.get("name")) is not Sourced:
                continue
            named = self.roles[len(self.jobs)]
            self.jobs.append(role.tree)
            self.pods.append(role.pod)
            template = role.tree.get("template")
            self.spots += _spots("job", (*role.path, "template"), template)
            for spot in _spots("pod", (*role.spec_path, "template"), get(template, "spec", "template")):
                self.spots.append(spot)
                key = _TIES[spot.section]
                leaf = spot.keys.get(key)
                if type(leaf) is Sourced and type(leaf.value) is str:
                    self.ties.append(Tie(_BACK_ENDS[key], named, (*spot.path, key), leaf))
            group = get(role.pod, NATIVE_FIELD, "podGroupName")
            if type(group) is Sourced:
                self.ties.append(Tie("native", named, (*role.pod_path, NATIVE_FIELD, "podGroupName"), group))
        tied = {(tie.back_end, tie.group.value) for tie in self.ties}
        own = {id(tree) for tree in bundle.objects}
        kinds = [(str(value(tree, "apiVersion")).partition("/")[0], tree) for tree in bundle.of_kind("PodGroup")]
        groups = [Group(API_GROUPS[api], tree) for api, tree in kinds if api in API_GROUPS]
        # A group that goes out with another job of the file counts where pods of this one belong to it.
        self.groups = [g for g in groups if id(g.tree) in own or (g.back_end, g.name) in tied]
        # Whose groups or ties are there, each once.
        self.back_ends = list(dict.fromkeys([*[g.back_end for g in self.groups], *[t.back_end for t in self.ties]]))

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """All roles, whether their pods belong to a group or not."""
        return roles_of(self.jobset["spec"])

    @cached_property
    def members(self) -> tuple[Role, ...]:
        """The roles whose pods run together from start to end."""
        return members(self.roles)

    def at(self, *path: str | int) -> Span:
        """The place of a node of the JobSet in the user's files."""
        return self.bundle.span(self.jobset, path)

    def role_at(self, role: Role, *path: str | int) -> Span:
        """The place of a node of one role's replicatedJob."""
        return self.at("spec", "replicatedJobs", role.index, *path)

    def gangs(self) -> list[Gang]:
        """The gangs to which pods belong, in the order in which the roles name them."""
        by_name: dict[tuple[str, str], Gang] = {}
        for tie in self.ties:
            key = tie.back_end, tie.group.value
            if key not in by_name:
                group = next((group for group in self.groups if (group.back_end, group.name) == key), None)
                by_name[key] = Gang(tie.back_end, group, [])
            by_name[key].roles.append(tie.role)
        return list(by_name.values())

    @property
    def volcano(self) -> bool:
        """Whether Volcano has a say: a group, a tie, or a pod that asks for its scheduler."""
        return "volcano" in self.back_ends or any(
            value(pod, "schedulerName") == PROFILES["volcano"] for pod in self.pods
        )


def _spots(level: str, path: Path, tree: Tree) -> list[Spot]:
    metadata = tree.get("metadata") if type(tree) is dict else None
    if type(metadata) is not dict:
        return []
    sections = [(section, keys) for section in _TIES if type(keys := metadata.get(section)) is dict]
    is_told = [(section, keys) for section, keys in sections if concerns("\n".join(keys))]
    return [Spot(level, (*path, "metadata", section), section, keys) for section, keys in is_told]


def pod_annotations(role: Role) -> Tree:
    """The annotations of a role's pods, empty where there are none."""
    annotations = get(pod_metadata(role), "annotations")
    return annotations if type(annotations) is dict else {}
