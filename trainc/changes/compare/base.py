"""The state to compare with, of a file, a folder, or a Git revision, and what is found of edits since.

Its rendering counts, else what its specs compile to. An edit is refused where it is fixed once it is created, and told
where a running object changes in place.
"""

import os
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from trainc.apiserver.served import Served
from trainc.changes.compare.decision import Decisions
from trainc.changes.compare.rendered import differing, rendered
from trainc.changes.compare.updates import (
    OF_FILES,
    SERVER_SIDE,
    Key,
    Update,
    immutable_change,
    key_of,
    moved_run,
    update,
)
from trainc.changes.git.base import Base as GitBase
from trainc.changes.git.repository import GitRepository
from trainc.changes.git.scratch import Scratch, link, unpack
from trainc.compiler import pipeline
from trainc.compiler.emit import path_of
from trainc.compiler.emit.spool.changes import new_run
from trainc.compiler.load.walk import contents, is_candidate, known_files
from trainc.compiler.project import open_project
from trainc.model.bundle import Bundle
from trainc.model.finding import ERROR, NOTE, Finding, Rule
from trainc.model.paths import located
from trainc.model.report import Report
from trainc.model.run import run_of
from trainc.model.settings import FILE, Checks, Project, Selection
from trainc.model.sourced import Span
from trainc.model.tree import Tree, first_leaf, value
from trainc.text.counting import few
from trainc.text.files import is_pointer
from trainc.text.numbers import whole_number
from trainc.text.trouble import Trouble

NOT_COMPARED = Rule("not-compared", ERROR, verdict=True, compares=True)
NOT_IN_BASE = Rule("not-in-base", NOTE, admission=True)
CHANGED_IN_PLACE = Rule("changed-in-place", NOTE, admission=True)
_FEW = 5  # fields named in one line


class Gaps(NamedTuple):
    """What is not known of a base: its root, what was reported about it, and the files that it is made of."""

    root: str
    report: Report
    files: tuple[str, ...] = ()

    def project_fault(self) -> Finding | None:
        """What is wrong with the base's trainc.yaml, in the light of which nothing of the base is known."""
        errors = (finding for finding in self.report.findings if finding.level == ERROR)
        return next((one for one in errors if one.span.file.rpartition("/")[2] == FILE), None)

    def reason(self, bundle: Bundle) -> str:
        """Why the form that a bundle has in the base cannot be known, empty where the base simply lacks it."""
        account, job = self.report.account, bundle.document
        if (fault := self.project_fault()) is not None:
            return f"trainc.yaml of the base cannot be used: {fault.message}"
        for entry in account.refused(bundle.cluster):
            if (entry.name, entry.namespace) == (job.name, job.namespace):
                return f"it cannot be compiled: {entry.cause.message if entry.cause is not None else entry.kind}"
        for file in self.files:
            if os.path.basename(file) == os.path.basename(job.file) and is_pointer(contents(self.root, file)):
                return f"`{file}` is a Git LFS pointer"
        for file, line in sorted(account.unread):
            if job.name.encode() in contents(self.root, file):
                return f"`{file}` names it and cannot be read at line {line}"
        return ""


class Base(NamedTuple):
    """The bundles to compare with, the files that were edited since (None where that is not known), what is not known."""

    bundles: list[Bundle]
    edited: frozenset[str] | None
    gaps: Gaps
    decisions: Decisions | None = None  # on a committed rendering that the bundles are, which runs keep
    former: Callable[[str], bytes | None] | None = None  # what a file of the project held, None where it was not there

    def kept(self, bundle: Bundle, rendering: Tree) -> Bundle | None:
        """What a run keeps of its rendering in the base; None where its present form takes the place of that."""
        first = first_leaf(rendering)
        at = first.origin.at if first is not None else None
        return None if self.decisions is None or at is None else self.decisions.standing(bundle, at.file)


@contextmanager
def at_revision(project: Project, revision: str) -> Iterator[str]:
    """A folder that holds the project's specs as a revision has them; it is gone afterwards."""
    repository = GitRepository(project.root)
    commit = repository.commit(revision)
    prefix = repository.prefix(project.root)
    files = repository.files(commit, prefix)
    wanted = {path.removeprefix(prefix): name for path, name in files if is_candidate(path) and path.startswith(prefix)}
    with Scratch() as folder:
        unpack(folder, zip(wanted, repository.contents([*wanted.values()]), strict=True))
        unpack(folder, [(".git/HEAD", b"")])  # the project's root ends here, too
        modules = repository.of_modules(repository.modules(commit, prefix))
        unpack(folder, ((path.removeprefix(prefix), data) for path, data in modules if path.startswith(prefix)))
        links = repository.links(commit, prefix)
        link(folder, ((path.removeprefix(prefix), to) for path, to in links if path.startswith(prefix)))
        yield folder


