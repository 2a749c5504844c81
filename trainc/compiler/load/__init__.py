"""Files -> Documents: text becomes trees with positions, one file at a time."""

import os
from collections.abc import Callable, Iterator
from itertools import islice

from trainc.compiler.header import is_rendered
from trainc.compiler.load.beside import Beside, borrow
from trainc.compiler.load.lists import expand
from trainc.compiler.load.runtimes import may_hold_objects, may_hold_runtimes, may_name_clusters
from trainc.compiler.load.shipped import shipped_documents, shipped_names
from trainc.compiler.load.walk import known_contents, known_files, ours
from trainc.compiler.lost_sources import blankness
from trainc.model.catalog import Documents, RuntimeFolder, SourceFile
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.internal_error import Seam
from trainc.model.report import Report
from trainc.model.settings import FILE, STDIN, Project, Selection
from trainc.model.sourced import Span
from trainc.text.files import is_inside, is_pointer
from trainc.text.object_keys import TRAINER_API
from trainc.yaml.comments import MARK, allows
from trainc.yaml.reader import read

IsDone = Callable[[str, bytes], bool]
Reading = Callable[[Report], Iterator[Document]]  # reads a file; what is wrong with its text goes to the report

SHARED = 512 * 1024  # bytes of text; its documents take thirty times as much
_READING = "the reading of this file"
_TOGETHER = 100  # documents
_TRAINJOB = (TRAINER_API, "TrainJob")


