"""The Git work tree of a folder; a folder that is in none needs no Git, and costs no time for asking it."""

from __future__ import annotations

import os

from trainc.text.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.changes.git.repository import GitRepository


def repository_of(folder: str) -> GitRepository | None:
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
