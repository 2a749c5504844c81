"""What PyYAML's `CSafeLoader` takes to parse a job and do nothing else: `python benchmarks/yardstick.py FOLDER`.

Prints microseconds for each file: a measure of the machine and of the jobs, by which other figures can be read.
"""

import contextlib
import sys
import time
from pathlib import Path

import yaml

ROUNDS = 5
MOST = 500


def main(folder: str) -> None:
    """Parse the files several times and print the best."""
    texts = [path.read_text("utf-8") for path in sorted(Path(folder).rglob("*.yaml"))[:MOST]]
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for text in texts:
            with contextlib.suppress(yaml.YAMLError):  # files of people may be broken
                list(yaml.load_all(text, yaml.CSafeLoader))
        best = min(best, time.process_time() - started)
    print(best / len(texts) * 1e6)


if __name__ == "__main__":
    main(sys.argv[1])
