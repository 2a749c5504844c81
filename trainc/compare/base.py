"""The state to compare with: a file, a folder, or a Git revision, compiled like the present one."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager

from trainc import pipeline
from trainc.compare.git import Repository
from trainc.model.report import Report
from trainc.model.settings import Selection
from trainc.model.trouble import Trouble
from trainc.project import open_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.bundle import Bundle
    from trainc.model.settings import Project

_SUFFIXES = (".yaml", ".yml", ".json")


@contextmanager
def at_revision(project: Project, revision: str) -> Iterator[str]:
    """A folder that holds the project's specs as a revision has them; it is gone afterwards.

    Raises:
        Trouble: where the project is in no Git work tree, or the revision names no commit.
    """
    repository = Repository(project.root)
    commit = repository.commit(revision)
    below = os.path.relpath(os.path.realpath(project.root), repository.top).replace(os.sep, "/")
    prefix = "" if below == "." else f"{below}/"
    wanted = [
        (path[len(prefix) :], name)
        for path, name in repository.files(commit, below if prefix else "")
        if path.endswith(_SUFFIXES) and path.startswith(prefix) and ".." not in path.split("/")
    ]
    with tempfile.TemporaryDirectory(prefix="trainc-") as folder:
        for (path, _), data in zip(wanted, repository.contents([name for _, name in wanted]), strict=True):
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as stream:
                stream.write(data)
        os.makedirs(os.path.join(folder, ".git"), exist_ok=True)  # the project's root ends here, too
        yield folder


def bundles_of(folder: str, paths: tuple[str, ...], selection: Selection) -> tuple[list[Bundle], Report]:
    """What the specs of a folder compile to, whatever is wrong with some of them."""
    report = Report()
    present = tuple(path for path in paths if os.path.exists(os.path.join(folder, path)))
    if not present:
        return [], report
    project = open_project((os.path.join(folder, present[0]),), report)
    quiet = Selection(
        present,
        field_validation=selection.field_validation,
        admission_only=True,
        clusters=selection.clusters,
        rendered=True,
    )
    return list(pipeline.bundles(project, quiet, report)), report


@contextmanager
def base_of(project: Project, base: str, selection: Selection) -> Iterator[list[Bundle]]:
    """The bundles of a file, a folder or a Git revision.

    Raises:
        Trouble: where `base` is none of these.
    """
    if os.path.exists(base):
        top = os.path.abspath(base)
        folder = top if os.path.isdir(top) else os.path.dirname(top)
        yield bundles_of(folder, (os.path.relpath(top, folder),), selection)[0]
        return
    if base.startswith((".", "/")):
        raise Trouble(f"{base}: no such file or directory")
    with at_revision(project, base) as folder:
        yield bundles_of(folder, selection.paths, selection)[0]
