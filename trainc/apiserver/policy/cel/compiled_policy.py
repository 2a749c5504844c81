"""One policy for one request: its match conditions, variables, validations, messages and audit annotations.

Source: k8s.io/apiserver pkg/admission/plugin/cel (activation.go, composition.go, condition.go) and
pkg/admission/plugin/policy/validating (validator.go), Kubernetes 1.34.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.apiserver.policy.cel.compiler import CompileError, Compiler, Expression, NotCompiledError
from trainc.apiserver.policy.cel.scope import Scope
from trainc.apiserver.policy.cel.values import EvaluationError, NotKnownError, OutOfBudgetError, Place, UnknownValue

if TYPE_CHECKING:
    from trainc.apiserver.policy.cel.values import Paths

    Valued = tuple[Any, Paths]
    Answer = dict[str, Any]
    Compiled = Expression | CompileError | NotCompiledError

BUDGET = 10_000_000  # RuntimeCELCostBudget
MATCH_BUDGET = 2_500_000  # RuntimeCELCostBudgetMatchConditions
_OUT = "validation failed due to running out of cost budget, no further validation rules will be run"
_LIMIT = "operation cancelled: actual cost limit exceeded"
_AUTHORIZER = "what the authorizer of the cluster says"


class CompiledPolicy:
    """The expressions of a policy, compiled once."""

    def __init__(self, cel: Any, policy: dict[str, Any]) -> None:
        compiler = Compiler(cel, params=policy["params"])
        self.policy = policy
        # The server compiles match conditions before it knows any variable.
        self.conditions = [_compiled(compiler, one["expression"], "bool") for one in policy["matchConditions"]]
        self.variables: dict[str, Compiled] = {}
        for variable in policy["variables"]:
            name = variable["name"]
            self.variables[name] = compiled = _compiled(compiler, variable["expression"])
            compiler.declare(name, compiled if type(compiled) is Expression else None)
        self.validations = [_compiled(compiler, one["expression"], "bool") for one in policy["validations"]]
        self.messages = [
            _compiled(compiler, one["messageExpression"], "string", asks=False)
            if one.get("messageExpression")
            else None
            for one in policy["validations"]
        ]
        self.annotations = [
            _compiled(compiler, one["valueExpression"], "string", "null_type") for one in policy["auditAnnotations"]
        ]

    def _entries(self) -> list[tuple[str, int, str, Compiled]]:
        """Every expression with the list that holds it, its index and its field."""
        entries: list[tuple[str, int, str, Compiled]] = [
            ("variables", index, "expression", one) for index, one in enumerate(self.variables.values())
        ]
        for field, key, compiled in (
            ("matchConditions", "expression", self.conditions),
            ("validations", "expression", self.validations),
            ("validations", "messageExpression", self.messages),
            ("auditAnnotations", "valueExpression", self.annotations),
        ):
            entries += [(field, index, key, one) for index, one in enumerate(compiled) if one is not None]
        return entries

    def needs(self) -> list[Answer]:
        """The minor versions of Kubernetes that expressions need, each by the path of its field in the spec."""
        return [
            {"path": [field, index, key], "minor": one.needs[0], "word": one.needs[1]}
            for field, index, key, one in self._entries()
            if type(one) is Expression and one.needs[0]
        ]

    def troubles(self) -> list[Answer]:
        """Why expressions do not compile, each by the path of its field in the spec."""
        return [
            {
                "path": [field, index, key],
                "text": str(one),
                "line": getattr(one, "line", 0),
                "column": getattr(one, "column", 0),
                "refused": type(one) is CompileError,
            }
            for field, index, key, one in self._entries()
            if type(one) is not Expression
        ]

    def judge(self, question: dict[str, Any]) -> Answer:
        """What the policy says of a request."""
        matching = _Evaluation(self, question, {"namespaceObject": (None, None)}, MATCH_BUDGET)
        conditions = []
        for condition, written in zip(self.conditions, self.policy["matchConditions"], strict=True):
            conditions.append(matching.answer(condition, written["expression"]))
            if matching.fatal:
                return {"conditions": [{"error": _OUT}]}
            if conditions[-1].get("value") is False:
                return {"conditions": conditions}
        if any("value" not in one for one in conditions):
            return {"conditions": conditions}
        run = _Evaluation(self, question, {}, BUDGET)
        results = []
        for validation, written in zip(self.validations, self.policy["validations"], strict=True):
            results.append(run.answer(validation, written["expression"]))
            if run.fatal:
                return {"conditions": conditions, "fatal": _OUT}
        self._messages(run, question, results)
        noting = _Evaluation(self, question, {}, BUDGET)
        annotations = []
        for annotation, written in zip(self.annotations, self.policy["auditAnnotations"], strict=True):
            annotations.append(_annotation(noting.answer(annotation, written["valueExpression"]), written))
            if noting.fatal:
                return {"conditions": conditions, "fatal": _OUT}
        return {"conditions": conditions, "results": results, "annotations": annotations}

    def _messages(self, run: _Evaluation, question: dict[str, Any], results: list[Answer]) -> None:
        """Add to each result what its messageExpression gives; all share what the validations leave of the budget."""
        wording = _Evaluation(self, question, {}, run.budget)
        spoken = []
        for message, written in zip(self.messages, self.policy["validations"], strict=True):
            spoken.append({} if message is None else wording.answer(message, written["messageExpression"]))
            if wording.fatal:
                for result in results:
                    if "value" in result:
                        result.clear()
                        result["error"] = f"failed messageExpression: {_OUT}"
                return
        for result, answer in zip(results, spoken, strict=True):
            text = answer.get("value")
            if result.get("value") is False and type(text) is str:
                result["message"] = text


def _annotation(answer: Answer, written: dict[str, Any]) -> Answer:
    """What becomes of an audit annotation: text or null, or an error."""
    if "value" in answer and answer["value"] is not None and type(answer["value"]) is not str:
        why = f"valueExpression '{written['valueExpression']}' resulted in unsupported return type"
        return {"error": f"{why}. Return type must be either string or null."}
    return answer


def _compiled(compiler: Compiler, text: str, *wanted: str, asks: bool = True) -> Compiled:
    try:
        return compiler.compile(text, wanted, asks=asks)
    except (CompileError, NotCompiledError) as error:
        return error


class _Evaluation:
    """The expressions of one list, one after the other, with the variables that they share and their budget."""

    def __init__(
        self, compiled: CompiledPolicy, question: dict[str, Any], names: dict[str, Valued], budget: int
    ) -> None:
        self._compiled = compiled
        self._memo: dict[str, Valued | Exception] = {}
        self._spent = 0
        self.budget = budget
        self.fatal = False
        known: dict[str, Valued] = {
            "object": (question["object"], Place()),
            "oldObject": (None, None),
            "params": (question["params"], None),
            "request": (question["request"], None),
            "namespaceObject": (question["namespaceObject"], None),
            "authorizer": (UnknownValue(_AUTHORIZER), None),
        }
        self._names = {**known, **names}

    def answer(self, compiled: Compiled, text: str) -> Answer:
        """What an expression gives: a value, an error, or why it is unknown."""
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
        variable = self._compiled.variables[name]
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
