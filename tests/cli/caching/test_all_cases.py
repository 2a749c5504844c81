"""Whatever an earlier run left behind, a run says and writes what it would say and write without it."""

import shutil
from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.sampling import sampled
from tests.test_cases import CASES, EXAMPLES, names

FOLDERS = [*CASES, *EXAMPLES]
NAMES = [*names(CASES, "tests/cases"), *names(EXAMPLES, "examples")]
VALIDATE, BUILD = ("validate", "input"), ("build", "input", "-o", "out")


@pytest.mark.usefixtures("cache", "settled")
@pytest.mark.parametrize("case", sampled(FOLDERS[::4], NAMES[::4], every=160))
def test_a_second_run_says_the_same(case: Path, tmp_path: Path) -> None:
    place = copied(case, tmp_path / "place")
    before = told(place, *VALIDATE, "--no-cache")
    assert told(place, *VALIDATE) == before
    assert told(place, *VALIDATE) == before


@pytest.mark.usefixtures("cache", "settled")
@pytest.mark.parametrize("case", sampled(FOLDERS[2::12], NAMES[2::12], every=80))
def test_an_edit_between_two_runs(case: Path, tmp_path: Path) -> None:
    heeding, alone = copied(case, tmp_path / "with"), copied(case, tmp_path / "without")
    assert told(heeding, *VALIDATE) == told(alone, *VALIDATE, "--no-cache")
    assert told(heeding, *BUILD) == told(alone, *BUILD, "--no-cache")
    edit(heeding)
    edit(alone)
    assert told(heeding, *VALIDATE) == told(alone, *VALIDATE, "--no-cache")
    assert told(heeding, *BUILD) == told(alone, *BUILD, "--no-cache")
    assert contents(heeding) == contents(alone)


def copied(case: Path, place: Path) -> Path:
    source = case / "input" if case in CASES else case
    shutil.copytree(source, place / "input", ignore=shutil.ignore_patterns("output"), symlinks=True)
    return place


def told(folder: Path, *words: str) -> tuple[int, str, str]:
    run = compile_in(folder, *words)
    return run.code, run.out, run.err


def edit(folder: Path) -> None:
    """A comment at the end of the last file."""
    last = max(path for path in (folder / "input").rglob("*.y*ml") if path.is_file() and "output" not in path.parts)
    with last.open("ab") as stream:
        stream.write(b"\n# edited\n")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.usefixtures("cache", "settled")
def test_most_cases_are_answered_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison above would hold just as well if nothing were ever kept."""
    answered = 0
    for number, case in enumerate(CASES[::40]):
        place = tmp_path / str(number)
        shutil.copytree(case / "input", place / "input", symlinks=True)
        before = compile_in(place, "validate", "input")
        with monkeypatch.context() as patch:
            patch.setattr("trainc.cli.validate.run", lambda *_: pytest.fail("compiled again"))
            try:
                after = compile_in(place, "validate", "input")
            except pytest.fail.Exception:
                continue
        assert (after.code, after.out, after.err) == (before.code, before.out, before.err)
        answered += 1
    assert answered > 0.9 * len(CASES[::40])
