"""Small Git histories for the tests of what reads Git."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
from typing import TYPE_CHECKING

from trainc.cli import main

if TYPE_CHECKING:
    from pathlib import Path

RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: llm
spec:
  mlPolicy:
    torch: {}
  template:
    spec:
      failurePolicy:
        maxRestarts: 2
      replicatedJobs:
      - name: node
        template:
          metadata:
            labels:
              trainer.kubeflow.org/trainjob-ancestor-step: trainer
          spec:
            backoffLimit: 0
            template:
              spec:
                restartPolicy: Never
                containers:
                - name: node
                  image: registry.example.com/llm:1.0
                  resources:
                    limits: {memory: 64Gi, nvidia.com/gpu: 8}
"""


def job(name: str, nodes: int = 2) -> str:
    return f"""\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: {name}
  namespace: llm
spec:
  runtimeRef:
    name: llm
  trainer:
    numNodes: {nodes}
    command: [torchrun, train.py]
"""


def git(folder: Path, *words: str) -> None:
    clean = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    who = ("-c", "user.name=someone", "-c", "user.email=someone@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, "-C", str(folder), *words], check=True, capture_output=True, env=clean)


def repository(folder: Path, files: dict[str, str]) -> None:
    """A repository with one commit of these files."""
    write(folder, files)
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "state")


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of one command line, run in a folder."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(words))
    return code, out.getvalue(), err.getvalue()
