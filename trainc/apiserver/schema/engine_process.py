"""The program that a cluster's CEL rules and patterns run in: reads questions, one JSON text a line, and answers them.

It imports nothing of trainc, and ends with its input. Each question gets half a second of processor time, all of the
process 256 MiB: whatever takes more ends it, and who asked knows why.
"""

import json
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from time import process_time
from typing import Any

MEMORY = 256 * 1024 * 1024
SECONDS = 0.5  # of processor time for one question
_INT64 = 2**63
_PLACE = re.compile(r"^ERROR: <input>:-?\d+:-?\d+: ")
_MISSING = "no CEL engine is installed"
# How the server's own engine words what this one says of a rule that ends in an error.
_WORDINGS = (
    ("No matching overloads", "no such overload"),
    ("Key not found in map : ", "no such key: "),
    ("divide by zero", "division by zero"),
    ("modulus by zero", "modulus by zero"),
    ("integer overflow", "integer overflow"),
)


def main() -> None:
    """Answer questions until there are no more."""
    serve(Evaluator, MEMORY, SECONDS)


def serve(evaluator: Callable[[], Any], memory: int, seconds: float) -> None:
    """Answer questions within a memory, and each within a time; `evaluator` makes what answers, where it is installed."""
    limited = limit(memory)
    try:
        judge = evaluator()
    except ImportError:
        judge = None
    for line in sys.stdin:
        start = process_time()
        limited(seconds)
        try:
            answer = judge.answer(json.loads(line, parse_int=whole)) if judge else {"error": _MISSING}
        except (RuntimeError, ValueError, TypeError, MemoryError, RecursionError, OverflowError) as error:
            answer = refusal(error)
        limited(0.0)
        sys.stdout.write(json.dumps({**answer, "seconds": process_time() - start}) + "\n")
        sys.stdout.flush()


class Evaluator:
    """cel-cpp with the two variables that rules see, and the rules that are compiled."""

    def __init__(self) -> None:
        from cel_expr_python import cel  # noqa: PLC0415 (its absence is an answer)

        self._cel = cel
        self._rules = cel.NewEnv(variables={"self": cel.Type.DYN, "oldSelf": cel.Type.DYN})
        texts = cel.NewEnv(variables={"text": cel.Type.STRING, "pattern": cel.Type.STRING})
        self._search = texts.compile("text.matches(pattern)")
        self._compiled: dict[str, Any] = {}

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to one question."""
        if "pattern" in question:
            result = self._search.eval(data={"text": question["text"], "pattern": question["pattern"]})
            failed = result.type() == self._cel.Type.ERROR
            return refusal(result.value()) if failed else {"value": result.value()}
        if "compile" in question:
            self._compile(question["compile"])
        if "rule" in question:
            data = {"self": question["self"], "oldSelf": question["old"]}
            result = self._compile(question["rule"]).eval(data=data)
            if result.type() == self._cel.Type.ERROR:
                return {"failed": _worded(str(result.value()))}
            return {"value": result.value() if result.type() == self._cel.Type.BOOL else None}
        return {}

    def _compile(self, rule: str) -> Any:
        if rule not in self._compiled:
            self._compiled[rule] = self._rules.compile(rule)
        return self._compiled[rule]


def refusal(error: object) -> dict[str, Any]:
    """Why nothing is known; `refused` where a server would not take the rule or the pattern either."""
    text = " ".join(str(error).split()).removeprefix("INVALID_ARGUMENT: ") or type(error).__name__
    text = _PLACE.sub("", text, count=1).partition(" (in container")[0].partition(" | ")[0].partition(" [")[0]
    refused = "Syntax error" in text or "invalid regular expression: " in text
    return {"error": text[:200], **({"refused": True} if refused else {})}


def _worded(text: str) -> str:
    for theirs, ours in _WORDINGS:
        _, separator, rest = text.partition(theirs)
        if separator:
            return ours + (rest.split(" [")[0].strip("'\" ") if ours.endswith(": ") else "")
    return text


def whole(digits: str) -> float:
    """A whole number of JSON as CEL holds it: beyond 64 bits it is a double."""
    number = int(digits) if len(digits) < 25 else float(digits)
    return number if -_INT64 <= number < _INT64 else float(number)


def limit(memory: int) -> Callable[[float], object]:
    """Bound the memory of this process, and give what bounds the processor time of what follows, where that can be."""
    try:
        import resource  # noqa: PLC0415 (there is none on Windows)
        import signal  # noqa: PLC0415
    except ImportError:
        return lambda _: None
    with suppress(OSError, ValueError):  # the system may allow less already
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    return lambda seconds: signal.setitimer(signal.ITIMER_PROF, seconds)  # its signal ends the process


if __name__ == "__main__":
    main()
