"""Makes a function of a syntax tree: it gives the value of an expression, what that rests on, and counts the cost.

Evaluation and runtime costs as in cel-go (interpreter, runtimecost.go), with the options that Kubernetes 1.34 sets.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from trainc.apiserver.policy.cel.declarations import cost_of
from trainc.apiserver.policy.cel.functions import FUNCTIONS, NAMESPACES, called
from trainc.apiserver.policy.cel.syntax import Call, Const, Fold, Ident, ListOf, MapOf, Node, Select
from trainc.apiserver.policy.cel.values import (
    NONE,
    Built,
    EvaluationError,
    NotKnownError,
    Optional,
    Paths,
    Place,
    Run,
    Scope,
    TypeName,
    UnknownValue,
    Valued,
    below,
    equal,
    find,
    first_unknown,
    is_number,
    join,
    overload,
    type_name,
)

_LIST, _MAP = 10, 30  # ListCreateBaseCost, MapCreateBaseCost of cel-go
_TYPES = ("int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type")
_MACROS = ("all", "exists", "existsOne", "exists_one", "transformList", "transformMap", "transformMapEntry")
_SEQUENCES = frozenset({"_+_", "slice", "flatten", "distinct", "sort", "reverse"})  # whose elements are their lists'
_FOLDED = ("duration", "timestamp", "int", "uint", "double", "string", "bool", "bytes", "dyn", "type")


def is_two_variable(node: Call) -> bool:
    """Whether a call is a macro with two variables, which cel-cpp does not expand."""
    names = node.args[:2]
    return (
        node.target is not None
        and node.function in _MACROS
        and len(node.args) >= 3
        and all(type(name) is Ident for name in names)
    )


def runnable(node: Node, bound: frozenset[str] = frozenset()) -> Run:
    """What evaluates a tree; `bound` are the variables of the macros around it."""
    match node:
        case Const(value):
            return lambda _: (value, None)
        case Ident(name):
            return _ident(name, bound)
        case Select(operand, field, test):
            return _select(operand, field, test=test, bound=bound)
        case ListOf():
            return _list(node, bound)
        case MapOf():
            return _map(node, bound)
        case Fold():
            return _fold(node, bound)
        case Call():
            return _call(node, bound)
    raise TypeError(node)


def _ident(name: str, bound: frozenset[str]) -> Run:
    name = name.removeprefix(".")
    if name not in bound and name in _TYPES:
        held = TypeName(name)
        return lambda _: (held, None)

    def run(scope: Scope) -> Valued:
        scope.cost += 1
        value, paths = scope.names[name] if name in scope.names else scope.lazy(name)
        if type(value) is UnknownValue:
            raise NotKnownError(value.reason)
        if isinstance(value, Exception):  # what a step of a macro ended in: a later step may still decide
            raise value
        return value, paths

    return run


def _qualified(node: Node) -> str:
    """The dotted name that a chain of selections is, empty for anything else."""
    if type(node) is Ident:
        return node.name
    if type(node) is Select and not node.test and (above := _qualified(node.operand)):
        return f"{above}.{node.field}"
    return ""


def _select(operand: Node, field: str, *, test: bool, bound: frozenset[str]) -> Run:
    qualified = f"{_qualified(operand)}.{field}"
    if qualified in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
        held = TypeName(qualified)
        return lambda _: (held, None)
    inner = runnable(operand, bound)
    if type(operand) is Ident and operand.name == "variables" and "variables" not in bound:
        name = f"variables.{field}"

        def variable(scope: Scope) -> Valued:
            scope.cost += 1 if test else 2
            return (True, None) if test else scope.lazy(name)

        return variable

    def run(scope: Scope) -> Valued:
        value, paths = inner(scope)
        if not test:
            scope.cost += 1
            return _entry(value, field, paths, is_optional=False)
        if type(value) is Optional:
            if not value.present:
                return False, paths
            value = value.value
        present, _, within = _found(value, field, paths, test=True)
        return present, within

    return run


def _entry(value: Any, key: Any, paths: Paths, *, is_optional: bool) -> Valued:
    """What a map or a list holds at a key; an optional where that is asked for, or the map is one itself."""
    if type(value) is Optional:
        if not value.present:
            return NONE, paths
        value, is_optional = value.value, True
    present, item, within = _found(value, key, paths)
    if is_optional:
        return (Optional(True, item) if present else NONE), within
    if not present:
        what = "index out of bounds" if isinstance(value, list) else "no such key"
        raise EvaluationError(f"{what}: {key}", within)
    return item, within


def _found(value: Any, key: Any, paths: Paths, *, test: bool = False) -> tuple[bool, Any, Paths]:
    """Whether a map or a list holds a key, what it holds there, and what that rests on; a `test` asks for no value."""
    within = below(paths, key)
    if type(value) is dict:
        present, held = find(value, key)
        if present and type(held) is UnknownValue and not test:
            raise NotKnownError(held.reason)
        return present, held, within
    if isinstance(value, list):
        if not is_number(key) or key != int(key):
            raise EvaluationError(f"unsupported index type '{type_name(key)}' in list", paths)
        index = int(key)
        if 0 <= index < len(value):
            if type(value[index]) is UnknownValue:
                raise NotKnownError(value[index].reason)
            return True, value[index], value.paths[index] if type(value) is Built else below(paths, index)
    return False, None, within


def _list(node: ListOf, bound: frozenset[str]) -> Run:
    if not node.optional and all(type(element) is Const for element in node.elements):
        values = [element.value for element in node.elements if type(element) is Const]
        return lambda _: (values, None)
    parts = [runnable(element, bound) for element in node.elements]

    def run(scope: Scope) -> Valued:
        out = Built()
        for index, part in enumerate(parts):
            value, paths = part(scope)
            if index in node.optional:
                if type(value) is not Optional:
                    raise overload()
                if not value.present:
                    continue
                value = value.value
            out.append(value)
            out.paths.append(paths)
        scope.pay(_LIST)
        return out, join(*out.paths)

    return run


def _map(node: MapOf, bound: frozenset[str]) -> Run:
    parts = [(runnable(key, bound), runnable(value, bound), optional) for key, value, optional in node.entries]
    constant = all(type(key) is Const and type(value) is Const for key, value, _ in node.entries)

    def run(scope: Scope) -> Valued:
        out: dict[Any, Any] = {}
        rests: list[Paths] = []
        for key_of, value_of, optional in parts:
            key, _ = key_of(scope)
            value, paths = value_of(scope)
            if find(out, key)[0]:
                raise EvaluationError(f"Failed with repeated key '{key}'")
            if optional:
                if not value.present:
                    continue
                value = value.value
            out[key] = value
            rests.append(paths)
        scope.pay(0 if constant else _MAP)
        return out, join(*rests)

    return run


def _call(node: Call, bound: frozenset[str]) -> Run:
    name, args = node.function, node.args
    if (special := _SPECIAL.get(name)) is not None and (node.target is not None or name[0] in "_@"):
        sides = [runnable(arg, bound) for arg in (node.target, *args) if arg is not None]
        return lambda scope: special(sides, scope)
    if name == "@in":
        return _in(node, bound)
    if is_two_variable(node):
        return _two_variables(node, bound)
    if node.target is not None:
        namespace = _qualified(node.target)
        if namespace in NAMESPACES and namespace not in bound:
            name = f"{namespace}.{name}"
        else:
            args = (node.target, *args)
    if name not in FUNCTIONS:
        raise EvaluationError(f"undeclared reference to '{name}'")
    constant = name in _FOLDED and all(type(arg) is Const for arg in args)
    parts = [runnable(arg, bound) for arg in args]

    def run(scope: Scope) -> Valued:
        got = [part(scope) for part in parts]
        values = [value for value, _ in got]
        if name in _SEQUENCES:  # the elements of a list know what each rests on
            values = [
                Built(value, [below(paths, index) for index in range(len(value))])
                if type(value) is list and type(paths) is Place
                else value
                for value, paths in got
            ]
        rests = join(*[paths for _, paths in got])
        try:
            result = called(name, values)
        except (EvaluationError, TypeError, AttributeError) as error:
            if reason := first_unknown(values):
                raise NotKnownError(reason) from None  # a value in a list that nobody knows is of no wrong type
            if type(error) is not EvaluationError:
                raise EvaluationError("no such overload", rests) from None
            error.paths = error.paths or rests
            raise
        scope.pay(0 if constant else cost_of(name, values, result))
        return result, (join(*result.paths) or rests) if type(result) is Built else rests

    return run


def _decided(sides: Iterable[Run], scope: Scope, *, until: bool) -> Valued:
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


def _choice(sides: list[Run], scope: Scope) -> Valued:
    condition, yes, no = sides
    value, paths = condition(scope)
    if type(value) is not bool:
        raise EvaluationError("no such overload", paths)
    chosen, rests = (yes if value else no)(scope)
    return chosen, rests if rests is not None else paths


def _index(sides: list[Run], scope: Scope, *, is_optional: bool) -> Valued:
    """`a[b]`, and `a.?b` and `a[?b]`."""
    value, paths = sides[0](scope)
    key, _ = sides[1](scope)
    scope.cost += 1
    return _entry(value, key, paths, is_optional=is_optional)


def _or(sides: list[Run], scope: Scope, *, unpacked: bool) -> Valued:
    """`or` and `orValue` of optionals: the other one is asked for only where the first is empty."""
    value, paths = sides[0](scope)
    if type(value) is not Optional:
        raise EvaluationError("no such overload", paths)
    scope.pay(1)
    if value.present:
        return (value.value if unpacked else value), paths
    default, rests = sides[1](scope)
    return default, join(paths, rests)


def _not_strictly_false(sides: list[Run], scope: Scope) -> Valued:
    try:
        value, _ = sides[0](scope)
    except (EvaluationError, NotKnownError):
        return True, None
    scope.cost += 1
    return value is not False, None


def _in(node: Call, bound: frozenset[str]) -> Run:
    item_of, held_of = [runnable(arg, bound) for arg in node.args]
    is_constant = type(node.args[1]) is ListOf and all(type(one) is Const for one in node.args[1].elements)

    def run(scope: Scope) -> Valued:
        item, paths = item_of(scope)
        held, rests = held_of(scope)
        if type(held) is dict:
            scope.pay(1)
            return find(held, item)[0], join(rests, paths)
        if not isinstance(held, list):
            raise EvaluationError("no such overload", join(rests, paths))
        scope.pay(0 if is_constant else len(held))
        return any(equal(item, one) for one in held), join(rests, paths)

    return run


_SPECIAL: dict[str, Callable[[list[Run], Scope], Valued]] = {
    "_&&_": partial(_decided, until=False),
    "_||_": partial(_decided, until=True),
    "_?_:_": _choice,
    "_[_]": partial(_index, is_optional=False),
    "_?._": partial(_index, is_optional=True),
    "_[?_]": partial(_index, is_optional=True),
    "or": partial(_or, unpacked=False),
    "orValue": partial(_or, unpacked=True),
    "@not_strictly_false": _not_strictly_false,
}


def _elements(collection: Any, paths: Paths) -> Iterator[tuple[Any, Any, Paths]]:
    """The key or index of each element of a map or a list, the element, and what it rests on."""
    if type(collection) is not dict and not isinstance(collection, list):
        raise EvaluationError(f"got '{type_name(collection)}', expected iterable type", paths)
    places = collection.paths if type(collection) is Built else None
    for key, item in collection.items() if type(collection) is dict else enumerate(collection):
        yield key, item, places[key] if places else below(paths, key)


def _fold(node: Fold, bound: frozenset[str]) -> Run:
    """A macro with one variable, which is the key of a map or the element of a list."""
    inside = bound | {node.variable, node.second, node.result_name}
    over, start = runnable(node.over, bound), runnable(node.start, bound)
    condition, result = runnable(node.condition, inside), runnable(node.result, inside)
    appending = _appending(node, inside)
    step = appending or runnable(node.step, inside)

    def run(scope: Scope) -> Valued:
        collection, paths = over(scope)
        elements = _elements(collection, paths)
        value, rests = start(scope)
        with scope.shadowing(node.variable, node.result_name) as names:
            names[node.result_name] = (Built(value) if isinstance(value, list) and not value else value), rests
            for key, item, held in elements:
                names[node.variable] = key if type(collection) is dict else item, held
                if condition(scope)[0] is not True:
                    break
                try:
                    names[node.result_name] = step(scope)
                except (EvaluationError, NotKnownError) as error:
                    if appending is not None:
                        raise
                    names[node.result_name] = error, None
                scope.pay(0)
            out, rests = result(scope)
        if type(out) is Built:
            rests = join(rests, *out.paths)
        return out, (rests if rests is not None else paths)

    return run


def _appending(node: Fold, bound: frozenset[str]) -> Run | None:
    """The step of map() and filter(), which adds to the list in its place, as cel-go does; None for other steps."""
    step, condition = node.step, None
    if type(step) is Call and step.function == "_?_:_" and step.args[2] == Ident(node.result_name):
        condition, step = runnable(step.args[0], bound), step.args[1]
    if type(step) is not Call or step.function != "_+_" or step.args[0] != Ident(node.result_name):
        return None
    if type(step.args[1]) is not ListOf or len(step.args[1].elements) != 1:
        return None
    element = runnable(step.args[1].elements[0], bound)

    def run(scope: Scope) -> Valued:
        whole = scope.names[node.result_name]
        if condition is not None:
            wanted, paths = condition(scope)
            if type(wanted) is not bool:
                raise EvaluationError("no such overload", paths)
            if not wanted:
                scope.cost += 1
                return whole
        value, paths = element(scope)
        whole[0].append(value)
        whole[0].paths.append(paths)
        scope.cost += _LIST + 2
        return whole

    return run


def _two_variables(node: Call, bound: frozenset[str]) -> Run:
    """A macro with two variables, which cel-cpp parses as a call. Source: cel-go ext/comprehensions.go."""
    first, second = [arg.name for arg in node.args[:2] if type(arg) is Ident]
    if node.target is None:
        raise EvaluationError(f"undeclared reference to '{node.function}'")
    over = runnable(node.target, bound)
    *wanted, last = [runnable(arg, bound | {first, second}) for arg in node.args[2:]]

    def rounds(scope: Scope, collection: Any, paths: Paths) -> Iterator[Any]:
        """Bind the variables to each key or index and its value; gives the key."""
        for key, value, held in _elements(collection, paths):
            scope.names[first] = key, below(paths, key)
            scope.names[second] = value, held
            scope.pay(1)
            yield key

    def run(scope: Scope) -> Valued:
        collection, paths = over(scope)
        with scope.shadowing(first, second):
            keys = rounds(scope, collection, paths)
            if node.function in ("all", "exists"):
                return _decided((last for _ in keys), scope, until=node.function == "exists")
            made = ((key, *last(scope)) for key in keys if all(one(scope)[0] is True for one in wanted))
            if node.function == "transformMapEntry":
                out: dict[Any, Any] = {}
                for _, entry, _ in made:
                    for key, value in entry.items():
                        if find(out, key)[0]:
                            raise EvaluationError(f"insert failed: key {key} already exists")
                        out[key] = value
                return out, paths
            if node.function == "transformMap":
                return {key: value for key, value, _ in made}, paths
            held = [(value, rests) for _, value, rests in made]
        rests = join(*[rests for _, rests in held])
        if node.function == "transformList":
            return Built([value for value, _ in held], [rests for _, rests in held]), rests
        return sum(value is True for value, _ in held) == 1, rests  # existsOne

    return run
