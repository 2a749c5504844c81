"""A job's rendering, committed or in the work tree, against the one of now: what a server would refuse as a change to a run.

Rules on an output folder: every file in it is what its job compiles to, and nobody else's.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator

from trainc.apiserver.served import Served
from trainc.changes.compare.decision import Decision, Decisions
from trainc.changes.compare.kept import judge_kept
from trainc.changes.compare.rendered import file_of
from trainc.changes.compare.updates import Update, immutable_change, moved_run, pairs, update
from trainc.changes.git.base import Base
from trainc.compiler.emit.digest import job_digest
from trainc.compiler.emit.spool.changes import is_whole, new_run, runs_in
from trainc.compiler.emit.spool.disk import Folder, read_file
from trainc.compiler.emit.spool.objects import trees_of
from trainc.compiler.header import Header, read_header
from trainc.lint.tables.created_once import is_created_once
from trainc.model.bundle import Bundle
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import ERROR, WARNING, Finding, Rule
from trainc.model.report import Report
from trainc.model.run import BAD_RUN, RUN, run_of
from trainc.model.settings import Project, Selection
from trainc.model.tree import leaves
from trainc.text.counting import few
from trainc.text.files import ordinary_contents
from trainc.text.suppress import Suppress
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read

Edited = Callable[[], frozenset[str]]

ALL = "all"
ITSELF = "trainc itself"
_SHOWN = 4  # fields that are named
OUT_OF_DATE = Rule("out-of-date", ERROR, admission=True)
FOREIGN_OUTPUT = Rule("foreign-output", ERROR, admission=True)
IGNORED_BY_FLUX = Rule("ignored-by-flux", WARNING, admission=True)
Bound = Callable[[Document, Project, Report], list[Cluster]]
_FIRST_LINE = 4096  # bytes that hold it


class Committed:
    """Decides for each run whether the rendering that it has in the base stays.

    A run keeps it when something else than its job (a runtime, a component, trainc) would change what cannot change.
    `kept` then holds the files to blame, with the names of the runs, `fixed` the fields that cannot change. Runs to `rerender` are named as
    their jobs are, by globs; `rerendered` holds those of them that a server which has created them would refuse.
    `refused` holds the files of those that may neither stay nor change; where `explains` is given, which reports what
    another command says of a job, what that says is `left` to it, by the job's file. `has_rerender` says whether the
    command has that option.
    """

    def __init__(
        self,
        project: Project,
        selection: Selection,
        rerender: Collection[str] = (),
        *,
        has_rerender: bool = True,
        explains: Callable[[Bundle, Report], None] | None = None,
        base: Base | None = None,
    ) -> None:
        self.kept: dict[str, list[str]] = {}
        self.fixed: dict[str, dict[str, None]] = {}  # by the same files, in the order in which they were met
        self.rerendered: list[str] = []
        self.refused: set[str] = set()
        self.left: set[str] = set()
        self._rerender = tuple(rerender)
        self._has_rerender = has_rerender
        self._explains = explains
        self._base = base or Base(project.root)
        self._decisions = Decisions(project, selection, self._base)
        self._root = project.root
        self._edited: dict[str, frozenset[str]] = {}

    def settle(self, bundle: Bundle, header: Header, before: str, file: str, report: Report, missing: str = "") -> str:
        """The text that stays, empty where the present one does; a finding where neither may.

        Asked with the rendering that the base has or, where the base is `missing` for that reason, the work tree: that one never stays.
        """
        inner = os.path.relpath(os.path.realpath(file), os.path.realpath(self._root)).replace(os.sep, "/")
        decision = self._decisions.decide(bundle, header, before, inner)
        _tell_lowered(bundle, before, report)
        if any(names(pattern, name) for pattern in self._rerender for name in (bundle.document.name, bundle.name)):
            self.rerendered += [bundle.name] if decision.refused else []
            return ""
        if not decision.refused:
            _tell_ignored(bundle, decision.updates, report)
            return ""
        if decision.text and not missing:
            judge_kept(bundle, decision.objects, decision.updates, self._decisions.project, report)
            _tell_ignored(bundle, decision.changes, report)
            blamed = _blamed(bundle, decision.refused, lambda: self._edited_since(file)) or ITSELF
            self.kept.setdefault(blamed, []).append(bundle.name)
            fields = [change.shown for one in decision.refused for change in one.refused]
            self.fixed.setdefault(blamed, {}).update(dict.fromkeys(fields))
            return decision.text
        self.refused.add(file)
        own = Report()
        if self._explains is not None:
            self._explains(bundle, own)
        if own.failed:
            self.left.add(bundle.document.file)
            return ""
        effect = f"it is rendered as {file}: if it runs, the API server rejects the change and the sync fails"
        again = f"`{'' if self._has_rerender else 'trainc build -w '}--rerender {bundle.document.name}`"
        commit = "" if self._has_rerender else ", and commit what it writes"
        otherwise = f"for one that was never applied, {again}{commit}{missing and f'; {missing}'}"
        notes = [] if missing else _ended(bundle, header, decision, lambda: self._edited_since(file))
        report.add(immutable_change(bundle, decision.refused, effect=effect, otherwise=otherwise, notes=notes))
        return ""

    def _edited_since(self, file: str) -> frozenset[str]:
        """The files of the project that differ from those of the commit that a rendering is in; none outside of Git."""
        if file not in self._edited:
            edited: frozenset[str] = frozenset()
            with Suppress(Trouble):  # before the first commit, or where Git refuses
                repository, base = self._base.repository, self._base.commit
                if repository is not None and base:
                    below = repository.prefix(self._root)
                    inner = os.path.relpath(os.path.realpath(file), os.path.realpath(self._root)).replace(os.sep, "/")
                    commit = repository.last_change(base, below + inner)
                    paths = repository.changed(commit) if commit else ()
                    edited = frozenset(path.removeprefix(below) for path in paths if path.startswith(below))
            self._edited[file] = edited
        return self._edited[file]

    def absorb(self, other: "Committed") -> None:
        """Add what another worker has decided."""
        for blamed, runs in other.kept.items():
            self.kept.setdefault(blamed, []).extend(runs)
        for blamed, fields in other.fixed.items():
            self.fixed.setdefault(blamed, {}).update(fields)
        self.rerendered += other.rerendered
        self.refused |= other.refused
        self.left |= other.left

    def portable(self) -> "Committed":
        """What was decided, without what cannot leave its process."""
        decided = Committed.__new__(Committed)
        decided.kept, decided.fixed, decided.rerendered = self.kept, self.fixed, self.rerendered
        decided.refused, decided.left = self.refused, self.left
        return decided


def names(pattern: str, name: str) -> bool:
    """Whether a pattern of `--rerender` stands for a name: `all`, the name itself, or a glob."""
    from fnmatch import fnmatchcase  # noqa: PLC0415 (few runs are given a pattern)

    return pattern == ALL or fnmatchcase(name, pattern)


def listed(fields: Collection[str]) -> str:
    """Fields in one sentence, of which the first few are named."""
    return few((f"`{field}`" for field in fields), _SHOWN, "fields")


def _tell_lowered(bundle: Bundle, before: str, report: Report) -> None:
    """Warn where the number of the run is lower than that of the committed one."""
    import re  # noqa: PLC0415 (few jobs have a run)

    name = re.escape(bundle.document.name)
    latest = max(map(int, re.findall(rf"^  name: {name}-r([0-9]+)$", before, re.MULTILINE)), default=1)
    now = run_of(bundle.document.tree)
    if now < latest:
        report.add(
            BAD_RUN.at(
                bundle.document.span(("metadata", "annotations", RUN)),
                f"run {now} of `{bundle.document.name}` follows run {latest}",
                effect=f"run {latest} is removed, and the name of an earlier run is used again",
                help=f'start a new run with `{RUN}: "{latest + 1}"`, or keep "{latest}"',
                level=WARNING,
            )
        )


def _tell_ignored(bundle: Bundle, updates: Collection[Update], report: Report) -> None:
    for one in updates:
        if one.changed and is_created_once(one.tree):
            fields = list(dict.fromkeys(change.shown for change in one.changed))
            again = f'start a new run (`{RUN}: "{run_of(bundle.document.tree) + 1}"`)'
            report.add(
                IGNORED_BY_FLUX.at(
                    one.place(one.changed[0], bundle),
                    f"Flux does not apply a change of {listed(fields)} to a run that exists",
                    effect="the JobSet in the cluster stays as it was created, and Git shows something else",
                    help=f"{again}, or change the JobSet with kubectl as well",
                )
            )


def _blamed(bundle: Bundle, refused: Collection[Update], edited: Edited) -> str:
    """The files besides the job's own that a refused change comes from; else the runtime that is in the job's own file."""
    changes = [(one, change) for one in refused for change in one.refused]
    removed = {one.cause(change, bundle) for one, change in changes if one.is_removal(change)}
    files = {one.cause(change, bundle) for one, change in changes if not one.is_removal(change)}
    runtime = bundle.plan.runtime if bundle.plan is not None else None
    if removed:
        # The files of the job's runtime that may have set what is set no more: those that were edited, where Git knows.
        sources = [source.file for source in runtime.sources] if runtime is not None else []
        among = {f"{runtime.file} or a file that it uses"} if runtime is not None and len(sources) > 1 else removed
        files |= edited().intersection(sources) or among
    named = ", ".join(sorted(name for name in files - {*bundle.document.files} if name))
    if named or runtime is None or runtime.file not in bundle.document.files:
        return named
    written = {leaf.origin.at for _, leaf in leaves(runtime.written)}
    spans = {span for one in refused for change in one.refused for span in one.spans(change, bundle)}
    return f"the runtime in {runtime.file}" if not written.isdisjoint(spans) else ""


def _ended(bundle: Bundle, header: Header, decision: Decision, edited: Edited) -> list[str]:
    """A note where shared files alone would leave a run as it is committed, but not together with the job's edit."""
    if header.job == job_digest(bundle):
        return []
    shared = decision.shared
    if shared is None:  # what the job's own file has no part in
        shared = [one.refused_by(bundle, own=False) for one in decision.refused]
    blamed = _blamed(bundle, [one for one in shared if one.refused], edited)
    return [f"the job was edited: a run keeps its rendering only while nothing but {blamed} changes"] if blamed else []


