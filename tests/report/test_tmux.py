"""tmux, a terminal that people use, shows what the recorder of pseudo-terminals says, in the same rows."""

import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.board.board import manifests
from tests.compiling import ROOT
from tests.effort import PATIENCE
from tests.pseudo_terminal import has_terminals, in_terminal

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tmux") is None or not has_terminals(), reason="tmux is not installed"),
]
CODES = re.compile(r"\x1b\[[0-9;]*m")
END = "that is all"


def in_tmux(folder: Path, width: int, words: str, environment: str) -> str:
    """The screen behind `trainc WORDS` in a tmux of this width, with codes of colours."""
    socket = str(folder / "socket")

    def tmux(*argv: str) -> str:
        return subprocess.run(["tmux", "-S", socket, "-f", "/dev/null", *argv], capture_output=True, text=True).stdout  # noqa: PLW1510

    program = (
        f"env -u NO_COLOR -u FORCE_COLOR -u COLUMNS PYTHONPATH={shlex.quote(str(ROOT))} TRAINC_CACHE_DIR= {environment}"
    )
    command = f"{program} {shlex.quote(sys.executable)} -m trainc {words}; echo {END}; sleep {PATIENCE}"
    tmux(
        "new-session",
        "-d",
        "-x",
        str(width),
        "-y",
        "120",
        "-c",
        str(folder),
        f"cd {shlex.quote(str(folder))}; {command}",
    )
    try:
        for _ in range(10 * PATIENCE):
            screen = tmux("capture-pane", "-p", "-e")
            if END in screen:
                return screen.partition(END)[0]
            time.sleep(0.1)
    finally:
        tmux("kill-server")
    raise AssertionError(f"tmux shows no end of `{words}`")


def rows(text: str) -> list[str]:
    return [line.rstrip() for line in CODES.sub("", text).rstrip().splitlines()]


@pytest.mark.parametrize(
    ("width", "words", "plain"),
    [
        (80, "validate broken.yaml", ""),
        (120, "validate broken.yaml", "NO_COLOR=1"),
        (80, "show broken.yaml", "NO_COLOR=1"),
    ],
)
def test_tmux_shows_what_is_recorded(width: int, words: str, plain: str, tmp_path: Path) -> None:
    named = {manifest.name: manifest.text for manifest in manifests("pytorchjob")}
    (tmp_path / "broken.yaml").write_text(named["fsdp-eks-two-nodes-told-four"], "utf-8")
    screen = in_tmux(tmp_path, width, words, plain)
    recorded = in_terminal(tmp_path, width, *words.split(), **({"NO_COLOR": "1"} if plain else {}))
    assert rows(screen) == rows(recorded)
    assert max(map(len, rows(screen))) <= width
    assert bool(CODES.search(screen)) is not plain.startswith("NO_COLOR")
