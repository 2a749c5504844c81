"""What an unfinished merge, rebase or cherry-pick puts together, in the place of a file that it left in conflict."""

from __future__ import annotations

import os
from contextlib import suppress

from trainc.compare.git import Repository
from trainc.model.trouble import Trouble

_HEADS = ("HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD")


class MergedSides:
    """The texts that both sides of a merge have for a file below a folder; none outside of Git."""

    def __init__(self, folder: str) -> None:
        self._repository: Repository | None = None
        self._prefix = ""
        self._unmerged: dict[str, list[str]] = {}
        above = os.path.abspath(folder)
        while not os.path.isdir(above):
            above = os.path.dirname(above)
        with suppress(Trouble):
            repository = Repository(above)
            self._prefix = repository.prefix(os.path.abspath(folder))
            self._unmerged = repository.unmerged(self._prefix)
            self._repository = repository

    def __call__(self, path: str, *, marked: bool) -> list[bytes]:
        """The texts of a path; for a `marked` one, which somebody may have added to the index, also those of the commits."""
        if self._repository is None:
            return []
        objects = self._unmerged.get(self._prefix + path, [])
        if marked and not objects:
            objects = self._of_commits(self._repository, self._prefix + path)
        return list(self._repository.contents(objects))

    def _of_commits(self, repository: Repository, path: str) -> list[str]:
        found = []
        for head in _HEADS:
            with suppress(Trouble):
                found += [name for file, name in repository.files(repository.commit(head), path) if file == path]
        return found
