"""`trainc build -w`, `-o DIR` and `--check`: a folder of rendered files that is what its jobs say."""

from __future__ import annotations

import os

from trainc.changes.compare.committed import (
    FOREIGN_OUTPUT,
    IGNORED_BY_FLUX,
    ITSELF,
    OUT_OF_DATE,
    Committed,
    listed,
    names,
)
from trainc.changes.compare.immutable import IMMUTABLE_CHANGE, MOVED_RUN, moved_run
from trainc.changes.git.work_tree import CommittedTexts, absent_files
from trainc.cli.compiling import Nothing, rendered_runs, run
from trainc.cli.shared.lock import FolderLock
from trainc.cli.shared.output import tell
from trainc.cli.shared.ownership import gone, holds, left, naming, project_names, reaches, taken, without_runtimes
from trainc.cli.shared.process import Orderly
from trainc.cli.shared.rerendered import rerendered
from trainc.cli.shared.session import RENDERED, WORK_TREE, Session
from trainc.compiler.emit.spool.changes import (
    CHANGED,
    CONFLICTED,
    EDITED,
    FOREIGN,
    MISSING,
    OTHERS,
    REFUSED,
    STALE,
    TORN,
    UNSURE,
    FileChange,
)
from trainc.compiler.emit.spool.folder import FolderSpool
from trainc.compiler.emit.spool.objects import is_object_file
from trainc.lint.across_jobs import shared_service
from trainc.model.finding import ERROR
from trainc.model.sourced import Span
from trainc.text.spelling import meant
from trainc.text.suppress import Suppress
from trainc.text.trouble import Inapplicable, Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from trainc.cli.caching.memory import Memory
    from trainc.cli.shared.options import Options
    from trainc.model.finding import Finding

UNSTAGED, MOVED, AROUND, UNNAMED = "unstaged", "moved", "around", "unnamed"
_ABOUT_FILES = (OUT_OF_DATE, FOREIGN_OUTPUT, IMMUTABLE_CHANGE, IGNORED_BY_FLUX, MOVED_RUN)
_CLAIM = "persistentvolumeclaim."  # how the rendered file of one begins
_MAX_FILES_NAMED = 50  # files that are named one by one
_LINE = 80  # characters of the files that a command names
_MESSAGES = {
    MISSING: "`{file}` has not been rendered",
    CHANGED: "`{file}` is not what `{source}` compiles to now",
    AROUND: "`{file}` is not what `{source}` compiles to now: the job is as it was, something that it uses is not",
    MOVED: "`{file}` needs another first line: its job moved to `{source}`, or was edited without effect on its objects",
    UNSTAGED: "`{file}` is rendered, but the commit leaves it out",
    TORN: "`{file}` is cut off: a write to it was interrupted",
    STALE: "`{file}` is left over: `{source}` holds no such job any more",
    UNNAMED: "`{file}` is left over: no job names it any more, or `{source}` holds it no more",
    EDITED: "`{file}` was changed by hand",
    CONFLICTED: "`{file}` is left over from a merge conflict",
    FOREIGN: "`{file}` stands where a job would be rendered, and trainc did not write it",
    OTHERS: "`{file}` stands where a job would be rendered, and another project wrote it",
    UNSURE: "`{file}` is left over from this project or from another whose folder has the same name",
}
_HELP = {
    CONFLICTED: "run `{again}`, then `git add {file}`; resolve nothing in it by hand",
    UNSTAGED: "run `git add {file}`",
    EDITED: "restore it (`git checkout -- {file}`), make the change in `{source}`, and run `{again}`",
    FOREIGN: "move it away, or choose another output folder",
    OTHERS: "give one of the jobs another name or namespace, or choose another output folder; where this project had "
    "another name when it wrote the file, give it that name (`metadata.name` in trainc.yaml) or delete the file",
    UNSURE: "delete the file, if no other project made it; {name}",
}