class Loader:
    """Reads files as documents when they are asked for, once for all clusters.

    Files that can only hold jobs are not kept as documents: ten thousand of them are never in memory together.
    """

    def __init__(self, project: Project, selection: Selection, report: Report) -> None:
        self._project = project
        self._selection = selection
        self._report = report
        self._kept: dict[str, list[Document]] = {}  # of files that hold runtimes
        self._blueprints: list[tuple[list[Document], Report]] | None = None  # of files that may hold some, and faults
        self._runtime_folders: dict[str, RuntimeFolder] = {}
        self._catalogue: dict[str, list[Document]] = {}
        self._turns: list[str] = []  # the files of the selection that hold something of ours
        self._near: dict[str, str] = {}  # folder -> the `runtimes/` that serves it
        self._others: set[str] = set()  # files of a folder that name no group of ours, and a training job all the same
        self._shared: dict[str, tuple[list[Document], Report]] = {}  # of files for several clusters, and faults
        self._room = SHARED  # bytes of text whose documents may still be kept for other clusters
        self._silent: set[str] = set()  # files whose text names neither clusters nor runtimes
        self._long: dict[str, int] = {}  # files whose documents come in pieces: jobs that can be parted, 0: not known
        self._slices: dict[str, tuple[int, int]] = {}  # of such a file, which documents are in the part that is given
        self._reads_first = True  # whether it gives the first part of the selection, with standard input
        self._progress, self._parts = selection.progress, 1

    def take_part(self, part: int, parts: int) -> None:
        """Give one of several equal parts of the selection from now on, in the order of the files and of the jobs in long ones."""
        self._look_through()
        counts = [(file, self._jobs_in(file)) for file in self._turns]
        total = sum(count for _, count in counts)
        first, end = (total * number // parts for number in (part, part + 1))
        self._turns = []
        for file, count in counts:
            here = max(first, 0), min(end, count)
            if here[0] >= here[1]:
                self._project.texts.drop(file)
            else:
                self._turns.append(file)
                if count > 1:
                    self._slices[file] = here
            first, end = first - count, end - count
        self._reads_first = part == 0
        self._progress, self._parts = (self._progress if part == 0 else None), parts

    def _jobs_in(self, file: str) -> int:
        """How many jobs of a file can be parted: all of a long one that holds TrainJobs alone."""
        if self._long.get(file) == 0:
            data = known_contents(self._project, file)
            self._long[file] = _count_trainjobs(lambda report: self._expanded(file, data, report)) or 1
        return self._long.get(file, 1)

    def first(self, file: str) -> int:
        """Which document of a file is the first that this part gives."""
        return self._slices[file][0] if file in self._slices else 0

    def selected(self, cluster: Cluster, is_done: IsDone | None = None) -> Iterator[tuple[str, list[Document]]]:
        """Each selected file with its documents, in order, but for those with jobs of other clusters alone.

        A long file may come in several parts, one after the other. A file of which `is_done` says so, by its name and text, is left out as well.
        """
        if self._selection.stdin is not None and self._reads_first:
            yield STDIN, self._documents(STDIN, self._selection.stdin, self._report)
        self._look_through()
        several = len(self._project.clusters) > 1
        for file in self._turns_told():
            holders = self._project.holders[file] if several else ()
            if holders and cluster not in holders and file in self._silent:
                names = self._selection.clusters
                if names and not any(holder.name in names for holder in holders):
                    self._report.account.unasked.add(file)
                continue
            if file in self._kept:
                yield file, self._kept[file]
                continue
            data = known_contents(self._project, file)
            only_here = not several or (file in self._silent and bool(holders))
            if only_here:
                self._project.texts.drop(file)
            if is_done is not None and file not in self._others and is_done(file, data):
                continue
            if file in self._long:
                with Seam(self._report, _start_of(file), _READING):
                    for piece in self._pieces(file, data):
                        yield file, piece
            elif only_here:
                yield file, self._documents(file, data, self._report)
            else:
                # The documents of a file whose jobs several clusters may run, parsed once while there is room for them.
                known = self._shared.get(file)
                if known is None:
                    faults = Report()
                    known = self._documents(file, data, faults), faults
                    if len(data) <= self._room:
                        self._room -= len(data)
                        self._shared[file] = known
                self._hear(known[1])
                yield file, known[0]

    def _turns_told(self) -> Iterator[str]:
        """The files one by one; where somebody wants to know, how many of all are done, the other parts like this one."""
        count = len(self._turns)
        for number, file in enumerate(self._turns):
            if self._progress is not None:
                self._progress(number * self._parts, count * self._parts)
            yield file
        if self._progress is not None:
            self._progress(count, count)

    def runtimes(self) -> Iterator[Document]:
        """Every document of the selected files that may hold a runtime; these files are read once and kept."""
        for documents in self._look_through():
            yield from documents

    def _look_through(self) -> list[list[Document]]:
        """The documents of each file that may hold a runtime; what is wrong with their text is said."""
        if self._blueprints is None:
            self._blueprints = list(self._read_blueprints())
        for _, faults in self._blueprints:
            self._hear(faults)
        return [documents for documents, _ in self._blueprints]

    def _read_blueprints(self) -> Iterator[tuple[list[Document], Report]]:
        """The documents of each file that may hold a runtime, with its faults; every file that counts gets its turn."""
        if (stdin := self._selection.stdin) is not None and may_hold_runtimes(stdin):
            yield self._keep(STDIN, stdin)
        explicit = frozenset(path for path in self._selection.paths if not os.path.isdir(self._absolute(path)))
        for file in self._files(self._selection.paths):
            data = known_contents(self._project, file)
            if emptied := blankness(data):
                self._report.account.blank[file] = emptied
            is_output = file.startswith(f"{self._project.output}/")
            # What is asked for counts whatever it holds, though not what trainc wrote.
            is_asked = file in explicit or (self._selection.include_other and not is_output)
            counts = is_asked and (self._selection.rendered or not is_rendered(data))
            if not (counts or ours(data, rendered=self._selection.rendered)):
                # Whether the file names training, or nobody can tell.
                may_count = not is_output if is_pointer(data) else _may_name_training(data)
                if is_rendered(data) or not may_count:
                    self._report.account.others[file] = ["rendered file" if is_rendered(data) else "other file"]
                    self._project.texts.drop(file)
                    continue
                if not is_pointer(data):
                    self._others.add(file)
            self._turns.append(file)
            if not may_hold_objects(data):
                self._project.texts.without_objects.add(file)
            if not may_hold_runtimes(data):
                if not may_name_clusters(data):
                    self._silent.add(file)
            elif ours(data):
                self._project.texts.drop(file)
                yield self._keep(file, data)
                continue
            if len(data) > SHARED and file not in self._others:
                self._long[file] = 0
            self._project.texts.hold(file, data)

    def runtime_folder(self, file: str) -> RuntimeFolder:
        """The runtimes folder that serves a file, its documents, and what is wrong with their text."""
        folders = self._project.runtimes
        names = list(folders) if folders is not None else [self.nearest(file)]
        label = ", ".join(name + "/" for name in names if name)
        if label not in self._runtime_folders:
            present = tuple(name for name in names if name and os.path.isdir(self._absolute(name)))
            borrowed = borrow(
                self._project, self._files(present), self._report, lambda data: ours(data) or is_pointer(data)
            )
            self._runtime_folders[label] = RuntimeFolder(label, *borrowed)
        return self._runtime_folders[label]

    def objects(self) -> Iterator[SourceFile]:
        """Every file of the project that may hold an object which jobs name; none that trainc wrote.

        A folder that neither trainc.yaml nor Git marks is a project only where somebody selected a folder.
        """
        project = self._project
        marked = project.file or os.path.exists(self._absolute(".git"))
        if not (marked or any(os.path.isdir(self._absolute(path)) for path in self._selection.paths)):
            return
        for file in self._files((".",)):
            if file.startswith(f"{project.output}/") or file.rpartition("/")[2] == FILE:
                continue
            if file in project.texts.without_objects:
                continue
            data = known_contents(project, file)
            if not may_hold_objects(data) or is_rendered(data):
                continue
            if MARK in data:
                self._report.allow(allows(data, file), borrowed=True)
            faults, documents = Report(), []
            with Seam(faults, _start_of(file), _READING):
                documents = list(expand(read(data, file, faults), faults))
            yield SourceFile(file, data, documents, faults)

    def shipped(self, folder: str, name: str) -> list[Document]:
        """The documents of the catalogue's file of that name, empty where it has none."""
        inner = "/".join(part for part in (folder, f"{name}.yaml") if part)
        if inner not in self._catalogue:
            self._catalogue[inner] = [] if "/" in name else shipped_documents(inner)
        return self._catalogue[inner]

    def _files(self, paths: tuple[str, ...]) -> list[str]:
        """The files under these paths; what clusters showed of themselves, and policies, are not input of a run."""
        apart = self._project.apart
        return [name for name in known_files(self._project, paths) if not name.startswith(apart)]

    def _absolute(self, path: str) -> str:
        return os.path.join(self._project.root, path)

    def _keep(self, file: str, data: bytes) -> tuple[list[Document], Report]:
        faults = Report()
        documents = self._read(file, data, faults)
        if any(document.kind.endswith(("Runtime", "RuntimeComponent", "TrainJobPatch")) for document in documents):
            self._kept[file] = documents
        return documents, faults

    def _documents(self, file: str, data: bytes, report: Report) -> list[Document]:
        if file in self._others:
            return self._read(file, data, Report())  # its text is the business of those whose kinds it holds
        return self._kept[file] if file in self._kept else self._read(file, data, report)

    def _pieces(self, file: str, data: bytes) -> Iterator[list[Document]]:
        """The documents of a long file, of which no cluster keeps any."""
        self._allow(file, data)
        if file in self._slices:
            return _pieces_of(islice(self._expanded(file, data, self._report), *self._slices[file]))
        return pieces(lambda report: self._expanded(file, data, report), self._report)

    def _hear(self, faults: Report) -> None:
        """Say what is wrong with a text whose documents several clusters get."""
        self._report.add_all(faults.findings)
        self._report.account.absorb(faults.account)

    def _read(self, file: str, data: bytes, report: Report) -> list[Document]:
        self._allow(file, data)
        with Seam(report, _start_of(file), _READING):
            return list(self._expanded(file, data, report))
        return []

    def _allow(self, file: str, data: bytes) -> None:
        """Take what comments of a file silence."""
        if MARK in data:
            self._report.allow(allows(data, file), borrowed=bool(self._selection.clusters))

    def _expanded(self, file: str, data: bytes, report: Report) -> Iterator[Document]:
        if file.endswith(FILE) and file.rpartition("/")[2] == FILE:
            return iter(())  # read, and judged, where the project was opened
        return expand(read(data, file, report, duplicates=self._project.checks.field_validation), report)

    def nearest(self, file: str) -> str:
        """The nearest `runtimes/` upwards from a file, empty where there is none."""
        start = folder = os.path.dirname(file) if file != STDIN else ""
        while start not in self._near:
            path = os.path.join(self._project.root, folder, "runtimes")
            if os.path.isdir(path) and is_inside(self._project.root, path):
                self._near[start] = os.path.join(folder, "runtimes").replace(os.sep, "/")
            elif not folder:
                self._near[start] = ""
            folder = os.path.dirname(folder)
        return self._near[start]


def _start_of(file: str) -> Span:
    return Span(file, 1, 1, 1, 1)


def _may_name_training(data: bytes) -> bool:
    from trainc.kinds.unsupported import may_name_training  # noqa: PLC0415 (folders of other files alone)

    return may_name_training(data)


def load(project: Project, selection: Selection, report: Report) -> Documents:
    """The documents that a selection names, and those it may reach."""
    loader = Loader(project, selection, report)
    beside = Beside(project, selection.paths, report)
    return Documents(
        loader.selected,
        loader.runtimes,
        loader.runtime_folder,
        beside.runtime_folder,
        loader.objects,
        loader.shipped,
        shipped_names,
        loader.nearest,
        beside.neighbours,
        loader.take_part,
        loader.first,
    )


def pieces(read: Reading, report: Report) -> Iterator[list[Document]]:
    """The documents of a file in their order, some at a time where none of them concerns another.

    Whatever stands beside jobs may belong to them: a file that holds anything but TrainJobs, or a fault, comes whole.
    To know that, the file is read twice.
    """
    return _pieces_of(read(report)) if _count_trainjobs(read) else iter([list(read(report))])


def _pieces_of(documents: Iterator[Document]) -> Iterator[list[Document]]:
    while piece := list(islice(documents, _TOGETHER)):
        yield piece


def _count_trainjobs(read: Reading) -> int:
    """How many TrainJobs a file holds, 0 where it holds anything else or a fault."""
    faults, count = Report(), 0
    for count, document in enumerate(read(faults), 1):  # noqa: B007 (the last counts)
        if (document.api_version, document.kind) != _TRAINJOB:
            return 0
    return 0 if faults.findings or faults.account.unread else count
