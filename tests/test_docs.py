"""What the documents show is what happens: their sessions are run and their output compared."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from tests.compiling import ROOT
from tests.sampling import sampled
from tests.warm import program

BLOCK = re.compile(r"^```(?:console|sh)\n(.*?)^```", re.DOTALL | re.MULTILINE)
MARK = "\x1e"


class Step(NamedTuple):
    """One command of a session and what the document says it prints."""

    command: str
    shown: list[str]


def sessions(document: Path) -> list[list[Step]]:
    """The blocks of a document in which a line starts with `$ `, where one of them calls trainc."""
    blocks = BLOCK.findall(document.read_text("utf-8"))
    found = [steps(block) for block in blocks if re.search(r"^\$ ", block, re.MULTILINE)]
    return found if any(step.command.startswith("trainc") for session in found for step in session) else []


def steps(block: str) -> list[Step]:
    found: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Step(line[2:], []))
        elif line.startswith("> ") and not found[-1].shown:
            found[-1] = Step(f"{found[-1].command}\n{line[2:]}", [])
        else:
            found[-1].shown.append(line)
    return found


EVERY = sorted((ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*/README.md")))
DOCUMENTS = [document for document in EVERY if sessions(document)]


@pytest.mark.parametrize(
    "document", sampled(DOCUMENTS, [str(path.relative_to(ROOT)) for path in DOCUMENTS], quick=("docs/concepts.md",))
)
def test_sessions(document: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The sessions of one document, in one shell from top to bottom, in one copy of what the repository ships."""
    clone = tmp_path / "trainc"
    for folder in ("examples", "runtimes"):
        shutil.copytree(ROOT / folder, clone / folder)
    place = clone / document.parent.relative_to(ROOT) if "examples" in document.parts else clone
    found = sessions(document)
    start = Path(sys.executable).parent if document == ROOT / "README.md" else program().parent
    said = iter(perform([step.command for session in found for step in session], place, start))
    if request.config.option.update_snapshots:
        rewrite(document, [step for session in found for step in session], list(said))
        return
    for session in found:
        printed = [next(said) for _ in session]
        for step, text in zip(session, printed, strict=True):
            assert alike(step.shown, text.splitlines()), f"$ {step.command}\n{text}"


def rewrite(document: Path, steps: list[Step], printed: list[str]) -> None:
    """Put what is printed now where it was; what a document shortens with dots stays as it is."""
    text = document.read_text("utf-8")
    at = 0
    for step, said in zip(steps, printed, strict=True):
        typed = "$ " + step.command.replace("\n", "\n> ")
        old = "".join(f"{line}\n" for line in (typed, *step.shown))
        new = old if "..." in step.shown else f"{typed}\n{said}"
        at = text.index(old, at)
        text = text[:at] + new + text[at + len(old) :]
        at += len(new)
    document.write_text(text, "utf-8")


def perform(commands: list[str], place: Path, start: Path) -> list[str]:
    """What each command prints on both streams when a shell runs them in turn, with the trainc of a folder."""
    script = "".join(f"{command}\nstatus=$?; printf '\\036'; (exit $status)\n" for command in commands)
    with TemporaryDirectory() as home:
        done = subprocess.run(
            ["bash"],
            check=False,
            input=script,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=place,
            env=environment(home, start),
        )
    return done.stdout.split(MARK)[:-1]


def environment(home: str, start: Path) -> dict[str, str]:
    """A new user's: the programs of this environment come first, and Git knows only what a session tells it."""
    shell = f'#!/bin/sh\nexec "{sys.executable}" -m pre_commit "$@"\n'
    (Path(home) / "pre-commit").write_text(shell, "utf-8")
    (Path(home) / "pre-commit").chmod(0o700)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept,
        "PATH": os.pathsep.join([home, str(start), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
        "NO_COLOR": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PRE_COMMIT_HOME": os.path.join(home, "cache"),
    }


def alike(shown: list[str], said: list[str]) -> bool:
    """Whether a text is the one shown, where a line `...` stands for any lines."""
    if not shown:
        return not said
    if shown[0] == "...":
        return any(alike(shown[1:], said[skipped:]) for skipped in range(len(said) + 1))
    return bool(said) and shown[0].rstrip() == said[0].rstrip() and alike(shown[1:], said[1:])


@pytest.mark.parametrize(
    ("shown", "said", "same"),
    [
        (["a"], ["a"], True),
        (["a"], ["a", "b"], False),
        (["a", "..."], ["a", "b", "c"], True),
        (["...", "c"], ["a", "b", "c"], True),
        (["...", "d"], ["a", "b", "c"], False),
    ],
)
def test_dots_stand_for_any_lines(shown: list[str], said: list[str], same: bool) -> None:
    assert alike(shown, said) is same


def test_a_session_runs_in_one_shell(tmp_path: Path) -> None:
    assert perform(["x=1", "echo $x; false", "echo $?"], tmp_path, tmp_path) == ["", "1\n", "1\n"]


def test_the_pages_say_in_the_same_words_how_to_install_it() -> None:
    """Also on which Pythons: those of the package's classifiers."""
    pythons = [one.rpartition(" ")[2] for one in project()["classifiers"] if re.search(r":: 3\.\d+$", one)]
    line = f"Install it with `pip install trainc`, on Python {pythons[0]} to {pythons[-1]}, on Linux or macOS."
    for page in ("README.md", "docs/index.md", "docs/delivery.md", "docs/howto/policy.md"):
        assert line in (ROOT / page).read_text("utf-8"), page


def project() -> dict[str, list[str]]:
    found: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return found
