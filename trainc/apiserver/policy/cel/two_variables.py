"""Macros with two variables: all(k, v, ...), exists, existsOne, transformList, transformMap, transformMapEntry.

Source: cel-go ext/comprehensions.go; Kubernetes has them since 1.32. cel-cpp parses them as calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from trainc.apiserver.policy.cel.syntax import Call, Ident, Node
from trainc.apiserver.policy.cel.values import (
    Built,
    EvaluationError,
    NotKnownError,
    Paths,
    Run,
    Scope,
    Valued,
    below,
    find,
    join,
    type_name,
)


def two_variables(node: Call, bound: frozenset[str], runnable: Callable[[Node, frozenset[str]], Run]) -> Run:
    """What evaluates such a macro; `runnable` gives what evaluates a part of it."""
    first, second = [arg.name for arg in node.args[:2] if type(arg) is Ident]
    inside = bound | {first, second}
    if node.target is None:
        raise EvaluationError(f"undeclared reference to '{node.function}'")
    over = runnable(node.target, bound)
    parts = [runnable(arg, inside) for arg in node.args[2:]]
    combine = _COMBINE[node.function]

    def run(scope: Scope) -> Valued:
        collection, paths = over(scope)
        if type(collection) is not dict and not isinstance(collection, list):
            raise EvaluationError(f"got '{type_name(collection)}', expected iterable type", paths)
        kept = scope.held(first, second)
        try:
            return combine(_each(scope, (first, second), collection, paths), parts, scope, paths)
        finally:
            scope.restore(kept)

    return run


def _each(scope: Scope, names: tuple[str, str], collection: Any, paths: Paths) -> Iterator[Any]:
    """Bind the variables to each key or index and its value; gives the key."""
    places = collection.paths if type(collection) is Built else None
    items = collection.items() if type(collection) is dict else enumerate(collection)
    for key, value in items:
        scope.names[names[0]] = key, below(paths, key)
        scope.names[names[1]] = value, places[key] if places else below(paths, key)
        scope.pay(1)
        yield key


def decided(sides: Iterable[Run], scope: Scope, *, until: bool) -> Valued:
    """`&&` and `||`, all() and exists(): any side decides, whatever the others end in."""
    trouble: EvaluationError | NotKnownError | None = None
    rests: list[Paths] = []
    for side in sides:
        try:
            value, paths = side(scope)
        except (EvaluationError, NotKnownError) as error:
            trouble = error if trouble is None or type(error) is NotKnownError else trouble
            continue
        if value is until:
            return value, paths
        rests.append(paths)
        if type(value) is not bool:
            trouble = trouble or EvaluationError("no such overload", paths)
    if trouble is not None:
        raise trouble
    return not until, join(*rests)


def _exactly_one(rounds: Iterator[Any], parts: list[Run], scope: Scope, _paths: Paths) -> Valued:
    values = [parts[0](scope) for _ in rounds]
    return sum(value is True for value, _ in values) == 1, join(*[paths for _, paths in values])


def _is_wanted(parts: list[Run], scope: Scope) -> bool:
    return len(parts) == 1 or parts[0](scope)[0] is True


def _to_list(rounds: Iterator[Any], parts: list[Run], scope: Scope, _paths: Paths) -> Valued:
    out = Built()
    for _ in rounds:
        if _is_wanted(parts, scope):
            value, paths = parts[-1](scope)
            out.append(value)
            out.paths.append(paths)
    return out, join(*out.paths)


def _to_map(rounds: Iterator[Any], parts: list[Run], scope: Scope, paths: Paths) -> Valued:
    return {key: parts[-1](scope)[0] for key in rounds if _is_wanted(parts, scope)}, paths


def _to_entries(rounds: Iterator[Any], parts: list[Run], scope: Scope, paths: Paths) -> Valued:
    out: dict[Any, Any] = {}
    for _ in rounds:
        if not _is_wanted(parts, scope):
            continue
        entry, _rests = parts[-1](scope)
        for key, value in entry.items():
            if find(out, key)[0]:
                raise EvaluationError(f"insert failed: key {key} already exists")
            out[key] = value
    return out, paths


_COMBINE: dict[str, Callable[[Iterator[Any], list[Run], Scope, Paths], Valued]] = {
    "all": lambda rounds, parts, scope, _: decided((parts[0] for _ in rounds), scope, until=False),
    "exists": lambda rounds, parts, scope, _: decided((parts[0] for _ in rounds), scope, until=True),
    "existsOne": _exactly_one,
    "exists_one": _exactly_one,
    "transformList": _to_list,
    "transformMap": _to_map,
    "transformMapEntry": _to_entries,
}
