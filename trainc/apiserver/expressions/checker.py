"""Checks the types of an expression as the API server does when a policy is created.

Source: cel-go checker (checker.go, types.go), and the validators of literals in cel (validator.go) and ext (formatting.go).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from os.path import dirname, join
from typing import NamedTuple

from trainc.apiserver.expressions.syntax import (
    Call,
    Const,
    Fold,
    Ident,
    ListOf,
    MapOf,
    Node,
    Select,
    Uint,
    children,
    qualified,
)

Mappings = dict["Type", "Type"]


class Type(NamedTuple):
    """A type; the name of a parameter that stands for any type begins with `<`."""

    name: str
    parameters: "tuple[Type, ...]" = ()

    @property
    def is_parameter(self) -> bool:
        """Whether it stands for any type."""
        return self.name.startswith("<")

    @property
    def is_open(self) -> bool:
        """Whether any other type may stand for it: dyn, or what has an error."""
        return self.name in ("dyn", "error")

    @property
    def declared(self) -> str:
        """The type as it is declared."""
        return f"{self.name}({', '.join(part.declared for part in self.parameters)})" if self.parameters else self.name

    def __str__(self) -> str:
        """The type as messages of the server show it."""
        shown = _SHOWN.get(self.name, self.name)
        return f"{shown}({', '.join(map(str, self.parameters))})" if self.parameters else shown


_SHOWN = {
    "google.protobuf.Duration": "duration",
    "google.protobuf.Timestamp": "timestamp",
    "null_type": "null",
    "error": "!error!",
}
DYN, ERROR, BOOL, INT, STRING, NULL = [Type(name) for name in ("dyn", "error", "bool", "int", "string", "null_type")]
_PRIMITIVE = frozenset(("bool", "bytes", "double", "int", "string", "uint"))
_LITERALS: dict[type, Type] = {
    type(None): NULL, bool: BOOL, int: INT, Uint: Type("uint"), float: Type("double"), str: STRING, bytes: Type("bytes"),
}  # fmt: skip
_PARAMETRIC = {"list": 1, "map": 2}
# Types whose names are values.
_TYPE_NAMES = (
    "bool", "bytes", "double", "int", "null_type", "string", "type", "uint", "google.protobuf.Duration",
    "google.protobuf.Timestamp", "net.IP", "net.CIDR",
)  # fmt: skip
TYPE_VALUES: dict[str, Type] = {
    **{name: Type(name) for name in _TYPE_NAMES},
    "list": Type("list", (DYN,)),
    "map": Type("map", (DYN, DYN)),
    "optional_type": Type("optional_type", (DYN,)),
}
# The kinds of values that a clause of format() takes.
_CLAUSES = {
    "s": ("list", "map", "int", "uint", "double", "bool", "string", "google.protobuf.Timestamp", "bytes",
          "google.protobuf.Duration", "type", "null_type"),
    "d": ("int", "uint"), "f": ("double", "string"), "e": ("double", "string"), "b": ("int", "uint", "bool"),
    "x": ("int", "uint", "string", "bytes"), "X": ("int", "uint", "string", "bytes"), "o": ("int", "uint"),
}  # fmt: skip


class TypeFaultError(Exception):
    """What is wrong with the types of an expression, and the node."""

    def __init__(self, text: str, node: Node) -> None:
        super().__init__(text)
        self.node = node


class Signature(NamedTuple):
    """A way to call a function, and the minor version of Kubernetes that brought it, 0 for one that was always there."""

    parameters: tuple[Type, ...]
    result: Type
    is_method: bool
    since: int


class Checked(NamedTuple):
    """The types of an expression and of its parts, the latter by the id() of their nodes.

    `overloads` are those that each call may be of, `since` the minor version of Kubernetes that has them all.
    """

    type: Type
    types: dict[int, Type]
    overloads: dict[int, list[Signature]]
    since: int
    needs: str  # the function that needs that version


@cache
def read_type(text: str) -> Type:
    """A type as it is written, such as `map(string, list(int))`."""
    head, bracket, rest = text.partition("(")
    if not bracket:
        return Type(text, tuple([DYN] * _PARAMETRIC.get(text, 0)))
    return Type(head, tuple([read_type(part) for part in _parts(rest[:-1])]))


def _parts(text: str) -> Iterator[str]:
    """The types of a list of types."""
    depth, start = 0, 0
    for index, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            yield text[start:index].strip()
            start = index + 1
    if text[start:].strip():
        yield text[start:].strip()


@cache
def signatures() -> dict[str, list[Signature]]:
    """What the server declares: the overloads of each function, as `tests.programs.cel` recorded them."""
    declared: dict[str, list[Signature]] = {}
    with open(join(dirname(__file__), "declared.txt"), encoding="utf-8") as stream:
        for line in stream:
            since, _, signature = line.strip().partition(" ")
            call, _, result = signature.rpartition(" -> ")
            target, name, parameters = _taken_apart(call)
            types = [read_type(part) for part in (*([target] if target else []), *_parts(parameters))]
            declared.setdefault(name, []).append(Signature(tuple(types), read_type(result), bool(target), int(since)))
    return declared


def _taken_apart(call: str) -> tuple[str, str, str]:
    """The type of a call's target, empty where it has none, its function, and the types of its arguments."""
    depth = 0
    for index in range(len(call) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(call[index], 0)
        if depth == 0:
            opening = index
            break
    head, parameters = call[:opening], call[opening + 1 : -1]
    if head in _NAMESPACED or head.startswith(("_", "!", "-", "@", "format.")) or "." not in head:
        return "", head, parameters
    target, _, name = head.rpartition(".")
    return target, name, parameters


_NAMESPACED = frozenset((
    "sets.contains", "sets.equivalent", "sets.intersects", "ip.isCanonical", "optional.of", "optional.none",
    "optional.ofNonZeroValue", "optional.unwrap", "lists.range", "strings.quote", "cel.@mapInsert",
))  # fmt: skip


class Declarations(NamedTuple):
    """The variables that an expression sees, by name, and the fields of the types that are structures."""

    variables: Mapping[str, Type]
    structures: Mapping[str, Mapping[str, Type]]


def checked(tree: Node, declarations: Declarations) -> Checked:
    """The types of an expression; a TypeFaultError where they do not fit."""
    checker = _Checker(declarations)
    checker.check(tree)
    types = {key: checker.substituted(kind, to_dyn=True) for key, kind in checker.types.items()}
    _check_literals(tree, types)
    return Checked(types[id(tree)], types, checker.overloads, checker.since, checker.needs)


class _Checker:
    def __init__(self, declarations: Declarations) -> None:
        self.declarations = declarations
        self.scopes: list[dict[str, Type]] = []
        self.mappings: Mappings = {}
        self.types: dict[int, Type] = {}
        self.overloads: dict[int, list[Signature]] = {}
        self.fresh = 0
        self.since = 0
        self.needs = ""

    def check(self, node: Node) -> Type:
        kind = self.kind(node)
        self.types[id(node)] = kind
        return kind

    def kind(self, node: Node) -> Type:
        match node:
            case Const(value):
                return _LITERALS[type(value)]
            case Ident(name):
                found = self.named(name)
                if found is None:
                    raise TypeFaultError(f"undeclared reference to '{name}'", node)
                return found
            case Select(operand, field, test):
                path = qualified(node)
                if path and not self.local(path.partition(".")[0]):
                    found = self.named(path)
                    if found is not None:
                        return found
                selected = self.field(node, operand, field, is_optional=False)
                return BOOL if test else self.substituted(selected)
            case Call():
                return self.called(node)
            case ListOf():
                return self.list_of(node)
            case MapOf():
                return self.map_of(node)
            case Fold():
                return self.fold(node)
        raise TypeError(node)

    def local(self, name: str) -> Type | None:
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def named(self, name: str) -> Type | None:
        """The type of a variable, or of the name of a type."""
        if (found := self.local(name)) is not None:
            return found
        name = name.removeprefix(".")
        if name in self.declarations.variables:
            return self.declarations.variables[name]
        return Type("type", (TYPE_VALUES[name],)) if name in TYPE_VALUES else None

    def field(self, node: Node, operand: Node, field: str, *, is_optional: bool) -> Type:
        of = self.substituted(self.check(operand))
        is_inside = of.name == "optional_type"
        target = of.parameters[0] if is_inside else of
        if target.name == "map":
            result = target.parameters[1]
        elif target.name in self.declarations.structures:
            fields = self.declarations.structures[target.name]
            if field not in fields:
                raise TypeFaultError(f"undefined field '{field}'", node)
            result = fields[field]
        else:
            if target.is_parameter:
                self.assign(DYN, target)
            elif not target.is_open:
                raise TypeFaultError(f"type '{target}' does not support field selection", node)
            result = DYN
        return Type("optional_type", (result,)) if is_inside or is_optional else result

    def called(self, node: Call) -> Type:
        if node.function == "_?._":
            operand, selected = node.args
            self.note(signatures()["_?._"][0].since, "`.?` of optionals")
            self.types[id(selected)] = STRING
            assert isinstance(selected, Const)
            return self.substituted(self.field(node, operand, selected.value, is_optional=True))
        args = [self.check(arg) for arg in node.args]
        if node.target is None:
            name = node.function.removeprefix(".")
            return self.resolved(node, name, args, is_method=False)
        namespace = qualified(node.target)
        if namespace and f"{namespace}.{node.function}" in signatures():
            return self.resolved(node, f"{namespace}.{node.function}", args, is_method=False)
        return self.resolved(node, node.function, [self.check(node.target), *args], is_method=True)

    def resolved(self, node: Call, name: str, args: list[Type], *, is_method: bool) -> Type:
        """The type of a call, by all overloads that take its arguments."""
        if name not in signatures():
            raise TypeFaultError(f"undeclared reference to '{name}'", node)
        if name in ("_&&_", "_||_"):
            for part, kind in zip(node.args, args, strict=True):
                if not self.assign(kind, BOOL):
                    raise TypeFaultError(
                        f"expected type 'bool' but found '{self.substituted(kind, to_dyn=True)}'", part
                    )
            return BOOL
        result: Type | None = None
        fitting = self.overloads[id(node)] = []
        for signature in signatures()[name]:
            if signature.is_method != is_method or len(signature.parameters) != len(args):
                continue
            parameters, declared = self.instance(signature)
            if not self.assign_all(args, parameters):
                continue
            fitting.append(signature)
            given = self.substituted(declared)
            if result is None:
                result = given
            elif result not in (DYN, given):
                result = DYN
        if result is None:
            shown = [str(self.substituted(kind, to_dyn=True)) for kind in args]
            signature_text = f"{shown[0]}.({', '.join(shown[1:])})" if is_method else f"({', '.join(shown)})"
            raise TypeFaultError(f"found no matching overload for '{name}' applied to '{signature_text}'", node)
        self.note(min(signature.since for signature in fitting), _WORDS.get(name, f"{name.rpartition('.')[2]}()"))
        return result

    def note(self, since: int, word: str) -> None:
        if since > self.since:
            self.since, self.needs = since, word

    def instance(self, signature: Signature) -> tuple[list[Type], Type]:
        """The types of a signature with parameters of their own."""
        fresh: Mappings = {}

        def own(kind: Type) -> Type:
            if kind.is_parameter:
                if kind not in fresh:
                    fresh[kind] = self.variable()
                return fresh[kind]
            return Type(kind.name, tuple(map(own, kind.parameters))) if kind.parameters else kind

        return [own(parameter) for parameter in signature.parameters], own(signature.result)

    def variable(self) -> Type:
        self.fresh += 1
        return Type(f"<{self.fresh}>")

    def joined(self, previous: Type | None, current: Type) -> Type:
        if previous is None:
            return current
        if not self.assign(previous, current):
            return DYN
        return _most_general(previous, current)

    def element(self, node: Node, *, is_optional: bool) -> Type:
        kind = self.check(node)
        if not is_optional:
            return kind
        if kind.name == "optional_type":
            return kind.parameters[0]
        if kind.name != "dyn":
            raise TypeFaultError(f"expected type 'optional_type({kind})' but found '{kind}'", node)
        return kind

    def list_of(self, node: ListOf) -> Type:
        kind: Type | None = None
        for index, element in enumerate(node.elements):
            kind = self.joined(kind, self.element(element, is_optional=index in node.optional))
        return Type("list", (kind or self.variable(),))

    def map_of(self, node: MapOf) -> Type:
        key: Type | None = None
        value: Type | None = None
        for key_node, value_node, is_optional in node.entries:
            key = self.joined(key, self.check(key_node))
            value = self.joined(value, self.element(value_node, is_optional=is_optional))
        return Type("map", (key or self.variable(), value or self.variable()))

    def fold(self, node: Fold) -> Type:
        self.check(node.over)
        accumulated = self.check(node.start)
        over = self.substituted(self.types[id(node.over)])
        first = second = DYN
        if over.name == "list":
            first, second = (INT, over.parameters[0]) if node.second else (over.parameters[0], DYN)
        elif over.name == "map":
            first, second = over.parameters
        elif over.is_open or over.is_parameter:
            self.assign(DYN, over)
        else:
            text = f"expression of type '{over}' cannot be range of a comprehension (must be list, map, or dynamic)"
            raise TypeFaultError(text, node.over)
        if node.second:
            self.note(32, f"{_macro(node)} with two variables")
        with self.scope({node.result_name: accumulated}):
            with self.scope({node.variable: first, **({node.second: second} if node.second else {})}):
                self.expect(node.condition, BOOL)
                self.expect(node.step, accumulated)
            result = self.check(node.result)
        return self.substituted(result)

    @contextmanager
    def scope(self, names: dict[str, Type]) -> Iterator[None]:
        self.scopes.append(names)
        yield
        self.scopes.pop()

    def expect(self, node: Node, wanted: Type) -> None:
        kind = self.check(node)
        if not self.assign(wanted, kind):
            raise TypeFaultError(f"expected type '{wanted}' but found '{self.substituted(kind, to_dyn=True)}'", node)

    def assign(self, first: Type, second: Type) -> bool:
        """Whether one type can stand for the other; their parameters are bound where it can."""
        return self.assign_all([first], [second])

    def assign_all(self, first: list[Type], second: list[Type]) -> bool:
        mappings = dict(self.mappings)
        if not all(_is_assignable(mappings, *pair) for pair in zip(first, second, strict=True)):
            return False
        self.mappings = mappings
        return True

    def substituted(self, kind: Type, *, to_dyn: bool = False) -> Type:
        """A type with what its parameters are bound to; others are dyn where that is asked for."""
        if kind in self.mappings:
            return self.substituted(self.mappings[kind], to_dyn=to_dyn)
        if kind.is_parameter:
            return DYN if to_dyn else kind
        if not kind.parameters:
            return kind
        return Type(kind.name, tuple([self.substituted(part, to_dyn=to_dyn) for part in kind.parameters]))


def _macro(node: Fold) -> str:
    """The name of the macro that a fold with two variables was."""
    match node.start, node.step:
        case Const(True), _:
            return "all()"
        case Const(False), _:
            return "exists()"
        case Const(_), _:
            return "existsOne()"
        case ListOf(), _:
            return "transformList()"
    step = node.step.args[1] if type(node.step) is Call and node.step.function == "_?_:_" else node.step
    return "transformMap()" if type(step) is Call and len(step.args) == 3 else "transformMapEntry()"


def _is_assignable(mappings: Mappings, first: Type, second: Type) -> bool:
    if second.is_parameter:
        is_valid, is_bound = _substitutes(mappings, first, second)
        if is_valid or is_bound:
            return is_valid
    if first.is_parameter:
        return _substitutes(mappings, second, first)[0]
    if first.is_open or second.is_open:
        return True
    if NULL in (first, second):
        return _is_nullable(second if first == NULL else first)
    if first.name in _PRIMITIVE or "type" in (first.name, second.name):
        return first.name == second.name
    return (
        first.name == second.name
        and len(first.parameters) == len(second.parameters)
        and all(_is_assignable(mappings, *pair) for pair in zip(first.parameters, second.parameters, strict=True))
    )


def _is_nullable(kind: Type) -> bool:
    return kind.name not in _PRIMITIVE and kind.name not in ("list", "map", "type")


def _substitutes(mappings: Mappings, kind: Type, parameter: Type) -> tuple[bool, bool]:
    """Whether a parameter can stand for a type, and whether it was bound already."""
    if kind == parameter:
        return True, True
    if (bound := mappings.get(parameter)) is not None:
        if kind == bound:
            return True, True
        if _is_assignable(mappings, kind, bound):
            general = _most_general(kind, bound)
            if _is_free(mappings, parameter, general):
                mappings[parameter] = general
            return True, True
        return False, True
    if _is_free(mappings, parameter, kind):
        mappings[parameter] = kind
        return True, False
    return False, False


def _is_free(mappings: Mappings, parameter: Type, within: Type) -> bool:
    """Whether a parameter does not occur in a type."""
    if parameter == within:
        return False
    if within.is_parameter:
        return within not in mappings or _is_free(mappings, parameter, mappings[within])
    return all(_is_free(mappings, parameter, part) for part in within.parameters)


def _most_general(first: Type, second: Type) -> Type:
    return first if _is_less_specific(first, second) else second


def _is_less_specific(first: Type, second: Type) -> bool:
    if first.name == "dyn" or first.is_parameter:
        return True
    if second.name == "dyn" or second.is_parameter or first.name != second.name:
        return False
    if first.name == "type":
        return True
    return all(_is_less_specific(*pair) for pair in zip(first.parameters, second.parameters, strict=False))


_WORDS = {"_[?_]": "`[?` of optionals", "_[_]": "`[` of optionals"}


def _check_literals(node: Node, types: dict[int, Type], *, is_formatted: bool = False) -> None:
    """Look for literals of lists and maps whose elements differ in type, and for format() with arguments that do not fit."""
    if type(node) is Call and node.function == "format" and node.target is not None:
        template = node.target
        if type(template) is Const and type(template.value) is str and type(node.args[0]) is ListOf:
            _check_format(node, template.value, node.args[0], types)
        is_formatted = True
    if not is_formatted and type(node) is ListOf:
        kinds = [
            types[id(element)].parameters[0]
            if index in node.optional and types[id(element)].parameters
            else types[id(element)]
            for index, element in enumerate(node.elements)
        ]
        _check_alike(node.elements, kinds)
    elif not is_formatted and type(node) is MapOf:
        keys = tuple([key for key, _, _ in node.entries])
        values = tuple([value for _, value, _ in node.entries])
        _check_alike(keys, [types[id(key)] for key in keys])
        _check_alike(
            values,
            [
                types[id(value)].parameters[0] if is_optional and types[id(value)].parameters else types[id(value)]
                for _, value, is_optional in node.entries
            ],
        )
    for child in children(node):
        _check_literals(child, types, is_formatted=is_formatted)


def _check_alike(nodes: tuple[Node, ...], kinds: list[Type]) -> None:
    for node, kind in zip(nodes, kinds, strict=True):
        if kind != kinds[0]:
            raise TypeFaultError(f"expected type '{kinds[0]}' but found '{kind}'", node)


def clauses(template: str) -> Iterator[tuple[str, str, int]]:
    """The parts of the template of format(): a text, and the clause behind it with its precision, -1 for none.

    ValueError for a clause that is none.
    """
    text, at = "", 0
    while at < len(template):
        if template[at] != "%":
            text += template[at]
            at += 1
        elif template.startswith("%%", at):
            text += "%"
            at += 2
        else:
            at += 1
            precision = -1
            if template[at : at + 1] == ".":
                digits = ""
                at += 1
                while template[at : at + 1].isdigit() and template[at].isascii():
                    digits += template[at]
                    at += 1
                if at >= len(template):
                    raise ValueError("could not parse formatting clause: could not find end of precision specifier")
                if not digits:
                    raise ValueError("could not parse formatting clause: error while parsing precision")
                precision = int(digits[:9])
            verb = template[at : at + 1]
            if not verb:
                raise ValueError("could not parse formatting clause: unexpected end of string")
            if verb not in _CLAUSES:
                raise ValueError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')
            yield text, verb, precision
            text = ""
            at += 1
    yield text, "", -1


def _check_format(node: Call, template: str, args: ListOf, types: dict[int, Type]) -> None:
    count = 0
    try:
        for _, verb, _ in clauses(template):
            if verb:
                if count >= len(args.elements):
                    raise TypeFaultError(f"index {count} out of range", node)
                _check_clause(verb, args.elements[count], types)
                count += 1
    except ValueError as error:
        raise TypeFaultError(str(error), node) from None
    if len(args.elements) > count:
        text = f"too many arguments supplied to string.format (expected {count}, got {len(args.elements)})"
        raise TypeFaultError(text, node)


_CLAUSE_FAULTS: dict[str, str] = {
    "s": "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
    "d": "decimal clause can only be used on integers",
    "f": "fixed-point clause can only be used on doubles",
    "e": "scientific clause can only be used on doubles",
    "b": "only integers and bools can be formatted as binary",
    "x": "only integers, byte buffers, and strings can be formatted as hex",
    "X": "only integers, byte buffers, and strings can be formatted as hex",
    "o": "octal clause can only be used on integers",
}


def clause_fault(verb: str, kind: str) -> str:
    """What is wrong with a clause of format() for a value of a type."""
    return f"error during formatting: {_CLAUSE_FAULTS[verb]}, was given {kind}"


def _check_clause(verb: str, node: Node, types: dict[int, Type]) -> None:
    kind = types[id(node)]
    if kind != DYN and kind.name not in _CLAUSES[verb]:
        raise TypeFaultError(clause_fault(verb, kind.name), node)
    if verb == "s" and isinstance(node, ListOf | MapOf):
        for child in children(node):
            _check_clause(verb, child, types)
