"""Runs the compiler inside the test process and keeps everything it said and made."""

import contextlib
import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from trainc.model.bundle import Bundle
from trainc.model.finding import Finding
from trainc.model.report import Report
from trainc.model.tree import dotted, leaves

ROOT = Path(__file__).parent.parent


class Run:
    """One run of the command line: exit code, both streams, and the values behind the words."""

    def __init__(self) -> None:
        self.code = 0
        self.out = ""
        self.err = ""
        self.bundles: list[Bundle] = []
        self.report: Report | None = None
        self.root = ""  # what the names of files in spans are relative to

    @property
    def findings(self) -> list[Finding]:
        """What was found, in order; empty for a run that ended before the corridor."""
        return self.report.findings if self.report else []

    @property
    def objects(self) -> list[Any]:
        """The manifests printed, as PyYAML reads them."""
        return list(yaml.load_all(self.out, yaml.CSafeLoader))

    @property
    def origins(self) -> str:
        """One line for each leaf of each object: where it stands, what it is, who set it."""
        return "".join(_lines(self.bundles))


def compile_in(folder: Path, *argv: str, stdin: str = "") -> Run:
    """What `trainc ARGV` does when it is started in `folder`."""
    from trainc import cli  # noqa: PLC0415 (tests that need no compiler stay importable without one)
    from trainc.compiler import pipeline  # noqa: PLC0415 (tests that need no compiler stay importable without one)

    run = Run()
    out, err = Text(), Text()
    with (
        contextlib.chdir(folder),
        patch("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()))),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        watched(pipeline, run),
    ):
        run.code = cli.main(list(argv))
    run.out, run.err = out.text(), err.text()
    return run


class Text(io.TextIOWrapper):
    """A text stream with a buffer below it, as a process has."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="\n")

    def text(self) -> str:
        self.flush()
        below = self.buffer
        assert isinstance(below, io.BytesIO)
        return below.getvalue().decode()


@contextlib.contextmanager
def watched(pipeline: Any, run: Run) -> Iterator[None]:
    """Listen at the two ends of the corridor: what is written, and what is reported."""
    bundles = pipeline.bundles

    def listening_bundles(*given: Any) -> Iterator[Bundle]:
        for bundle in bundles(*given):
            run.bundles.append(bundle)
            yield bundle

    def listening(call: Any) -> Any:
        def heard(project: Any, *rest: Any, **known: Any) -> Any:
            run.root, run.report = project.root, next(one for one in rest if isinstance(one, Report))
            with patch.object(pipeline, "bundles", listening_bundles):
                return call(project, *rest, **known)

        return heard

    with (
        patch.object(pipeline, "build", listening(pipeline.build)),
        patch.object(pipeline, "check", listening(pipeline.check)),
    ):
        yield


def _lines(bundles: Sequence[Bundle]) -> Iterator[str]:
    for bundle in bundles:
        for tree in bundle.objects:
            title = f"{tree['kind'].value}/{tree['metadata']['name'].value}"
            for path, leaf in leaves(tree):
                if hasattr(leaf, "origin"):
                    yield f"{title} {dotted(path)} = {leaf.value!r}  <- {leaf.origin}\n"


def relative_environment() -> dict[str, str]:
    """The environment of a child process that imports this package from the working tree."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}
