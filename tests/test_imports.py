"""The hook starts fast because it imports little: `trainc validate FILE` may load these modules and no others.

The list holds names, not times: a machine can be slow, but a careless import is always a mistake. Each of re, typing,
dataclasses, pathlib, logging, enum, argparse, importlib.metadata, pydantic, jsonschema and ruamel.yaml costs
more than all the work on one file.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks import tree
from tests.compiling import ROOT, relative_environment

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import os, sys
before = set(sys.modules)
end = os._exit
def ended(code):
    print(*sorted(set(sys.modules) - before), sep="\\n", flush=True)
    end(code)
os._exit = ended
from trainc.cli import program
program()
"""
# No `re`, `typing`, `json` or `yaml`: with what they bring along they cost more than a validation.
STANDARD = frozenset(["__future__", "_collections", "gc", "itertools"])
MAX_MODULES = 215  # what a job does not need is imported where it is needed
ROOMS = ("cli", "project", "model", "yaml", "server", "load", "admit", "resolve", "lower", "verify", "emit", "report")


def test_validate_imports_little(tmp_path: Path) -> None:
    tree.write(1, str(tmp_path))
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{PROGRAM}",
            "validate",
            tree.job(0)[0],
        ],
        check=False,
        cwd=tmp_path,
        env=relative_environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    ours = {name for name in loaded if name.split(".")[0] == "trainc"}
    assert loaded - ours - STANDARD == set()
    assert len(ours) <= MAX_MODULES
    assert {name.split(".")[1] for name in ours if "." in name} <= {*ROOMS, "pipeline", "frameworks", "schedulers"}
    assert not {name for name in ours if name.startswith("trainc.server.cel.gener")}
