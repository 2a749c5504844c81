"""`python -m tests.compiler.forms --jobs 100000 --seed 1`: jobs of every case and example, with other numbers, on against off."""

import argparse
import random
import shlex
import sys
import tempfile
from pathlib import Path

from tests.compiler.forms.comparison import FEWEST_FILES, Comparison, planted
from tests.compiling import ROOT
from trainc.compiler import pipeline

COMMANDS = ("build", "validate")


def sources() -> list[tuple[Path, list[str], str]]:
    """Every case and example that is built or validated: its folder, the command, and its name in the copy."""
    found = []
    for case in sorted(path.parent for path in ROOT.glob("tests/cases/**/input")):
        written = case / "args"
        argv = shlex.split(written.read_text("utf-8")) if written.exists() else ["build", "input"]
        if argv[0] in COMMANDS:
            found.append((case / "input", argv, "input"))
    for example in sorted(path for path in ROOT.glob("examples/*") if path.is_dir()):
        found.append((example, ["build", example.name, "-o", "rendered"], example.name))
    return found


def ways(argv: list[str]) -> list[list[str]]:
    """The command as the case has it, and as the other ways to run it."""
    rest = [word for word in argv[1:] if word not in ("-w", "--check")]
    return [[*argv, "-v"], ["validate" if argv[0] == "build" else "build", *_plain(rest), "-v"]]


def _plain(words: list[str]) -> list[str]:
    """The words without what only one of the two commands takes."""
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "--output", "--format", "--rerender", "--changed-since", "--against", "--as"):
            skip = True
        elif word not in ("--include-other", "--whole-project", "--staged"):
            kept.append(word)
    return kept


def main() -> int:
    """Compare until enough jobs were compared; 1 where anything differed."""
    parser = argparse.ArgumentParser(prog="python -m tests.compiler.forms", description=__doc__)
    parser.add_argument("--jobs", type=int, default=10_000, help="how many jobs to compare at least")
    parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same jobs")
    parser.add_argument("--variants", type=int, default=24, help="jobs made of each that is there")
    parser.add_argument("--only", default="", help="a part of the names of the cases")
    options = parser.parse_args()
    pipeline.FEWEST_FILES = FEWEST_FILES
    chance = random.Random(options.seed)  # noqa: S311 (jobs, no secrets)
    comparison = Comparison()
    everything = [one for one in sources() if options.only in str(one[0])]
    step = max(options.jobs // 20, 1)
    while comparison.jobs < options.jobs and everything:
        chance.shuffle(everything)
        for source, argv, name in everything:
            before = comparison.jobs // step
            _compare(comparison, source, argv, name, options.variants, chance.getrandbits(32))
            if comparison.jobs // step > before:
                sys.stdout.write(f"{comparison}\n")
                sys.stdout.flush()
            if comparison.jobs >= options.jobs:
                break
    sys.stdout.write(f"{comparison}\n")
    return 1 if comparison.differences else 0


def _compare(comparison: Comparison, source: Path, argv: list[str], name: str, count: int, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if not planted(source, place / name, count, random.Random(seed)):  # noqa: S311 (as above)
            return
        known = len(comparison.differences)
        for way in ways(argv):
            comparison.compare(place, way, f"{source.relative_to(ROOT)} seed {seed}")
    for difference in comparison.differences[known:]:
        sys.stdout.write(f"{difference}\n")


if __name__ == "__main__":
    sys.exit(main())
