"""What once broke trainc breaks it no more, and a sample of new inputs does not either; `python -m tests.fuzz` runs more."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiling import ROOT
from tests.fuzz.generate import generate
from tests.fuzz.inputs import Input, corpus, parsed
from tests.fuzz.run import run
from tests.fuzz.strangers import strangers
from tests.fuzz.systematic import how_many, systematic
from tests.sampling import sampled

COUNT = int(os.environ.get("TRAINC_FUZZ", "100"))


@pytest.mark.parametrize(
    "name", sampled(sorted(corpus()), quick=("runtime-that-extends-null", "definition-with-an-empty-rule"))
)
def test_past_crashes(name: str, tmp_path: Path) -> None:
    given = corpus()[name]
    folder = tmp_path / "in"
    given.write(folder)
    broken = [one for one in run(given, folder) if one.kind != "memory"]  # this process runs all other tests as well
    assert broken == []


def test_an_input_of_the_corpus_is_named_for_what_it_holds() -> None:
    by_place = re.compile(r"^bug-|error-|-py-|-\d\d$")  # an exception and where it was raised, as they lie in `found`
    assert [name for name in corpus() if by_place.search(name)] == []


@pytest.mark.slow
def test_a_sample(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "tests.fuzz", "--inputs", str(COUNT), "--seed", "7", "--workers", "1"]
    done = subprocess.run(
        [*argv, "--keep", str(tmp_path / "found")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{COUNT} inputs of seed 7" in done.stdout


@pytest.mark.slow
def test_a_sample_of_what_strangers_write(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for index in range(COUNT):
        given = strangers(7, "", index)
        assert strangers(7, "", index) == given
        given.write(folder)
        assert [one for one in run(given, folder) if one.kind != "memory"] == [], (index, given.argv)


@pytest.mark.slow
def test_a_sample_of_all_fields(tmp_path: Path) -> None:
    """Each field of every project and schema gets odd values in order; drawing them met a fault in 100,000 inputs."""
    folder = tmp_path / "in"
    for index in range(7, how_many(), how_many() // COUNT):
        given = systematic(index)
        given.write(folder)
        assert [one for one in run(given, folder) if one.kind != "memory"] == [], (index, given.argv)


@pytest.mark.slow
def test_an_input_is_made_again_from_its_seed_and_its_file() -> None:
    for index in range(50):
        given = generate(5, index)
        assert generate(5, index) == given
        again = parsed(given.text())
        assert (again.argv, again.files, again.history) == (given.argv, given.files, given.history)


@pytest.mark.slow
def test_a_broken_promise_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = Input(("show", "job.yaml"), {"job.yaml": b"kind: TrainJob\n"})
    given.write(tmp_path / "in")
    monkeypatch.setattr("trainc.cli.output.text_of", lambda *_, **__: "\x1b[31m\n::error::x\n")
    monkeypatch.setattr("trainc.cli.show.Session", lambda _: 1 / 0)
    assert {one.kind for one in run(given, tmp_path / "in")} >= {"bug", "obeyed", "workflow command"}
