"""`--staged`: a command judges what the next commit holds, not the files that lie around it."""

from __future__ import annotations

import os
from contextlib import chdir

from trainc.changes.git.repository import GitRepository, staged_folder
from trainc.cli.shared.options import Options
from trainc.cli.shared.process import Orderly
from trainc.cli.shared.session import WORK_TREE
from trainc.compiler.load.runtimes import may_hold_runtimes
from trainc.compiler.load.walk import is_candidate, ours
from trainc.text.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def run_staged(options: Options, command: Callable[[Options], int], *, touched: bool = False) -> int:
    """Run a command in a folder that holds what Git's index holds; every path keeps the name that it has here.

    With `touched` and no arguments, all that the commit changes are. What it deletes no tool passes: the folder of a
    deleted runtime, or of anything else that jobs may rest on, is an argument in any case.

    Raises:
        Trouble: outside of a Git work tree, or for a path outside of it.
    """
    repository = GitRepository(".")
    here = os.path.realpath(".")
    arguments = [_relative(path, here) for path in options.arguments]
    for path in arguments:
        if not _is_below(repository.top, os.path.join(here, path)):
            raise Trouble(f"{path} is outside the Git work tree")
    deleted: list[str] = []
    if touched:
        changed, gone = repository.staged()
        deleted = [os.path.relpath(os.path.join(repository.top, path), here) for path in _shared(repository, gone)]
        if not arguments:
            arguments = [os.path.relpath(os.path.join(repository.top, path), here) for path in sorted(changed)]
    values = {name: given for name, given in options.values.items() if name != "staged"}
    values[WORK_TREE] = [here]
    with Orderly(), staged_folder(repository) as folder:
        place = os.path.join(folder, repository.prefix(here))
        os.makedirs(place, exist_ok=True)
        with chdir(place):
            return command(Options([*arguments, *map(_standing, deleted)], values))


def _shared(repository: GitRepository, gone: Mapping[str, str]) -> list[str]:
    """Those of the deleted files that may reach jobs in other files."""
    specs = sorted(path for path in gone if is_candidate(path))
    texts = zip(specs, repository.contents([gone[path] for path in specs]), strict=True)
    return [path for path, data in texts if may_hold_runtimes(data) or not ours(data, rendered=True)]


def _standing(path: str) -> str:
    """The nearest folder above a path that is there."""
    while not os.path.isdir(path):
        path = os.path.dirname(path) or "."
    return path


def _relative(path: str, here: str) -> str:
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.relpath(os.path.join(os.path.realpath(folder), name), here)


def _is_below(top: str, path: str) -> bool:
    return os.path.commonpath((top, os.path.normpath(path))) == top
