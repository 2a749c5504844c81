"""Asks a real CEL engine about rules and patterns that a cluster brings, in a process of its own and within a budget.

Rules and patterns come from strangers. The engine (cel-cpp, with RE2 for patterns: linear in the text) bounds nesting,
length and iterations by itself; the process around it bounds its time and memory, and a rule that brings it down is not
judged, which is counted. It starts when the first rule or pattern is asked about that trainc does not have itself.
"""

import atexit
import sys
from contextlib import suppress
from json import dumps, loads
from os import getpid, path
from typing import Any

from trainc.apiserver.fault import NotJudgedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen
    from typing import TypeVar

    E = TypeVar("E", bound="Engine")

STARTS = 3  # of the process in one run: a rule can bring it down
MISSING = "no CEL engine is installed (`pip install 'trainc[definitions]'`)"
_engines: "dict[tuple[int, type[Engine]], Engine]" = {}


class Engine:
    """The process, its budget, and the answers so far."""

    program = path.join(path.dirname(path.abspath(__file__)), "engine_process.py")
    what = "the rules of this cluster"
    questions = 20_000  # of one run; an answer that is known is asked for once
    size = 1_000_000  # characters of one question
    usual = 0.0001  # seconds of processor time that an answer may take without being counted
    slow = 1.0  # seconds of processor time beyond that, all answers of a run together

    def __init__(self) -> None:
        self._process: Popen[str] | None = None
        self._answers: dict[str, dict[str, Any]] = {}
        self.stopped = ""  # why nothing is asked any more
        self.begin()

    def begin(self) -> None:
        """Give the next run of a long-lived program a budget of its own; answers stay known, but not forever."""
        self._starts = self._asked = 0
        self._slow = 0.0
        self.stopped = self.stopped if self.stopped == MISSING else ""
        self.judged_all = not self.stopped  # whether every question so far was answered within the budget
        if len(self._answers) > Engine.questions:
            self._answers.clear()

    def rule_trouble(self, rule: str) -> tuple[str, bool]:
        """Why a rule cannot be judged, empty where it can, and whether a server would not take it either."""
        return self._trouble({"compile": rule})

    def pattern_trouble(self, pattern: str) -> tuple[str, bool]:
        """Why texts cannot be held against a pattern, empty where they can, and whether a server would not take it."""
        return self._trouble({"pattern": pattern, "text": ""})

    def _trouble(self, question: dict[str, Any]) -> tuple[str, bool]:
        try:
            answer = self._ask(question)
        except NotJudgedError as error:
            return str(error), False
        return str(answer.get("error", "")), "refused" in answer

    def matches(self, pattern: str, text: str) -> bool:
        """Whether a pattern of RE2 is found in a text; NotJudgedError where that is not known."""
        answer = self._ask({"pattern": pattern, "text": text})
        if type(answer.get("value")) is not bool:
            raise NotJudgedError(str(answer.get("error", "the engine gave no answer")))
        return bool(answer["value"])

    def judge(self, rule: str, new: Any, old: Any) -> dict[str, Any]:
        """The answer to a rule: `value`, or `failed` with the error it ends in; NotJudgedError where that is not known."""
        answer = self._ask({"rule": rule, "self": new, "old": old})
        if "error" in answer:
            raise NotJudgedError(str(answer["error"]))
        return answer

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        line = dumps(question, sort_keys=True)
        if len(line) > self.size:
            raise NotJudgedError(f"rule and value have more than {self.size} characters")
        if line not in self._answers:
            self._answers[line] = self._fresh(line)
        return self._answers[line]

    def _fresh(self, line: str) -> dict[str, Any]:
        if not self.stopped and self._asked >= self.questions:
            self._stop(f"one run asks at most {self.questions} questions about {self.what}")
        if not self.stopped and self._process is None:
            self._start()
        if self.stopped:
            raise NotJudgedError(self.stopped)
        self._asked += 1
        answer = self._exchange(line)
        if answer is None:
            self.judged_all = False
            answer = {"error": "it takes too much time or memory"}
            self._slow += self.slow / STARTS
        else:
            self._slow += max(0.0, float(answer["seconds"]) - self.usual)
        if self._slow > self.slow:
            self._stop(f"{self.what} take too much time")
        return answer

    def _start(self) -> None:
        from subprocess import DEVNULL, PIPE, Popen  # noqa: PLC0415

        if self._starts == STARTS:
            self._stop(f"{self.what} bring the engine down")
            return
        self._starts += 1
        words = [sys.executable, "-P", self.program]
        try:
            self._process = Popen(words, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True, encoding="ascii")  # noqa: S603
        except OSError:
            self._stop("the engine cannot be started")
            return
        if (ready := self._exchange('{"ready": true}')) is None or "error" in ready:
            self._stop(MISSING)

    def _exchange(self, line: str) -> dict[str, Any] | None:
        """One answer, None from a process that is gone."""
        if (process := self._process) is None or process.stdin is None or process.stdout is None:
            return None
        try:
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            written = process.stdout.readline()
            answer: dict[str, Any] | None = loads(written) if written else None
        except (OSError, ValueError):
            answer = None
        if answer is None:
            self.close()
        return answer

    def close(self) -> None:
        """End the process; the next question starts another one."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError), process:  # what it was not told any more
                process.kill()

    def _stop(self, reason: str) -> None:
        self.stopped = reason
        self.judged_all = False
        self.close()


def engine() -> Engine:
    """The engine of this process; a worker that was forked has one of its own."""
    return own(Engine)


def own(kind: "type[E]") -> "E":
    """The engine of some kind of this process."""
    made = _engines.setdefault((getpid(), kind), kind())
    assert isinstance(made, kind)
    return made


def begin_run() -> None:
    """Give the run that begins a budget of its own, where the program asked in an earlier one."""
    for one in _own():
        one.begin()


def _own() -> list[Engine]:
    return [one for (pid, _), one in _engines.items() if pid == getpid()]


def _close_own() -> None:
    """End what this process started; a worker that was forked leaves its parent's alone."""
    for one in _own():
        one.close()


atexit.register(_close_own)
