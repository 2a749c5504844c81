"""Asks the engine about policies, in a process of its own and within a budget."""

from __future__ import annotations

from os import path
from typing import TYPE_CHECKING

from trainc.apiserver.fault import NotJudgedError
from trainc.apiserver.schema.engine import Engine, own

if TYPE_CHECKING:
    from typing import Any


class PolicyEngine(Engine):
    """The process that compiles and evaluates policies."""

    program = path.join(path.dirname(path.abspath(__file__)), "cel", "process.py")
    usual, slow = 0.005, 20.0
    what = "admission policies"

    @property
    def questions(self) -> int:
        """How many questions one run may ask."""
        return 200_000

    @property
    def size(self) -> int:
        """How many characters one question may have."""
        return 4_000_000

    def compiled(self, policy: dict[str, Any]) -> dict[str, Any]:
        """Why expressions of a policy do not compile (`troubles`), and which versions of Kubernetes others need (`needs`).

        Raises:
            NotJudgedError: where that is not known.
        """
        answer = self._ask({"policy": policy})
        if "error" in answer:
            raise NotJudgedError(str(answer["error"]))
        return answer

    def verdict(self, question: dict[str, Any]) -> dict[str, Any]:
        """What a policy says of a request.

        Raises:
            NotJudgedError: where that is not known.
        """
        from json import dumps  # noqa: PLC0415 (few projects have policies)

        line = dumps(question)
        if len(line) > self.size:
            raise NotJudgedError(f"policy and object have more than {self.size} characters")
        answer = self._fresh(line)
        if "error" in answer:
            raise NotJudgedError(str(answer["error"]))
        return answer


def policy_engine() -> PolicyEngine:
    """The engine of this process."""
    return own(PolicyEngine)