def renderings(bundles: Iterable[Bundle], project: Project) -> Iterator[tuple[Bundle, str, str]]:
    """Each job that has a rendered file in the work tree as trainc wrote it, the file and its text."""
    for bundle in bundles:
        if bundle.jobset is not None:
            file = file_of(bundle, project)
            existing = read_file(os.path.join(project.root, file))
            if existing is not None and is_whole(existing):
                yield bundle, file, existing.body.decode("utf-8", "replace")


def refusals(
    bundles: Iterable[Bundle], project: Project, selection: Selection, base: Base | None = None
) -> Iterator[tuple[Bundle, list[Update]]]:
    """Each job whose run has a rendering that neither stays nor may change, with what a server refuses to change."""
    decisions = Decisions(project, selection, *([base] if base is not None else []))
    for bundle in bundles:
        decision = decisions.of_run(bundle) if bundle.jobset is not None else None
        if decision is not None and decision.refused and not decision.text:
            yield bundle, decision.refused


def is_behind(bundle: Bundle, project: Project) -> bool:
    """Whether an earlier run of a job is rendered and its present run is not."""
    folder, file = os.path.split(os.path.join(project.root, file_of(bundle, project)))
    name, number = bundle.document.name, run_of(bundle.document.tree)
    earlier = {name, *(f"{name}-r{run}" for run in range(2, number))}
    if project.old_run == "keep":
        there = {entry.removesuffix(".yaml") for entry in os.listdir(folder)} if os.path.isdir(folder) else set()
        is_there = bundle.name in there or bundle.name in runs_in(Folder(folder), f"{name}.yaml")
        return not is_there and not there.isdisjoint(earlier)
    runs = runs_in(Folder(folder), file)
    return bundle.name not in runs and not runs.isdisjoint(earlier)


