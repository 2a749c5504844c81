"""The Git work tree of a folder; a folder that is in none needs no Git, and costs no time for asking it.

In the place of a rendered file the index may hold a conflict, or what a sparse checkout leaves out.
"""

import os

from trainc.text.suppress import Suppress
from trainc.text.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.changes.git.repository import GitRepository


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


class IndexTexts:
    """What the index has for a file below a folder that the work tree lacks, or has in conflict; nothing outside of Git."""

    def __init__(self, folder: str) -> None:
        self._repository: GitRepository | None = None
        self._prefix = ""
        self._unmerged: frozenset[str] = frozenset()
        self._absent: dict[str, str] = {}
        above = os.path.abspath(folder)
        while not os.path.isdir(above):
            above = os.path.dirname(above)
        if (repository := repository_of(above)) is None:
            return
        with Suppress(Trouble):
            self._prefix = repository.prefix(os.path.abspath(folder))
            self._unmerged = frozenset(repository.unmerged(self._prefix))
            self._absent = repository.absent(self._prefix)
            self._repository = repository

    def absent(self, path: str) -> bytes | None:
        """The text of a path that a sparse checkout leaves out, None for every other."""
        name = self._absent.get(self._prefix + path)
        return None if name is None or self._repository is None else next(self._repository.contents([name]))

    def is_unmerged(self, path: str) -> bool:
        """Whether an unfinished merge left a path in conflict."""
        return self._prefix + path in self._unmerged


def absent_files(root: str) -> frozenset[str]:
    """The files below a folder, relative to it, that a sparse checkout leaves out: they are not gone."""
    if (repository := repository_of(root)) is None:
        return frozenset()
    with Suppress(Trouble):
        prefix = repository.prefix(root)
        return frozenset(path.removeprefix(prefix) for path in repository.absent(prefix))
    return frozenset()
