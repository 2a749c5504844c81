"""`trainc build -w`, `-o DIR` and `--check`: a folder of rendered files that is what its jobs say."""

from __future__ import annotations

import os
from contextlib import nullcontext
from shlex import quote

from trainc.cli.build import Nothing, run
from trainc.cli.lock import FolderLock
from trainc.cli.output import tell
from trainc.cli.process import Orderly
from trainc.cli.rerendered import rerendered
from trainc.cli.session import RENDERED, WORK_TREE, Session
from trainc.compare.committed import ITSELF, Committed, names
from trainc.compare.immutable import IMMUTABLE_CHANGE
from trainc.compare.merged import CommittedTexts, absent_files
from trainc.compare.states import FOREIGN_OUTPUT, IGNORED_BY_FLUX, OUT_OF_DATE
from trainc.emit.spool.folder import (
    CHANGED,
    CONFLICTED,
    EDITED,
    FOREIGN,
    MISSING,
    OTHERS,
    REFUSED,
    STALE,
    Change,
    FolderSpool,
)
from trainc.emit.spool.objects import is_object_file
from trainc.load.lists import expand
from trainc.load.walk import contents
from trainc.model.finding import ERROR
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.model.spelling import meant
from trainc.model.trouble import Inapplicable, Trouble
from trainc.verify.together import twins
from trainc.yaml.reader import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from trainc.cli.options import Options
    from trainc.model.bundle import Bundle
    from trainc.model.finding import Finding

UNSTAGED, MOVED, AROUND, UNNAMED = "unstaged", "moved", "around", "unnamed"
_ABOUT_FILES = (OUT_OF_DATE, FOREIGN_OUTPUT, IMMUTABLE_CHANGE, IGNORED_BY_FLUX)
_CLAIM = "persistentvolumeclaim."  # how the rendered file of one begins
_MOST = 50  # files that are named one by one
_LINE = 80  # characters of the files that a command names
_MESSAGES = {
    MISSING: "`{file}` has not been rendered",
    CHANGED: "`{file}` is not what `{source}` compiles to now",
    AROUND: "`{file}` is not what `{source}` compiles to now: the job is as it was, something that it uses is not",
    MOVED: "`{file}` needs another first line: its job moved to `{source}`, or was edited without effect on its objects",
    UNSTAGED: "`{file}` is rendered, but the commit leaves it out",
    STALE: "`{file}` is left over: `{source}` holds no such job any more",
    UNNAMED: "`{file}` is left over: no job names it any more, or `{source}` holds it no more",
    EDITED: "`{file}` was changed by hand",
    CONFLICTED: "`{file}` is left over from a merge conflict",
    FOREIGN: "`{file}` stands where a job would be rendered, and trainc did not write it",
    OTHERS: "`{file}` stands where a job would be rendered, and another project wrote it",
}
_HELP = {
    CONFLICTED: "run `{again}`, then `git add {file}`; resolve nothing in it by hand",
    UNSTAGED: "run `git add {file}`",
    EDITED: "restore it (`git checkout -- {file}`), make the change in `{source}`, and run `{again}`",
    FOREIGN: "move it away, or choose another output folder",
    OTHERS: "give one of the jobs another name or namespace, or choose another output folder; where this project had "
    "another folder name when it wrote the file, delete the file",
}


def build_folder(options: Options) -> int:
    """Compile into a folder, or compare with what stands there; everything or nothing."""
    if options.one("format") == "json":
        raise Trouble("--format json is for stdout; a folder takes one YAML file per job")
    session = Session(options)
    check = options.has("check")
    committed = Committed(session.project, session.selection, options.all("rerender"))
    folder = _folder(options, session)
    session.applied_twice(folder)
    gone = _narrow(session, options)
    spool = FolderSpool(
        folder,
        reaches=_reaches(session, gone),
        settle=committed.settle,
        taken=_taken(session),
        git=CommittedTexts(folder),
        gone=_gone(session, folder),
        holds=_holds(session, folder),
        project=_project(session, folder),
        check=check,
        keep_old=session.project.old_run == "keep",
    )
    with Orderly(), FolderLock(folder) if not check else nullcontext() as lock:
        spool.alone = lock is not None and lock.held
        run(session, spool, committed)
    _known(options.all("rerender"), spool)
    told = [change for change in spool.changes if check or change.state in REFUSED]
    for finding in _findings(told[:_MOST], folder, session):
        session.report.add(finding)
    broken = _leave_to_validate(session) if options.one("only") == RENDERED else ()
    if broken:
        files = ", ".join(broken)
        tell(f"what is rendered from {files} is not compared: there are errors, which `trainc validate` explains")
    code = max(session.finish(spool.jobs, sums=not broken), 1 if broken else 0)
    if not options.has("quiet"):
        _tell(spool, committed, told, session)
    if spool.objects == 0 and code == 0 and not (check or spool.changes or options.has("changed_since")):
        raise Nothing(session)
    return code


