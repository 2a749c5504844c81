"""A small repository of training jobs, as people have it."""

import os
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path
from tarfile import TarFile

from tests.compiling import Run, compile_in

PROJECT = "apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec:\n  output: rendered\n"
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: torch
  labels:
    trainer.kubeflow.org/framework: torch
spec:
  mlPolicy:
    numNodes: 1
    torch: {}
  template:
    metadata:
      labels:
        owner: platform
    spec:
      failurePolicy:
        maxRestarts: 3
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
                  containers:
                    - name: node
                      image: registry.example.com/ml/torch:2.8.0
                      resources:
                        limits:
                          cpu: "4"
                          memory: 16Gi
"""


def job(name: str, *, nodes: int = 2, image: str = "", run: str = "") -> str:
    """The text of a job; without an image it has its runtime's."""
    annotations = f'  annotations:\n    trainc.dev/run: "{run}"\n' if run else ""
    own = f"    image: {image}\n" if image else ""
    return (
        f"apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata:\n  name: {name}\n"
        f"  namespace: research\n{annotations}spec:\n  runtimeRef:\n    name: torch\n  trainer:\n"
        f"{own}    numNodes: {nodes}\n    command: [torchrun, /opt/line.py]\n"
    )


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Put files into a folder."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")


def unpack(archive: TarFile, folder: Path) -> None:
    """Unpack an archive; the first releases of Python 3.11 have no filter for what it may hold."""
    if hasattr(tarfile, "data_filter"):
        archive.extraction_filter = tarfile.data_filter
    archive.extractall(folder)  # noqa: S202 (made by a test)


def commit_all(folder: Path) -> None:
    """Make a folder a Git repository with all that is in it, or add a commit."""
    author = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com"}
    committer = {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com"}
    environment = {**os.environ, **author, **committer, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for words in (["init", "-q", "--template="], ["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "state"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True, env=environment, capture_output=True)


class Repository:
    """A folder with a project, one runtime and jobs."""

    def __init__(self, folder: Path, *jobs: str) -> None:
        self.folder = folder
        self.write("trainc.yaml", PROJECT)
        self.write("runtimes/torch.yaml", RUNTIME)
        for name in jobs:
            self.job(name)

    def write(self, path: str, text: str) -> None:
        """Put a file into the repository."""
        write(self.folder, {path: text})

    def read(self, path: str) -> str:
        """A file's text."""
        return (self.folder / path).read_text("utf-8")

    def change(self, path: str, old: str, new: str) -> None:
        """Replace words in a file; they must be there."""
        text = self.read(path)
        assert old in text
        self.write(path, text.replace(old, new))

    def setting(self, line: str) -> None:
        """Add one line to what the project says."""
        self.write("trainc.yaml", f"{self.read('trainc.yaml')}  {line}\n")

    def job(self, name: str, *, run: str = "", image: str = "registry.example.com/ml/line:1.0.0") -> None:
        """Write one job."""
        self.write(f"jobs/{name}.yaml", job(name, image=image, run=run))

    def run(self, *argv: str) -> Run:
        """What `trainc ARGV` does in the repository."""
        return compile_in(self.folder, *argv)

    def rendered(self) -> dict[str, str]:
        """Every file below the output folder by its path there."""
        top = self.folder / "rendered"
        return {str(p.relative_to(top)): p.read_text("utf-8") for p in sorted(top.rglob("*")) if p.is_file()}
