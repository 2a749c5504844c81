"""`python compare.py HERE THERE`: where two files of answers differ; 1 where they do."""

import difflib
import json
import sys
from pathlib import Path

SHOWN, LINES = 10, 20  # answers whose difference is printed, and lines of each
FEWEST = 10_000  # answers; with fewer of them something was not run


def main() -> int:
    """Print the first differences and their number."""
    here, there = ([json.loads(line) for line in Path(name).read_text("utf-8").splitlines()] for name in sys.argv[1:3])
    differing = [pair for pair in zip(here, there, strict=False) if pair[0] != pair[1]]
    for one, other in differing[:SHOWN]:
        print(one["name"], one["words"], one.get("code"), other.get("code"))
        for part in ("out", "err"):
            before, after = (answer.get(part, "").splitlines() for answer in (one, other))
            print("\n".join([*difflib.unified_diff(before, after, lineterm="", n=1)][:LINES]))
    print(f"{len(here)} and {len(there)} answers; {len(differing)} differ")
    return int(bool(differing) or len(here) != len(there) or len(here) < FEWEST)


if __name__ == "__main__":
    sys.exit(main())