def _leave_to_validate(session: Session) -> list[str]:
    """The files with errors that only `validate` reports; the report keeps what is about rendered files."""
    others = session.report.only(lambda finding: finding.rule not in _ABOUT_FILES)
    session.report = session.report.only(lambda finding: finding.rule in _ABOUT_FILES)
    return sorted({session.shown(finding.span.file) for finding in others.findings if finding.level == ERROR})


def _folder(options: Options, session: Session) -> str:
    if options.has("output"):
        return os.path.normpath(options.one("output"))
    return os.path.relpath(os.path.join(session.project.root, session.project.output))


def _narrow(session: Session, options: Options) -> frozenset[str]:
    """Files of jobs that went since the revision to compare with; the selection keeps what a change reaches."""
    if not options.has("changed_since"):
        return frozenset()
    from trainc.cli.changed import narrow  # noqa: PLC0415 (Git is read only where it is asked for)

    return narrow(session, options.one("changed_since"))


def _reaches(session: Session, gone: frozenset[str]) -> Callable[[str, str], bool]:
    """Whether a rendered file belongs to the selection: by the source in its header, and by its cluster."""
    paths, clusters = session.selection.paths, session.selection.clusters

    def reaches(path: str, source: str) -> bool:
        if clusters and path.partition("/")[0] not in clusters:
            return False
        return source in gone or _selected(source, paths)

    return reaches


def _taken(session: Session) -> Callable[[Bundle, str, Report], bool]:
    """Whether a file still holds a job of the same name as a bundle's; a finding where this run does not see both."""
    root, paths = session.project.root, session.selection.paths

    def taken(bundle: Bundle, source: str, report: Report) -> bool:
        path = os.path.join(root, source)
        if not os.path.isfile(path):
            return False
        mine = bundle.document
        for other in expand(read(contents(root, source), source, Report()), Report()):
            if (other.kind, other.namespace, other.name) == (mine.kind, mine.namespace, mine.name):
                if not _selected(source, paths):
                    report.add(twins(mine, other))
                return True
        return False

    return taken


def _gone(session: Session, folder: str) -> Callable[[str, str, Report], bool]:
    """Whether the job of a rendered file is gone from its source; a finding where the source does not say so."""
    absent = absent_files(session.project.root)

    def gone(path: str, source: str, report: Report) -> bool:
        from trainc.compare.removal import is_gone  # noqa: PLC0415 (jobs go seldom)

        name = os.path.basename(path).removesuffix(".yaml")
        return is_gone(session.project.root, source, os.path.join(folder, path), name, report, absent)

    return gone


def _holds(session: Session, folder: str) -> Callable[[str, str], bool]:
    """Whether the object of a rendered file still stands in its source."""

    def holds(path: str, source: str) -> bool:
        from trainc.compare.removal import is_held  # noqa: PLC0415 (objects go seldom)

        return is_held(session.project.root, source, os.path.join(folder, path))

    return holds


def _project(session: Session, folder: str) -> str:
    """The name that the project's files carry in this folder: none in its own, which it shares with nobody."""
    root = os.path.realpath(session.project.root)
    if (os.path.realpath(folder) + os.sep).startswith(root + os.sep):
        return ""
    top = root
    while not os.path.exists(os.path.join(top, ".git")):
        if os.path.dirname(top) == top:
            return os.path.basename(root)
        top = os.path.dirname(top)
    return os.path.relpath(root, top).replace(os.sep, "/") if top != root else os.path.basename(root)


def _selected(source: str, paths: Iterable[str]) -> bool:
    return any(top in (".", source) or source.startswith(f"{top}/") for top in paths)


