"""The hook starts fast because it imports little: what is heavy and rare is loaded by the command that needs it.

The list holds names, not times: a machine can be slow, but a careless import is always a mistake.
"""

import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from benchmarks import tree
from tests.compiling import ROOT, relative_environment

PROGRAM = """
import os, sys
before = set(sys.modules)
end = os._exit
def ended(code):
    print("loaded", *sorted(set(sys.modules) - before), sep="\\n", flush=True)
    end(code)
os._exit = ended
from trainc.cli import program
program()
"""
# Each of these, with what it brings along, costs more than all the work on one file.
HEAVY = frozenset(
    (
        "argparse",
        "dataclasses",
        "importlib",
        "json",
        "jsonschema",
        "logging",
        "pathlib",
        "pydantic",
        "re",
        "ruamel",
        "subprocess",
        "typing",
        "yaml",
    )
)
SIGNALS = frozenset(("enum", "functools", "signal"))  # what `signal` loads
MAX_MODULES = 180  # what a job does not need is imported where it is needed
SETTLED = 0.2  # seconds after which a file is believed to be as it is
ROOMS = ("cli", "compiler", "model", "yaml", "text", "apiserver", "lint", "report")


def modules(folder: Path, *words: str, cache: str = "") -> set[str]:
    """What `trainc` with these words loads in a folder."""
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{PROGRAM}"
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, *words],
        check=False,
        cwd=folder,
        env={**relative_environment(), "TRAINC_CACHE_DIR": cache},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("loaded\n")[2].split())


@pytest.mark.parametrize("command", ["validate", "build"])
def test_one_file_imports_little(tmp_path: Path, command: str) -> None:
    tree.write(1, str(tmp_path))
    loaded = modules(tmp_path, command, tree.job(0)[0])
    ours = {name for name in loaded if name.split(".")[0] == "trainc"}
    assert {name.partition(".")[0] for name in loaded}.isdisjoint(HEAVY | SIGNALS)
    assert len(ours) <= MAX_MODULES
    assert {name.split(".")[1] for name in ours if "." in name} <= {*ROOMS, "frameworks", "kinds", "schedulers"}
    assert not {name for name in ours if name.startswith("trainc.apiserver.cel.gener")}


@pytest.mark.slow
@pytest.mark.parametrize("words", [("validate",), ("build", "--check"), ("build", "-w")])
def test_a_run_after_another_imports_little(tmp_path: Path, words: tuple[str, ...]) -> None:
    tree.write(8, str(tmp_path / "project"))
    again = partial(modules, tmp_path / "project", *words, cache=str(tmp_path / "cache"))
    modules(tmp_path / "project", "build", "-w")
    time.sleep(SETTLED)
    again()
    time.sleep(SETTLED)
    assert again().isdisjoint({*HEAVY, "trainc.compiler.pipeline"})
    job = tmp_path / "project" / tree.job(0)[0]
    job.write_text(job.read_text("utf-8") + "# a word\n", "utf-8")
    assert again().isdisjoint(HEAVY)
