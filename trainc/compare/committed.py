"""A job's committed rendering against the one of now: what a server would refuse as a change to a run."""

from __future__ import annotations

from trainc.compare.fields import Field, differing
from trainc.model.finding import ERROR, Label, Rule
from trainc.model.report import Report
from trainc.model.run import RUN, run_of
from trainc.model.tree import value
from trainc.schema.profile import profile_of
from trainc.schema.table import load
from trainc.schema.verdict import kind_of, verdict
from trainc.yaml.reader import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from trainc.model.bundle import Bundle
    from trainc.model.finding import Finding
    from trainc.model.settings import Project
    from trainc.model.tree import Tree

IMMUTABLE_CHANGE = Rule(
    "immutable-change",
    ERROR,
    "a committed run would change in fields that cannot change once it is created",
    "A training run is created once. A server refuses to change what it runs, and GitOps tools then fail the whole "
    "sync, or delete the run and start it again.",
)
ALL = "all"
_MOST = 8  # fields named in one finding
ITSELF = "trainc itself"


class Committed:
    """Decides for each run whether its committed rendering stays.

    A run whose job is unchanged keeps it when something else (a runtime, a component, trainc) would change what
    cannot change. `kept` then holds the files to blame, with the names of the runs.
    """

    def __init__(self, project: Project, rerender: Collection[str] = ()) -> None:
        self.kept: dict[str, list[str]] = {}
        self._rerender = frozenset(rerender)
        self._clusters = {cluster.name: cluster for cluster in project.clusters}

    def settle(self, bundle: Bundle, before: str, file: str, same_job: bool, report: Report) -> bool:
        """Whether the committed text stays; a finding where it cannot stay and must not change."""
        if not self._rerender.isdisjoint((ALL, bundle.document.name, bundle.name)):
            return False
        fields = list(self._fixed(bundle, before, file))
        if not fields:
            return False
        if not same_job:
            report.add(_refused(bundle, file, fields))
            return False
        files = {field.cause(bundle) for field in fields} - {bundle.document.file}
        blamed = ", ".join(sorted(name for name in files if name)) or ITSELF
        self.kept.setdefault(blamed, []).append(bundle.name)
        return True

    def absorb(self, kept: Mapping[str, list[str]]) -> None:
        """Add the runs that another worker let keep their rendering."""
        for blamed, names in kept.items():
            self.kept.setdefault(blamed, []).extend(names)

    def _fixed(self, bundle: Bundle, before: str, file: str) -> Iterator[Field]:
        """The fields that differ although the server lets nobody change them."""
        cluster = self._clusters.get(bundle.cluster)
        profile = profile_of(cluster) if cluster is not None else None
        olds = {_identity(tree): tree for tree in (d.tree for d in read(before.encode(), file, Report()))}
        table = load()
        for tree in bundle.objects:
            old = olds.get(_identity(tree))
            if old is None or profile is None or table.root(kind_of(tree)) is None:
                continue
            found = verdict(tree, table, profile, old=old)
            if found.by in ("cel", "webhook"):
                for path in sorted({fault.path for fault in found.faults}, key=str):
                    yield from differing(tree, old, path)


def _identity(tree: Tree) -> tuple[object, ...]:
    if type(tree) is not dict:
        return ()
    return (value(tree, "kind"), value(tree, "metadata", "namespace"), value(tree, "metadata", "name"))


def _refused(bundle: Bundle, file: str, fields: list[Field]) -> Finding:
    places = dict.fromkeys(field.place(bundle) for field in fields)
    own = [span for span in places if span.file == bundle.document.file] or list(places)
    count = f"{len(fields)} field" if len(fields) == 1 else f"{len(fields)} fields"
    notes = [str(field) for field in fields[:_MOST]]
    if len(fields) > _MOST:
        notes.append(f"and {len(fields) - _MOST} more")
    following = run_of(bundle.document.tree) + 1
    return IMMUTABLE_CHANGE.at(
        own[0],
        f"run `{bundle.name}` cannot change in {count} once it is created",
        also=[Label(span) for span in own[1:_MOST]],
        effect=f"it is committed as {file}: a server that runs it refuses the change, and the sync fails",
        help=f'to start a new run set `{RUN}: "{following}"`; for one that was never applied, '
        f"`--rerender {bundle.document.name}`",
        notes=notes,
    )
