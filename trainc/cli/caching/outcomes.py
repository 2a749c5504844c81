"""What the next run need not compile again, as plain values; and which change lets it believe that."""

import os
from collections.abc import Collection
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from trainc.changes.compare.applications import MARKS
from trainc.cli.caching.listing import UNSETTLED, Listing, State, are_settled, is_hidden, is_settled, listing, state_of
from trainc.cli.caching.manifest import Head, Manifest, digest
from trainc.cli.session import Session
from trainc.compiler.emit.spool import Spool
from trainc.compiler.header import is_rendered
from trainc.compiler.load.runtimes import may_hold_runtimes
from trainc.compiler.load.walk import contents, is_candidate, ours
from trainc.model.file_results import CachedResults, Remark, joined
from trainc.model.references import Reference
from trainc.model.settings import FILE
from trainc.text.files import digest_of, is_below, is_pointer
from trainc.text.trouble import Trouble

Plain = dict[str, Any]
States = dict[str, State]

_SHARED = "runtimes"  # the name of folders whose files jobs elsewhere may use
_FOLLOWED = (b"kind: Application", b"kind: Kustomization")
POLICIES = b"admissionregistration.k8s.io"  # of files that say something of all jobs
_MANY = 0.25  # of the files that are known: with more to compile again, workers are faster


def holds_jobs_alone(root: str, file: str, digests: dict[str, bytes]) -> bool:
    """Whether nothing but jobs can come from a file, so that no job elsewhere rests on it; wrong only towards no.

    `digests` gets that of the file, which then need not be read again.
    """
    if not is_candidate(file) or file.rpartition("/")[2] == FILE or _SHARED in file.split("/")[:-1]:
        return False
    try:
        data = contents(root, file)
    except Trouble:
        return False
    digests[file] = digest_of(data)
    return (
        ours(data)
        and POLICIES not in data
        and not (may_hold_runtimes(data) or is_pointer(data) or any(mark in data for mark in MARKS))
    )


def is_inert(root: str, file: str) -> bool:
    """Whether a file is one that trainc wrote, and nothing that a GitOps tool follows; wrong only towards no."""
    try:
        data = contents(root, file)
    except Trouble:
        return False
    return is_rendered(data) and not any(kind in data for kind in _FOLLOWED)


def known_of(
    plain: Plain, root: str, before: Collection[str], now: Collection[str], changed: AbstractSet[str]
) -> CachedResults | None:
    """What is known where `changed` are the files that changed, came or went; None where that may concern others."""
    rendered, again = plain["rendered"], set()
    jobs, inert = frozenset(plain["jobs"]), frozenset(plain["inert"])
    for name in changed:
        is_new = name in now and name not in before
        if rendered and name.startswith(rendered):
            source = plain["paths"].get(name[len(rendered) :])
            if source is None or not (name not in now or is_inert(root, name)):
                return None
            again.add(source)
        elif plain["looked"] and name.startswith(plain["looked"]):
            return None
        elif name in inert or (is_new and is_inert(root, name)):
            if name in now and not is_inert(root, name):
                return None
        elif (is_new or (name in now and name in jobs)) and is_below(name, plain["selected"]):
            if not holds_jobs_alone(root, name, {}):
                return None
            again.add(name)
        else:
            return None
    clean = plain["clean"]
    known = CachedResults(clean.keys() - again, (jobs - clean.keys()) | again)
    if len(known.again) > _MANY * len(jobs):
        return None
    known.names = plain["names"]
    known.remarks = [
        (file, [Remark(*remark) for remark in remarks])
        for file, remarks in plain["remarks"].items()
        if file in known.files
    ]
    left = [clean[name] for name in again if name in clean]
    known.jobs = plain["counts"][0] - sum(jobs for jobs, _ in left)
    known.sources = plain["counts"][1] - sum(sources for _, sources in left)
    known.paths = plain["paths"]
    if again:
        known.paths = {path: source for path, source in plain["paths"].items() if source in known.files}
    for reference, naming in plain["references"]:
        if here := [file for file in naming if file in known.files]:
            known.references[Reference(*reference)] = here
    known.runtimes = {one for one, reaching in plain["runtimes"] if not known.files.isdisjoint(reaching)}
    for paths, others in plain["walks"]:
        unchanged = {*others, *[file for file in again if is_below(file, paths)]}
        known.walks[paths] = sorted(unchanged, key=lambda name: name.split("/"))
    return known


class CompletedRun(NamedTuple):
    """A run that has compiled all that it compiles."""

    session: Session
    spool: Spool
    rendered: str  # the folder that it compared as it is listed, with a slash at its end; empty where it compared none
    started: int  # the moment before it, in nanoseconds
    listed: Listing  # the files at that moment
    known: CachedResults | None  # what was not compiled
    manifest: Manifest | None  # of the run before
    different: States  # of the files that are not as the manifest says
    digests: dict[str, bytes]  # of the files that are read since

    @property
    def root(self) -> str:
        return self.session.project.root

    def is_rendered(self, name: str) -> bool:
        """Whether a file is one that the run may have written."""
        return bool(self.rendered) and name.startswith(self.rendered)


