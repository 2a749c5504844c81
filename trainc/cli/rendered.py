"""`trainc build -w`, `-o DIR` and `--check`: a folder of rendered files that is what its jobs say."""

import os
from collections.abc import Iterator, Sequence

from trainc.apiserver.names import label
from trainc.changes.compare.adopted import AdoptedRuns
from trainc.changes.compare.committed import (
    FOREIGN_OUTPUT,
    IGNORED_BY_FLUX,
    ITSELF,
    OUT_OF_DATE,
    Committed,
    listed,
    names,
)
from trainc.changes.compare.updates import IMMUTABLE_CHANGE, MOVED_RUN, moved_run
from trainc.changes.git.base import Base
from trainc.changes.git.work_tree import IndexTexts, absent_files
from trainc.cli.caching.run_cache import RunCache
from trainc.cli.compiling import Nothing, compiled, rendered_runs
from trainc.cli.folder_lock import FolderLock
from trainc.cli.options import Options
from trainc.cli.output import tell
from trainc.cli.process import Orderly
from trainc.cli.session import RENDERED, WORK_TREE, Session
from trainc.compiler.emit.spool.changes import (
    CHANGED,
    CONFLICTED,
    EDITED,
    FOREIGN,
    MISSING,
    NEVER_IN_BASE,
    OTHERS,
    REFUSED,
    STALE,
    TORN,
    UNPROVEN,
    UNSURE,
    FileChange,
)
from trainc.compiler.emit.spool.folder import FolderSpool
from trainc.compiler.emit.spool.objects import is_object_file
from trainc.compiler.load.lists import expand
from trainc.compiler.load.walk import contents
from trainc.compiler.project import BAD_PROJECT
from trainc.lint.across_jobs import twins
from trainc.model.bundle import Bundle
from trainc.model.finding import ERROR, Finding
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Span
from trainc.text.counting import few
from trainc.text.files import is_below, work_tree
from trainc.text.spelling import meant
from trainc.text.suppress import Suppress
from trainc.text.trouble import Inapplicable, Trouble
from trainc.yaml.reader import read

UNSTAGED, MOVED, AROUND, UNNAMED, RENAMED, NEVER = "unstaged", "moved", "around", "unnamed", "renamed", "never"
_ABOUT_FILES = (OUT_OF_DATE, FOREIGN_OUTPUT, IMMUTABLE_CHANGE, IGNORED_BY_FLUX, MOVED_RUN)
_CLAIM = "persistentvolumeclaim."  # how the rendered file of one begins
_MAX_FILES_NAMED = 50  # files that are named one by one
_MAX_RUNS_NAMED = 5  # in one line
_LINE = 80  # characters of the files that a command names
_MESSAGES = {
    MISSING: "`{file}` has not been rendered",
    CHANGED: "`{file}` is not what `{source}` compiles to now",
    AROUND: "`{file}` is not what `{source}` compiles to now: the job is unchanged, but something that it uses changed",
    MOVED: "`{file}` needs another first line: its job moved to `{source}`, or was edited without effect on its objects",
    UNSTAGED: "`{file}` is rendered, but the commit leaves it out",
    TORN: "`{file}` is incomplete: a write to it was interrupted",
    STALE: "`{file}` is left over: `{source}` no longer contains the job",
    RENAMED: "`{file}` is left over: `oldRun` changed, and the run has another file now",
    UNNAMED: "`{file}` is left over: no job references it, or `{source}` no longer contains it",
    EDITED: "`{file}` was changed by hand",
    CONFLICTED: "`{file}` is left over from a merge conflict",
    FOREIGN: "`{file}` is the path of a rendered job, but trainc did not write it",
    OTHERS: "`{file}` is the path of a rendered job, but another project wrote it",
    NEVER: "`{file}` is an earlier run that the base does not have, so nothing has applied it",
    UNPROVEN: "`{file}` is an earlier run, and no base proves it: {reason}",
    UNSURE: "`{file}` is left over from this project or from another whose folder has the same name",
}
_HELP = {
    CONFLICTED: "run `{again}`, then `git add {file}`; do not resolve it by hand",
    UNSTAGED: "run `git add {file}`",
    EDITED: "restore it (`git checkout -- {file}`), make the change in `{source}`, and run `{again}`",
    FOREIGN: "move it away, or choose another output folder",
    OTHERS: "give one of the jobs another name or namespace, or choose another output folder; if this project had "
    "another name when it wrote the file, restore that name (`metadata.name` in trainc.yaml) or delete the file",
    UNPROVEN: "let Git have the base, or delete the file if its run has ended",
    UNSURE: "delete the file, if no other project wrote it; {name}",
}


