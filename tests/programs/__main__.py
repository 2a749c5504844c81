"""Asks the programs that trainc repeats what it says: `python -m tests.programs build|ask|compare [PROGRAM-VERSION ...]`.

    python -m tests.programs build                       builds every program of programs.toml that is not built yet
    python -m tests.programs ask --seed 1 --count 1000   a line for each row, and the smallest input of each kind that differs
    python -m tests.programs ask trainer-2.3.0           one program only; without a seed one is drawn, and printed
    python -m tests.programs compare trainer-2.2.0 trainer-2.3.0    what changed from one version to another

It ends with 1 if a row differs, and with 2 if a program cannot be asked.
"""

import argparse
import random
import sys
from collections.abc import Callable

import yaml

from tests.programs import fixed_point, trainer_compiled
from tests.programs.differences import Outcome
from tests.programs.modules import NotBuiltError, Program, built, has_go, programs
from tests.programs.process import DiedError

# What is asked of a program, each a row of the report.
ROWS: dict[str, tuple[Callable[[Program, int, int], Outcome], ...]] = {
    "trainer": (trainer_compiled.ask,),
    "jobset": (fixed_point.ask,),
}
_COUNT = 1000


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.programs", description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=("build", "ask", "compare"))
    parser.add_argument("names", nargs="*", metavar="PROGRAM-VERSION", help="all by default")
    parser.add_argument("--seed", type=int, help="the same seed asks the same; drawn and printed by default")
    parser.add_argument("--count", type=int, default=_COUNT, help="inputs for each row")
    args = parser.parse_args()
    if not has_go():
        print("the programs that trainc repeats were not asked: Go is not installed")
        return 0
    chosen = [program for program in programs() if not args.names or {program.id, program.name} & set(args.names)]
    known = {name for program in programs() for name in (program.id, program.name)}
    unknown = sorted(set(args.names) - known)
    if unknown:
        print(f"no program is called `{unknown[0]}`; there are {', '.join(sorted(known))}")
        return 2
    try:
        if args.verb == "build":
            for program in chosen:
                print(f"{program.id}: {built(program)}", flush=True)
            return 0
        seed = args.seed
        if seed is None:
            seed = random.SystemRandom().randrange(1_000_000)
            print(f"--seed {seed}")
        if args.verb == "ask":
            return _ask(chosen, seed, args.count)
        if len(chosen) != 2 or {program.name for program in chosen} != {"trainer"}:
            print("compare takes two versions of trainer")
            return 2
        old, new = sorted(chosen, key=lambda program: args.names.index(program.id))
        return _print(trainer_compiled.between(old, new, seed, args.count))
    except (NotBuiltError, DiedError, OSError) as error:
        print(error)
        return 2


def _ask(chosen: list[Program], seed: int, count: int) -> int:
    outcomes = (row(program, seed, count) for program in chosen for row in ROWS.get(program.name, ()))
    return max((_print(outcome) for outcome in outcomes), default=0)


def _print(outcome: Outcome) -> int:
    """Print a row, the smallest input of each kind that differs above it; 1 if one does."""
    for difference, documents, number in outcome.differences.values():
        print(f"\n{outcome.row}: {number} x {difference.kind}")
        print(f"  theirs: {difference.theirs[:600]}\n  ours:   {difference.ours[:600]}")
        print("  " + yaml.safe_dump_all(documents, sort_keys=False).replace("\n", "\n  "))
    print(f"{outcome.row}: {outcome.asked} asked, {outcome.differing} differ", flush=True)
    return 1 if outcome.differences else 0


if __name__ == "__main__":
    sys.exit(main())
