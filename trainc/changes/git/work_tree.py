"""The Git work tree of a folder; a folder that is in none needs no Git, and costs no time for asking it.

In the place of a rendered file Git may hold both sides of an unfinished merge, or what a sparse checkout leaves out.
"""

import os

from trainc.text.suppress import Suppress
from trainc.text.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.changes.git.repository import GitRepository

_HEADS = ("HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD")


def repository_of(folder: str) -> "GitRepository | None":
    """The work tree that holds a folder, None where there is none, or no Git."""
    above = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(above, ".git")):
        if above == os.path.dirname(above):
            return None
        above = os.path.dirname(above)
    from trainc.changes.git.repository import GitRepository  # noqa: PLC0415 (starting programs takes many modules)

    try:
        return GitRepository(folder)
    except Trouble:
        return None


class CommittedTexts:
    """The texts that both sides of a merge, or the index alone, have for a file below a folder; none outside of Git."""

    def __init__(self, folder: str) -> None:
        self._repository: GitRepository | None = None
        self._prefix = ""
        self._unmerged: dict[str, list[str]] = {}
        self._absent: dict[str, str] = {}
        self._tracked: dict[str, str] | None = None  # what the index or, without it, the latest commit has
        above = os.path.abspath(folder)
        while not os.path.isdir(above):
            above = os.path.dirname(above)
        if (repository := repository_of(above)) is None:
            return
        with Suppress(Trouble):
            self._prefix = repository.prefix(os.path.abspath(folder))
            self._unmerged = repository.unmerged(self._prefix)
            self._absent = repository.absent(self._prefix)
            self._repository = repository

    def absent(self, path: str) -> bytes | None:
        """The text of a path that a sparse checkout leaves out, None for every other."""
        name = self._absent.get(self._prefix + path)
        return None if name is None or self._repository is None else next(self._repository.contents([name]))

    def deleted(self, path: str) -> bytes | None:
        """The text of a path that is not there any more, None for one that neither the index nor the latest commit has."""
        if self._repository is None:
            return None
        if self._tracked is None:
            self._tracked = {}
            with Suppress(Trouble):  # before the first commit
                self._tracked = dict(self._repository.files(self._repository.commit("HEAD"), self._prefix))
            self._tracked |= self._repository.tracked(self._prefix)
        name = self._tracked.get(self._prefix + path)
        return None if name is None else next(self._repository.contents([name]))

    def sides(self, path: str, *, marked: bool) -> list[bytes]:
        """The texts of a path in conflict; for a `marked` one, which somebody may have added to the index, also those of the commits."""
        if self._repository is None:
            return []
        objects = self._unmerged.get(self._prefix + path, [])
        for head in _HEADS if marked and not objects else ():
            with Suppress(Trouble):
                files = self._repository.files(self._repository.commit(head), self._prefix + path)
                objects = [*objects, *(name for file, name in files if file == self._prefix + path)]
        return list(self._repository.contents(objects))


def absent_files(root: str) -> frozenset[str]:
    """The files below a folder, relative to it, that a sparse checkout leaves out: they are not gone."""
    if (repository := repository_of(root)) is None:
        return frozenset()
    with Suppress(Trouble):
        prefix = repository.prefix(root)
        return frozenset(path.removeprefix(prefix) for path in repository.absent(prefix))
    return frozenset()
