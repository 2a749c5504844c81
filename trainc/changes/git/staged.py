"""The next commit as a folder: every spec that Git's index holds."""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from trainc.changes.git.repository import LINK, MODULE, GitRepository, is_inside
from trainc.changes.git.scratch import Scratch, link, make_folders, unpack
from trainc.compiler.load.walk import is_candidate
from trainc.text.trouble import Trouble

_GIT = ".git"  # the file that makes Git take the folder for a work tree of the repository


class StagedFiles:
    """The specs of the index by their paths from the top, and what is needed beside them.

    Raises:
        Trouble: a spec is in conflict.
    """

    def __init__(self, repository: GitRepository) -> None:
        entries = [entry for entry in repository.index() if is_inside(entry.path)]
        # A link may lead to a folder, whatever its own name.
        specs = [entry for entry in entries if is_candidate(entry.path) or (entry.mode == LINK and not entry.stage)]
        if conflicts := sorted({entry.path for entry in specs if entry.stage}):
            more = f" and {len(conflicts) - 1} more" if len(conflicts) > 1 else ""
            raise Trouble(
                f"{conflicts[0]}{more} is in conflict; resolve it and `git add` it before a commit is checked"
            )
        self.repository = repository
        self.modules = {entry.path: entry.object for entry in entries if entry.mode == MODULE}
        self.folders = _with_parents({os.path.dirname(entry.path) for entry in entries})
        self._git = f"gitdir: {repository.git_folder}\n"
        self._files = {entry.path: entry.object for entry in specs if entry.mode != LINK}
        self._links = {entry.path: entry.object for entry in specs if entry.mode == LINK}

    def objects(self) -> dict[str, str]:
        """What each file and link is made from: the name of an object, which a link has behind its mode."""
        links = {path: f"{LINK} {name}" for path, name in self._links.items()}
        return {_GIT: self._git, **self._files, **links}

    def texts(self, paths: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """Those of some paths that are files, with their bytes."""
        if _GIT in paths:
            yield _GIT, self._git.encode("utf-8", "surrogateescape")
        chosen = {path: name for path, name in self._files.items() if path in paths}
        yield from zip(chosen, self.repository.contents([*chosen.values()]), strict=True)

    def links(self, paths: Collection[str]) -> Iterator[tuple[str, str]]:
        """Those of some paths that are symbolic links, with what they point to."""
        chosen = {path: name for path, name in self._links.items() if path in paths}
        targets = self.repository.contents([*chosen.values()])
        yield from ((path, os.fsdecode(data)) for path, data in zip(chosen, targets, strict=True))


@contextmanager
def scratch_folder(staged: StagedFiles) -> Iterator[str]:
    """A folder with all staged files, those of submodules included, gone afterwards."""
    paths = staged.objects().keys()
    with Scratch() as folder:
        unpack(folder, staged.texts(paths))
        # When all files are there: nothing is written through a link.
        unpack(folder, staged.repository.of_modules(staged.modules))
        link(folder, staged.links(paths))
        make_folders(folder, staged.folders)
        yield folder


def _with_parents(folders: set[str]) -> set[str]:
    every: set[str] = set()
    for folder in folders:
        parts = folder.split("/")
        every |= {"/".join(parts[:length]) for length in range(1, len(parts) + 1)}
    return every - {""}
