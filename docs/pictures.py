"""Draws the pictures of the README from real runs of trainc: `python docs/pictures.py` writes them to docs/images."""

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

IMAGES = Path(__file__).parent / "images"
COMMAND = ("trainc", "validate", "bert.yaml")
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: bert, namespace: nlp}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    image: registry.example.com/nlp/bert:1.4.0
    numNodes: 4
    command: [torchrun, --nnodes=2, pretrain.py]
    resourcesPerNode:
      limits: {nvidia.com/gpu: 8, cpu: 96, memory: 900Gi}
"""
# rich's own format loads fonts over the network; this one takes what the reader has.
FORMAT = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="trainc validate finds that torchrun expects 2 nodes, but the job has 4 pods">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: {char_height}px; \
line-height: {line_height}px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
<rect fill="#1e1f26" x="1" y="1" width="{width}" height="{height}" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def finding() -> str:
    """What `trainc validate` prints of a job whose launcher expects another number of nodes, with colours."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "bert.yaml").write_text(JOB, "utf-8")
        done = subprocess.run(  # noqa: S603 (our own command)
            [sys.executable, "-m", *COMMAND, "--color", "always", "-q"],
            check=False,
            cwd=folder,
            env={**os.environ, "COLUMNS": "100", "FORCE_HYPERLINK": "0"},
            capture_output=True,
            text=True,
        )
    return done.stderr


def drawn(text: str) -> str:
    """A terminal with the command and its output."""
    console = Console(record=True, width=100, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text("$ " + " ".join(COMMAND)))
    console.print(Text.from_ansi(text.rstrip("\n")))
    return console.export_svg(theme=MONOKAI, code_format=FORMAT, unique_id="terminal")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "finding.svg").write_text(drawn(finding()), "utf-8")