def plain_outcomes(run: CompletedRun) -> Plain | None:
    """What a run leaves to the next one; None where a change of one file may change what is said of another."""
    project, report, outcomes = run.session.project, run.session.report, run.spool.outcomes
    if outcomes is None or report.recording or project.rules_from or project.old_run == "keep" or report.account.blank:
        return None
    if project.policies or any(cluster.policies for cluster in project.clusters):
        return None  # a policy and what it looks at stand in different files
    beside = outcomes.with_companions
    known_files = run.known.files if run.known is not None else frozenset()
    jobs = [file for file in report.account.files - beside if holds_jobs_alone(project.root, file, run.digests)]
    if (fresh := outcomes.clean(report, beside | set(jobs) | known_files)) is None:
        return None
    compiled = report.account.compiled()
    sources = {file: compiled[file] for file in fresh.keys() & compiled.keys() & set(jobs)}
    runtimes: dict[tuple[Any, ...], list[str]] = {}
    for file in sorted(sources):
        for identity in outcomes.files[file].runtimes:
            runtimes.setdefault(identity, []).append(file)
    counts = {file: (outcomes.files[file].jobs, count) for file, count in sources.items()}
    alike = {pair: pair for pair in counts.values()}  # one object is kept and read once, however many files have it
    clean = {file: alike[pair] for file, pair in counts.items()}
    remarks = {file: fresh[file] for file in sources}
    names = {joined(key): file for key, file in outcomes.names.items() if file in sources}
    before = run.manifest.outcomes if run.manifest is not None else None
    if run.known is not None and before is not None:
        kept = run.known.files
        jobs += kept
        clean = {file: pair for file, pair in before["clean"].items() if file in kept} | clean
        remarks |= {file: former for file, former in before["remarks"].items() if file in kept}
        names = {key: file for key, file in before["names"].items() if file in kept} | names
        for identity, reaching in before["runtimes"]:
            runtimes.setdefault(identity, []).extend([file for file in reaching if file in kept])
    # What jobs of clean files name, with these files.
    references = [(tuple(one), sorted(naming & clean.keys())) for one, naming in run.spool.references.files.items()]
    # The files that are not clean: those that are read again, and those that nobody needs to read.
    paths = {path: source for path, source in run.spool.paths.items() if source in clean}
    written = {run.rendered + path for path in paths}
    inert = set(before["inert"]) if before is not None else set()
    walks: dict[tuple[str, ...], list[str]] = {}
    for walked, there in project.texts.names.items():
        walks[walked] = []
        for name in there:
            if name in clean or name in written:
                continue
            if run.is_rendered(name) and not os.path.lexists(os.path.join(project.root, name)):
                continue  # the run removed it, as its job is gone
            if name in inert or is_inert(project.root, name):
                inert.add(name)
            else:
                walks[walked].append(name)
    return {
        "clean": clean,
        "remarks": {file: [tuple(remark) for remark in own] for file, own in remarks.items() if own},
        "names": names,
        "runtimes": list(runtimes.items()),
        "jobs": jobs,
        "counts": (sum(jobs for jobs, _ in clean.values()), sum(sources for _, sources in clean.values())),
        "paths": paths,
        "references": [(reference, naming) for reference, naming in references if naming],
        "selected": run.session.selection.paths,
        "rendered": run.rendered,
        # A run that writes nothing looks at the rendered files of jobs, but for one that asks for admission alone.
        "looked": "" if run.rendered or project.checks.admission_only else f"{project.output}/",
        "walks": list(walks.items()),
        "inert": sorted(inert),
    }


def without(plain: Plain, files: AbstractSet[str]) -> None:
    """Take files out of what is known."""
    for file in files & plain["clean"].keys():
        jobs, sources = plain["clean"].pop(file)
        plain["counts"] = (plain["counts"][0] - jobs, plain["counts"][1] - sources)
    for paths, others in plain["walks"]:
        others += [file for file in files & set(plain["jobs"]) if is_below(file, paths) and file not in others]
    plain["paths"] = {path: source for path, source in plain["paths"].items() if source in plain["clean"]}
    plain["names"] = {key: file for key, file in plain["names"].items() if file in plain["clean"]}


