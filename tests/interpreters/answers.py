"""What trainc answers to its commands over all examples and cases, for a comparison of interpreters.

`python answers.py ROOT FILE [PART/PARTS]` imports every module of trainc and writes a line of JSON for each call: the words,
the exit code and what was printed. It needs trainc and the standard library alone, so that it runs in an interpreter
for which the tools of the tests do not exist. No process is started: an interpreter in WebAssembly has none.
"""

import contextlib
import errno
import importlib
import io
import json
import os
import pkgutil
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import trainc
from trainc import cli

PER_PROJECT = (("validate", "."), ("show", "."), ("show", ".", "--details"), ("fix", "."), ("migrate", "."))
ONCE = (
    ("--version",), ("--help",), ("rules",), ("explain",), ("explain", "rules"), ("explain", "reserved-env"), ("explain", "--kind", "PyTorchJob"), ("explain", "trainjob.spec.trainer"),
    ("explain", "project"), ("schemas",), ("schemas", "show", "TrainJob"), ("runtimes",), ("runtimes", "show", "torch-distributed"), ("new", "bert"), ("new", "gemma", "--framework", "jax"),
    ("new", "llama", "--gpus", "8", "--nodes", "4"), ("new", "nothing", "--framework", "nobody"), ("completion", "bash"),
)  # fmt: skip
# The packages of the extras, which a plain installation does not have.
EXTRAS = ("kubeflow", "lsprotocol", "pygls")


class Text(io.TextIOWrapper):
    """A text stream with a buffer below it, as a process has."""

    def __init__(self, content: bytes = b"") -> None:
        super().__init__(io.BytesIO(content), encoding="utf-8", newline="\n")

    def text(self) -> str:
        self.flush()
        below = self.buffer
        assert isinstance(below, io.BytesIO)
        return below.getvalue().decode("utf-8", "replace")


def without_processes() -> None:
    """Take away what one of the interpreters does not have."""

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSYS, "no processes here")

    subprocess.Popen = refused  # type: ignore[assignment,misc] # nobody asks for its type here


def modules() -> list[str]:
    """Import every module of trainc; the names of those that need something which is not installed."""
    left = []
    for module in pkgutil.walk_packages(trainc.__path__, "trainc."):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as missing:
            if not (missing.name or "").startswith(EXTRAS):
                raise
            left.append(module.name)
    return left


def call(words: list[str]) -> dict[str, object]:
    """What one command line does here."""
    out, err = Text(), Text()
    before = sys.stdin
    sys.stdin = Text()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.main(words)
    finally:
        sys.stdin = before
    return {"code": code, "out": out.text(), "err": err.text()}


def projects(root: Path) -> list[Path]:
    return [*sorted(root.glob("examples/*/")), *sorted(root.glob("tests/cases/**/input"))]


def calls(folder: Path, project: Path, former: Path) -> Iterator[list[str]]:
    """The command lines for one project, in which `folder` is the copy that they are run in."""
    written = project.parent / "args"
    yield shlex.split(written.read_text("utf-8")) if written.exists() else ["build", "input"]
    yield from ([word if word != "." else "input" for word in words] for words in PER_PROJECT)
    files = sorted(path.relative_to(folder).as_posix() for path in folder.glob("input/*.y*ml"))
    if files:
        yield ["why", files[0]]
    if former.exists():
        yield ["diff", "former", "input"]


def answers(root: Path, part: int, parts: int) -> Iterator[dict[str, object]]:
    """Every answer, in an order that is the same everywhere."""
    everything = projects(root)
    if part == 0:
        yield {"name": "modules left out", "words": modules()}
        with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
            for given in ONCE:
                yield {"name": "once", "words": given, **call(list(given))}
            for path in sorted(Path().rglob("*.yaml")):
                yield {"name": "written", "words": [str(path)], "out": path.read_text("utf-8")}
    for index, project in enumerate(everything):
        if index % parts != part:
            continue
        with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
            shutil.copytree(project, "input")
            shutil.copytree(everything[index - 1], "former")
            name = project.relative_to(root).as_posix()
            for words in calls(Path(place), project, Path("former")):
                yield {"name": name, "words": words, **call(words)}


def main() -> None:
    root, target = Path(sys.argv[1]).resolve(), sys.argv[2]
    part, parts = map(int, sys.argv[3].split("/")) if len(sys.argv) > 3 else (0, 1)
    os.environ["TRAINC_CACHE_DIR"] = ""
    without_processes()
    os.environ["COLUMNS"] = "120"
    with open(target, "w", encoding="utf-8") as stream:
        stream.writelines(f"{json.dumps(answer)}\n" for answer in answers(root, part, parts))


if __name__ == "__main__":
    main()