def _known(patterns: Iterable[str], spool: FolderSpool) -> None:
    for pattern in patterns:
        if not any(names(pattern, name) for name in spool.names):
            hint = meant(pattern, spool.names, "name one that was")
            raise Inapplicable(f"--rerender: no job `{pattern}` was compiled; {hint}")


def _findings(changes: Collection[Change], folder: str, session: Session) -> Iterable[Finding]:
    inner = os.path.relpath(folder, session.project.root)
    build = f"trainc build -o {quote(folder)}" if session.options.has("output") else "trainc build -w"
    known = sorted({change.source for change in changes if _is_there(change, session)})
    every = " ".join(quote(session.shown(source)) for source in known)
    for change in changes:
        file = f"{inner}/{change.path}".replace(os.sep, "/")
        rule = FOREIGN_OUTPUT if change.state in REFUSED else OUT_OF_DATE
        place = change.source if change.state in (MISSING, CHANGED) else file
        source = session.shown(change.source)
        # The jobs concerned alone: a draft beside them, which does not compile yet, is in nobody's way.
        jobs = every if len(every) <= _LINE else quote(source)
        again = f"{build} {jobs}" if _is_there(change, session) else build
        words = {"file": session.shown(file), "source": source, "again": again}
        state = _shown_state(change, os.path.join(session.options.one(WORK_TREE), words["file"]))
        yield rule.at(
            Span(place, 1, 1, 1, 1),
            _MESSAGES[state].format(**words),
            help=_help(state, change, session).format(**words),
        )


def _help(state: str, change: Change, session: Session) -> str:
    if state == STALE and not _is_there(change, session):
        return "run `{again}` and commit what it writes, or run `git rm {file}`"
    return _HELP.get(state, "run `{again}` and commit what it writes")


def _is_there(change: Change, session: Session) -> bool:
    """Whether the file of a change's job is there, so that a command can name it."""
    return os.path.isfile(os.path.join(session.project.root, change.source))


def _shown_state(change: Change, file: str) -> str:
    """What is said of a change: its state, but finer; `file` is where the work tree has it."""
    if change.state == STALE and is_object_file(change.path):
        return UNNAMED
    if change.state == MISSING and os.path.isfile(file):
        return UNSTAGED
    if change.state != CHANGED:
        return change.state
    if change.before == change.after:
        return MOVED
    return AROUND if change.same_job else CHANGED


def _tell(spool: FolderSpool, committed: Committed, told: list[Change], session: Session) -> None:
    """On standard error: runs that keep their rendering, what was written, differences."""
    for blamed, kept in sorted(committed.kept.items()):
        runs = f"run `{kept[0]}` keeps its" if len(kept) == 1 else f"{len(kept)} runs keep their"
        why = "trainc renders it differently now" if blamed == ITSELF else f"{blamed} changed"
        tell(f"{runs} rendering ({why}); --rerender NAME takes the new one")
    if committed.rerendered:
        tell(rerendered(committed.rerendered, written=spool.done))
    if len(told) > _MOST:
        tell(f"and {len(told) - _MOST} more files")
    differ = [change for change in told if change.state in (CHANGED, EDITED) and change.before != change.after]
    texts = [(change.path, change.before, change.after) for change in differ]
    if texts and session.options.one("report", "text") == "text":
        from trainc.report.difference import differences  # noqa: PLC0415 (only where something differs)

        tell(*differences(texts))
    if spool.done:
        gone = [change for change in spool.changes if change.state == STALE]
        tell(*(_removal(change, spool.folder, session) for change in gone[:_MOST]))
        wrote = len(spool.changes) - len(gone)
        parts = [f"wrote {wrote}", f"removed {len(gone)}", f"unchanged {len(spool.paths) - wrote}"]
        tell(f"{spool.folder}: {', '.join(parts)}")


def _removal(change: Change, folder: str, session: Session) -> str:
    """Which file was removed, and why."""
    there = os.path.isfile(os.path.join(session.project.root, change.source))
    single = is_object_file(change.path)
    why = "holds no such job any more" if there else "is gone"
    reason = "no job names it any more" if single and there else f"{session.shown(change.source)} {why}"
    claim = os.path.basename(change.path).startswith(_CLAIM)
    stays = "; a claim in the cluster stays, until somebody deletes it with kubectl" if claim else ""
    return f"removed {os.path.join(folder, change.path)}: {reason}{stays}"
