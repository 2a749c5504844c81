"""Puts expressions to the program beside this file, which is the API server's own code, and to trainc."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from tests.programs.cel.draw import OBJECT, Drawer
from trainc.apiserver.expressions import checker
from trainc.apiserver.expressions.compiler import CompileError, Compiler, NotCompiledError
from trainc.apiserver.expressions.conversions import to_text
from trainc.apiserver.expressions.syntax import Uint
from trainc.apiserver.expressions.texts import go_quoted
from trainc.apiserver.expressions.values import (
    Duration,
    EvaluationError,
    NotKnownError,
    Opaque,
    Optional,
    OutOfBudgetError,
    Place,
    Scope,
    Timestamp,
    TypeName,
)

HERE = Path(__file__).parent
MINORS = (30, 31, 32, 33, 34, 35, 36, 37)
_OLDEST = (1, 27, 28, 29)  # of which the functions are recorded, too
RECORDED = HERE / "recorded.jsonl"
KEPT_BACK, KEPT = 990_000, 64  # the first seed of the expressions that are recorded, and their number for a version
_DECLARED = Path(checker.__file__).parent / "declared.txt"
_SPELLINGS = ("in(", "_in_(", "__not_strictly_false__")  # older names of the same


class Outcome(NamedTuple):
    """What comes of an expression: refused, or a type with a value and a cost, or a type with an error."""

    outcome: str
    type: str = ""
    value: str = ""
    cost: int = 0

    def agrees(self, other: "Outcome") -> bool:
        """Whether both decide alike; costs are compared where somebody asks for them alone."""
        return self[:3] == other[:3]


class Server:
    """The program, which answers questions while it runs."""

    def __enter__(self) -> Self:
        """Build the program, and start it."""
        program = HERE / "build" / "cel"
        subprocess.run(["go", "build", "-o", str(program), "."], cwd=HERE, check=True)
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the program."""
        self._process.communicate()

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


def compared(server: Server, texts: list[str], minor: int) -> Iterator[tuple[str, Outcome, Outcome]]:
    """Each expression with what the server of a version makes of it in a new policy, and what trainc does."""
    for text in texts:
        question = {"minor": minor, "expression": text, "values": {"object": OBJECT}}
        yield text, _theirs(server.ask(question)), ours(text, minor)


def _theirs(answer: dict[str, Any]) -> Outcome:
    if "panics" in answer:
        return Outcome("panics")
    if "refused" in answer:
        return Outcome("refused")
    if "error" in answer:
        return Outcome("error", answer["type"], "", 0)
    return Outcome("value", answer["type"], answer["value"], answer["cost"])


def ours(text: str, minor: int) -> Outcome:
    """What trainc makes of an expression."""
    try:
        expression = Compiler(params=True).compile(text)
    except CompileError:
        return Outcome("refused")
    except NotCompiledError as error:
        return Outcome("unknown", "", str(error))
    if expression.needs[0] > minor + 1:
        return Outcome("refused")
    scope = Scope({"object": (OBJECT, Place())}, _undefined)
    try:
        value, _ = expression.run(scope)
    except (EvaluationError, OutOfBudgetError):
        return Outcome("error", expression.type.declared)
    except NotKnownError as error:
        return Outcome("unknown", expression.type.declared, str(error))
    return Outcome("value", expression.type.declared, shown(value), scope.cost)


def _undefined(name: str) -> Any:
    raise EvaluationError(f"no such attribute(s): {name}")


def shown(value: Any) -> str:
    """A value as the program writes it."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, Duration):
        return f"duration {int(value)}"
    if isinstance(value, Timestamp):
        return f"timestamp {value // 10**9}.{value % 10**9:09d}"
    if isinstance(value, Uint):
        return f"{int(value)}u"
    if isinstance(value, float):
        return f"double {to_text(value)}"
    if isinstance(value, str):
        return go_quoted(value)
    if isinstance(value, bytes):
        return f"bytes {value.hex()}"
    if isinstance(value, TypeName):
        return f"type {value.name}"
    if isinstance(value, Optional):
        return f"some {shown(value.value)}" if value.present else "none"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{shown(key)}: {shown(held)}" for key, held in value.items())) + "}"
    if isinstance(value, Opaque):
        return _OPAQUE[value.kind](value.value)
    return str(value)


def _amount(nanos: int) -> str:
    sign, nanos = "-" if nanos < 0 else "", abs(nanos)
    return f"{sign}{nanos // 10**9}.{nanos % 10**9:09d}".rstrip("0").rstrip(".")


def _version(version: tuple[Any, ...]) -> str:
    major, minor, patch, _, before, *_ = version
    names = ".".join(str(number) if kind == 0 else word for kind, number, word in before)
    return f"{major}.{minor}.{patch}{'-' if names else ''}{names}"


_OPAQUE: dict[str, Callable[[Any], str]] = {
    "kubernetes.Quantity": _amount,
    "kubernetes.URL": lambda url: f"{url.scheme} {url.host} {url.escaped_path} {url.query}",
    "kubernetes.Semver": _version,
    "kubernetes.NamedFormat": str.lower,
    "net.IP": str,
    "net.CIDR": str,
}


def record(server: Server) -> None:
    """Write the functions of the newest version, and the answers to drawn expressions that no change is made for."""
    _record_functions(server)
    answers = []
    for minor in MINORS:
        drawer = Drawer(KEPT_BACK + minor)
        texts = [drawer.expression() for _ in range(KEPT)]
        answers += [[minor, text, *theirs] for text, theirs, _ in compared(server, texts, minor)]
    RECORDED.write_text("".join(f"{json.dumps(answer)}\n" for answer in answers), "utf-8")


def recorded() -> Iterator[tuple[int, str, Outcome]]:
    """The recorded answers: a version, an expression, and what the server makes of it."""
    for line in RECORDED.read_text("utf-8").splitlines():
        minor, text, *outcome = json.loads(line)
        yield minor, text, Outcome(*outcome)


def _record_functions(server: Server) -> None:
    """The functions with the first version that declares each, 0 for the oldest."""
    first: dict[str, int] = {}
    newest: list[str] = []
    for minor in (*_OLDEST, *MINORS):
        newest = server.ask({"minor": minor, "functions": True})["functions"]
        for line in newest:
            first.setdefault(line, 0 if minor == _OLDEST[0] else minor)
    lines = [f"{first[line]} {line}\n" for line in newest if not line.startswith(_SPELLINGS)]
    _DECLARED.write_text("".join(lines), "utf-8")
