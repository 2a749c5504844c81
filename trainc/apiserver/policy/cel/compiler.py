"""Compiles the expressions of a policy: cel-cpp parses and checks them, the tree is evaluated here.

One policy for one request is its match conditions, variables, validations, messages and audit annotations. Source:
k8s.io/apiserver pkg/admission/plugin/cel (activation.go, composition.go, condition.go) and
pkg/admission/plugin/policy/validating (validator.go), Kubernetes 1.34.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from trainc.apiserver.policy.cel import declarations as known
from trainc.apiserver.policy.cel.conversions import duration, timestamp
from trainc.apiserver.policy.cel.functions import FUNCTIONS
from trainc.apiserver.policy.cel.interpreter import is_two_variable, runnable
from trainc.apiserver.policy.cel.syntax import Call, Const, Ident, ListOf, MapOf, Node, Select, children, parsed
from trainc.apiserver.policy.cel.texts import matches
from trainc.apiserver.policy.cel.values import (
    EvaluationError,
    NotKnownError,
    OutOfBudgetError,
    Paths,
    Place,
    Run,
    Scope,
    UnknownValue,
    type_name,
)

Valued = tuple[Any, Paths]

Answer = dict[str, Any]

Compiled: TypeAlias = "Expression | CompileError | NotCompiledError"
_HAS = re.compile(r"\bhas\(\s*(?:request|namespaceObject|variables)(?:\s*\.\s*\w+)+\s*\)")
_ERROR = re.compile(r"ERROR: <input>:(-?\d+):-?\d+: (.*)")
_UNSUPPORTED = frozenset({"sortBy"})  # macros of Kubernetes that cel-cpp does not expand
# What Kubernetes takes and cel-cpp does not: numbers of different types are compared, addresses become text.
_ACCEPTED = re.compile(
    r"found no matching overload for ('_[<>]=?_' applied to '\((?:int|uint|double), (?:int|uint|double)\)'"
    r"|'string' applied to '\(net\.(?:IP|CIDR)\)')"
)
_PLAIN = {
    **{name: name.upper() for name in ("bool", "int", "uint", "double", "string", "bytes", "dyn")},
    "google.protobuf.Duration": "DURATION",
    "google.protobuf.Timestamp": "TIMESTAMP",
}
SIMPLE = ("bool", "int", "uint", "double", "string", "bytes", "list", "map")
BUDGET = 10_000_000  # RuntimeCELCostBudget
MATCH_BUDGET = 2_500_000  # RuntimeCELCostBudgetMatchConditions
_OUT = "validation failed due to running out of cost budget, no further validation rules will be run"
_LIMIT = "operation cancelled: actual cost limit exceeded"
_AUTHORIZER = "the answer of the cluster's authorizer"


class CompileError(Exception):
    """Why the server takes an expression for wrong, and in which line of its text, from 1, 0 for unknown."""

    def __init__(self, text: str, line: int = 0) -> None:
        super().__init__(text)
        self.line = line


class NotCompiledError(Exception):
    """Why trainc cannot judge an expression that the server may well take."""


class Expression(NamedTuple):
    """A compiled expression, and the name of its type: `?` where that is not known exactly."""

    run: Run
    kind: str
    type: Any
    needs: tuple[int, str]  # the minor version of Kubernetes that takes it in a new policy, and for what


class Compiler:
    """Compiles expressions that see some variables; `cel` is the module of cel-cpp."""

    def __init__(self, cel: Any, *, params: bool) -> None:
        from cel_expr_python.ext import ext_optional, ext_strings  # noqa: PLC0415 (absent without the engine)

        self._dyn = cel.Type.DYN
        self._names = {**known.VARIABLES, **known.AUTHORIZER, **({"params": "dyn"} if params else {})}
        self._types = {name: _type(cel, kind) for name, kind in self._names.items()}
        for name, fields in known.TYPED.items():
            self._types.update({field: _type(cel, kind) for field, kind in known.qualified(name, fields)})
        functions = [
            cel.FunctionDecl(
                name,
                [
                    cel.Overload(
                        id=f"{name.replace('.', '_')}_{index}",
                        return_type=_type(cel, one.result),
                        parameters=[_type(cel, parameter) for parameter in one.parameters],
                        is_member=one.is_method,
                    )
                    for index, one in enumerate(overloads)
                ],
            )
            for name, overloads in FUNCTIONS.items()
            if overloads[0].result
        ]
        extensions = [ext_optional.ExtOptional(), ext_strings.ExtStrings(2)]  # of the version that Kubernetes enables
        self._environment = partial(cel.NewEnv, extensions=extensions, functions=functions)
        self._env = self._environment(variables=self._types)

    def declare(self, name: str, compiled: Compiled) -> None:
        """Let further expressions see a variable of the policy."""
        held = compiled.type if type(compiled) is Expression and compiled.kind in SIMPLE else None
        self._types[f"variables.{name}"] = self._dyn if held is None else held
        self._env = self._environment(variables=self._types)

    def compile(self, text: str, wanted: tuple[str, ...] = (), *, asks: bool = True) -> Expression:
        """An expression that may be of some types, of any where none is given; `asks` whether it has an authorizer.

        A CompileError says that the server would not take it, a NotCompiledError that trainc cannot tell.
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
        # Look for what cel-cpp's checker takes and Kubernetes' does not.
        for node in nodes:
            if type(node) is Select:
                self._known_field(node)
            elif type(node) is ListOf:
                _same_types(node.elements)
            elif type(node) is MapOf:
                _same_types(tuple([value for _, value, _ in node.entries]))
            elif type(node) is Call and len(node.args) == 1 and type(node.args[0]) is Const:
                self._literal(node, node.args[0].value)
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
        wrong = [match for match in _ERROR.finditer(message) if not _ACCEPTED.match(match.group(2))]
        if not wrong:
            return None
        shared = {one.function for one in nodes if type(one) is Call and one.function in known.SHARED}
        if shared and all(any(f"'{name}'" in match.group(2) for name in shared) for match in wrong):
            return None
        raise _compile_error(message, wrong[0])

    def _known_field(self, node: Select) -> None:
        path: list[str] = [node.field]
        operand: Node = node.operand
        while type(operand) is Select:
            path.insert(0, operand.field)
            operand = operand.operand
        if type(operand) is not Ident:
            return
        if operand.name == "variables" and f"variables.{path[0]}" not in self._types:
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
        readers: dict[str, Callable[[str], object]] = {
            "duration": duration, "timestamp": timestamp, "matches": partial(matches, ""),
        }  # fmt: skip
        reader = readers.get(node.function)
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
    kinds = [type_name(node.value) for node in nodes if type(node) is Const and node.value is not None]
    for kind in kinds[1:]:
        if kind != kinds[0]:
            raise CompileError(f"expected type '{kinds[0]}' but found '{kind}'")


