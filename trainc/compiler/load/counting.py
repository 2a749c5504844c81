"""Files of a run, counted for somebody who waits."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Progress = Callable[[int, int], None]


def counted(progress: Progress | None, parts: int) -> Callable[[list[str]], Iterable[str]]:
    """A function that gives files one by one and says how many of all are done, where somebody wants to know.

    The files are one of so many equal parts of the run, and the others are read at the same time.
    """
    if progress is None:
        return _plain

    def files_of(files: list[str]) -> Iterator[str]:
        for number, file in enumerate(files):
            progress(number * parts, len(files) * parts)
            yield file
        progress(len(files), len(files))

    return files_of


def _plain(files: list[str]) -> Iterable[str]:
    return files
