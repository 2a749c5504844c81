"""The state to compare with, of a file, a folder, or a Git revision: its rendering, else what its specs compile to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from trainc.changes.compare.decision import Decisions
from trainc.changes.compare.gaps import Gaps
from trainc.changes.compare.rendered import differing, rendered
from trainc.changes.git.repository import GitRepository
from trainc.changes.git.scratch import Scratch, unpack
from trainc.compiler import pipeline
from trainc.compiler.load.walk import contents, is_candidate, known_files
from trainc.compiler.project import open_project
from trainc.model.bundle import Bundle
from trainc.model.report import Report
from trainc.model.settings import Checks, Project, Selection
from trainc.model.tree import Tree, first_leaf
from trainc.text.trouble import Trouble


class Base(NamedTuple):
    """The bundles to compare with, the files that were edited since (None where that is not known), what is not known."""

    bundles: list[Bundle]
    edited: frozenset[str] | None
    gaps: Gaps
    decisions: Decisions | None = None  # on a committed rendering that the bundles are, which runs keep
    former: Callable[[str], bytes | None] | None = None  # what a file of the project held, None where it was not there

    def kept(self, bundle: Bundle, rendering: Tree) -> Bundle | None:
        """What a run keeps of a committed rendering; None where its present form takes the place of that."""
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
def base_of(project: Project, base: str, selection: Selection, *, of_files: bool = False) -> Iterator[Base]:
    """A file, a folder or a Git revision: the rendering in it where there is one, else its specs compiled.

    With `of_files` a rendering does not count: what was written is asked for.
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
            decisions, gaps = Decisions(project, selection), Gaps(folder, report)
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
