"""A folder of rendered files for a repository that no commit has yet."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trainc.changes.compare.committed import Committed
from trainc.changes.compare.immutable import moved_run
from trainc.compiler import pipeline
from trainc.compiler.emit.spool.disk import Folder, written
from trainc.compiler.emit.spool.folder import FolderSpool
from trainc.lint.across_jobs import shared_service
from trainc.model.settings import OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.report import Report
    from trainc.model.settings import Project, Selection


class _OutsideGit:
    """What Git says of a folder that no commit has."""

    def sides(self, _path: str, *, marked: bool) -> list[bytes]:  # noqa: ARG002 (asked by name)
        return []

    def absent(self, _path: str) -> bytes | None:
        return None

    deleted = absent


def render(project: Project, selection: Selection, report: Report, folder: str) -> None:
    """Bring a folder of rendered files up to date, where no job is new or gone."""
    spool = FolderSpool(
        folder,
        reaches=lambda _path, _source: True,
        settle=Committed(project, selection).settle,
        taken=lambda _bundle, _source, _report: False,
        git=_OutsideGit(),
        gone=lambda _path, _source, _report: False,
        holds=lambda _path, _source: True,
        shares=shared_service,
        moved=moved_run,
    )
    pipeline.build(project, selection, spool, report)


def rendered_files(folder: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each rendered file: its path in the repository, the file of its job, its text."""
    for path, header in written(Folder(folder), ()):
        with open(os.path.join(folder, path), encoding="utf-8", newline="") as stream:
            yield f"{OUTPUT}/{path}", (header.source, stream.read())
