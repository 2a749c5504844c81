"""Compiles the expressions of a policy: cel-cpp parses and checks them, the tree is evaluated here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from trainc.apiserver.policy.cel import declarations as known
from trainc.apiserver.policy.cel.functions import FUNCTIONS
from trainc.apiserver.policy.cel.interpreter import is_two_variable, runnable
from trainc.apiserver.policy.cel.syntax import Call, Const, Ident, ListOf, MapOf, Node, Select, Uint, children, parsed
from trainc.apiserver.policy.cel.times import duration, timestamp
from trainc.apiserver.policy.cel.values import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.apiserver.policy.cel.scope import Run

_HAS = re.compile(r"\bhas\(\s*(?:request|namespaceObject|variables)(?:\s*\.\s*\w+)+\s*\)")
_ERROR = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): (.*)")
_UNSUPPORTED = frozenset({"sortBy"})  # macros of Kubernetes that cel-cpp does not expand
# What Kubernetes takes and cel-cpp does not: numbers of different types are compared, addresses become text.
_TAKEN = re.compile(
    r"found no matching overload for ('_[<>]=?_' applied to '\((?:int|uint|double), (?:int|uint|double)\)'"
    r"|'string' applied to '\(net\.(?:IP|CIDR)\)')"
)
_PLAIN = {
    **{name: name.upper() for name in ("bool", "int", "uint", "double", "string", "bytes", "dyn")},
    "google.protobuf.Duration": "DURATION",
    "google.protobuf.Timestamp": "TIMESTAMP",
}
SIMPLE = ("bool", "int", "uint", "double", "string", "bytes", "list", "map")


class CompileError(Exception):
    """Why the server takes an expression for wrong, and where in its text: line and column from 1, 0 for unknown."""

    def __init__(self, text: str, line: int = 0, column: int = 0) -> None:
        super().__init__(text)
        self.line = line
        self.column = column


class NotCompiledError(Exception):
    """Why trainc cannot judge an expression that the server may well take."""


class Expression:
    """A compiled expression, and the name of its type: `?` where that is not known exactly."""

    __slots__ = ("kind", "needs", "run", "type")

    def __init__(self, run: Run, kind: str, held: Any, needs: tuple[int, str]) -> None:
        self.run = run
        self.needs = needs  # the minor version of Kubernetes that takes it in a new policy, and for what
        self.kind = kind
        self.type = held


class Compiler:
    """Compiles expressions that see some variables; `cel` is the module of cel-cpp."""

    def __init__(self, cel: Any, *, params: bool) -> None:
        self._cel = cel
        self._names = {**known.VARIABLES, **known.AUTHORIZER, **({"params": "dyn"} if params else {})}
        self._types = {name: _type(cel, kind) for name, kind in self._names.items()}
        for name, fields in known.TYPED.items():
            self._types.update({field: _type(cel, kind) for field, kind in known.qualified(name, fields)})
        self._composed: dict[str, Any] = {}  # types of the policy's variables
        self._extensions = _extensions()
        self._functions = _functions(cel)
        self._env = self._environment()

    def _environment(self) -> Any:
        return self._cel.NewEnv(
            variables={**self._types, **{f"variables.{name}": kind for name, kind in self._composed.items()}},
            extensions=self._extensions,
            functions=self._functions,
        )

    def declare(self, name: str, expression: Expression | None) -> None:
        """Let further expressions see a variable of the policy."""
        simple = expression is not None and expression.kind in SIMPLE
        self._composed[name] = expression.type if expression is not None and simple else self._cel.Type.DYN
        self._env = self._environment()

    def compile(self, text: str, wanted: tuple[str, ...] = (), *, asks: bool = True) -> Expression:
        """An expression that may be of some types, of any where none is given; `asks` whether it has an authorizer.

        Raises:
            CompileError: where the server would not take it.
            NotCompiledError: where trainc cannot tell.
        """
        if not text.strip():
            raise CompileError("expression is not specified")
        try:
            tree = parsed(self._env.compile(text, disable_check=True).serialize())
        except RuntimeError as error:
            raise _compile_error(str(error)) from None
        except (ValueError, KeyError, IndexError):
            raise NotCompiledError("an expression that trainc cannot read") from None
        nodes = list(_walk(tree))
        if not asks and Ident("authorizer") in nodes:
            raise CompileError("undeclared reference to 'authorizer'")
        if missing := sorted({one.function for one in nodes if type(one) is Call} & _UNSUPPORTED):
            raise NotCompiledError(f"trainc does not evaluate `{missing[0]}`")
        self._look(nodes)
        held = None if any(type(one) is Call and is_two_variable(one) for one in nodes) else self._checked(text, nodes)
        kind = "?" if held is None else _kind(held)
        called = {one.function for one in nodes if type(one) is Call}
        if kind == "dyn" and called & known.OPEN:
            kind = "?"
        if wanted and kind != "?" and kind not in wanted:
            several = f"one of [{' '.join(wanted)}]" if len(wanted) > 1 else wanted[0]
            raise CompileError(f"must evaluate to {several} but got {kind}")
        try:
            return Expression(runnable(tree), kind, held, _needs(nodes))
        except EvaluationError as error:
            raise NotCompiledError(str(error)) from None

    def _checked(self, text: str, nodes: list[Node]) -> Any:
        """The type of an expression; None where it is not known."""
        shown = _HAS.sub(lambda match: "true".ljust(len(match.group())), text)
        try:
            return self._env.compile(shown).return_type()
        except RuntimeError as error:
            message = str(error)
        wrong = [match for match in _ERROR.finditer(message) if not _TAKEN.match(match.group(3))]
        if not wrong:
            return None
        shared = {one.function for one in nodes if type(one) is Call and one.function in known.SHARED}
        if shared and all(any(f"'{name}'" in match.group(3) for name in shared) for match in wrong):
            return None
        raise _compile_error(message, wrong[0])

    def _look(self, nodes: list[Node]) -> None:
        """Look for what cel-cpp's checker takes and Kubernetes' does not."""
        for node in nodes:
            if type(node) is Select:
                self._known_field(node)
            elif type(node) is ListOf:
                _same_types(node.elements)
            elif type(node) is MapOf:
                _same_types(tuple([value for _, value, _ in node.entries]))
            elif type(node) is Call and len(node.args) == 1 and type(node.args[0]) is Const:
                self._literal(node, node.args[0].value)

    def _known_field(self, node: Select) -> None:
        path: list[str] = [node.field]
        operand: Node = node.operand
        while type(operand) is Select:
            path.insert(0, operand.field)
            operand = operand.operand
        if type(operand) is not Ident:
            return
        if operand.name == "variables" and path[0] not in self._composed:
            raise CompileError(f"undefined field '{path[0]}'")
        fields: Any = known.TYPED.get(operand.name)
        for name in path:
            if type(fields) is not dict:
                return
            if name not in fields:
                raise CompileError(f"undefined field '{name}'")
            fields = fields[name]

    def _literal(self, node: Call, value: Any) -> None:
        """Literals of patterns, durations and points in time are read when a policy is created."""
        reader: Callable[[Any], object] | None = {"duration": duration, "timestamp": timestamp}.get(node.function)
        if node.function == "matches" and type(value) is str:
            reader = lambda pattern: FUNCTIONS["matches"]("", pattern)  # noqa: E731 (as the others)
        if reader is None or type(value) is not str:
            return
        try:
            reader(value)
        except EvaluationError as error:
            name = {"matches": "regex"}.get(node.function, node.function)
            raise CompileError(f"invalid {name} argument: {error}") from None


def _needs(nodes: list[Node]) -> tuple[int, str]:
    """The minor version of Kubernetes from which on a new policy may hold these expressions, and the word that asks for it.

    A server takes into a new policy only what the version before it has too.
    """
    words = [(known.SINCE.get(one.function, 0), one.function) for one in nodes if type(one) is Call]
    pairs = [(known.TWO_VARIABLES, one.function) for one in nodes if type(one) is Call and is_two_variable(one)]
    introduced, word = max([*words, *pairs], default=(0, ""))
    return (introduced + 1, known.SHOWN.get(word, f"{word}()")) if introduced else (0, "")


def _walk(node: Node) -> Iterator[Node]:
    todo = [node]
    while todo:
        one = todo.pop()
        yield one
        todo += children(one)


def _same_types(nodes: tuple[Node, ...]) -> None:
    """Elements of a literal have one type (HomogeneousAggregateLiterals)."""
    kinds = [_literal_kind(node.value) for node in nodes if type(node) is Const and node.value is not None]
    for kind in kinds[1:]:
        if kind != kinds[0]:
            raise CompileError(f"expected type '{kinds[0]}' but found '{kind}'")


def _literal_kind(value: Any) -> str:
    names = {bool: "bool", int: "int", Uint: "uint", float: "double", str: "string", bytes: "bytes"}
    return names[type(value)]


def _kind(held: Any) -> str:
    """The name of a type as Kubernetes writes it."""
    name = str(held.name())
    head = name.partition("<")[0].lower()
    return {"null": "null_type", "list": "list", "map": "map"}.get(head, name.lower() if name.isupper() else name)


def _compile_error(message: str, match: re.Match[str] | None = None) -> CompileError | NotCompiledError:
    match = match or _ERROR.search(message)
    if match is None or "recursion" in message:  # a limit of cel-cpp's own, such as 32 levels: the server's are higher
        return NotCompiledError(" ".join(message.split()).partition(" [")[0][:200])
    text = match.group(3).partition(" (in container '')")
    return CompileError(f"{text[0]}{text[2]}"[:400], int(match.group(1)), int(match.group(2)))


def _extensions() -> list[Any]:
    from cel_expr_python.ext import ext_optional, ext_strings  # noqa: PLC0415 (absent without the engine)

    return [ext_optional.ExtOptional(), ext_strings.ExtStrings(2)]  # the version that Kubernetes enables


def _type(cel: Any, name: str) -> Any:
    """A type by its name, such as `map(string, list(string))`."""
    head, bracket, rest = name.partition("(")
    if not bracket:
        return getattr(cel.Type, _PLAIN[name]) if name in _PLAIN else cel.Type.AbstractType(name)
    inner = rest[:-1]
    if head == "list":
        return cel.Type.List(_type(cel, inner))
    if head == "map":  # of texts to the second type
        return cel.Type.Map(cel.Type.STRING, _type(cel, inner.partition(", ")[2]))
    return cel.Type.DYN  # an optional: cel-cpp knows only its own


def _functions(cel: Any) -> list[Any]:
    return [
        cel.FunctionDecl(
            name,
            [
                cel.Overload(
                    id=f"{name.replace('.', '_')}_{index}",
                    return_type=_type(cel, result),
                    parameters=[_type(cel, one) for one in parameters],
                    is_member=member,
                )
                for index, (member, parameters, result) in enumerate(overloads)
            ],
        )
        for name, overloads in known.FUNCTIONS.items()
    ]