def _kind(held: Any) -> str:
    name = str(held.name())
    head = name.partition("<")[0].lower()
    return {"null": "null_type", "list": "list", "map": "map"}.get(head, name.lower() if name.isupper() else name)


def _compile_error(message: str, match: re.Match[str] | None = None) -> CompileError | NotCompiledError:
    match = match or _ERROR.search(message)
    if match is None or "recursion" in message:  # a limit of cel-cpp's own, such as 32 levels: the server's are higher
        return NotCompiledError(" ".join(message.split()).partition(" [")[0][:200])
    text = match.group(2).partition(" (in container '')")
    return CompileError(f"{text[0]}{text[2]}"[:400], int(match.group(1)))


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


class Written(NamedTuple):
    """An expression of a policy: the path of its field in the spec, its text, and what compiling it gave."""

    path: tuple[str, int, str]
    text: str
    compiled: Compiled


class CompiledPolicy:
    """The expressions of a policy, compiled once."""

    def __init__(self, cel: Any, policy: dict[str, Any]) -> None:
        compiler = Compiler(cel, params=policy["params"])

        def each(field: str, key: str, *wanted: str) -> Iterator[Written]:
            may_ask = key != "messageExpression"
            for index, held in enumerate(policy[field]):
                if may_ask or held.get(key):
                    compiled: Compiled
                    try:
                        compiled = compiler.compile(held[key], wanted, asks=may_ask)
                    except (CompileError, NotCompiledError) as error:
                        compiled = error
                    yield Written((field, index, key), held[key], compiled)

        # The server compiles match conditions before it knows any variable.
        self.conditions = [*each("matchConditions", "expression", "bool")]
        self.variables: dict[str, Written] = {}
        for one in each("variables", "expression"):
            name = policy["variables"][one.path[1]]["name"]
            self.variables[name] = one
            compiler.declare(name, one.compiled)
        self.validations = [*each("validations", "expression", "bool")]
        self.messages = [*each("validations", "messageExpression", "string")]
        self.annotations = [*each("auditAnnotations", "valueExpression", "string", "null_type")]
        self._all = [
            *self.variables.values(), *self.conditions, *self.validations, *self.messages, *self.annotations
        ]  # fmt: skip

    def needs(self) -> list[Answer]:
        """The minor versions of Kubernetes that expressions need, each by the path of its field in the spec."""
        return [
            {"path": list(path), "minor": one.needs[0], "word": one.needs[1]}
            for path, _, one in self._all
            if type(one) is Expression and one.needs[0]
        ]

    def troubles(self) -> list[Answer]:
        """Why expressions do not compile, each by the path of its field in the spec."""
        return [
            {
                "path": list(path),
                "text": str(one),
                "line": getattr(one, "line", 0),
                "refused": type(one) is CompileError,
            }
            for path, _, one in self._all
            if type(one) is not Expression
        ]

    def judge(self, question: dict[str, Any]) -> Answer:
        """What the policy says of a request."""
        matching = _Evaluation(self, {**question, "namespaceObject": None}, MATCH_BUDGET)
        conditions = []
        for condition in self.conditions:
            conditions.append(matching.answer(condition))
            if matching.fatal:
                return {"conditions": [{"error": _OUT}]}
            if conditions[-1].get("value") is False:
                return {"conditions": conditions}
        if any("value" not in one for one in conditions):
            return {"conditions": conditions}
        run = _Evaluation(self, question, BUDGET)
        results = run.answers(self.validations)
        if run.fatal:
            return {"conditions": conditions, "fatal": _OUT}
        # All messages share what the validations leave of the budget.
        wording = _Evaluation(self, question, run.budget)
        spoken = wording.answers(self.messages)
        for result in results if wording.fatal else ():
            if "value" in result:
                result.clear()
                result["error"] = f"failed messageExpression: {_OUT}"
        for message, answer in zip(self.messages, spoken, strict=False):
            result, text = results[message.path[1]], answer.get("value")
            if result.get("value") is False and type(text) is str:
                result["message"] = text
        noting = _Evaluation(self, question, BUDGET)
        annotations = noting.answers(self.annotations)
        if noting.fatal:
            return {"conditions": conditions, "fatal": _OUT}
        for annotation, answer in zip(self.annotations, annotations, strict=True):
            if type(answer.get("value")) not in (str, type(None)):
                why = f"valueExpression '{annotation.text}' resulted in unsupported return type"
                answer.clear()
                answer["error"] = f"{why}. Return type must be either string or null."
        return {"conditions": conditions, "results": results, "annotations": annotations}


