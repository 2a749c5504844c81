"""Runtimes in files beside those given: as if the folder itself had been named."""

import os
from collections.abc import Callable, Iterable, Iterator

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


def borrow(
    project: Project, files: Iterable[str], report: Report, is_wanted: Callable[[bytes], bool]
) -> tuple[list[Document], Report]:
    """The documents of those files whose text is wanted, and what is wrong with it; their comments count in the report."""
    faults = Report()
    documents: list[Document] = []
    for file in files:
        data = known_contents(project, file)
        if is_wanted(data):
            report.allow(allows(data, file), borrowed=True)
            documents.extend(expand(read(data, file, faults), faults))
    return documents, faults


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
            names = (file for file in self._files(folder) if file not in self._given)
            borrowed = borrow(self._project, names, self._report, lambda data: may_hold_runtimes(data) and ours(data))
            self._runtime_folders[folder] = RuntimeFolder(f"the files of {folder or 'this folder'}", *borrowed)
        return self._runtime_folders[folder]

    def neighbours(self, file: str, word: str) -> RuntimeFolder:
        """The documents of the files in a file's folder whose text holds a word; none for standard input."""
        names = self._files(os.path.dirname(file)) if file != STDIN else ()
        borrowed = borrow(self._project, names, Report(), lambda data: word.encode() in data)
        return RuntimeFolder(f"the folder of {file}", *borrowed)

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
