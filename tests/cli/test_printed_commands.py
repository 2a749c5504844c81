"""Every command that `--help` and docs/cheatsheet.md print works as it is printed, in a repository as they assume it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in
from trainc.cli.commands import COMMANDS

pytestmark = pytest.mark.slow

TABLE = (ROOT / "docs/cheatsheet.md").read_text("utf-8")
PRINTED = {example: example for command in COMMANDS.values() for example in command.examples}
PRINTED |= {row: row for row in re.findall(r"^\| `([^`]+)` \|", TABLE, re.MULTILINE) if "trainc" in row}
PRINTED = {line.replace("\\|", "|"): line for line in PRINTED}
ASKS = "trainc rehearse"  # asks a person first; tests/authoring/rehearse has these
KUBECTL = 'kubectl() { case "$*" in *node*) cat nodes.yaml ;; *get*) cat dump.yaml ;; *) cat >/dev/null ;; esac; }\n'
FINDINGS = 1  # some of these say that something is wrong with what they are shown
PREPARED = """
git init -q -b main . && git config user.email a@example.com && git config user.name a
sed -i 's/name: bert-pretrain/name: bert/' jobs/bert.yaml
sed 's/name: bert/name: nlp-tags/' jobs/bert.yaml > jobs/research/tags.yaml
sed 's/name: bert/name: single/' jobs/bert.yaml > job.yaml
trainc init --delivery flux >/dev/null
trainc build -o old >/dev/null && trainc build -o new >/dev/null && trainc build -w >/dev/null
mkdir -p rendered/nlp && cp rendered/main/nlp/bert.yaml rendered/nlp/bert.yaml
cp nodes.yaml dump.json
git add -A && git commit -qm start
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the files that the printed commands name."""
    folder = tmp_path_factory.mktemp("printed") / "repo"
    shutil.copytree(ROOT / "examples/torch-ddp", folder, ignore=shutil.ignore_patterns("trainc.yaml", "output"))
    (folder / "jobs/research").mkdir()
    shutil.copy(ROOT / "examples/tfjob/jobs/tfjob.yaml", folder / "jobs/mnist.yaml")
    (folder / "nodes.yaml").write_text(NODES, "utf-8")
    (folder / "runtimes/llm-base.yaml").write_text(LLM, "utf-8")
    (folder / "resources.yaml").write_text(
        "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n", "utf-8"
    )
    done = run(folder, f"set -e; {PREPARED}")
    assert done.returncode == 0, done.stderr
    return folder


NODES = """\
apiVersion: v1
kind: Node
metadata:
  name: a
status:
  allocatable: {cpu: "64", memory: 512Gi, nvidia.com/gpu: "8", pods: "110"}
"""
LLM = """\
apiVersion: trainc.dev/v1alpha1
kind: Runtime
metadata:
  name: llm-base
spec:
  extends: torch-distributed
"""


def run(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "HOME": str(folder)}
    trainc = f'trainc() {{ "{sys.executable}" -m trainc "$@"; }}\n'
    return subprocess.run(
        ["bash", "-c", KUBECTL + trainc + script],
        check=False,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("line", [line for line in PRINTED if not line.startswith(ASKS)])
def test_a_printed_command_works(line: str, place: Path, tmp_path: Path) -> None:
    shutil.copytree(place, tmp_path / "repo", symlinks=True)
    if "diagnose" in line:  # elsewhere it would be one more job of the repository
        shutil.copy(ROOT / "examples/diagnose/queued.txt", tmp_path / "repo/dump.yaml")
    if "adopt" in line:
        shutil.copy(ROOT / "examples/adopt/cluster.txt", tmp_path / "repo/dump.yaml")
    if line.startswith("trainc fit"):
        run(
            tmp_path / "repo",
            "trainc inventory nodes.yaml --complete > inventory.txt; mv inventory.txt clusters/main/i.yaml",
        )
    if line == "trainc fn":  # kustomize and kpt write to it
        line += " < resources.yaml"
    if line.startswith("trainc new bert"):
        (tmp_path / "repo/jobs/bert.yaml").unlink()
    if (
        line.startswith("trainc ") and not set(line) & set("|<>&;$*\"'\\") and line != "trainc lsp"
    ):  # no shell has a part in it
        here = compile_in(tmp_path / "repo", *line.split()[1:])
        code, said = here.code, here.out + here.err
    else:
        done = run(tmp_path / "repo", line)
        code, said = done.returncode, done.stdout + done.stderr
    assert code in (0, FINDINGS), f"$ {line}\n{said}"