def build_folder(options: Options, memory: Memory | None = None) -> int:
    """Compile into a folder, or compare with what stands there; everything or nothing."""
    if options.one("format") == "json":
        raise Trouble("--format json works on stdout only; folders get one YAML file per job")
    session = Session(options)
    check = options.has("check")
    absent = absent_files(session.project.root)
    session.project = without_runtimes(session.project, absent)
    only_rendered = options.one("only") == RENDERED
    runs = rendered_runs(session) if only_rendered else None
    explains = runs.judge if runs is not None else None
    committed = Committed(session.project, session.selection, options.all("rerender"), explains=explains)
    folder = _folder(options, session)
    spool = _spool(session, folder, _narrow(session, options), committed, absent)
    if absent:
        memory = None  # what a sparse checkout leaves out is for Git to say, not for the files that are there
    if memory is not None:
        memory.begin(session, spool)
    session.applied_twice(folder)
    with Orderly(), FolderLock(folder) if not check else Suppress() as lock:
        spool.alone = lock is not None and lock.held
        run(session, spool, committed, memory)
    _known(options.all("rerender"), spool)
    refused = {os.path.relpath(file, folder) for file in committed.refused}
    changes = [one for one in spool.changes if (check and one.path not in refused) or one.state in REFUSED]
    for finding in _findings(changes[:_MAX_FILES_NAMED], folder, session):
        session.report.add(finding)
    broken = _leave_to_validate(session, committed) if only_rendered else ()
    if broken:
        files = ", ".join(broken)
        tell(f"what is rendered from {files} is not compared: there are errors, which `trainc validate` explains")
    code = max(session.finish(spool.jobs, sums=not broken), 1 if broken else 0)
    if not options.has("quiet"):
        _tell(spool, committed, changes, session)
    if spool.objects == 0 and code == 0 and not (check or spool.changes or options.has("changed_since")):
        raise Nothing(session)
    if memory is not None:
        memory.end(session, spool, code)
    return code


def _spool(
    session: Session, folder: str, deleted: frozenset[str], committed: Committed, absent: frozenset[str]
) -> FolderSpool:
    project, guess = project_names(session, folder)
    return FolderSpool(
        folder,
        reaches=reaches(session, deleted),
        settle=committed.settle,
        taken=taken(session),
        git=CommittedTexts(folder),
        gone=gone(session, folder, absent),
        holds=holds(session, folder),
        shares=shared_service,
        moved=moved_run,
        project=project,
        guess=guess,
        check=session.options.has("check"),
        keep_old=session.project.old_run == "keep",
    )


def _leave_to_validate(session: Session, committed: Committed) -> list[str]:
    """The files with errors that only `validate` reports; the report keeps what is about rendered files."""
    others = session.report.only(lambda finding: finding.rule not in _ABOUT_FILES)
    session.report = session.report.only(lambda finding: finding.rule in _ABOUT_FILES)
    files = {finding.span.file for finding in others.findings if finding.level == ERROR}
    return sorted(map(session.shown, files | committed.left))


def _folder(options: Options, session: Session) -> str:
    if options.has("output"):
        return os.path.normpath(options.one("output"))
    return os.path.relpath(os.path.join(session.project.root, session.project.output))


def _narrow(session: Session, options: Options) -> frozenset[str]:
    """Files of jobs that went since the revision to compare with; the selection keeps what a change reaches."""
    if not options.has("changed_since"):
        return frozenset()
    from trainc.cli.shared.changed import narrow  # noqa: PLC0415 (Git is read only where it is asked for)

    return narrow(session, options.one("changed_since"))


def _known(patterns: Iterable[str], spool: FolderSpool) -> None:
    for pattern in patterns:
        if not any(names(pattern, name) for name in spool.names):
            hint = meant(pattern, spool.names, "name one that was")
            raise Inapplicable(f"--rerender: no job `{pattern}` was compiled; {hint}")


