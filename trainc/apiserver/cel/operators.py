"""What the built-in CEL rules are made of: CEL's meaning of fields, equality, logic and macros over trees.

Source: the CEL language definition as Kubernetes 1.36 configures it for CustomResourceDefinitions.
"""

from collections.abc import Callable
from typing import Any

from trainc.apiserver.schema.patterns import ORDINARY
from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.text.re2 import Pattern

_patterns: "dict[str, Pattern]" = {}


class CelError(Exception):
    """A rule that ended in an error; the text is the engine's."""


def bare(value: Any) -> Any:
    """A scalar without its origin; maps and lists as they are."""
    return value.value if value.__class__ is Sourced else value


def field(holder: Any, name: str) -> Any:
    """`holder.name`."""
    if holder.__class__ is not dict:
        raise CelError("no such overload")
    if name not in holder:
        raise CelError(f"no such key: {name}")
    return bare(holder[name])


def has(holder: Any, name: str) -> bool:
    """`has(holder.name)`."""
    if holder.__class__ is not dict:
        raise CelError("no such overload")
    return name in holder


def same(left: Any, right: Any) -> bool:
    """`left == right`: numbers by value, everything else by type and content."""
    left = left.value if left.__class__ is Sourced else left
    right = right.value if right.__class__ is Sourced else right
    kind = left.__class__
    if kind is not right.__class__:
        return kind in (int, float) and right.__class__ in (int, float) and bool(left == right)
    if kind is dict:
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if kind is list:
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def compare(left: Any, right: Any) -> int:
    """-1, 0 or 1 for `left` before, equal to or after `right`."""
    if left.__class__ is not int or right.__class__ is not int:
        numbers = left.__class__ in (int, float) and right.__class__ in (int, float)
        if not numbers and (left.__class__ is not right.__class__ or left.__class__ not in (str, bool)):
            raise CelError("no such overload")
    return int(left > right) - int(left < right)


def within(item: Any, holder: Any) -> bool:
    """`item in holder`."""
    if holder.__class__ is dict:
        return item.__class__ is str and item in holder
    if holder.__class__ is not list:
        raise CelError("no such overload")
    return any(same(item, other) for other in holder)


def size(value: Any) -> int:
    """`size(value)`: code points, items or keys."""
    if value.__class__ not in (str, list, dict):
        raise CelError("no such overload")
    return len(value)


def matches(text: Any, pattern: str) -> bool:
    """`text.matches(pattern)`, which searches."""
    if text.__class__ is not str:
        raise CelError("no such overload")
    if pattern in ORDINARY and ORDINARY[pattern](text):
        return True
    compiled = _patterns.get(pattern)
    if compiled is None:
        from trainc.text.re2 import compile_re2  # noqa: PLC0415 (most values are ordinary, and need no engine)

        compiled = _patterns[pattern] = compile_re2(pattern)
    return compiled.search(text)


def truth(value: Any) -> bool:
    """A condition, which has to be a boolean."""
    if value.__class__ is not bool:
        raise CelError("no such overload")
    return bool(value)


def both(left: Callable[[], Any], right: Callable[[], Any]) -> bool:
    """`left && right`: a false side decides even if the other one is an error."""
    return _decided(left, right, decisive=False)


def either(left: Callable[[], Any], right: Callable[[], Any]) -> bool:
    """`left || right`: a true side decides even if the other one is an error."""
    return _decided(left, right, decisive=True)


def _decided(left: Callable[[], Any], right: Callable[[], Any], *, decisive: bool) -> bool:
    try:
        first = truth(left())
    except CelError:
        if truth(right()) is decisive:
            return decisive
        raise
    return first if first is decisive else truth(right())


def every(holder: Any, test: Callable[[Any], Any]) -> bool:
    """`holder.all(x, test)`."""
    return _fold(holder, test, decisive=False)


def some(holder: Any, test: Callable[[Any], Any]) -> bool:
    """`holder.exists(x, test)`."""
    return _fold(holder, test, decisive=True)


def _fold(holder: Any, test: Callable[[Any], Any], *, decisive: bool) -> bool:
    if holder.__class__ not in (dict, list):
        raise CelError("no such overload")
    failed: CelError | None = None
    for item in map(bare, holder):  # the items of a list, the keys of a map
        try:
            if truth(test(item)) is decisive:
                return decisive
        except CelError as error:
            failed = failed or error
    if failed:
        raise failed
    return not decisive
