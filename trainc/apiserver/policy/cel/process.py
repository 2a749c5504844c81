"""The program that policies are judged in: reads questions, one JSON text a line, and answers them.

It ends with its input. Each question gets a bounded processor time, the process a bounded memory: whatever takes more
ends it, and who asked knows why.
"""

import json
import sys
from os.path import abspath, dirname
from typing import Any

sys.path.append(dirname(dirname(dirname(dirname(dirname(abspath(__file__)))))))  # the folder that holds trainc itself

from trainc.apiserver.policy.cel.compiler import CompiledPolicy, with_unknowns
from trainc.apiserver.policy.cel.texts import use_patterns
from trainc.apiserver.policy.cel.values import EvaluationError
from trainc.apiserver.schema.engine_process import serve

MEMORY = 512 * 1024 * 1024
SECONDS = 4.0  # of processor time for one question


def main() -> None:
    """Answer questions until there are no more."""
    serve(PolicyJudge, MEMORY, SECONDS)


class PolicyJudge:
    """cel-cpp, and the policies that are compiled."""

    def __init__(self) -> None:
        from cel_expr_python import cel  # noqa: PLC0415 (its absence is an answer)

        self.cel = cel
        self._compiled: dict[str, CompiledPolicy] = {}
        env = cel.NewEnv(variables={"text": cel.Type.STRING, "pattern": cel.Type.STRING})
        search_in = env.compile("text.matches(pattern)")

        def search(text: str, pattern: str) -> bool:
            result = search_in.eval(data={"text": text, "pattern": pattern})
            if result.type() == cel.Type.ERROR:
                reason = " ".join(str(result.value()).split()).removeprefix("INVALID_ARGUMENT: ").partition(" [")[0]
                raise EvaluationError(reason)
            return bool(result.value())

        use_patterns(search)

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to one question."""
        if "policy" not in question:
            return {}
        written = question["policy"]
        key = json.dumps(written, sort_keys=True)
        if key not in self._compiled:
            self._compiled[key] = CompiledPolicy(self.cel, written)
        policy = self._compiled[key]
        if "object" not in question:
            return {"troubles": policy.troubles(), "needs": policy.needs()}
        return policy.judge(with_unknowns(question))


if __name__ == "__main__":
    main()