def _findings(changes: Collection[FileChange], folder: str, session: Session) -> Iterable[Finding]:
    if not changes:
        return
    from shlex import quote  # noqa: PLC0415 (it loads `re`, and most files are what they should be)

    inner = os.path.relpath(folder, session.project.root)
    build = f"trainc build -o {quote(folder)}" if session.options.has("output") else "trainc build -w"
    known = sorted({change.source for change in changes if _is_there(change, session)})
    every = " ".join(quote(session.shown(source)) for source in known)
    for change in changes:
        file = f"{inner}/{change.path}".replace(os.sep, "/")
        rule = FOREIGN_OUTPUT if change.state in REFUSED else OUT_OF_DATE
        place = change.source if change.state in (MISSING, CHANGED, TORN) else file
        source = session.shown(change.source)
        # The jobs concerned alone: a draft beside them, which does not compile yet, is in nobody's way.
        jobs = every if len(every) <= _LINE else quote(source)
        again = f"{build} {jobs}" if _is_there(change, session) else build
        words = {"file": session.shown(file), "source": source, "again": again, "name": naming(session)}
        state = _shown_state(change, os.path.join(session.options.one(WORK_TREE), words["file"]))
        yield rule.at(
            Span(place, 1, 1, 1, 1),
            _MESSAGES[state].format(**words),
            help=_help(state, change, session).format(**words),
        )


def _help(state: str, change: FileChange, session: Session) -> str:
    if state == STALE and not _is_there(change, session):
        return "run `{again}` and commit what it writes, or run `git rm {file}`"
    return _HELP.get(state, "run `{again}` and commit what it writes")


def _is_there(change: FileChange, session: Session) -> bool:
    """Whether the file of a change's job is there, so that a command can name it."""
    return os.path.isfile(os.path.join(session.project.root, change.source))


def _shown_state(change: FileChange, file: str) -> str:
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


def _tell(spool: FolderSpool, committed: Committed, changes: list[FileChange], session: Session) -> None:
    """On standard error: runs that keep their rendering, what was written, differences."""
    for blamed, kept in sorted(committed.kept.items()):
        runs = f"run `{kept[0]}` keeps its" if len(kept) == 1 else f"{len(kept)} runs keep their"
        why = "trainc or a setting of its cluster changed" if blamed == ITSELF else f"{blamed} changed"
        fields = listed(committed.fixed[blamed])
        tell(
            f"{runs} rendering ({why}): {fields} cannot change in place; `trainc run NAME` starts a new run with the edit, "
            "`--rerender NAME` renders one that was never applied anew"
        )
    if committed.rerendered:
        tell(rerendered(committed.rerendered, written=spool.done))
    if len(changes) > _MAX_FILES_NAMED:
        tell(f"and {len(changes) - _MAX_FILES_NAMED} more files")
    differ = [change for change in changes if change.state in (CHANGED, EDITED) and change.before != change.after]
    texts = [(change.path, change.before, change.after) for change in differ]
    if texts and session.options.one("report", "text") == "text":
        from trainc.report.difference import differences  # noqa: PLC0415 (only where something differs)

        tell(*differences(texts))
    if spool.done:
        stale = [change for change in spool.changes if change.state == STALE]
        tell(*(_removal(change, spool.folder, session) for change in stale[:_MAX_FILES_NAMED]))
        wrote = len(spool.changes) - len(stale)
        parts = [f"wrote {wrote}", f"removed {len(stale)}", f"unchanged {len(spool.paths) - wrote}"]
        tell(f"{spool.folder}: {', '.join(parts)}{left(spool)}")


def _removal(change: FileChange, folder: str, session: Session) -> str:
    """Which file was removed, and why."""
    there = os.path.isfile(os.path.join(session.project.root, change.source))
    single = is_object_file(change.path)
    why = "holds no such job any more" if there else "is gone"
    reason = "no job names it any more" if single and there else f"{session.shown(change.source)} {why}"
    claim = os.path.basename(change.path).startswith(_CLAIM)
    stays = "; a claim in the cluster stays, until somebody deletes it with kubectl" if claim else ""
    return f"removed {os.path.join(folder, change.path)}: {reason}{stays}"
