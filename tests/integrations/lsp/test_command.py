"""`trainc lsp` as a command: with the extra and without it, and what it opens."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types

from tests.compiling import ROOT, relative_environment
from tests.effort import PATIENCE
from tests.integrations.lsp.editor import editor, run
from trainc.integrations.lsp.findings import PAUSE, SOON, Publisher, Workspace
from trainc.integrations.lsp.server import EditorServer

pytestmark = pytest.mark.slow

WITHOUT = "import sys\nsys.modules['pygls'] = None\nfrom trainc.cli import program\nprogram()"


def without_the_extra(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *words],
        check=False,
        capture_output=True,
        text=True,
        env=relative_environment(),
        stdin=subprocess.DEVNULL,
    )


def test_without_the_extra_one_line_says_what_to_install() -> None:
    done = without_the_extra("lsp")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "trainc: trainc lsp needs the extra: pip install 'trainc[lsp]'\n"


def test_help_needs_no_extra() -> None:
    done = without_the_extra("lsp", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: trainc lsp\n")


def test_arguments_are_refused() -> None:
    done = without_the_extra("lsp", "jobs/")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("trainc: usage: trainc lsp; ")


def test_an_editor_that_vanishes_ends_the_server() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "trainc", "lsp"],
        check=False,
        capture_output=True,
        env=relative_environment(),
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


class ClosedWriter:
    """Standard output that nobody reads any more."""

    def __init__(self) -> None:
        self.writes = 0

    def close(self) -> None:
        """Nothing is left to close."""

    def write(self, _: bytes) -> None:
        self.writes += 1
        if self.writes > 5:
            raise SystemExit
        raise ValueError("write to closed file")


def test_that_something_could_not_be_told_is_not_told() -> None:
    writer, server = ClosedWriter(), EditorServer(None)
    server.protocol.set_writer(writer)
    server.text_document_publish_diagnostics(types.PublishDiagnosticsParams("file:///a.yaml", []))
    assert writer.writes == 1


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_server_that_is_shut_down_judges_nothing_more(tmp_path: Path, *, is_stopped: bool) -> None:
    judged: list[str] = []

    async def story() -> None:
        publisher = Publisher(Workspace(None), lambda _: None, judged.append)
        settled = asyncio.Semaphore(0)

        def settle() -> None:
            judged.append("settled")
            settled.release()

        publisher.settle = settle  # type: ignore[method-assign]
        publisher.edited(str(tmp_path / "job.yaml"))
        if is_stopped:
            publisher.stop()
            await asyncio.sleep(PAUSE + 10 * SOON)
            return
        async with asyncio.timeout(PATIENCE):
            await settled.acquire()
            await settled.acquire()

    asyncio.run(story())
    assert judged == ([] if is_stopped else ["settled", "settled"])


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="only /proc tells which sockets a process has")
def test_it_opens_no_socket_that_others_can_reach(tmp_path: Path) -> None:
    async def story() -> None:
        async with editor(tmp_path) as one:
            folder = f"/proc/{one.process.pid}"
            held = {os.readlink(f"{folder}/fd/{name}") for name in os.listdir(f"{folder}/fd")}
            sockets = {name[8:-1] for name in held if name.startswith("socket:[")}
            for protocol in ("tcp", "tcp6", "udp", "udp6"):
                lines = await asyncio.to_thread(Path(f"{folder}/net/{protocol}").read_text, "ascii")
                assert not sockets & {line.split()[9] for line in lines.splitlines()}, protocol

    run(story())


def test_it_is_an_extra_of_the_package() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    required = text.partition("\ndependencies = [")[2].partition("]")[0]
    assert "pygls" not in required
    assert '\nlsp = ["pygls>=' in text
