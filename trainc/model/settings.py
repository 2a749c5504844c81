"""The settings a run works under: the project's, and what the command line asked for."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from trainc.model.cluster import Cluster, Opening
from trainc.model.document import Document
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree
from trainc.text.globs import holds, matching
from trainc.text.memo import Memo

ROOM = 16 * 1024 * 1024  # bytes
FILE = "trainc.yaml"  # where it stands, a project starts
ADOPTED = "adopted.yaml"  # in a cluster's folder, the objects of adopted runs that are kept as they run
OUTPUT = "rendered"  # the folder of rendered files where a project names none
STRICT, WARN, IGNORE = "strict", "warn", "ignore"
STDIN = "<stdin>"  # the name of the text that comes from standard input


class Texts:
    """The names of files by the paths they were looked for under, and what is known of those that were looked into.

    Bytes wait for the turn of their file as long as there is room: a tree of any size never lies in memory whole.
    """

    def __init__(self, unsaved: Mapping[str, bytes] | None = None) -> None:
        # By file, the texts that an editor holds, or a run tries: each counts in the place of what is on the disk.
        self.unsaved: Mapping[str, bytes] = unsaved or {}
        self.names: dict[tuple[str, ...], list[str]] = {}
        self.listings: dict[str, tuple[list[str], list[str]]] = {}  # of each folder: those in it, and its files
        self.without_objects: set[str] = set()  # files that name no kind of objects which jobs name
        self._waiting: dict[str, bytes] = {}
        self._held = 0

    def hold(self, file: str, data: bytes) -> None:
        """Keep the bytes of a file until its turn."""
        if self._held < ROOM and file not in self._waiting:
            self._held += len(data)
            self._waiting[file] = data

    def held(self, file: str) -> bytes | None:
        """The bytes of a file that an editor holds, or that wait for its turn; None where there are none."""
        return self.unsaved[file] if file in self.unsaved else self._waiting.get(file)

    def replace(self, file: str, data: bytes) -> None:
        """Take these bytes for those of a file from now on."""
        self.drop(file)
        self.unsaved = {**self.unsaved, file: data}

    def drop(self, file: str) -> None:
        """Forget the bytes of a file: it has no turn, or it has come."""
        if (data := self._waiting.pop(file, None)) is not None:
            self._held -= len(data)


class ClusterChoice(NamedTuple):
    """The clusters that a job's annotation names, and the names in it that are not a cluster's."""

    clusters: list[Cluster]
    unknown: tuple[str, ...]


class Gap(NamedTuple):
    """Why files of a repository may be missing: which alone are `present`, in words, and the `help` that brings all."""

    present: str
    help: str


ARGOCD_GAP = Gap(
    "that Argo CD sent",
    "remove the annotation `argocd.argoproj.io/manifest-generate-paths` of the Application, or set it to what `trainc cmp paths FOLDER` "
    "prints in the repository, or commit a trainc.yaml at its top",
)
SPARSE_GAP = Gap(
    "that are checked out", "the checkout is sparse: add the folder of runtimes with `git sparse-checkout add FOLDER`"
)


class Checks(NamedTuple):
    """How a run checks, besides what the project says of its rules and clusters."""

    field_validation: str = STRICT
    admission_only: bool = False  # what servers refuse, and nothing else
    closed_world: bool = False  # what is not in the input does not exist
    pod_security: str = ""  # the level of the Pod Security Standards that is enforced, empty for the namespace's
    capacity: bool = True  # False where the command itself asks the cluster's dump whether jobs fit


@dataclass(frozen=True, eq=False)
class Project:
    """A repository of training specs: where it starts and what it says for all its jobs.

    Its settings are what trainc.yaml says: each is here once, under the name that it has there.
    """

    root: str  # absolute; all paths in findings and outputs are relative to it
    file: str = ""  # trainc.yaml relative to the root, empty where there is none
    name: str = ""  # what the project calls itself

    runtimes: tuple[str, ...] | None = None  # folders searched for runtimes; None for the nearest above each file
    rules: Mapping[str, str] = field(default_factory=dict)  # off, warning or error, by rule
    rules_by_path: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # such maps, by a glob of paths
    rules_from: tuple[Sourced[str], ...] = ()  # the names of installed packages' rules that count as well
    deadline: str = ""  # per-job where a TrainJob's deadline goes to every child Job
    secrets: Mapping[str, Sourced[str]] = field(default_factory=dict)  # existing:NAME or external-secrets, by framework
    output: str = OUTPUT  # the folder of rendered files, relative to the root
    copy_labels: tuple[Sourced[str], ...] = ()  # keys of a job's labels that its JobSet and pods get as well
    old_run: str = "prune"  # what becomes of an earlier run's file: prune, keep

    clusters: tuple[Cluster, ...] = field(default_factory=lambda: (Cluster(),))
    chosen: Cluster | None = None  # the one that the output is for just now; None for the first
    default_delivery: str = ""  # the tool that applies the output of a cluster that names none: argocd, flux
    policies: tuple[Document, ...] = ()  # admission policies, with their bindings and parameters
    policy_folders: tuple[str, ...] = ()
    assigned: Mapping[str, Any] = field(default_factory=dict)  # settings of the clusters, over what trainc.yaml says
    checks: Checks = field(default_factory=Checks)
    gap: Gap | None = None  # why what is not there may be somewhere else
    cache: Opening | None = None  # opens what remembers from run to run what clusters define
    texts: Texts = field(default_factory=Texts)  # what this run has read ahead, and the texts that an editor holds
    judged: dict[str, Any] = field(default_factory=dict)  # what the policies for each cluster amount to, by its name

    @property
    def cluster(self) -> Cluster:
        """The one that the output is for just now."""
        return self.clusters[0] if self.chosen is None else self.chosen

    @cached_property
    def holders(self) -> Mapping[str, list[Cluster]]:
        """By file, the clusters whose paths hold it: the loader asks, and admission for each job of the file."""
        globs = [(matching(cluster.globs), cluster) for cluster in self.clusters]
        return Memo(lambda file: [cluster for match, cluster in globs if match(file) is not None], most=20_000)

    @cached_property
    def by_annotation(self) -> Mapping[str, ClusterChoice]:
        """By the text of a job's annotation, the clusters that it names."""
        by_name = {cluster.name: (place, cluster) for place, cluster in enumerate(self.clusters)}
        return Memo(lambda text: _cluster_choice(text, by_name))

    @property
    def apart(self) -> tuple[str, ...]:
        """The folders whose files are no input of a run, each with a slash at its end: dumps of clusters, and policies."""
        dumps = [cluster.folder for cluster in self.clusters if cluster.folder]
        return tuple([f"{folder}/" for folder in (*dumps, *self.policy_folders)])

    @property
    def delivery(self) -> str:
        """The tool that applies the output for the present cluster: argocd, flux, or empty."""
        return self.cluster.delivery or self.default_delivery

    def at(self, cluster: Cluster) -> "Project":
        """This project while it compiles for one of its clusters."""
        if all(cluster is not one for one in self.clusters):
            raise ValueError(f"cluster `{cluster.name}` is not in this project")
        return replace(self, chosen=cluster)

    def serving(self, clusters: tuple[Cluster, ...]) -> "Project":
        """This project with other clusters, of which the first is the present one."""
        return replace(self, clusters=clusters, chosen=None)

    def with_objects(self, trees: Iterable[Tree]) -> "Project":
        """This project while its present cluster is known to have these objects as well."""
        cluster = self.cluster.with_objects(trees, closed=False)
        return self if cluster is self.cluster else replace(self, chosen=cluster)

    def checked(self, checks: Checks) -> "Project":
        return replace(self, checks=checks)

    def level_of(self, rule: str, file: str) -> str:
        """The level this project wants for a rule in a file, empty for the rule's own; the last matching path wins."""
        level = self.rules.get(rule, "")
        for glob, rules in self.rules_by_path.items():
            if rule in rules and holds(glob, file):
                level = rules[rule]
        return level


def _cluster_choice(text: str, clusters: Mapping[str, tuple[int, Cluster]]) -> ClusterChoice:
    """What an annotation names: the clusters, in the order of the project, and the names that none of them has."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    places = {clusters[name] for name in names if name in clusters}
    ordered = [cluster for _, cluster in sorted(places, key=lambda place: place[0])]
    return ClusterChoice(ordered, tuple([name for name in names if name not in clusters]))


class Selection:
    """What one run reads: files and folders by their paths under the root, or the text of standard input."""

    def __init__(
        self,
        paths: tuple[str, ...],
        *,
        stdin: bytes | None = None,
        include_other: bool = False,
        clusters: tuple[str, ...] = (),
        rendered: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.paths = paths
        self.stdin = stdin
        self.include_other = include_other  # documents of files without jobs as well
        self.clusters = clusters  # names of those to compile for, empty for all
        self.rendered = rendered  # files that trainc itself wrote as well
        self.progress = progress  # hears how many files of all are done

    def elsewhere(self, paths: tuple[str, ...], *, rendered: bool = False) -> "Selection":
        """What is read of another state of the project."""
        return Selection(paths, include_other=self.include_other, clusters=self.clusters, rendered=rendered)