def bundles_of(
    folder: str, paths: tuple[str, ...], present: Project, selection: Selection, *, written: bool = True
) -> tuple[list[Bundle], Gaps]:
    """What the specs of a folder compile to, whatever is wrong with some of them; `written`: renderings count as specs."""
    report = Report(compiles=False)
    inside = tuple(path for path in paths if os.path.exists(os.path.join(folder, path)))
    if not inside:
        return [], Gaps(folder, report)
    project = open_project((os.path.join(folder, inside[0]),), report, present.assigned, present.cache)
    project = project.checked(Checks(present.checks.field_validation, admission_only=True))
    inner = tuple(os.path.relpath(os.path.join(folder, path), project.root).replace(os.sep, "/") for path in inside)
    quiet = selection.elsewhere(inner, rendered=written)
    gaps = Gaps(project.root, report, tuple(known_files(project, quiet.paths)))
    bundles = list(pipeline.bundles(project, quiet, report))
    return [*bundles, *pipeline.objects_named(bundles, project, quiet, report)], gaps


@contextmanager
def base_of(
    project: Project, base: str, selection: Selection, *, of_files: bool = False, falls_back: bool = False
) -> Iterator[Base]:
    """A file, a folder or a Git revision: the rendering in it where there is one, else its specs compiled.

    With `of_files` a rendering does not count: what was written is asked for. With `falls_back` a run that the revision
    lacks keeps what it has in the base of the work tree.
    """
    if os.path.exists(base):
        top = os.path.abspath(base)
        folder = top if os.path.isdir(top) else os.path.dirname(top)
        path = os.path.relpath(top, folder)
        report = Report()
        if written := [] if of_files else rendered(folder, project, selection.clusters, report, path=path):
            yield Base(written, None, Gaps(folder, report))
        else:
            bundles, gaps = bundles_of(folder, (path,), project, selection)
            yield Base(bundles, None, gaps)
        return
    if base.startswith((".", "/")):
        raise Trouble(f"{base}: no such file or directory")
    with at_revision(project, base) as folder:
        report, decisions = Report(), None
        written = [] if of_files else rendered(folder, project, selection.clusters, report, sources=selection.paths)
        if written:
            bases = [GitBase(project.root, base)]
            if falls_back:
                bases.append(GitBase(project.root))
            decisions, gaps = Decisions(project, selection, *bases), Gaps(folder, report)
        else:
            written, gaps = bundles_of(folder, selection.paths, project, selection)
        repository = GitRepository(project.root)
        prefix = repository.prefix(project.root)
        changed = repository.changed(repository.commit(base))
        edited = frozenset(name.removeprefix(prefix) for name in changed if name.startswith(prefix))
        yield Base(written, edited, gaps, decisions, partial(held, folder))


def folders(old: str, new: str, project: Project, selection: Selection) -> Base:
    """The first of two folders, its specs compiled or its rendering read, and the files that differ between them."""
    folder = os.path.abspath(old)
    bundles, gaps = bundles_of(folder, (".",), project, selection, written=False)
    edited = differing(folder, os.path.abspath(new))
    if bundles:
        return Base(bundles, edited, gaps, None, partial(held, folder))
    return Base(rendered(folder, project, selection.clusters, Report()), edited, gaps)


def held(folder: str, name: str) -> bytes | None:
    """What a file of a folder holds, None where there is no such file."""
    return contents(folder, name) if os.path.isfile(os.path.join(folder, name)) else None


