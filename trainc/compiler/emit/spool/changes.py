"""Files of an output folder that are not as the build wants them, and runs that go from one to another."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from trainc.compiler.emit.digest import body_digest
from trainc.compiler.emit.spool.disk import Folder, OnDisk, is_torn
from trainc.compiler.emit.spool.objects import is_object_file, trees_of
from trainc.model.bundle import Bundle, runs_pods
from trainc.model.run import run_of
from trainc.model.sourced import Span
from trainc.model.tree import value

MISSING, CHANGED, STALE, TORN = "missing", "changed", "stale", "torn"
EDITED, FOREIGN, OTHERS, UNSURE, CONFLICTED = "edited", "foreign", "others", "unsure", "conflicted"
UNPROVEN = "unproven"
REFUSED = (EDITED, FOREIGN, OTHERS, UNSURE, UNPROVEN)
NEVER_IN_BASE = "the base lacks it"  # `after` of a file that goes because it is an earlier run that was never applied


class FileChange(NamedTuple):
    """One file that is not as the build wants it; `before` and `after` are its texts where it matters.

    Of a file whose run has another one now, `after` is that file. `same_job` says that the job is as it was: what changed is something that it uses, or trainc.
    """

    path: str
    state: str
    source: str
    before: str = ""
    after: str = ""
    same_job: bool = False


def is_whole(existing: OnDisk) -> bool:
    """Whether a rendered file is as trainc wrote it."""
    return existing.header is not None and existing.header.body == body_digest(existing.body)


def state_of(existing: OnDisk | None, body: bytes, *, merging: bool) -> str:
    """What is wrong with what is found where a text belongs; while Git is merging, an edit is a conflict."""
    if existing is None:
        return MISSING
    if is_torn(existing, body):
        return CHANGED if is_whole(existing) else TORN
    if existing.header is None:
        return FOREIGN
    if existing.marked:
        return CONFLICTED
    if existing.body == body or is_whole(existing):
        return CHANGED
    return CONFLICTED if merging else EDITED


class NewRun(NamedTuple):
    """A run that has no rendered file yet: where its job is named, the job's name and the number of the run."""

    place: Span
    source: str
    job: str
    number: int
    name: str  # as its objects carry it


def new_run(bundle: Bundle) -> NewRun:
    """The run of a bundle."""
    document = bundle.document
    return NewRun(document.span(("metadata", "name")), document.file, document.name, run_of(document.tree), bundle.name)


def stem_of(path: str) -> str:
    """The name of a rendered file without its folder and suffix."""
    return path.rpartition("/")[2].removesuffix(".yaml")


def moves(
    leftover: Iterable[FileChange],
    new: Mapping[str, NewRun],
    paths: Mapping[str, str],
    runs: Callable[[str], set[str]],
) -> Iterator[tuple[NewRun, str, str]]:
    """Each run that goes from one file to another, with both names.

    `paths` are those of all jobs, with their sources; `runs` says which runs a file has that goes. A run goes to the file of the same name from the same source, or from one without a job now; or the only file that goes
    and the only one that comes from a source. Who gave the run another number asked for a new one.
    """
    gone = [change for change in leftover if not is_object_file(change.path)]
    sources = set(paths.values()) if gone and new else set()
    for change in gone if sources else ():
        path = _match(change, gone, new, sources)
        if path and runs(change.path) == {new[path].name.replace(stem_of(path), stem_of(change.path), 1)}:
            yield new[path], change.path.removesuffix(".yaml"), path.removesuffix(".yaml")


def _match(change: FileChange, gone: list[FileChange], new: Mapping[str, NewRun], sources: set[str]) -> str:
    """The path at which the run of a file that goes is rendered now, empty where that is not clear."""
    stem = stem_of(change.path)
    has_jobs = change.source in sources
    alike = [p for p, run in new.items() if stem_of(p) == stem and (run.source == change.source or not has_jobs)]
    if not alike and sum(other.source == change.source for other in gone) == 1:
        alike = [path for path, run in new.items() if run.source == change.source]
    return alike[0] if len(alike) == 1 else ""


def runs_in(files: Folder, path: str) -> set[str]:
    """The names of the runs in a rendered file."""
    return runs_of(files.find(path)[1])


def runs_of(existing: OnDisk | None) -> set[str]:
    """The names of the runs in a rendered file that was read."""
    trees = trees_of(existing.body) if existing is not None else []
    return {str(value(tree, "metadata", "name")) for tree in trees if runs_pods(tree)}
