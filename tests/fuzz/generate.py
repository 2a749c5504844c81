"""Makes inputs: whole projects with a few things gone wrong, and a command line from trainc's own table of commands."""

import random

from tests.fuzz.command_lines import COMMON, ON_DUMPS, arguments, plugin_request
from tests.fuzz.function_inputs import resource_list
from tests.fuzz.inputs import Input, corpus
from tests.fuzz.mutations import mutate_files
from tests.fuzz.projects import clusters, dumps, projects


def generate(seed: int, index: int) -> Input:
    """The input of this index: the same for the same seed, on every machine."""
    chance = random.Random(f"{seed}:{index}")  # noqa: S311 (inputs have to be made again)
    if chance.random() < 0.1 and corpus():
        return _relative_of(chance.choice(list(corpus().values())), chance)
    is_dump = chance.random() < 0.12
    files = dict(chance.choice(dumps()) if is_dump else chance.choice(projects()).files)
    if chance.random() < 0.2:
        files |= dict(chance.choice(clusters()))
    before = dict(files)
    mutate_files(files, chance, others=[one.files for one in projects()])
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
        mutate_files(files, chance, others=[one.files for one in projects()])
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