def recorded(run: CompletedRun, plain: Plain | None) -> Manifest | None:
    """The manifest of a run of which `plain` is known, None where nothing reliable can be said.

    OSError says that a file or folder went away meanwhile.
    """
    if any(name.endswith(f"/{FILE}") for name in run.listed.files):
        return None  # a project in a project: each is remembered where it is run alone
    if not run.rendered and is_hidden(run.session.project.output):
        return None  # what is rendered counts, and nobody lists it
    made_in = _made_in(run)
    folders = [folder for folder in run.listed.folders if not run.is_rendered(folder) and folder != made_in]
    if not are_settled(run.root, folders, run.started):
        return None
    manifest = _of_everything(run, plain, made_in) if run.known is None else _of_changes(run, plain)
    if manifest is None:
        return None
    states, digests = manifest.head.files, manifest.digests
    unsettled = {name for name, state in states.items() if state == UNSETTLED and name not in digests}
    if any(not run.is_rendered(name) and name not in (plain or {"jobs": ()})["jobs"] for name in unsettled):
        return None  # a file that jobs elsewhere may rest on is too young to be relied on
    if plain is not None:
        # The files whose renderings are not, byte for byte, what was compiled.
        differing = {
            plain["paths"][path]
            for path, content in run.spool.digests.items()
            if path in plain["paths"] and digests.get(run.rendered + path) != content
        }
        without(plain, unsettled | differing)
    return manifest


def _made_in(run: CompletedRun) -> str | None:
    """The folder in which the run made its output folder, as it is listed, where nothing else changed there before.

    A run reads nothing any more once it writes.
    """
    if run.spool.above is None:
        return None
    path, status = run.spool.above
    inside = os.path.relpath(path, run.root)
    return ("" if inside == os.curdir else f"{inside}/") if is_settled(state_of(status), run.started) else None


def _of_everything(run: CompletedRun, plain: Plain | None, made_in: str | None) -> Manifest | None:
    whole, outside = _places(run)
    files = listing(run.root, whole, outside)
    there = {*run.listed.files, *run.listed.folders}
    new = [name for name in (*files.files, *files.folders) if name not in there and not run.is_rendered(name)]
    if made_in is not None and any(name.rstrip("/").rpartition("/")[0] == made_in.rstrip("/") for name in new):
        return None
    before, now = run.listed.files, files.files
    for name, state in now.items():
        if not run.is_rendered(name) and before.get(name, state) != state:
            return None
    if any(name not in now and not run.is_rendered(name) for name in before):
        return None
    digests: dict[str, bytes] = {}
    for name, state in now.items():
        _settle(run, name, state, now, digests)
    former = run.manifest.head if run.manifest is not None else None
    answers = former.answers if former is not None and former.files == now else {}
    return Manifest(Head(run.root, whole, outside, now, files.links, answers), digests, plain)


def _of_changes(run: CompletedRun, plain: Plain | None) -> Manifest | None:
    assert run.known is not None
    assert run.manifest is not None
    before, listed = run.manifest.outcomes, {**run.listed.files, **run.different}
    assert before is not None
    apart = {*before["jobs"], *before["inert"], *run.known.again}  # the run read none of them but the last, as below
    for name in listed.keys() - apart:
        if not run.is_rendered(name) and _state(run, name) != listed[name]:
            return None
    now = dict(listed)
    digests = {name: content for name, content in run.manifest.digests.items() if name in now}
    for name in run.known.again:
        state = _state(run, name)
        if state != listed[name]:
            return None
        _settle(run, name, state, now, digests)
    for change in getattr(run.spool, "changes", ()):
        name = run.rendered + change.path
        now.pop(name, None)
        digests.pop(name, None)
        if os.path.lexists(os.path.join(run.root, name)):
            _settle(run, name, _state(run, name), now, digests)
    former = run.manifest.head
    answers = former.answers if now == former.files else {}
    return Manifest(former._replace(files=now, links=run.listed.links, answers=answers), digests, plain)


def _state(run: CompletedRun, name: str) -> State:
    return state_of(os.stat(os.path.join(run.root, name)))


def _settle(run: CompletedRun, name: str, state: State, now: States, digests: dict[str, bytes]) -> None:
    """Note a file's state and digest, as far as they can be relied on.

    One that is so young that it could change again unseen has neither, unless the run itself wrote it: it has a digest.
    """
    now[name] = state if is_settled(state, run.started) else UNSETTLED
    content = run.digests.get(name) or digest(os.path.join(run.root, name))
    known = run.is_rendered(name) and content == run.spool.digests.get(name[len(run.rendered) :])
    if now[name] != UNSETTLED or known:
        digests[name] = content


def _places(run: CompletedRun) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The folders that count with all their files: those that are walked through, and those that are not."""
    project = run.session.project
    given = [cluster.folder for cluster in project.clusters if cluster.folder]
    given += [*(project.runtimes or ()), *project.policy_folders, *run.session.selection.paths]
    paths = {os.path.normpath(path) for path in given} - {"."} | ({run.rendered[:-1]} if run.rendered else set())
    return tuple(sorted(path for path in paths if not is_hidden(path))), tuple(sorted(filter(is_hidden, paths)))


def rendered_below(root: str, folder: str) -> str:
    """A folder of rendered files as it is listed, with a slash at its end; empty for none."""
    return f"{os.path.relpath(os.path.abspath(folder), root)}/" if folder else ""
