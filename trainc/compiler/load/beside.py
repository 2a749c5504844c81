"""Runtimes in files beside those given: as if the folder itself had been named."""

from __future__ import annotations

import os
from collections.abc import Iterator

from trainc.compiler.load.lists import expand
from trainc.compiler.load.runtimes import may_hold_runtimes
from trainc.compiler.load.walk import is_candidate, known_contents, ours
from trainc.compiler.patched import PATCH
from trainc.model.catalog import RuntimeFolder
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.settings import STDIN, Project
from trainc.text.files import is_inside
from trainc.yaml.comments import allows
from trainc.yaml.reader import read

_NONE = RuntimeFolder("", [], Report())


class Beside:
    """The documents of the files that stand beside a file which was given by its own name, read when asked for."""

    def __init__(self, project: Project, paths: tuple[str, ...], report: Report) -> None:
        self._project = project
        self._given = frozenset(path for path in paths if not os.path.isdir(os.path.join(project.root, path)))
        self._folders = {os.path.dirname(path) for path in self._given}
        self._report = report
        self._runtime_folders: dict[str, RuntimeFolder] = {}

    def runtime_folder(self, file: str) -> RuntimeFolder:
        """What stands beside a file; nothing for standard input, and where its whole folder was given."""
        folder = os.path.dirname(file)
        if file == STDIN or folder not in self._folders:
            return _NONE
        if folder not in self._runtime_folders:
            self._runtime_folders[folder] = self._read(folder)
        return self._runtime_folders[folder]

    def _read(self, folder: str) -> RuntimeFolder:
        faults = Report()
        documents: list[Document] = []
        for name in (file for file in self._files(folder) if file not in self._given):
            data = known_contents(self._project, name)
            if may_hold_runtimes(data) and ours(data):
                self._report.allow(allows(data, name), borrowed=True)
                documents.extend(expand(read(data, name, faults), faults))
        return RuntimeFolder(f"the files of {folder or 'this folder'}", documents, faults)

    def neighbours(self, file: str, word: str) -> RuntimeFolder:
        """The documents of the files in a file's folder whose text holds a word; none for standard input."""
        faults = Report()
        documents: list[Document] = []
        for name in self._files(os.path.dirname(file)) if file != STDIN else ():
            data = known_contents(self._project, name)
            if word.encode() in data:
                documents.extend(expand(read(data, name, faults), faults))
        return RuntimeFolder(f"the folder of {file}", documents, faults)

    def _files(self, folder: str) -> Iterator[str]:
        """All files of a folder, in order."""
        place = os.path.join(self._project.root, folder)
        for name in sorted(os.listdir(place)):
            inner = os.path.join(folder, name)
            path = os.path.join(place, name)
            is_file = is_candidate(name) and os.path.isfile(path) and is_inside(self._project.root, path)
            if is_file and not name.startswith("."):
                yield inner


def with_jobs(project: Project, paths: tuple[str, ...]) -> tuple[str, ...]:
    """The paths, and the files of the TrainJobs that patches in files among them are for."""
    beside = Beside(project, paths, Report())
    added: dict[str, None] = {}
    for path in paths:
        if not os.path.isfile(os.path.join(project.root, path)) or PATCH.encode() not in known_contents(project, path):
            continue
        patches = [one for one in beside.neighbours(path, PATCH).documents if one.kind == PATCH and one.file == path]
        for patch in patches:
            jobs = beside.neighbours(path, patch.name).documents if patch.name else []
            same = (one for one in jobs if one.kind == "TrainJob")
            added.update({one.file: None for one in same if (one.name, one.namespace) == (patch.name, patch.namespace)})
    return (*paths, *[file for file in added if file not in paths])
