"""What the fuzzers start from: the projects of this repository's cases and examples, and what was recorded elsewhere."""

import shlex
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.compiling import ROOT
from tests.conformance.archives import folders, groups

Files = tuple[tuple[str, bytes], ...]

DEFAULT_JOB = "jobs/job.yaml"
DUMP = "dump.yaml"
_MAX_FILES = 40
_MAX_BYTES = 60_000


class Project(NamedTuple):
    """The files of a project, paths and contents, and the options with which it is compiled."""

    files: Files
    options: tuple[str, ...] = ()


@cache
def projects() -> tuple[Project, ...]:
    """Every project of the cases and examples, then every recorded one; those too large for a fuzzer are left out."""
    inputs = [*sorted(ROOT.glob("tests/cases/**/input")), *sorted(ROOT.glob("examples/*/")), ROOT / "tests/sample"]
    found = [Project(_files(folder), _options(folder)) for folder in inputs]
    for suite in ("trainer", "jobset", "survey", "live"):
        for group in groups(suite):
            texts = [case.get("input.yaml", "") for _, case in sorted(folders(suite, group).items())]
            found += [Project(((DEFAULT_JOB, text.encode()),)) for text in texts if text]
    return tuple(project for project in found if project.files)


@cache
def clusters() -> tuple[Files, ...]:
    """Projects that bring a folder of what is known of a cluster."""
    return tuple(one.files for one in projects() if any("clusters/" in path for path, _ in one.files))


@cache
def dumps() -> tuple[Files, ...]:
    """What kubectl printed of clusters in trouble, each with the repository that its jobs come from."""
    repository = ROOT / "tests/cluster/diagnose/repository"
    rest = [(path.relative_to(repository).as_posix(), path.read_bytes()) for path in sorted(repository.rglob("*.y*ml"))]
    found = [path.read_bytes() for path in sorted(ROOT.glob("tests/cluster/diagnose/cases/*/input.*"))]
    return tuple(((DUMP, data), *rest) for data in found if len(data) <= _MAX_BYTES)


def _options(folder: Path) -> tuple[str, ...]:
    written = folder.parent / "args"
    words = shlex.split(written.read_text("utf-8")) if folder.name == "input" and written.exists() else []
    return tuple(word for word in words[1:] if not word.startswith("input"))


def _files(folder: Path) -> Files:
    files = [(path.relative_to(folder).as_posix(), path) for path in sorted(folder.rglob("*.y*ml"))]
    if not 0 < len(files) <= _MAX_FILES:
        return ()
    if len(files) == 1 and "/" not in files[0][0]:
        files = [(DEFAULT_JOB, files[0][1])]
    found = tuple((name, path.read_bytes()) for name, path in files)
    return found if sum(len(data) for _, data in found) <= _MAX_BYTES else ()
