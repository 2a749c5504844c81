"""A job's committed rendering against the one of now: what a server would refuse as a change to a run."""

from __future__ import annotations

from fnmatch import fnmatchcase

from trainc.compare.immutable import immutable_change
from trainc.compare.states import IGNORED_BY_FLUX
from trainc.compare.updates import key_of, update
from trainc.model.created_once import is_created_once
from trainc.model.report import Report
from trainc.model.run import RUN, run_of
from trainc.schema.served import Served
from trainc.yaml.reader import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from trainc.compare.updates import Update
    from trainc.model.bundle import Bundle
    from trainc.model.settings import Project

ALL = "all"
ITSELF = "trainc itself"
_SHOWN = 4  # fields that are named


class Committed:
    """Decides for each run whether its committed rendering stays.

    A run whose job is unchanged keeps it when something else (a runtime, a component, trainc) would change what
    cannot change. `kept` then holds the files to blame, with the names of the runs. Runs to `rerender` are named as
    their jobs are, by globs; `rerendered` holds those of them that a server which has created them would refuse.
    """

    def __init__(self, project: Project, rerender: Collection[str] = ()) -> None:
        self.kept: dict[str, list[str]] = {}
        self.rerendered: list[str] = []
        self._rerender = tuple(rerender)
        self._clusters = {cluster.name: cluster for cluster in project.clusters}
        self._servers: dict[str, Served] = {}

    def settle(self, bundle: Bundle, before: str, file: str, same_job: bool, report: Report) -> bool:
        """Whether the committed text stays; a finding where it cannot stay and must not change."""
        again = any(names(pattern, name) for pattern in self._rerender for name in (bundle.document.name, bundle.name))
        updates = self._updates(bundle, before, file)
        refused = [one for one in updates if one.refused]
        if again:
            self.rerendered += [bundle.name] if refused else []
            return False
        if not refused:
            _tell_ignored(bundle, updates, report)
            return False
        blamed = _blamed(bundle, refused)
        if not same_job:
            effect = f"it is committed as {file}: a server that runs it refuses the change, and the sync fails"
            otherwise = f"for one that was never applied, `--rerender {bundle.document.name}`"
            ended = f"the job was edited: a run keeps its rendering only while nothing but {blamed} changes"
            notes = [ended] if blamed else []
            report.add(immutable_change(bundle, refused, effect=effect, otherwise=otherwise, notes=notes))
            return False
        self.kept.setdefault(blamed or ITSELF, []).append(bundle.name)
        return True

    def absorb(self, other: Committed) -> None:
        """Add what another worker has decided."""
        for blamed, runs in other.kept.items():
            self.kept.setdefault(blamed or ITSELF, []).extend(runs)
        self.rerendered += other.rerendered

    def portable(self) -> Committed:
        """What was decided, without what cannot leave its process."""
        decided = Committed.__new__(Committed)
        decided.kept, decided.rerendered = self.kept, self.rerendered
        return decided

    def _updates(self, bundle: Bundle, before: str, file: str) -> list[Update]:
        """What becomes of each committed object that the run still has."""
        olds = {key_of(bundle, d.tree): d.tree for d in read(before.encode(), file, Report()) if type(d.tree) is dict}
        known = ((olds.get(key_of(bundle, tree)), tree) for tree in bundle.objects)
        return [update(was, tree, self._server(bundle.cluster)) for was, tree in known if was is not None]

    def _server(self, cluster: str) -> Served:
        if cluster not in self._servers:
            self._servers[cluster] = Served(self._clusters[cluster])
        return self._servers[cluster]


def names(pattern: str, name: str) -> bool:
    """Whether a pattern of `--rerender` stands for a name: `all`, the name itself, or a glob."""
    return pattern == ALL or fnmatchcase(name, pattern)


def _tell_ignored(bundle: Bundle, updates: Collection[Update], report: Report) -> None:
    """Report changes of an object that Flux creates once."""
    for one in updates:
        if not (one.changed and is_created_once(one.tree)):
            continue
        fields = list(dict.fromkeys(change.shown for change in one.changed))
        listed = ", ".join(f"`{field}`" for field in fields[:_SHOWN])
        more = f" and {len(fields) - _SHOWN} more fields" if len(fields) > _SHOWN else ""
        report.add(
            IGNORED_BY_FLUX.at(
                one.place(one.changed[0], bundle),
                f"Flux does not apply a change of {listed}{more} to a run that exists",
                effect="the JobSet in the cluster stays as it was created, and Git says something else",
                help=f'start a new run (`{RUN}: "{run_of(bundle.document.tree) + 1}"`), or change the JobSet with kubectl '
                "as well",
            )
        )


def _blamed(bundle: Bundle, refused: Collection[Update]) -> str:
    """The files besides the job's own that a refused change comes from."""
    files = {one.cause(change, bundle) for one in refused for change in one.refused} - {bundle.document.file}
    return ", ".join(sorted(name for name in files if name))