class RenderedRuns:
    """The runs that lie rendered in the work tree, and what their jobs' own files say now; Git is hardly ever asked.

    What shared files change besides is left to who reads the history: a run may keep its rendering in spite of it.
    `bound` says on which clusters a job runs.
    """

    def __init__(self, project: Project, selection: Selection, bound: Bound) -> None:
        self._project = project
        self._selection = selection
        self._bound = bound
        self._servers = {cluster.name: Served(cluster) for cluster in project.clusters}
        self._files = Folder(os.path.join(project.root, project.output))

    def judge(self, bundle: Bundle, report: Report) -> None:
        """A finding where a job's own file changes what its rendered run cannot take."""
        file = file_of(bundle, self._project)
        header = self._header(file)
        if header is None:  # the run may be rendered in another place, which nobody else has
            place = file.removeprefix(f"{self._project.output}/")
            for other in self._files.elsewhere(place):
                there = self._header(f"{self._project.output}/{other}")
                is_ours = (
                    there is not None and there.source == bundle.document.file and not self._is_held(bundle, other)
                )
                if is_ours and bundle.name in runs_in(self._files, other):
                    run = new_run(bundle)
                    objects = (one.removesuffix(".yaml") for one in (other, place))
                    report.add(moved_run(run.place, run.job, run.number, *objects))
        if header is None or header.job == job_digest(bundle):
            return
        path = os.path.join(self._project.root, file)
        existing = read_file(path)
        if existing is None or not is_whole(existing):
            return
        both = pairs(bundle, trees_of(existing.body), bundle.objects)
        updates = [update(was, now, self._servers[bundle.cluster]) for was, now in both]
        refused = [own for one in updates if (own := one.refused_by(bundle, own=True)).refused]
        if not refused and any(one.refused for one in updates):
            # An edit that leaves no trace in the job, such as a line that went.
            refused = [one for one in updates if one.refused]
        if refused:  # whether the run is in the base, and what the edit does there, Git knows
            for _, updates in refusals([bundle], self._project, self._selection):
                report.add(_finding(bundle, updates, file))

    def _is_held(self, bundle: Bundle, path: str) -> bool:
        """Whether the file at a path may be that of another job in the file of a bundle, or of the job on another cluster."""
        clusters = {cluster.name for cluster in self._bound(bundle.document, self._project, Report())}
        top = path.partition("/")[0] if path.count("/") > 1 else ""
        if top != bundle.cluster and top in clusters:
            return True
        data = ordinary_contents(os.path.join(self._project.root, bundle.document.file))
        documents = read(data, bundle.document.file, Report())
        return sum(one.name == bundle.document.name or one.kind.endswith("List") for one in documents) > 1

    def _header(self, file: str) -> Header | None:
        """The first line of a rendered file, None where there is none that trainc wrote."""
        try:
            data = ordinary_contents(os.path.join(self._project.root, file), _FIRST_LINE)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return read_header(data.partition(b"\n")[0].decode("utf-8", "replace"))


def refused_runs(bundles: Iterable[Bundle], project: Project, selection: Selection, report: Report) -> None:
    """A finding for each job whose edit its rendered run cannot take."""
    for bundle, refused in refusals(bundles, project, selection):
        report.add(_finding(bundle, refused, file_of(bundle, project)))


def _finding(bundle: Bundle, refused: list[Update], file: str) -> Finding:
    effect = f"it is rendered as {file}: if it runs, the API server rejects the change, and `build -w` writes nothing"
    return immutable_change(bundle, refused, effect=effect, otherwise="otherwise revert the edit")