def judge(
    old: Base,
    new: Iterable[Bundle],
    project: Project,
    report: Report,
    operation: str = SERVER_SIDE,
    *,
    applied: bool = False,
) -> None:
    """Findings for every run that differs, but for runs that keep their committed rendering; also where nothing is compared.

    `applied`: TrainJobs themselves are written to the server as well, and the controller writes what they become.
    """
    before = {key_of(one, tree): tree for one in old.bundles for tree in _objects(one, operation, applied=applied)}
    usable = old.gaps.project_fault() is None
    alone: list[Bundle] = []  # present jobs of which the base holds no object: new, or another object before
    present: set[Key] = set()
    servers = {cluster.name: Served(cluster) for cluster in project.clusters}

    def updates_by(bundle: Bundle, trees: Iterable[Tree]) -> list[Update]:
        both = [(before[key], tree) for tree in trees if usable and (key := key_of(bundle, tree)) in before]
        return [update(was, tree, servers[bundle.cluster], operation) for was, tree in both]

    for bundle in new:
        written = _objects(bundle, operation, applied=applied)
        updates = updates_by(bundle, written)
        present.update(key_of(bundle, tree) for tree in bundle.objects)
        if not updates:
            alone.append(bundle)
        refused = [one for one in updates if one.refused]
        kept = None
        if refused:
            kept = old.kept(bundle, before[key_of(bundle, updates[0].tree)])
        if kept is not None:
            updates = updates_by(bundle, kept.objects)
            refused = [one for one in updates if one.refused]
        if refused:
            judged_before = report.looking_at(bundle.document)
            effect = "the API server rejects the change; the object in the cluster stays as it was"
            otherwise = "otherwise revert the edit"
            if not applied and operation not in OF_FILES:
                otherwise = f"if it was never applied, `trainc build -w --rerender {bundle.document.name}`; {otherwise}"
            report.add(immutable_change(bundle, refused, effect=effect, otherwise=otherwise))
            report.back_to(judged_before)
        for one in updates:
            if one.changed and not one.refused:
                place = bundle.span(one.tree)
                if kept is not None:  # where the files say what an edit changes in a rendering that stays
                    key = key_of(bundle, one.tree)
                    own = next((tree for tree in bundle.objects if key_of(bundle, tree) == key), None)
                    place = bundle.span(own, located(own, one.changed[0].steps) or ())
                shown = few((f"`{change.shown}`" for change in one.changed), _FEW)
                kind = value(one.tree, "kind")
                report.add(CHANGED_IN_PLACE.at(place, f"{kind} `{bundle.name}` changes in place: {shown}"))
    moves = {} if applied or operation in OF_FILES else moved_from(alone, old.bundles, present)
    for bundle in alone:
        place, why = bundle.document.span(("metadata", "name")), old.gaps.reason(bundle)
        if (former := moves.get(id(bundle))) is not None:  # it becomes another object than in the base
            run = new_run(bundle)
            objects = (path_of(one).removesuffix(".yaml") for one in (former, bundle))
            report.add(moved_run(run.place, run.job, run.number, *objects))
        elif why:
            report.add(not_compared(place, bundle.name, f"its base version is unknown: {why}"))
        else:
            message = f"`{bundle.name}` is not in the base: it is new, and checked as a creation"
            report.add(NOT_IN_BASE.at(place, message))


def unknown(now: Report, project: Project, report: Report) -> None:
    """A finding for each job that cannot be compared because trainc does not compile it, whatever a server says of it."""
    for cluster in project.clusters:
        for entry in now.account.refused(cluster.name):
            if entry.cause is not None and not entry.cause.rule.admission:
                report.add(not_compared(entry.place, entry.name, f"it cannot be compiled: {entry.cause.message}"))


def _objects(bundle: Bundle, operation: str, *, applied: bool) -> tuple[Tree, ...]:
    """What is written to the server: the objects of a bundle, or the file that they come from as it is."""
    document = bundle.document
    if operation in OF_FILES:
        return (document.written,)
    return (document.written, *bundle.objects) if applied and document.kind == "TrainJob" else bundle.objects


def moved_from(fresh: Iterable[Bundle], former: Iterable[Bundle], present: Container[Key]) -> dict[int, Bundle]:
    """What each new job (by its `id`) was in the base: the only run of its name that its file has lost.

    One under another name is the only run that its file has lost where it is the only one that came, with the same number.
    """
    lost: dict[str, list[Bundle]] = {}
    for run in former:
        if run.jobset is not None and key_of(run, run.jobset) not in present:
            lost.setdefault(run.document.file, []).append(run)
    came: dict[str, list[Bundle]] = {}
    for bundle in fresh:
        if bundle.jobset is not None:
            came.setdefault(bundle.document.file, []).append(bundle)
    moves: dict[int, Bundle] = {}
    for file, bundles in came.items():
        gone = lost.get(file, [])
        for bundle in bundles:
            same = [run for run in gone if run.name == bundle.name]
            if not same and len(gone) == len(bundles) == 1 and _number(gone[0].name) == run_of(bundle.document.tree):
                same = gone
            if len(same) == 1:
                moves[id(bundle)] = same[0]
    return moves


def _number(name: str) -> int:
    """The number of the run that objects of a name belong to."""
    return whole_number(name.rpartition("-r")[2]) or 1 if "-r" in name else 1


def not_compared(place: Span, name: str, reason: str) -> Finding:
    """The finding for a job that cannot be compared."""
    return NOT_COMPARED.at(
        place,
        f"not compared: `{name}`",
        effect="a change that the API server rejects would pass",
        help="compare with a base in which the job compiles, such as its committed rendering",
        notes=[reason],
    )
