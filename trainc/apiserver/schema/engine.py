"""Rules of CEL and patterns that a cluster brings, judged within a budget.

They come from strangers. What one expression may cost is bounded as the API server bounds it, and what costly ones of a
run cost together: whatever exceeds that is not judged, which is an error.
"""

from base64 import b64decode
from functools import cache
from typing import Any, NamedTuple

from trainc.apiserver.expressions.budget import charge, check_budget
from trainc.apiserver.fault import NotJudgedError


class Judged(NamedTuple):
    """What a rule gives: a value, or the error that it ends in."""

    value: object = None
    failed: str = ""


def rule_trouble(rule: str) -> tuple[str, bool]:
    """Why a rule cannot be judged, empty where it can, and whether a server would not take it either."""
    from trainc.apiserver.expressions.compiler import CompileError, NotCompiledError  # noqa: PLC0415 (few clusters bring rules)

    try:
        _compiled(rule)
    except CompileError as error:
        return str(error), "Syntax error" in str(error)  # a newer server may know more functions
    except NotCompiledError as error:
        return str(error), False
    return "", False


def pattern_trouble(pattern: str) -> tuple[str, bool]:
    """Why texts cannot be held against a pattern, empty where they can, and whether a server would not take it."""
    from trainc.text.re2 import PatternError, UnsupportedPatternError, compile_re2  # noqa: PLC0415 (as above)

    try:
        compile_re2(pattern)
    except PatternError as error:
        return f"error parsing regexp: {error}", True
    except UnsupportedPatternError as error:
        return str(error), False
    return "", False


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern of RE2 is found in a text; NotJudgedError where that is not known."""
    from trainc.text.re2 import compile_re2  # noqa: PLC0415 (few clusters bring patterns)

    try:
        return compile_re2(pattern).search(text)
    except ValueError as error:
        raise NotJudgedError(str(error)) from None


def judge(rule: str, new: Any, old: Any, *, is_optional: bool = False) -> Judged:
    """What a rule says of a value and of the one before, which may be an optional; NotJudgedError where that is not known."""
    from trainc.apiserver.expressions import compiler, values  # noqa: PLC0415 (few clusters bring rules)

    check_budget()
    if is_optional:
        old = values.NONE if old is None else values.Optional(True, old)
    scope = values.Scope({"self": (new, None), "oldSelf": (old, None)}, _no_name)
    try:
        value, _ = _compiled(rule).run(scope)
    except values.EvaluationError as error:
        return Judged(failed=str(error))
    except values.OutOfBudgetError:
        return Judged(failed="operation cancelled: actual cost limit exceeded")
    except (values.NotKnownError, compiler.CompileError, compiler.NotCompiledError) as error:
        raise NotJudgedError(str(error)) from None
    except RecursionError:
        raise NotJudgedError("it is nested too deeply") from None
    finally:
        charge(scope.cost)
    return Judged(value)


def of_format(name: str, text: str) -> object:
    """A text of a format as rules see it: a point in time, a duration or bytes; NotJudgedError where it cannot be read."""
    from trainc.apiserver.expressions import conversions, values  # noqa: PLC0415 (few clusters bring rules)

    try:
        if name == "byte":
            return b64decode(text, validate=True)
        if name == "duration":
            return conversions.duration(text)
        return conversions.timestamp(f"{text}T00:00:00Z" if name == "date" else text)
    except (values.EvaluationError, ValueError):
        raise NotJudgedError(f"trainc cannot read `{text}` as a `{name}`") from None


@cache
def _compiled(rule: str) -> Any:
    from trainc.apiserver.expressions.checker import DYN, Declarations  # noqa: PLC0415 (few clusters bring rules)
    from trainc.apiserver.expressions.compiler import compile_expression  # noqa: PLC0415

    return compile_expression(rule, Declarations({"self": DYN, "oldSelf": DYN}, {}))


def _no_name(name: str) -> Any:
    from trainc.apiserver.expressions.values import EvaluationError  # noqa: PLC0415 (few clusters bring rules)

    raise EvaluationError(f"no such attribute(s): {name}")
