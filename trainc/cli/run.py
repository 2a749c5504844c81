"""`trainc run`: the next run of a job, as an edit of the file that holds it."""

import os
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase

from trainc.changes.compare.changes import JobFacts, as_called, changes_of, facts, job_key, of_run
from trainc.changes.compare.committed import is_behind, renderings
from trainc.changes.compare.run_numbers import is_committed, latest_run
from trainc.changes.compare.updates import run_holder, to_run
from trainc.changes.fix import fix as edited
from trainc.cli.job_rows import has_output
from trainc.cli.options import Options
from trainc.cli.output import answer, tell
from trainc.cli.rewriting import show, texts, write
from trainc.cli.session import Session
from trainc.compiler import pipeline
from trainc.compiler.load.lists import expand
from trainc.compiler.usage import document_names
from trainc.model.bundle import Bundle, runs_pods
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.run import RUN, RUN_PATH, run_of
from trainc.model.tree import Path, get, plain
from trainc.report.diff import listed_changes
from trainc.text.spelling import meant
from trainc.text.trouble import Inapplicable, Trouble
from trainc.yaml.reader import read

Place = tuple[str, int, Path | None]  # file, line of the document, path of the job in it


def run(options: Options) -> int:
    """Start the next run of each job that is named, and say what it does otherwise than the run before."""
    if not options.arguments:
        raise Trouble("usage: trainc run JOB... (a name, a glob or a file)")
    files = [name for name in options.arguments if os.path.isfile(name)]
    names = [name for name in options.arguments if name not in files]
    session = Session(Options([".", *files] if names or not files else files, options.values))
    asked, session.selection.clusters = session.selection.clusters, ()
    present = [one for one in pipeline.bundles(session.project, session.selection, session.report) if one.jobset]
    if session.report.failed:
        if not session.report.account.unread:  # a document that cannot be read may be the job that is meant
            _must_be_jobs(names, session)
        return session.finish()
    inside = {session.inside(name) for name in files}
    named = [one for one in present if not inside.isdisjoint(one.document.files) or is_named(one, names)]
    documents = {_place(one): one for one in named if not asked or one.cluster in asked}
    # What holds several jobs, as a LeaderWorkerSet of some groups does, starts a run of each of them.
    chosen = [one for one in present if _place(one) in documents and (not asked or one.cluster in asked)]
    must_match(names, present)
    pinned = _pinned(chosen, present, asked)
    _check_committed(chosen, session)
    # Nothing, unless an earlier run of a job is rendered and its present run is not: to go on would skip that one.
    for bundle in chosen:
        number = run_of(bundle.document.tree)
        if number > 1 and is_behind(bundle, session.project):
            raise Trouble(
                f"run {number} of {bundle.document.name} is not rendered yet: run `trainc build -w` first, "
                "which includes every edit made since"
            )
    numbers = {_place(one): latest_run(one, session.project) + 1 for one in chosen}
    before = _before(chosen, session)
    _edit(list(documents.values()), numbers, pinned, session, write_it=not options.has("dry_run"))
    _tell(chosen, numbers, before, session)
    for one in pinned:
        tell(
            f"{one.document.name} stays in run {run_of(one.document.tree)} on {one.cluster}  {session.shown(_place(one)[0])}"
        )
    return 0


def _check_committed(chosen: list[Bundle], session: Session) -> None:
    """Raise Trouble for a job whose present run no commit has: that one can still be edited."""
    for bundle in chosen:
        number = run_of(bundle.document.tree)
        if number > 1 and not is_committed(bundle, session.project):
            raise Trouble(
                f"run {number} of {bundle.document.name} is not committed yet, so nothing has started it: edit it and run "
                f"`trainc build -w`, or commit it and run `trainc run {bundle.document.name}` again"
            )


def _place(bundle: Bundle) -> Place:
    """Where the annotation of a job's run stands, or will."""
    document = run_holder(bundle)
    return document.file, document.start, document.inside


def is_named(bundle: Bundle, patterns: list[str]) -> bool:
    """Whether a job has one of these names, which may be globs."""
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in (bundle.document.name, bundle.name))


def _must_be_jobs(patterns: list[str], session: Session) -> None:
    """Raise Inapplicable for a name that no document has, and that no job of a document can have."""
    written = document_names(session.project, session.selection)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) or pattern.startswith(f"{name}-") for name in written):
            raise Inapplicable(_no_match(pattern, written))


def _no_match(pattern: str, names: Iterable[str]) -> str:
    """What is said of a name that no job has."""
    hint = meant(pattern, names)
    return f"no job matches `{pattern}`{hint and f'; {hint}'}"


