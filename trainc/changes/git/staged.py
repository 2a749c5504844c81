"""What the next commit holds: the specs of Git's index, as files in a temporary folder."""

from __future__ import annotations

import os
from contextlib import contextmanager

from trainc.changes.git.repository import is_inside
from trainc.changes.git.scratch import Scratch, link, make_folders, unpack
from trainc.compiler.load.walk import is_candidate
from trainc.text.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.changes.git.repository import GitRepository

LINK = "120000"  # the mode of a symbolic link


@contextmanager
def staged_folder(repository: GitRepository) -> Iterator[str]:
    """A folder with every YAML and JSON file of the index, gone afterwards; Git takes it for a work tree of the repository.

    Raises:
        Trouble: where the index holds files that a merge left in conflict, which nobody can commit.
    """
    entries = [entry for entry in repository.index() if is_inside(entry.path)]
    specs = [entry for entry in entries if is_candidate(entry.path)]
    conflicts = sorted({entry.path for entry in specs if entry.stage})
    if conflicts:
        more = f" and {len(conflicts) - 1} more" if len(conflicts) > 1 else ""
        raise Trouble(f"{conflicts[0]}{more} is in conflict; resolve it and `git add` it before a commit is checked")
    contents = dict(zip(specs, repository.contents([entry.object for entry in specs]), strict=True))
    with Scratch() as folder:
        unpack(folder, [(".git", f"gitdir: {repository.git_folder}\n".encode())])
        unpack(folder, ((entry.path, data) for entry, data in contents.items() if entry.mode != LINK))
        # When all files are there: nothing is written through a link.
        link(folder, ((entry.path, os.fsdecode(data)) for entry, data in contents.items() if entry.mode == LINK))
        make_folders(folder, {os.path.dirname(entry.path) for entry in entries})
        yield folder