def build_folder(options: Options, run_cache: RunCache | None = None) -> int:
    """Compile into a folder, or compare with what stands there; everything or nothing."""
    if options.one("format") == "json":
        raise Trouble("--format json works on stdout only; folders get one YAML file per job")
    session = Session(options)
    check = options.has("check")
    absent = absent_files(session.project.root)
    only_rendered = options.one("only") == RENDERED
    runs = rendered_runs(session) if only_rendered else None
    explains = runs.judge if runs is not None else None
    base = Base(session.project.root, options.one("base"))
    committed = Committed(session.project, session.selection, options.all("rerender"), explains=explains, base=base)
    folder = os.path.relpath(os.path.join(session.project.root, session.project.output))
    if options.has("output"):
        folder = os.path.normpath(options.one("output"))
    spool = _spool(session, folder, committed, base, absent)
    if absent:
        run_cache = None  # what a sparse checkout leaves out is for Git to say, not for the files that are there
    if run_cache is not None:
        run_cache.begin(session, spool)
    session.applied_twice(folder)
    with Orderly(), FolderLock(folder) if not check else Suppress() as lock:
        spool.alone = lock is not None and lock.held
        compiled(session, spool, committed, run_cache)
    for pattern in options.all("rerender"):
        if not any(names(pattern, name) for name in spool.names):
            hint = meant(pattern, spool.names, "name one that was")
            raise Inapplicable(f"--rerender: no compiled job matches `{pattern}`; {hint}")
    refused = {os.path.relpath(file, folder) for file in committed.refused}
    changes = [one for one in spool.changes if (check and one.path not in refused) or one.state in REFUSED]
    if any(one.rule is BAD_PROJECT and one.level == ERROR for one in session.report.findings):
        changes = []  # what differs may differ by a setting that cannot be read
    broken: list[str] = []  # files with errors, which `validate` reports: here are those of rendered files alone
    if only_rendered:
        others = session.report.only(lambda finding: finding.rule not in _ABOUT_FILES)
        session.report = session.report.only(lambda finding: finding.rule in _ABOUT_FILES)
        files = {finding.span.file for finding in others.findings if finding.level == ERROR}
        broken = sorted(map(session.shown, files | committed.left))
    # Of a job with errors nothing can be rendered until they are mended.
    changes = [one for one in changes if session.shown(one.source) not in broken]
    session.report.add_all(_findings(changes[:_MAX_FILES_NAMED], folder, session))
    if broken:
        tell(f"skipped the rendered files of {', '.join(broken)}: fix the errors that `trainc validate` reports")
    code = max(session.finish(spool.jobs, sums=not broken), 1 if broken else 0)
    if not options.has("quiet"):
        _tell(spool, committed, changes, session)
    if spool.objects == 0 and code == 0 and not (check or spool.changes or options.has("changed_since")):
        raise Nothing(session)
    if run_cache is not None:
        run_cache.end(session, spool, code)
    return code


