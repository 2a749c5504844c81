"""Recorded cases, kept as text archives: one txtar file for each group, members sorted by name.

A member begins with a line `-- NAME --` and goes on to the next such line. Pack a folder of cases, or add to a group, with

    python -m tests.conformance.archives FOLDER SUITE/GROUP

which reads every file below FOLDER and replaces the members of the same names. `recorded/README.md` says what each
suite holds and how it was recorded.
"""

import re
import sys
from functools import cache
from pathlib import Path

RECORDED = Path(__file__).with_name("recorded")
SEPARATOR = re.compile(r"^-- (\S+) --\n", re.MULTILINE)


def groups(suite: str) -> list[str]:
    """The names of a suite's groups, sorted."""
    return sorted(path.stem for path in (RECORDED / suite).glob("*.txtar"))


@cache
def members(suite: str, group: str) -> dict[str, str]:
    """Member name -> text of one group; names are paths with slashes, such as `no-trainer-label/input.yaml`.

    Raises:
        FileNotFoundError: no such group was recorded.
    """
    _, *parts = SEPARATOR.split((RECORDED / suite / f"{group}.txtar").read_text("utf-8"))
    return dict(zip(parts[::2], parts[1::2], strict=True))


def folders(suite: str, group: str) -> dict[str, dict[str, str]]:
    """Case -> file name -> text, for groups whose cases are folders."""
    cases: dict[str, dict[str, str]] = {}
    for name, text in members(suite, group).items():
        case, _, file = name.partition("/")
        cases.setdefault(case, {})[file] = text
    return cases


def packed(texts: dict[str, str]) -> str:
    """The archive of these members; a final newline is added where one is missing.

    Raises:
        ValueError: a text holds a line that would be read as the beginning of a member.
    """
    for name, text in texts.items():
        if SEPARATOR.search(text):
            raise ValueError(f"{name} holds a separator line")
    return "".join(
        f"-- {name} --\n{text}{'' if text.endswith(chr(10)) else chr(10)}" for name, text in sorted(texts.items())
    )


def pack(folder: Path, suite: str, group: str) -> int:
    """Add every file below the folder to a group's archive; returns the number of members that it holds then."""
    archive = RECORDED / suite / f"{group}.txtar"
    texts = members(suite, group) if archive.exists() else {}
    files = (path for path in folder.rglob("*") if path.is_file())
    texts = {**texts, **{path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in files}}
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.write_text(packed(texts), "utf-8")
    return len(texts)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2].count("/") != 1:
        sys.exit(__doc__)
    sys.stdout.write(f"{pack(Path(sys.argv[1]), *sys.argv[2].split('/'))} members\n")