class _Evaluation:
    """The expressions of one list, one after the other, with the variables that they share and their budget."""

    def __init__(self, policy: CompiledPolicy, question: dict[str, Any], budget: int) -> None:
        self._policy = policy
        self._memo: dict[str, Valued | Exception] = {}
        self._spent = 0
        self.budget = budget
        self.fatal = False
        self._names: dict[str, Valued] = {
            "object": (question["object"], Place()),
            "oldObject": (None, None),
            "params": (question["params"], None),
            "request": (question["request"], None),
            "namespaceObject": (question["namespaceObject"], None),
            "authorizer": (UnknownValue(_AUTHORIZER), None),
        }

    def answers(self, written: list[Written]) -> list[Answer]:
        """What expressions give, up to the one that exhausts the budget."""
        out = []
        for one in written:
            out.append(self.answer(one))
            if self.fatal:
                break
        return out

    def answer(self, written: Written) -> Answer:
        """What an expression gives: a value, an error, or why it is unknown."""
        _, text, compiled = written
        if type(compiled) is CompileError:
            return {"error": f"compilation error: compilation failed: {compiled}"}
        if type(compiled) is NotCompiledError:
            return {"unknown": str(compiled)}
        scope = Scope(dict(self._names), self._lazy)
        answer: Answer
        try:
            value, paths = compiled.run(scope)  # type: ignore[union-attr] # the two errors were met above
            answer = {"value": value if type(value) in (bool, str, type(None)) else 0, "paths": _listed(paths)}
        except EvaluationError as error:
            answer = {"error": f"expression '{text}' resulted in error: {error}", "paths": _listed(error.paths)}
        except OutOfBudgetError:
            answer = {"error": f"expression '{text}' resulted in error: {_LIMIT}", "costly": True}
        except NotKnownError as error:
            answer = {"unknown": str(error)}
        self.budget -= scope.cost + self._spent
        self._spent = 0
        self.fatal = self.budget < 0
        return answer

    def _lazy(self, name: str) -> Valued:
        if not name.startswith("variables."):
            raise EvaluationError(f"no such attribute(s): {name}")
        held = self._memo.get(name)
        if held is None:
            held = self._memo[name] = self._evaluated(name.removeprefix("variables."))
        if isinstance(held, Exception):
            raise held
        return held

    def _evaluated(self, name: str) -> Valued | Exception:
        variable = self._policy.variables[name].compiled
        if type(variable) is not Expression:
            failed = f'composited variable "{name}" fails to compile: {variable}'
            return EvaluationError(failed) if type(variable) is CompileError else NotKnownError(str(variable))
        scope = Scope(dict(self._names), self._lazy)
        try:
            return variable.run(scope)
        except EvaluationError as error:
            return EvaluationError(f'composited variable "{name}" fails to evaluate: {error}', error.paths)
        except OutOfBudgetError:
            return EvaluationError(f'composited variable "{name}" fails to evaluate: {_LIMIT}')
        except NotKnownError as error:
            return error
        finally:
            self._spent += scope.cost


def with_unknowns(question: dict[str, Any]) -> dict[str, Any]:
    """A question with what nobody knows in its place: the paths into it, each with its reason."""
    for *path, last, reason in question["unknown"]:
        holder: Any = question
        for step in path:
            holder = holder[step]
        holder[last] = UnknownValue(reason)
    return question


def _listed(paths: Paths) -> list[list[str | int]]:
    if paths is None:
        return []
    return [list(paths)] if type(paths) is Place else [list(path) for path in paths]
