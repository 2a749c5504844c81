"""What was loaded: the selected files' documents, and where runtimes can be found."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import NamedTuple

    from trainc.model.document import Document
    from trainc.model.report import Report
else:
    from trainc.text.record import NamedTuple


class RuntimeFolder(NamedTuple):
    """A project's runtimes folder: its name as people know it, its documents, and what is wrong with their text."""

    label: str
    documents: list[Document]
    faults: Report


class SourceFile(NamedTuple):
    """A file that may hold objects which jobs name: its text, its documents, and what is wrong with the text."""

    file: str
    data: bytes
    documents: list[Document]
    faults: Report


class Documents(NamedTuple):
    """The documents of a run, each file read when it is asked for.

    `selected(cluster, is_done)` yields each selected file that a cluster may run with its documents, but for those that
    `is_done` answers for by their name and text, a long file in several parts; `runtimes()` the documents of those files that may hold
    runtimes; `runtime_folder(file)` the runtimes folder that serves a file; `beside(file)` the files beside
    one that was given by its own name; `objects()` the
    files of the project that may hold what jobs name; `shipped(folder, name)` the catalogue's file of that
    name, `shipped_names(folder)` all of its names, in the folder of runtimes (empty) or `components`;
    `nearest(file)` the nearest `runtimes/` upwards from a file; `neighbours(file, word)` the documents of a file and of those
    beside it whose text holds a word. `take_part(part, parts)` limits `selected` to one of
    several equal parts of the files, and `size()` is the number of its files; to ask is to look through all of them.
    """

    selected: Callable[..., Iterator[tuple[str, list[Document]]]]
    runtimes: Callable[[], Iterator[Document]]
    runtime_folder: Callable[[str], RuntimeFolder]
    beside: Callable[[str], RuntimeFolder]
    objects: Callable[[], Iterator[SourceFile]]
    shipped: Callable[[str, str], list[Document]]
    shipped_names: Callable[[str], list[str]]
    nearest: Callable[[str], str]
    neighbours: Callable[[str, str], RuntimeFolder]
    take_part: Callable[[int, int], None]
    size: Callable[[], int]
