"""Terminals, recorded: what a person sees at 80 and 120 columns, with colours and without."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.board.board import manifests
from tests.compiling import ROOT, compile_in
from tests.pseudo_terminal import has_terminals, in_terminal
from trainc.cli.output import Progress
from trainc.report.colours import signed, unified
from trainc.report.fold import columns, fold
from trainc.report.lines import line_text

FOLDER = ROOT / "tests/report/terminals"
COMMANDS = (
    "validate job.yaml -v",
    "validate job.yaml",
    "validate broken.yaml",
    "show job.yaml",
    "why job.yaml parallelism",
    "explain --kind PaddleJob",
    "why --help",
)
CODES = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;;[^\x1b]*\x1b\\")
WITH_TERMINAL = pytest.mark.skipif(not has_terminals(), reason="no pseudo-terminal to be had")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    named = {manifest.name: manifest.text for manifest in manifests("pytorchjob")}
    (tmp_path / "job.yaml").write_text(named["fsdp-eks-relative-checkpoints"], "utf-8")
    (tmp_path / "broken.yaml").write_text(named["fsdp-eks-two-nodes-told-four"], "utf-8")
    return tmp_path


def recorded(folder: Path, width: int, **environment: str) -> str:
    parts = [f"$ trainc {words}\n{in_terminal(folder, width, *words.split(), **environment)}" for words in COMMANDS]
    return "\n".join(parts).replace("\x1b", "ESC")


@pytest.mark.slow
@WITH_TERMINAL
def test_recorded_terminals(folder: Path, expected: Callable[[Path, Mapping[str, str]], None]) -> None:
    texts = {
        "80-plain.txt": recorded(folder, 80, NO_COLOR="1"),
        "80-colours.txt": recorded(folder, 80),
        "120-plain.txt": recorded(folder, 120, NO_COLOR="1"),
        "120-colours.txt": recorded(folder, 120),
    }
    for width in (80, 120):
        plain, coloured = texts[f"{width}-plain.txt"], texts[f"{width}-colours.txt"]
        assert CODES.sub("", coloured.replace("ESC", "\x1b")) == plain
        assert max(len(line) for line in plain.splitlines()) <= width
    expected(FOLDER, texts)


@pytest.mark.slow
@WITH_TERMINAL
@pytest.mark.parametrize("words", COMMANDS)
def test_a_terminal_shows_the_words_of_a_pipe(words: str, folder: Path) -> None:
    """At 40 columns nothing is lost and no word is broken; tables may become lists."""
    run = compile_in(folder, *words.split())
    shown = in_terminal(folder, 40, *words.split(), NO_COLOR="1")
    told = [line for line in (run.out + run.err).splitlines() if " | " not in line]  # an excerpt is cut instead
    words_of_pipe = {word for line in told for word in line.lower().split()}
    assert words_of_pipe - set(shown.lower().split()) <= {"role"}  # the head of a column of names, which a list lacks
    too_long = [line for line in shown.splitlines() if len(line) > 40]
    assert all(max(map(len, line.split())) > 20 for line in too_long), too_long


@pytest.mark.slow
@WITH_TERMINAL
def test_a_terminal_that_shows_links_gets_them(folder: Path) -> None:
    shown = in_terminal(folder, 120, "validate", "job.yaml", TERM_PROGRAM="WezTerm")
    links = re.findall(r"\x1b\]8;;(file://[^\x1b]+)\x1b\\(\S+?)\x1b\]8;;\x1b\\", shown)
    assert links
    assert all(
        address.endswith(f"{folder}/job.yaml") and re.fullmatch(r"job\.yaml:\d+:\d+", place) for address, place in links
    )
    for environment in (
        {"TERM_PROGRAM": "WezTerm", "TMUX": "1"},
        {"TERM_PROGRAM": "WezTerm", "FORCE_HYPERLINK": "0"},
        {},
    ):
        assert "\x1b]8" not in in_terminal(folder, 120, "validate", "job.yaml", **environment)


@pytest.mark.parametrize(
    ("words", "environment", "is_coloured"),
    [
        ((), {}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "0"}, False),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
    ],
)
def test_who_decides_about_colours_of_a_pipe(
    words: tuple[str, ...],
    environment: dict[str, str],
    is_coloured: bool,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, text in environment.items():
        monkeypatch.setenv(name, text)
    run = compile_in(folder, "validate", "job.yaml", *words)
    assert ("\x1b[" in run.err) == is_coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert CODES.sub("", run.err) == compile_in(folder, "validate", "job.yaml").err


@given(st.lists(st.text("abc-`é界", min_size=1, max_size=30), max_size=30), st.integers(20, 100), st.integers(0, 9))
def test_no_word_is_broken(words: list[str], width: int, leading: int) -> None:
    line = " " * leading + " ".join(words)
    rows = [line_text(row) for row in fold((("\x1b[1m", line[:7]), ("", line[7:])), width)]
    assert [word for row in rows for word in row.split()] == line.split()
    for row in rows:
        assert columns(row) <= width or len(row.split()) == 1


def test_a_diff_has_the_colour_of_what_happens() -> None:
    lines = ["+   a/b  2 pods", "-/+ a/c  because of x", "~   a/d", "      image: 1 -> 2", "", "accelerators: none"]
    coloured = list(signed(lines))
    assert [line_text(line) for line in coloured] == lines
    shown = [line_text(line, colour=True) for line in coloured]
    assert shown[0] == "\x1b[32m+   a/b\x1b[0m  2 pods"
    assert shown[1].startswith("\x1b[1;31m-/+ a/c")
    assert shown[3:] == lines[3:]
    edits = ["--- a", "+++ a", "@@ -1 +1 @@", "-x", "+y", " z"]
    assert [line_text(line) for line in unified(edits)] == edits


def test_progress_waits_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import sys  # noqa: PLC0415 (the stream that pytest watches)

    moments = iter([0.0, 0.4, 0.6, 0.65, 0.75])
    monkeypatch.setattr("trainc.cli.output.monotonic", lambda: next(moments))
    told = Progress(sys.stderr)
    for done in (1, 2, 3, 4, 9):
        told(done, 9)
    assert capsys.readouterr().err == "\r\x1b[K2 of 9 files\r\r\x1b[K4 of 9 files\r\r\x1b[K"
    quick = Progress(sys.stderr) if (moments := iter([0.0, 0.1])) else None
    assert quick is not None
    quick(1, 2)
    quick(2, 2)
    assert capsys.readouterr().err == ""
