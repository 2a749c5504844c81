"""Compiles the expressions of a policy: parsed, checked, and made a function that evaluates them.

One policy for one request is its match conditions, variables, validations, messages and audit annotations. Source:
k8s.io/apiserver pkg/admission/plugin/cel (activation.go, composition.go, condition.go) and
pkg/admission/plugin/policy/validating (validator.go), Kubernetes 1.37.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from trainc.apiserver.expressions import declarations as declared
from trainc.apiserver.expressions.budget import charge
from trainc.apiserver.expressions.checker import Declarations, Type, TypeFaultError, checked
from trainc.apiserver.expressions.functions import called
from trainc.apiserver.expressions.interpreter import Plan, runnable
from trainc.apiserver.expressions.parser import SyntaxFaultError, parsed
from trainc.apiserver.expressions.syntax import Call, Const, Node, children
from trainc.apiserver.expressions.texts import compiled_pattern
from trainc.apiserver.expressions.values import (
    EvaluationError,
    NotEvaluatedError,
    NotKnownError,
    OutOfBudgetError,
    Paths,
    Place,
    Run,
    Scope,
    UnknownValue,
)

Valued = tuple[Any, Paths]

Answer = dict[str, Any]

Compiled: TypeAlias = "Expression | CompileError | NotCompiledError"
_SIMPLE = frozenset((
    "bool", "int", "uint", "double", "string", "bytes", "null_type", "google.protobuf.Duration",
    "google.protobuf.Timestamp",
))  # fmt: skip
BUDGET = 10_000_000  # RuntimeCELCostBudget
MATCH_BUDGET = 2_500_000  # RuntimeCELCostBudgetMatchConditions
_OUT = "validation failed due to running out of cost budget, no further validation rules will be run"
_LIMIT = "operation cancelled: actual cost limit exceeded"
_AUTHORIZER = "the answer of the cluster's authorizer"
# Functions whose first argument the server reads when a policy is created, where it is a literal.
_LITERALS = ("duration", "timestamp", "matches")


class CompileError(Exception):
    """Why the server takes an expression for wrong, and in which line of its text, from 1, 0 for unknown."""

    def __init__(self, text: str, line: int = 0) -> None:
        super().__init__(text)
        self.line = line


class NotCompiledError(Exception):
    """Why trainc cannot judge an expression that the server may well take."""


class Expression(NamedTuple):
    """A compiled expression, and its type."""

    run: Run
    type: Type
    needs: tuple[int, str]  # the minor version of Kubernetes that takes it in a new policy, and for what


def compile_expression(text: str, declarations: Declarations) -> Expression:
    """An expression that sees some variables.

    A CompileError says that the server would not take it, a NotCompiledError that trainc cannot tell.
    """
    try:
        tree, places = parsed(text)
        types = checked(tree, declarations)
        for node in _walk(tree):
            if isinstance(node, Call):
                _read_literals(node)
        run = runnable(tree, Plan(types.types, types.overloads))
    except SyntaxFaultError as error:
        raise CompileError(str(error), _line(text, error.at)) from None
    except TypeFaultError as error:
        raise CompileError(str(error), _line(text, places.get(id(error.node), 0))) from None
    except EvaluationError as error:
        raise CompileError(str(error)) from None
    except NotKnownError as error:
        raise NotCompiledError(str(error)) from None
    except RecursionError:
        raise NotCompiledError("an expression that is nested too deeply for trainc") from None
    # A server takes into a new policy only what the version before it has, too.
    return Expression(run, types.type, (types.since + 1 if types.since else 0, types.needs))


def _walk(node: Node) -> Iterator[Node]:
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo += children(node)


def _read_literals(node: Call) -> None:
    """Read literals of patterns, durations and points in time; an EvaluationError for one that is none."""
    literal = node.args[0] if node.args else None
    if node.function not in _LITERALS or type(literal) is not Const:
        return
    try:
        if node.function == "matches":
            compiled_pattern(literal.value)
        else:
            called(node.function, [literal.value])
    except EvaluationError:
        raise EvaluationError(f"invalid {node.function} argument") from None


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


class Compiler:
    """Compiles expressions of a policy, which sees its own variables besides those of every policy."""

    def __init__(self, *, params: bool) -> None:
        self._variables: dict[str, Type] = {}
        self._names: dict[str, Type] = {**declared.VARIABLES, **({"params": declared.DYN} if params else {})}

    def declare(self, name: str, compiled: Compiled) -> None:
        """Let further expressions see a variable of the policy."""
        self._variables[name] = _of_variable(compiled.type) if isinstance(compiled, Expression) else declared.DYN

    def compile(self, text: str, wanted: tuple[str, ...] = (), *, asks: bool = True) -> Expression:
        """An expression that may be of some types, of any where none is given; `asks` whether it has an authorizer.

        A CompileError says that the server would not take it, a NotCompiledError that trainc cannot tell.
        """
        if not text.strip():
            raise CompileError("expression is not specified")
        names: Mapping[str, Type] = {**self._names, **(declared.AUTHORIZER if asks else {})}
        structures = {**declared.STRUCTURES, declared.VARIABLES["variables"].name: self._variables}
        expression = compile_expression(text, Declarations(names, structures))
        if wanted and expression.type.name not in wanted:
            several = f"one of [{' '.join(wanted)}]" if len(wanted) > 1 else wanted[0]
            raise CompileError(f"must evaluate to {several} but got {expression.type.declared}")
        return expression


def _of_variable(kind: Type) -> Type:
    """The type of a variable as other expressions see it."""
    if kind.name in _SIMPLE:
        return kind
    if kind.name in ("list", "map"):
        return Type(kind.name, tuple(map(_of_variable, kind.parameters)))
    return declared.DYN


class Written(NamedTuple):
    """An expression of a policy: the path of its field in the spec, its text, and what compiling it gave."""

    path: tuple[str, int, str]
    text: str
    compiled: Compiled


class CompiledPolicy:
    """The expressions of a policy, compiled once."""

    def __init__(self, policy: dict[str, Any]) -> None:
        compiler = Compiler(params=policy["params"])

        def each(field: str, key: str, *wanted: str) -> Iterator[Written]:
            may_ask = key != "messageExpression"
            for index, held in enumerate(policy[field]):
                if may_ask or held.get(key):
                    text = held.get(key) or ""  # Go reads null as an empty text
                    compiled: Compiled
                    try:
                        compiled = compiler.compile(text, wanted, asks=may_ask)
                    except (CompileError, NotCompiledError) as error:
                        compiled = error
                    yield Written((field, index, key), text, compiled)

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
            {"path": list(path), "minor": compiled.needs[0], "word": compiled.needs[1]}
            for path, _, compiled in self._all
            if isinstance(compiled, Expression) and compiled.needs[0]
        ]

    def troubles(self) -> list[Answer]:
        """Why expressions do not compile, each by the path of its field in the spec."""
        return [
            {
                "path": list(path),
                "text": str(compiled),
                "line": compiled.line if isinstance(compiled, CompileError) else 0,
                "refused": isinstance(compiled, CompileError),
            }
            for path, _, compiled in self._all
            if not isinstance(compiled, Expression)
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
        if isinstance(compiled, CompileError):
            return {"error": f"compilation error: compilation failed: {compiled}"}
        if isinstance(compiled, NotCompiledError):
            return {"unknown": str(compiled), "reported": True}
        scope = Scope(dict(self._names), self._lazy)
        answer: Answer
        try:
            value, paths = compiled.run(scope)
            answer = {"value": value if type(value) in (bool, str, type(None)) else 0, "paths": _listed(paths)}
        except EvaluationError as error:
            answer = {"error": f"expression '{text}' resulted in error: {error}", "paths": _listed(error.paths)}
        except OutOfBudgetError:
            answer = {"error": f"expression '{text}' resulted in error: {_LIMIT}", "costly": True}
        except NotEvaluatedError as error:
            answer = {"unknown": str(error), "unjudged": True}
        except NotKnownError as error:
            answer = {"unknown": str(error)}
        except RecursionError:
            answer = {"unknown": "an expression is nested too deeply for trainc", "unjudged": True}
        charge(scope.cost + self._spent)
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
        if not isinstance(variable, Expression):
            failed = f'composited variable "{name}" fails to compile: {variable}'
            return EvaluationError(failed) if isinstance(variable, CompileError) else NotEvaluatedError(str(variable))
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
