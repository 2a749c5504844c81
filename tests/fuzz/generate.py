"""Makes inputs: whole projects with a few things gone wrong, and a command line from trainc's own table of commands."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING

from tests.compiling import ROOT
from tests.fuzz.command_lines import COMMON, ON_DUMPS, arguments, plugin_request
from tests.fuzz.function_inputs import resource_list
from tests.fuzz.inputs import Input, corpus
from tests.fuzz.mutations import mutate_files

if TYPE_CHECKING:
    from pathlib import Path

MAX_FILES = 40
MAX_BYTES = 60_000
DEFAULT_JOB = "jobs/job.yaml"


def generate(seed: int, index: int) -> Input:
    """The input of this index: the same for the same seed, on every machine."""
    chance = random.Random(f"{seed}:{index}")  # noqa: S311 (inputs have to be made again)
    if chance.random() < 0.1 and corpus():
        return _relative_of(chance.choice(list(corpus().values())), chance)
    is_dump = chance.random() < 0.12
    files = dict(chance.choice(dumps() if is_dump else projects()))
    if chance.random() < 0.2:
        files |= dict(chance.choice(clusters()))
    before = dict(files)
    mutate_files(files, chance, others=projects())
    argv = arguments(chance, sorted(files), ON_DUMPS if is_dump else COMMON)
    given = Input(argv, files)
    if argv[:1] == ("cmp",):
        given.env = plugin_request(chance)
    if argv[:1] == ("fn",):
        given.stdin = resource_list(files, chance)
    elif "-" in argv:
        given.stdin = chance.choice(list(files.values()) or [b""])
    if argv[:1] == ("diff",) and chance.random() < 0.5:
        return _between_folders(given, before)
    if _needs_history(argv) and chance.random() < 0.5:
        given.history = (before,)
    return given


def _relative_of(given: Input, chance: random.Random) -> Input:
    """An input that broke something once, or something close to it."""
    files = dict(given.files)
    if chance.random() < 0.9:
        mutate_files(files, chance, others=projects())
    argv = given.argv if chance.random() < 0.5 else arguments(chance, sorted(files))
    return Input(argv, files, given.env, given.stdin, given.history)


def _between_folders(given: Input, before: dict[str, bytes]) -> Input:
    """A comparison of two folders, which needs no history."""
    given.files = {f"new/{path}": data for path, data in given.files.items()}
    given.files |= {f"old/{path}": data for path, data in before.items()}
    given.argv = ("diff", "old", "new", *(word for word in given.argv[1:] if word.startswith("--exit")))
    return given


def _needs_history(argv: tuple[str, ...]) -> bool:
    return argv[:1] == ("diff",) or not {"--changed-since", "--tracked", "--against"}.isdisjoint(argv)


@cache
def projects() -> tuple[tuple[tuple[str, bytes], ...], ...]:
    """Projects of the cases and examples of this repository, each a list of paths and contents."""
    folders = [*sorted(ROOT.glob("tests/cases/**/input")), *sorted(ROOT.glob("examples/*/")), ROOT / "tests/sample"]
    found = [_project(folder) for folder in folders]
    return tuple(files for files in found if files)


@cache
def clusters() -> tuple[tuple[tuple[str, bytes], ...], ...]:
    """Projects that bring a folder of what is known of a cluster."""
    return tuple(files for files in projects() if any("clusters/" in path for path, _ in files))


@cache
def dumps() -> tuple[tuple[tuple[str, bytes], ...], ...]:
    """What kubectl printed of clusters in trouble, each with the repository that its jobs come from."""
    repository = ROOT / "tests/diagnose/repository"
    rest = [(path.relative_to(repository).as_posix(), path.read_bytes()) for path in sorted(repository.rglob("*.y*ml"))]
    found = [path.read_bytes() for path in sorted(ROOT.glob("tests/diagnose/cases/*/input.*"))]
    return tuple((("dump.yaml", data), *rest) for data in found if len(data) <= MAX_BYTES)


def _project(folder: Path) -> tuple[tuple[str, bytes], ...]:
    files = [(path.relative_to(folder).as_posix(), path) for path in sorted(folder.rglob("*.y*ml"))]
    if not 0 < len(files) <= MAX_FILES:
        return ()
    if len(files) == 1 and "/" not in files[0][0]:
        files = [(DEFAULT_JOB, files[0][1])]
    found = tuple((name, path.read_bytes()) for name, path in files)
    return found if sum(len(data) for _, data in found) <= MAX_BYTES else ()
