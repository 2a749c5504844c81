"""Standard streams as shells and schedulers leave them: closed, full, or with a reader that has gone."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiling import compile_in, relative_environment
from tests.effort import PATIENCE
from tests.repository import Repository
from tests.working_tree import WorkingTree

SPEAKING = (
    "build",
    "build --format json",
    "build --jobs 2",
    "cmp generate",
    "show",
    "diff",
    "explain rules",
    "why jobs/a.yaml image",
    "schemas",
    "runtimes show torch-distributed",
    "validate --report json",
    "init ../there",
    "--help",
    "--version",
)
SILENT = ("validate", "validate --jobs 2", "build -w", "build --check", "migrate")
GONE = 128 + 13  # SIGPIPE, as a shell tells it


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = WorkingTree(tmp_path_factory.mktemp("tree"), "a", "b")
    assert tree.trainc("init", "../there").returncode == 0
    assert tree.trainc("build", "-w").returncode == 0
    tree.git("add", "--all")
    tree.git("commit", "--quiet", "--message", "state")
    return tree.folder


def shell(folder: Path, words: str, around: str, *, text: str = "") -> tuple[int, str, str]:
    """Exit code and both streams of `trainc WORDS`, where `around` puts it between other things."""
    script = "set -o pipefail; " + around.replace("trainc", f"{sys.executable} -m trainc {words}")
    done = subprocess.run(
        ["bash", "-c", script],
        check=False,
        cwd=folder,
        env=relative_environment(),
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("words", SPEAKING)
def test_nobody_reads(words: str, folder: Path) -> None:
    assert shell(folder, words, "trainc | true") == (GONE, "", "")


@pytest.mark.slow
def test_the_reader_has_seen_enough(tmp_path: Path) -> None:
    repository = Repository(tmp_path, *(f"job-{number:03}" for number in range(60)))
    code, out, err = shell(repository.folder, "build", "trainc | head -n 1")
    assert (code, out, err) == (GONE, "apiVersion: v1\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("words", [*SPEAKING, *SILENT, "build missing", "no-such-command"])
def test_nobody_hears_findings(words: str, folder: Path) -> None:
    code, _, _ = shell(folder, words, "{ sleep 0.3; trainc 2>&1; } | true")
    assert code in (0, GONE)  # 0 for one that says nothing


@pytest.mark.slow
@pytest.mark.parametrize("words", SPEAKING)
@pytest.mark.parametrize(("to", "why"), [("&-", "Bad file descriptor"), ("/dev/full", "No space left on device")])
def test_output_that_takes_nothing(words: str, to: str, why: str, folder: Path) -> None:
    code, out, err = shell(folder, words, f"trainc >{to}")
    assert (code, out, err) == (2, "", f"trainc: standard output: {why}\n")


@pytest.mark.slow
@pytest.mark.parametrize("words", SILENT)
@pytest.mark.parametrize("to", ["&-", "/dev/full"])
def test_output_that_nothing_is_for(words: str, to: str, folder: Path) -> None:
    assert shell(folder, words, f"trainc >{to}")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("words", [*SPEAKING, *SILENT])
def test_streams_that_nobody_needs(words: str, folder: Path) -> None:
    with_streams = compile_in(folder, *words.split())
    assert shell(folder, words, "trainc <&- 2>&-") == (with_streams.code, with_streams.out, "")


@pytest.mark.slow
@pytest.mark.parametrize("to", ["&-", "/dev/full"])
def test_trouble_that_cannot_be_told(to: str, folder: Path) -> None:
    assert shell(folder, "build missing", f"trainc 2>{to}") == (2, "", "")


@pytest.mark.slow
def test_a_file_in_the_place_of_a_closed_stream_stays_whole(folder: Path) -> None:
    (folder / "rendered/research/a.yaml").unlink()
    expected = (folder / "rendered/research/b.yaml").read_text("utf-8")
    assert shell(folder, "build -w", "trainc <&- >&- 2>&-") == (0, "", "")
    assert (folder / "rendered/research/b.yaml").read_text("utf-8") == expected
    assert shell(folder, "build --check", "trainc")[0] == 0


@pytest.mark.parametrize(
    "words",
    [pytest.param("build -", marks=pytest.mark.slow), "validate -", pytest.param("fix -", marks=pytest.mark.slow)],
)
def test_input_that_cannot_be_read(words: str, folder: Path) -> None:
    assert shell(folder, words, "trainc <&-") == (2, "", "trainc: standard input: Bad file descriptor\n")


@pytest.mark.slow
def test_text_of_any_locale_is_the_same(folder: Path) -> None:
    text = (folder / "jobs/a.yaml").read_text("utf-8").replace("[torchrun,", "[torchrun, Zoë-数据,")
    code, out, _ = shell(folder, "build -", "trainc", text=text)
    assert (code, "Zoë-数据" in out) == (0, True)
    ascii_only = "LC_ALL=C PYTHONCOERCECLOCALE=0 PYTHONUTF8=0 trainc"
    latin = "PYTHONIOENCODING=latin-1 trainc"
    assert shell(folder, "build -", ascii_only, text=text)[:2] == (0, out)
    assert shell(folder, "build -", latin, text=text)[:2] == (0, out)
