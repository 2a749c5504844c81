"""Makes a function of a syntax tree: it gives the value of an expression, what that rests on, and counts the cost.

Evaluation and runtime costs as in cel-go (interpreter, runtimecost.go), with the options that Kubernetes 1.34 sets.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from trainc.apiserver.expressions.checker import DYN, TYPE_VALUES, Signature, Type
from trainc.apiserver.expressions.declarations import cost_of
from trainc.apiserver.expressions.functions import FUNCTIONS, NAMESPACES, called
from trainc.apiserver.expressions.syntax import Call, Const, Fold, Ident, ListOf, MapOf, Node, Select, Uint, qualified
from trainc.apiserver.expressions.texts import compiled_pattern
from trainc.apiserver.expressions.values import (
    NONE,
    Built,
    Duration,
    EvaluationError,
    NotEvaluatedError,
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
_SEQUENCES = frozenset({"_+_", "slice", "flatten", "distinct", "sort", "reverse"})  # whose elements are their lists'
_INDEXED = ("_[_]", "_[?_]")
_GUARDED = ("max", "min", "sum", "isSorted")  # which look at the type of the first element
_ZEROS = {"uint": Uint(0), "double": 0.0, "google.protobuf.Duration": Duration(0)}
_FOLDED = ("duration", "timestamp", "int", "uint", "double", "string", "bool", "bytes", "dyn", "type")


class Plan(NamedTuple):
    """What is known while functions are made of a tree: its types, and the variables of the macros around a node."""

    types: Mapping[int, Type]
    overloads: Mapping[int, list[Signature]]
    bound: frozenset[str] = frozenset()

    def binding(self, *names: str) -> "Plan":
        """The plan within a macro that binds variables."""
        return Plan(self.types, self.overloads, self.bound | set(names))


class Constant:
    """A value that is known before anything is evaluated; it costs nothing."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, _: Scope) -> Valued:
        """The value, which rests on no field."""
        return self.value, None


def runnable(node: Node, plan: Plan) -> Run:
    """What evaluates a tree; an EvaluationError where the server already meets one that it ends in."""
    match node:
        case Const(value):
            return Constant(value)
        case Ident(name):
            return _ident(name, plan)
        case Select(operand, field, test):
            return _select(operand, field, test=test, plan=plan)
        case ListOf():
            return _list(node, plan)
        case MapOf():
            return _map(node, plan)
        case Fold():
            return _fold(node, plan)
        case Call():
            return _call(node, plan)
    raise TypeError(node)


def _ident(name: str, plan: Plan) -> Run:
    name = name.removeprefix(".")
    if name not in plan.bound and name in TYPE_VALUES:
        return Constant(TypeName(name))

    def run(scope: Scope) -> Valued:
        scope.cost += 1
        value, paths = scope.names[name] if name in scope.names else scope.lazy(name)
        if type(value) is UnknownValue:
            raise NotKnownError(value.reason)
        if isinstance(value, Exception):  # what a step of a macro ended in: a later step may still decide
            raise value
        return value, paths

    return run


def _select(operand: Node, field: str, *, test: bool, plan: Plan) -> Run:
    path = f"{qualified(operand)}.{field}"
    if path in TYPE_VALUES and path.partition(".")[0] not in plan.bound:
        return Constant(TypeName(path))
    inner = runnable(operand, plan)
    if type(operand) is Ident and operand.name == "variables" and "variables" not in plan.bound:
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


def _list(node: ListOf, plan: Plan) -> Run:
    parts = [runnable(element, plan) for element in node.elements]
    constants = [part.value for part in parts if isinstance(part, Constant)]
    if not node.optional and len(constants) == len(parts):
        return Constant(constants)

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


def _map(node: MapOf, plan: Plan) -> Run:
    parts = [(runnable(key, plan), runnable(value, plan), optional) for key, value, optional in node.entries]
    is_constant = all(
        isinstance(key, Constant) and isinstance(value, Constant) and not optional for key, value, optional in parts
    )

    def run(scope: Scope) -> Valued:
        out: dict[Any, Any] = {}
        rests: list[Paths] = []
        for key_of, value_of, optional in parts:
            key, _ = key_of(scope)
            value, paths = value_of(scope)
            if not _is_key(key):
                raise NotEvaluatedError(f"trainc does not evaluate maps with keys of the type {type_name(key)}")
            if optional:
                if not value.present:
                    continue
                value = value.value
            out[key] = value
            rests.append(paths)
        scope.pay(0 if is_constant else _MAP)
        return out, join(*rests)

    return Constant(run(Scope({}, _no_name))[0]) if is_constant else run


def _no_name(name: str) -> Valued:
    raise EvaluationError(f"no such attribute(s): {name}")


