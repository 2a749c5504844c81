"""Draws expressions, puts them to the API server's code and to trainc, and prints where they differ.

    python -m tests.programs.cel --count 10000 --seed 1
    python -m tests.programs.cel --record

The second writes `declared.txt` again, the functions that each version of Kubernetes declares, and `recorded.jsonl`, the
answers that the suite compares where Go is not installed.
"""

import argparse
import sys
from collections import Counter

from tests.programs.cel.compare import MINORS, Server, compared, record
from tests.programs.cel.draw import Drawer


def main() -> int:
    """The number of differences, up to 1, as the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.programs.cel")
    parser.add_argument("--count", type=int, default=10_000, help="expressions for each version of Kubernetes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minor", type=int, action="append", help="only this minor version; all by default")
    parser.add_argument("--show", type=int, default=40, help="differences to print")
    parser.add_argument("--record", action="store_true", help="record the functions that versions declare, and stop")
    args = parser.parse_args()
    with Server() as server:
        if args.record:
            record(server)
            return 0
        counts: Counter[str] = Counter()
        shown = 0
        for minor in args.minor or MINORS:
            drawer = Drawer(args.seed)
            texts = [drawer.expression() for _ in range(args.count)]
            for text, theirs, ours in compared(server, texts, minor):
                if theirs.outcome == "panics" or ours.outcome == "unknown":
                    counts[f"not compared: {theirs.outcome if theirs.outcome == 'panics' else ours.value}"] += 1
                    continue
                counts[theirs.outcome] += 1
                if not theirs.agrees(ours):
                    counts["differ"] += 1
                    shown += 1
                    if shown <= args.show:
                        print(f"1.{minor} {text}\n  server {theirs}\n  trainc {ours}")
        print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
        return min(1, counts["differ"])


if __name__ == "__main__":
    sys.exit(main())