def _spool(session: Session, folder: str, committed: Committed, base: Base, absent: frozenset[str]) -> FolderSpool:
    """The folder, of which the selection keeps what a change reaches where it is narrowed to that."""
    deleted: frozenset[str] = frozenset()  # files of jobs that went since the revision to compare with
    if session.options.has("changed_since"):
        from trainc.cli.git_scope import narrow  # noqa: PLC0415 (Git is read only where it is asked for)

        revision = session.options.one("changed_since")
        session.selection.paths, deleted = narrow(session.project, session.selection.paths, revision)
    project, root = session.project, session.project.root
    paths, clusters = session.selection.paths, session.selection.clusters
    name, guess = _project_names(project, folder)

    def is_reached(path: str, source: str) -> bool:
        """Whether a rendered file belongs to the selection: by its cluster, and by the source in its header."""
        return (not clusters or path.partition("/")[0] in clusters) and (source in deleted or is_below(source, paths))

    def still_owned(bundle: Bundle, source: str, report: Report) -> bool:
        """Whether a file still holds a job of the same name as a bundle's; a finding where this run does not see both."""
        if not os.path.isfile(os.path.join(root, source)):
            return False
        mine = bundle.document
        for other in expand(read(contents(root, source), source, Report()), Report()):
            if (other.kind, other.namespace, other.name) == (mine.kind, mine.namespace, mine.name):
                if not is_below(source, paths):
                    report.add(twins(mine, other))
                return True
        return False

    def is_job_gone(path: str, source: str, report: Report) -> bool:
        from trainc.changes.compare.removal import is_gone  # noqa: PLC0415 (jobs go seldom)

        name = os.path.basename(path).removesuffix(".yaml")
        return is_gone(root, source, os.path.join(folder, path), name, report, absent)

    def is_object_there(path: str, source: str) -> bool:
        from trainc.changes.compare.removal import is_held  # noqa: PLC0415 (objects go seldom)

        return is_held(root, source, os.path.join(folder, path))

    return FolderSpool(
        folder,
        reaches=is_reached,
        settle=committed.settle,
        still_owned=still_owned,
        base=base.at(folder),
        index=IndexTexts(folder),
        gone=is_job_gone,
        holds=is_object_there,
        moved=moved_run,
        is_adopted=AdoptedRuns(project).is_proven,
        project=name,
        guess=guess,
        check=session.options.has("check"),
        keep_old=project.old_run == "keep",
    )


def _findings(changes: Sequence[FileChange], folder: str, session: Session) -> Iterator[Finding]:
    if not changes:
        return
    from shlex import quote  # noqa: PLC0415 (it loads `re`, and most files are what they should be)

    inner = os.path.relpath(folder, session.project.root)
    build = f"trainc build -o {quote(folder)}" if session.options.has("output") else "trainc build -w"
    known = sorted({change.source for change in changes if _is_there(change, session)})
    every = " ".join(quote(session.shown(source)) for source in known)
    naming = _naming(session.project)
    for change in changes:
        file = f"{inner}/{change.path}".replace(os.sep, "/")
        rule = FOREIGN_OUTPUT if change.state in REFUSED else OUT_OF_DATE
        place = change.source if change.state in (MISSING, CHANGED, TORN) else file
        source = session.shown(change.source)
        # The jobs concerned alone: a draft beside them, which does not compile yet, is in nobody's way.
        jobs = every if len(every) <= _LINE else quote(source)
        is_there = _is_there(change, session)
        again = f"{build} {jobs}" if is_there else build
        words = {"file": session.shown(file), "source": source, "again": again, "name": naming, "reason": change.after}
        state = _shown_state(change, os.path.join(session.options.one(WORK_TREE), words["file"]))
        usual = "run `{again}` and commit what it writes"
        hint = f"{usual}, or run `git rm {{file}}`" if state == STALE and not is_there else _HELP.get(state, usual)
        yield rule.at(Span(place, 1, 1, 1, 1), _MESSAGES[state].format(**words), help=hint.format(**words))


def _is_there(change: FileChange, session: Session) -> bool:
    """Whether the file of a change's job is there, so that a command can name it."""
    return os.path.isfile(os.path.join(session.project.root, change.source))


