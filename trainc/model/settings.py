"""The settings a run works under: the project's, and what the command line asked for."""

from __future__ import annotations

from trainc.model.cluster import Cluster
from trainc.model.remembered import Remembered
from trainc.model.texts import Texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trainc.model.definitions import Opening
    from trainc.model.sourced import Sourced

STRICT, WARN, IGNORE = "strict", "warn", "ignore"
TOOLS = ("argocd", "flux")  # that apply manifests


class Project:
    """A repository of training specs: where it starts and what it says for all its jobs.

    `root` is absolute; all paths in findings and outputs are relative to it. `file` is trainc.yaml relative to it,
    empty where there is none. `runtimes` are the folders searched for runtimes, relative to the root, None for the
    nearest `runtimes/` upwards from each file. `rules` maps a rule's name to off, warning or error, `rules_by_path` a
    glob of paths to such a map; `rules_from` names installed packages' rules that count as well. `output` is the folder
    of rendered files, relative to the root; `old_run` says what becomes of an earlier run's file (prune, keep);
    `delivery` names the tool that applies the output (argocd, flux) where a cluster does not. `cache` opens what
    remembers from run to run what clusters define, `texts` is what this run has read ahead.
    """

    __slots__ = (
        "_paths",
        "cache",
        "cluster",
        "clusters",
        "deadline",
        "delivery",
        "file",
        "holders",
        "old_run",
        "output",
        "root",
        "rules",
        "rules_by_path",
        "rules_from",
        "runtimes",
        "secrets",
        "texts",
    )

    def __init__(
        self,
        root: str,
        *,
        file: str = "",
        runtimes: tuple[str, ...] | None = None,
        rules: Mapping[str, str] | None = None,
        rules_by_path: Mapping[str, Mapping[str, str]] | None = None,
        rules_from: tuple[Sourced[str], ...] = (),
        deadline: str = "",
        secrets: Mapping[str, Sourced[str]] | None = None,
        clusters: tuple[Cluster, ...] = (),
        output: str = "",
        old_run: str = "",
        delivery: str = "",
        cache: Opening | None = None,
    ) -> None:
        self.root = root
        self.texts = Texts()
        self.output = output or "rendered"
        self.old_run = old_run or "prune"
        self.delivery = delivery
        self.file = file
        self.runtimes = runtimes
        self.rules = dict(rules or {})
        self.rules_by_path = dict(rules_by_path or {})
        self.rules_from = rules_from
        self.secrets = dict(secrets or {})  # by framework: existing:NAME, or external-secrets
        self.cache = cache
        self.clusters = clusters or (Cluster(),)
        self.cluster = self.clusters[0]  # that the output is for just now
        self._paths: list[tuple[Callable[[str], object], Cluster]] = []  # what finds its files, for each of them
        # By file, those whose paths hold it: the loader asks, and admission for each job of the file.
        self.holders: Mapping[str, list[Cluster]] = Remembered(self._holders, most=20_000)
        self.deadline = deadline  # per-job: a TrainJob's deadline goes to every child Job

    def at(self, cluster: Cluster) -> Project:
        """This project while it compiles for one of its clusters."""
        view = Project.__new__(Project)
        for field in self.__slots__:
            setattr(view, field, getattr(self, field))
        view.cluster = cluster
        view.delivery = cluster.delivery or self.delivery
        return view

    def _holders(self, file: str) -> list[Cluster]:
        if not self._paths:
            from trainc.model.globs import matching  # noqa: PLC0415 (only projects with several clusters ask)

            self._paths = [(matching(cluster.globs), cluster) for cluster in self.clusters]
        return [cluster for match, cluster in self._paths if match(file) is not None]

    def level_of(self, rule: str, file: str) -> str:
        """The level this project wants for a rule in a file, empty for the rule's own; the last matching path wins."""
        level = self.rules.get(rule, "")
        for glob, rules in self.rules_by_path.items():
            if rule in rules:
                from trainc.model.globs import holds  # noqa: PLC0415 (few projects ask)

                if holds(glob, file):
                    level = rules[rule]
        return level


class Selection:
    """What one run compiles and reports: paths under the root, or the text of standard input."""

    __slots__ = (
        "admission_only",
        "closed_world",
        "clusters",
        "field_validation",
        "include_other",
        "paths",
        "rendered",
        "share",
        "stdin",
    )

    def __init__(
        self,
        paths: tuple[str, ...],
        *,
        stdin: bytes | None = None,
        field_validation: str = STRICT,
        admission_only: bool = False,
        closed_world: bool = False,
        include_other: bool = False,
        clusters: tuple[str, ...] = (),
        rendered: bool = False,
        share: tuple[int, int] = (0, 1),
    ) -> None:
        self.share = share  # which part of the files, of how many equal parts
        self.rendered = rendered  # read what trainc itself wrote, too
        self.paths = paths
        self.stdin = stdin
        self.field_validation = field_validation
        self.admission_only = admission_only
        self.closed_world = closed_world
        self.include_other = include_other
        self.clusters = clusters  # names of those to compile for, empty for all

    def shared(self, part: int, parts: int) -> Selection:
        """One of several equal parts of this selection, in the order of the files."""
        one = Selection.__new__(Selection)
        for field in self.__slots__:
            setattr(one, field, getattr(self, field))
        one.share = (part, parts)
        return one
