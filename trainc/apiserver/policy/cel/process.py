"""The program that policies are judged in: reads questions, one JSON text a line, and answers them.

It ends with its input. Each question gets a bounded processor time, the process a bounded memory: whatever takes more
ends it, and who asked knows why.
"""

from __future__ import annotations

import json
import sys
from os.path import abspath, dirname
from time import process_time
from typing import Any

from trainc.apiserver.policy.cel.compiler import CompiledPolicy

sys.path.append(dirname(dirname(dirname(dirname(dirname(abspath(__file__)))))))  # the folder that holds trainc itself

from trainc.apiserver.schema.engine_process import limit, whole

MEMORY = 512 * 1024 * 1024
SECONDS = 4.0  # of processor time for one question


def main() -> None:
    """Answer questions until there are no more."""
    limited = limit(MEMORY)
    try:
        judge = PolicyJudge()
    except ImportError:
        judge = None
    for line in sys.stdin:
        start = process_time()
        limited(SECONDS)
        try:
            answer = judge.answer(json.loads(line, parse_int=whole)) if judge else {"error": "no engine"}
        except (RuntimeError, ValueError, TypeError, MemoryError, RecursionError, OverflowError) as error:
            answer = {"error": " ".join(str(error).split())[:200] or type(error).__name__}
        limited(0.0)
        sys.stdout.write(json.dumps({**answer, "seconds": process_time() - start}) + "\n")
        sys.stdout.flush()


class PolicyJudge:
    """cel-cpp, and the policies that are compiled."""

    def __init__(self) -> None:
        from cel_expr_python import cel  # noqa: PLC0415 (its absence is an answer)

        from trainc.apiserver.policy.cel.texts import use_patterns  # noqa: PLC0415
        from trainc.apiserver.policy.cel.values import EvaluationError  # noqa: PLC0415

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
        from trainc.apiserver.policy.cel.compiler import CompiledPolicy  # noqa: PLC0415

        key = json.dumps(written, sort_keys=True)
        if key not in self._compiled:
            self._compiled[key] = CompiledPolicy(self.cel, written)
        policy = self._compiled[key]
        if "object" not in question:
            return {"troubles": policy.troubles(), "needs": policy.needs()}
        from trainc.apiserver.policy.cel.compiler import with_unknowns  # noqa: PLC0415 (as above)

        return policy.judge(with_unknowns(question))


if __name__ == "__main__":
    main()
