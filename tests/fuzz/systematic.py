"""Inputs in order instead of by chance: each field of every project and of every schema, with one odd value after another."""

import copy
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import yaml

from tests.fuzz.inputs import Input
from tests.fuzz.projects import DUMP, Files, dumps, projects
from tests.fuzz.schemas import Chain, fields_of_schemas, fitting, missing

Steps = tuple[str | int, ...]

GONE, TWICE = object(), object()  # the field is left out; the item stands there twice
VALUES: tuple[Any, ...] = (
    GONE, TWICE, None, True, False, 0, 1, 3, -1, 1.5, 2**31 - 1, 2**63, float("inf"), float("nan"), "", " ", "a\nb", "${X}", "$(X)", "$((", "²", "٣",
    "1e999", "9" * 5000, "x" * 70, "a/b", "a:b@c", "x=y,z", "=", ",", '"', "'", "{", "[1]", '{"a": NaN}', "null", "-", "--", "--x", "%s", "1Ki", "-1Ki", "1:2",
    "0.0.0.0:99999", "http://", "a-2147483647.a", "2020-13-01T99:00:00Z", "9999-12-31T23:59:59Z", [], {}, [None], [[]], [{}], ["x"], [1], {"a": None},
    {"a": {"b": [1]}},
)  # fmt: skip
COMMANDS = (("show", "--details"), ("fit",), ("migrate",), ("show", "--lifecycle"), ("why",), ("fix",), ("validate", "--report", "json"),
    ("show", "--report", "html", "--output", "page.html"))  # fmt: skip
_DEEPEST = 40  # steps below a document
ON_DUMPS = (("diagnose", DUMP), ("diagnose", DUMP, "--report", "json"), ("inventory", DUMP), ("fit", "--inventory", DUMP),
    ("diagnose", DUMP, "--report", "markdown"))  # fmt: skip


class Place(NamedTuple):
    """One field of one document of a project, how the project is compiled, and below the field what a schema has there."""

    files: Files
    file: str
    document: int
    path: Steps
    options: tuple[str, ...] = ()
    schema: Chain = ()

    def values(self) -> tuple[Any, ...]:
        """What the field gets."""
        return tuple(fitting(self.schema)) if self.schema else VALUES


def systematic(index: int) -> Input:
    """The input of this index: two for each value of each place, of which the first compiles."""
    number = bisect_right(_ends(), index // 2)
    place = places()[number]
    value = _ends()[number] - index // 2 - 1
    documents = copy.deepcopy(documents_of(dict(place.files)[place.file]))
    put(documents[place.document], place.path, place.values()[value])
    files = {**dict(place.files), place.file: text_of(documents)}
    return Input(_arguments(place, index, number + value), files)


def how_many() -> int:
    """The number of inputs."""
    return 2 * _ends()[-1]


@cache
def _ends() -> tuple[int, ...]:
    """How many values all places have up to each of them."""
    return tuple(accumulate(len(place.values()) for place in places()))


@cache
def places() -> tuple[Place, ...]:
    """Every field once: those of projects by kind and path, then those of schemas, then those of dumps of clusters."""
    return (*_once(_of_projects()), *_of_schemas(), *_once(_of_dumps()))


def _arguments(place: Place, index: int, turn: int) -> tuple[str, ...]:
    commands = ON_DUMPS if place.file == DUMP else COMMANDS
    if index % 2 == 0:
        return commands[0] if place.file == DUMP else ("build", *place.options)
    name, *rest = commands[turn % len(commands)]
    if name == "why":
        return (name, place.file, *[str(step) for step in place.path if isinstance(step, str)][-1:])
    return (name, *rest, *(place.options if name == "validate" else ()))


def _once(found: Iterable[tuple[object, Place]]) -> Iterator[Place]:
    seen = set()
    for mark, place in found:
        if mark not in seen:
            seen.add(mark)
            yield place


def _of_projects() -> Iterator[tuple[object, Place]]:
    for files, options in projects():
        for file, data in files:
            role = file.rpartition("/")[2] if "clusters/" in file or file == "trainc.yaml" else ""
            for number, document in enumerate(documents_of(data)):
                for path in _paths(document):
                    yield _mark(role, document, path), Place(files, file, number, path, options)


def _of_schemas() -> Iterator[Place]:
    examples = _examples()
    for key, chain in fields_of_schemas():
        example = examples.get(key)
        if example is not None:
            path, rest = missing(documents_of(dict(example.files)[example.file])[example.document], chain)
            yield example._replace(path=path, schema=rest)


def _of_dumps() -> Iterator[tuple[object, Place]]:
    for files in dumps():
        for number, document in enumerate(documents_of(dict(files)[DUMP])):
            for path in _paths(document):
                holders = [_at(document, path[:length]) for length in range(len(path))]
                kinds = [str(one["kind"]) for one in holders if type(one) is dict and "kind" in one]
                yield (*kinds, *_mark("", document, path)), Place(files, DUMP, number, path)


def _examples() -> dict[tuple[str, str], Place]:
    """A project with a document of each kind, by API version and kind, neither the smallest nor the largest."""
    found: dict[tuple[str, str], list[Place]] = {}
    for files, options in sorted(projects(), key=lambda project: sum(len(data) for _, data in project.files)):
        for file, data in files:
            for number, document in enumerate(documents_of(data)):
                key = (str(document.get("apiVersion")), str(document.get("kind")))
                found.setdefault(key, []).append(Place(files, file, number, (), options))
    return {key: places[len(places) // 2] for key, places in found.items()}


@lru_cache(32)
def documents_of(data: bytes) -> list[Any]:
    """The objects of a file; none where it cannot be read by everybody, or has many."""
    try:
        found = [one for one in yaml.load_all(data, yaml.CSafeLoader) if isinstance(one, dict)]
        return found if len(found) <= 12 and text_of(found) else []
    except (yaml.YAMLError, ValueError, RecursionError, TypeError):
        return []


def text_of(documents: list[Any]) -> bytes:
    """A file with these objects."""
    return "---\n".join(yaml.dump(one, Dumper=yaml.CSafeDumper, sort_keys=False) for one in documents).encode()


def _paths(tree: Any, path: Steps = ()) -> Iterator[Steps]:
    if len(path) == _DEEPEST:
        return
    for step, child in tree.items() if type(tree) is dict else enumerate(tree) if type(tree) is list else ():
        yield (*path, step)
        yield from _paths(child, (*path, step))


def _mark(role: str, document: Any, path: Steps) -> tuple[object, ...]:
    steps = tuple("*" if isinstance(step, int) else str(step) for step in path)
    return role, str(document.get("kind")), str(document.get("apiVersion")).rpartition("/")[0], steps


def _at(tree: Any, path: Steps) -> Any:
    for step in path:
        tree = tree[step]
    return tree


def put(tree: Any, path: Steps, value: Any) -> None:
    """Give the field at a path a value; what lies above it is there."""
    holder: Any = _at(tree, path[:-1])
    step: Any = path[-1]
    if value is GONE:
        del holder[step]
    elif value is TWICE and type(holder) is dict:
        holder[f"{step}s"] = copy.deepcopy(holder[step])
    elif type(holder) is list and (value is TWICE or step == len(holder)):
        holder.append(copy.deepcopy(holder[step]) if value is TWICE else value)
    else:
        holder[step] = value