def must_match(patterns: list[str], present: list[Bundle]) -> None:
    known = sorted({one.document.name for one in present})
    for pattern in patterns:
        if not any(is_named(one, [pattern]) for one in present):
            raise Inapplicable(_no_match(pattern, known))


def _pinned(chosen: list[Bundle], present: list[Bundle], asked: Collection[str]) -> list[Bundle]:
    """The jobs on other clusters than those asked for that follow the same number, and keep their run by their patch.

    One without a patch, or with the same one, would get a new run as well: that is Trouble.
    """
    places = {_place(bundle): bundle for bundle in chosen}
    pinned = []
    for other in present if asked else ():
        document, own, place = other.document, run_holder(other), _place(other)
        has_number = own is not document and get(own.tree, *RUN_PATH) is not None
        source = place if has_number else (document.file, document.start, document.inside)
        edited_by = places.get(place) or places.get(source)
        if other.cluster in asked or edited_by is None:
            continue
        if own is document or place in places:
            cluster = edited_by.cluster
            raise Trouble(
                f"{document.name} has one run for {cluster} and {other.cluster}: omit --cluster, or add a TrainJobPatch "
                "for one of them, which then sets its run"
            )
        pinned.append(other)
    return pinned


def _before(chosen: list[Bundle], session: Session) -> dict[tuple[str, str, str], JobFacts]:
    """What the present run of each job that has a rendered file consists of."""
    by_key = {}
    for bundle, file, text in renderings(chosen, session.project):
        trees = [document.tree for document in read(f"\n{text}".encode(), file, Report())]
        jobset = next((tree for tree in trees if runs_pods(tree)), None)
        if jobset is not None:
            made = Document(bundle.document.file, jobset, {}, 1)
            by_key[job_key(bundle)] = facts(Bundle(made, tuple(trees), cluster=bundle.cluster))
    return by_key


def _edit(
    chosen: list[Bundle], numbers: Mapping[Place, int], pinned: list[Bundle], session: Session, *, write_it: bool
) -> None:
    report = Report()
    places: dict[tuple[str, int, Path | None], str] = {}
    for bundle, further in (*((one, 1) for one in chosen), *((one, 0) for one in pinned)):
        if further and bundle.document.inside is None:
            raise Inapplicable(f"{bundle.document.name} has no annotations in its file: rename it to start a new run")
        number = numbers[_place(bundle)] if further else run_of(bundle.document.tree)
        report.add(to_run(bundle, number))
        places[_place(bundle)] = str(number)
    about = tuple(dict.fromkeys(file for file, _, _ in places))
    new: list[tuple[str, str, str]] = []
    for file, text in texts(session.project, session.selection, about):
        if file not in about:
            continue
        findings = [finding for finding in report.findings if finding.span.file == file]
        done = edited(text, findings, file)
        runs = {place[1:]: number for place, number in places.items() if place[0] == file}
        if done.left or not _are_all(text, done.text, file, runs):
            raise Trouble(
                f"{session.shown(file)}: cannot edit this YAML without losing comments; set the annotation by hand"
            )
        new.append((file, text, done.text))
    for file, text, edit in new:
        if write_it:
            write(session.project.root, file, edit)
        else:
            show(session, file, text, edit)


def _are_all(text: str, new: str, file: str, runs: Mapping[tuple[int, Path | None], str]) -> bool:
    """Whether a new text says what the old one did, with these runs and no others."""
    before, after = (list(expand(read(one, file, Report()), Report())) for one in (text, new))
    wanted = [plain(document.tree) for document in before]
    for document, tree in zip(before, wanted, strict=True):
        if number := runs.get((document.start, document.inside)):
            tree["metadata"]["annotations"] = {**(tree["metadata"].get("annotations") or {}), RUN: number}
    return wanted == [plain(document.tree) for document in after]


def _tell(
    chosen: list[Bundle], numbers: Mapping[Place, int], before: dict[tuple[str, str, str], JobFacts], session: Session
) -> None:
    for bundle in chosen:
        now = facts(of_run(bundle, session.project))
        was, number = before.get(now.key, now), numbers[_place(bundle)]
        changes = changes_of(as_called(was, now), now)
        rest = "" if changes else ", only the name changes"
        if now.key not in before and has_output(session.project):
            rest = ", which is not rendered: its changes are unknown"
        answer(f"run {number} of {bundle.document.name} follows {was.key[2]}{rest}  {session.shown(_place(bundle)[0])}")
        answer(*listed_changes(changes, whole=session.options.has("details")))
    prunes = (
        "; it replaces the last runs, whose objects Argo CD and Flux prune (`oldRun: keep` in trainc.yaml keeps them)"
    )
    tell(f"run `trainc build -w` to render the new runs{'' if session.project.old_run == 'keep' else prunes}")