def _call(node: Call, plan: Plan) -> Run:
    name, args = node.function, node.args
    if (special := _SPECIAL.get(name)) is not None and (node.target is not None or name[0] in "_@"):
        sides = [runnable(arg, plan) for arg in (node.target, *args) if arg is not None]
        if name in _INDEXED and isinstance(sides[1], Constant) and not _is_key(sides[1].value):
            raise EvaluationError("invalid qualifier type")
        if (
            name in _INDEXED
            and type(args[0]) is Call
            and args[0].function == "_[_]"
            and (plan.types[id(args[0].args[0])].name != "optional_type")
        ):
            return lambda scope: _index(sides, scope, is_optional=name != "_[_]", is_element=True)
        return lambda scope: special(sides, scope)
    if name == "@in":
        return _in(node, plan)
    if node.target is not None:
        namespace = qualified(node.target)
        if namespace in NAMESPACES and namespace not in plan.bound:
            name = f"{namespace}.{name}"
        else:
            args = (node.target, *args)
    if name not in FUNCTIONS:
        raise EvaluationError(f"undeclared reference to '{name}'")
    parts = [runnable(arg, plan) for arg in args]
    constants = [part.value for part in parts if isinstance(part, Constant)]
    if name in _FOLDED and len(constants) == len(parts):
        return Constant(called(name, constants))
    if (
        name in ("matches", "find", "findAll")
        and len(parts) > 1
        and isinstance(parts[1], Constant)
        and type(parts[1].value) is str
    ):
        compiled_pattern(parts[1].value)
    overloads = plan.overloads[id(node)] if name in _GUARDED else ()
    accepted = [signature.parameters for signature in overloads]
    empty = _ZEROS.get(plan.types[id(node)].name, 0) if name == "sum" else None

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
            if accepted and not any(all(map(_fits, values, parameters)) for parameters in accepted):
                raise overload()
            result = empty if empty is not None and values == [[]] else called(name, values)
        except (EvaluationError, TypeError, AttributeError) as error:
            if reason := first_unknown(values):
                raise NotKnownError(reason) from None  # a value in a list that nobody knows is of no wrong type
            if type(error) is not EvaluationError:
                raise EvaluationError("no such overload", rests) from None
            error.paths = error.paths or rests
            raise
        scope.pay(cost_of(name, values, result))
        return result, (join(*result.paths) or rests) if type(result) is Built else rests

    return run


def _fits(value: Any, kind: Type) -> bool:
    """Whether a value is of a type; of a list or a map its first element alone is looked at, as cel-go does."""
    if kind.is_parameter or kind == DYN or type(value) is UnknownValue:
        return True
    if type_name(value) != kind.name:
        return False
    if isinstance(value, list):
        return not value or _fits(value[0], kind.parameters[0])
    if isinstance(value, dict):
        return not value or all(map(_fits, next(iter(value.items())), kind.parameters))
    return True


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


def _index(sides: list[Run], scope: Scope, *, is_optional: bool, is_element: bool = False) -> Valued:
    """`a[b]`, and `a.?b` and `a[?b]`."""
    value, paths = sides[0](scope)
    if type(value) is Optional and is_element:  # cel-go looks into no optional on its way through elements
        if is_optional:
            return NONE, paths
        raise EvaluationError("no such key", paths)
    if type(value) is Optional and not value.present:
        return NONE, paths
    key, _ = sides[1](scope)
    scope.cost += 1
    return _entry(value, key, paths, is_optional=is_optional)


def _or(sides: list[Run], scope: Scope, *, unpacked: bool) -> Valued:
    """`or` and `orValue` of optionals: the other one is asked for only where the first is empty."""
    value, paths = sides[0](scope)
    if type(value) is not Optional:
        raise EvaluationError("no such overload", paths)
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


def _in(node: Call, plan: Plan) -> Run:
    item_of, held_of = [runnable(arg, plan) for arg in node.args]
    is_constant = isinstance(held_of, Constant)
    if isinstance(held_of, Constant) and held_of.value == []:
        return Constant(False)

    def run(scope: Scope) -> Valued:
        item, paths = item_of(scope)
        held, rests = held_of(scope)
        if type(held) is dict:
            scope.pay(1)
            return _is_key(item) and find(held, item)[0], join(rests, paths)
        if not isinstance(held, list):
            raise EvaluationError("no such overload", join(rests, paths))
        scope.pay(0 if is_constant else len(held))
        return any(equal(item, one) for one in held), join(rests, paths)

    return run


def _is_key(value: Any) -> bool:
    return type(value) in (str, bool) or is_number(value)


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


def _fold(node: Fold, plan: Plan) -> Run:
    """A macro: its variable is the key of a map or the element of a list, its second one the value or the element."""
    inside = plan.binding(node.variable, node.second, node.result_name)
    over, start = runnable(node.over, plan), runnable(node.start, plan)
    condition, result = runnable(node.condition, inside), runnable(node.result, inside)
    appending = _appending(node, inside)
    step = appending or runnable(node.step, inside)

    def run(scope: Scope) -> Valued:
        collection, paths = over(scope)
        elements = _elements(collection, paths)
        value, rests = start(scope)
        with scope.shadowing(node.variable, node.second, node.result_name) as names:
            names[node.result_name] = (Built(value) if isinstance(value, list) and not value else value), rests
            for key, item, held in elements:
                if node.second:
                    names[node.variable] = key, held
                    names[node.second] = item, held
                else:
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


def _appending(node: Fold, plan: Plan) -> Run | None:
    """The step of map() and filter(), which adds to the list in its place, as cel-go does; None for other steps."""
    step, condition = node.step, None
    if type(step) is Call and step.function == "_?_:_" and step.args[2] == Ident(node.result_name):
        condition, step = runnable(step.args[0], plan), step.args[1]
    if type(step) is not Call or step.function != "_+_" or step.args[0] != Ident(node.result_name):
        return None
    if type(step.args[1]) is not ListOf or len(step.args[1].elements) != 1:
        return None
    element = runnable(step.args[1].elements[0], plan)
    listed = 2 if isinstance(element, Constant) else _LIST + 2  # a list of a constant costs nothing

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
        scope.cost += listed
        return whole

    return run