def _shown_state(change: FileChange, file: str) -> str:
    """What is said of a change: its state, but finer; `file` is where the work tree has it."""
    if change.state == STALE and change.after:
        return NEVER if change.after == NEVER_IN_BASE else RENAMED
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
            "`--rerender NAME` renders a run again that was never applied"
        )
    if committed.rerendered:
        # These cannot change any more where they have been created.
        one = len(committed.rerendered) == 1
        shown = few((f"`{name}`" for name in sorted(committed.rerendered)), _MAX_RUNS_NAMED)
        verb = ("gets" if one else "get") if spool.done else "would get"
        tell(
            f"--rerender: {'run' if one else 'runs'} {shown} {verb} a new rendering; a server on which "
            f"{'it' if one else 'one of them'} exists already rejects it"
        )
    if len(changes) > _MAX_FILES_NAMED:
        tell(f"and {len(changes) - _MAX_FILES_NAMED} more files")
    differ = [change for change in changes if change.state in (CHANGED, EDITED) and change.before != change.after]
    texts = [(change.path, change.before, change.after) for change in differ]
    if texts and session.options.one("report", "text") in ("text", "github"):
        from trainc.report.diff import differences  # noqa: PLC0415 (only where something differs)

        tell(*differences(texts))
    if spool.done:
        stale = [change for change in spool.changes if change.state == STALE]
        tell(*(_removal(change, spool.folder, session) for change in stale[:_MAX_FILES_NAMED]))
        wrote = len(spool.changes) - len(stale)
        left = "".join(
            f"; {number} file{'s' * (number != 1)} of {f'project `{name}`' if name else 'a project without a name'} left alone"
            for name, number in sorted(spool.left.items())
        )
        unchanged = len(spool.paths) - wrote
        tell(f"{spool.folder}: wrote {wrote}, removed {len(stale)}, unchanged {unchanged}{left}")


def _removal(change: FileChange, folder: str, session: Session) -> str:
    if change.after == NEVER_IN_BASE:
        return f"removed {os.path.join(folder, change.path)}: an earlier run that the base does not have"
    if change.after:
        return f"moved {os.path.join(folder, change.path)} to {change.after}: `oldRun` changed"
    there = _is_there(change, session)
    why = "no longer contains the job" if there else "is gone"
    is_unnamed = is_object_file(change.path) and there
    reason = "no job references it" if is_unnamed else f"{session.shown(change.source)} {why}"
    claim = os.path.basename(change.path).startswith(_CLAIM)
    stays = "; the PVC in the cluster stays until you delete it with kubectl" if claim else ""
    return f"removed {os.path.join(folder, change.path)}: {reason}{stays}"


def _project_names(project: Project, folder: str) -> tuple[str, str]:
    """The name that the project's files carry in a folder, and one that files of others may carry as well.

    In a folder of its own, which it shares with nobody, it is empty. One that trainc.yaml does not name goes by its
    folder; outside of its repository others may have a folder of that name.
    """
    root, target = os.path.realpath(project.root), os.path.realpath(folder) + os.sep
    if target.startswith(root + os.sep):
        return "", ""
    top = work_tree(root) or root
    inner = os.path.relpath(root, top).replace(os.sep, "/") if top != root else ""
    guess = inner or os.path.basename(root)
    if name := project.name:
        own = f"{name}/{inner}" if inner else name
        return own, guess if guess != own else ""
    return guess, "" if target.startswith(top + os.sep) else guess


def _naming(project: Project) -> str:
    """What tells the files of this project from those of others."""
    if project.name:
        return f"new files record the name of this project, `{project.name}`"
    name = os.path.basename(os.path.realpath(project.root))
    shown = "NAME" if label(name) else name
    return f"to let trainc delete it, set `metadata: {{name: {shown}}}` in trainc.yaml, a name that no other project there has"
