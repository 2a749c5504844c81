"""A run that is told to stop, by a person or by a scheduler, lets go of everything and says at most one line."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compiling import ROOT, relative_environment
from tests.effort import PATIENCE
from tests.sampling import sampled
from tests.working_tree import WorkingTree

JOBS = 12
POINTS = 2
# A child that has everything loaded starts one run for each line that it reads, as a process group of its own, and
# tells how it ended. Signals that the tests were started without (`nohup` does that) count again.
PROGRAM = """
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
from trainc.cli import main, program
main(["validate", "-q"])
main(["diff", "HEAD", "--report", "json"])
import trainc.cli.rendered, trainc.cli.workers
for line in sys.stdin:
    child = os.fork()
    if not child:
        os.setsid()
        os.dup2(os.open(os.environ["TOLD"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.argv[1:] = line.split()
        try:
            os.write(3, b"%d\\n" % os.getpid())
            program()
        except KeyboardInterrupt:
            os._exit(130)
    _, status = os.waitpid(child, 0)
    os.write(3, b"%d\\n" % os.waitstatus_to_exitcode(status))
"""


class Nursery:
    """Runs one command at a time, and stops it."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self.told = scratch / "told"
        (scratch / "temporary").mkdir()
        answers, child_end = os.pipe()
        environment = {"PYTHONPATH": str(ROOT), "TMPDIR": str(scratch / "temporary"), "TOLD": str(self.told)}
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$0" -c "$1" 3>&{child_end} >/dev/null 2>&1', sys.executable, PROGRAM],
            cwd=folder,
            env={**relative_environment(), **environment},
            stdin=subprocess.PIPE,
            pass_fds=(child_end,),
            bufsize=0,
        )
        os.close(child_end)
        self.answers = os.fdopen(answers)
        self.left = scratch / "temporary"

    def stopped(self, words: str, number: int, moment: float) -> int:
        """The exit code of `trainc WORDS` after a signal so many seconds from its start."""
        assert self.process.stdin
        self.process.stdin.write(f"{words}\n".encode())
        child = int(self.answers.readline())
        time.sleep(moment)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, number)
        code = int(self.answers.readline())
        # Workers end with the run, as soon as they get a turn; a Git that was about to begin ends by itself.
        until = time.monotonic() + PATIENCE
        while _lives(child) and time.monotonic() < until:
            time.sleep(0.01)
        assert not _lives(child)
        return code

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.answers.close()


def _lives(group: int) -> bool:
    """Whether a process of the group still runs; one that has ended may wait for whoever buries it."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return any(state != "Z" for state in _states(group))


def _states(group: int) -> Iterator[str]:
    """The state letters of a group's processes, as Linux shows them; R for all where nothing shows them."""
    if not os.path.isdir("/proc/self"):
        yield "R"
        return
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as stream:
            state, _, owner = stream.read().rpartition(")")[2].split()[:3]
            if int(owner) == group:
                yield state


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> WorkingTree:
    found = WorkingTree(tmp_path_factory.mktemp("tree"), *(f"job-{number:02}" for number in range(JOBS)))
    found.git("add", "--all")
    found.git("commit", "--quiet", "--message", "state")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("words", ["build -q -w", "build -q -w --jobs 3", "build -q --jobs 4", "diff HEAD"])
def test_stopped_at_any_moment(words: str, number: int, tree: WorkingTree, tmp_path: Path) -> None:
    versions = {}
    for owner in ("one", "two"):
        _own(tree, owner)
        started = time.perf_counter()
        assert tree.run("build", "-w").code == 0
        lasts = time.perf_counter() - started
        versions[owner] = tree.rendered()
    chance = random.Random(f"{words} {number}")  # noqa: S311 (moments, not secrets)
    nursery = Nursery(tree.folder, tmp_path)
    try:
        codes = set[int]()
        for _ in range(POINTS):
            codes.add(_once(nursery, words, number, chance.uniform(0, lasts), tree, versions))
        while -number not in codes and lasts > 0.001:  # the machine was slow when it was asked how long a run lasts
            lasts /= 2
            codes.add(_once(nursery, words, number, lasts, tree, versions))
    finally:
        nursery.close()
    assert -number in codes
    assert codes <= {0, -number, 128 + number}


# The program as it starts, interrupted by the import of one module.
STARTING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
def interrupt(event, arguments):
    if event == "import" and arguments[0] == module:
        os.kill(os.getpid(), signal.SIGINT)
module = sys.argv.pop(1)
sys.addaudithook(interrupt)
from trainc.cli import program
program()
"""


@pytest.mark.parametrize(
    "module",
    sampled(["trainc.cli.commands", "trainc.cli.output", "trainc.cli.session", "trainc.yaml.reader",
     "trainc.compiler.pipeline", "trainc.lint", "trainc.report.text"], quick=("trainc.cli.commands", "trainc.compiler.pipeline")),
)  # fmt: skip
def test_interrupted_while_it_starts(module: str, tree: WorkingTree) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STARTING, module, "validate", "jobs"],
        cwd=tree.folder, env={**relative_environment(), "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGINT
    assert done.stderr in ("", "trainc: interrupted\n")


def _own(tree: WorkingTree, owner: str) -> None:
    text = tree.read("runtimes/torch.yaml")
    before = text.partition("owner: ")[2].partition("\n")[0]
    tree.write("runtimes/torch.yaml", text.replace(f"owner: {before}", f"owner: {owner}"))


def _once(
    nursery: Nursery,
    words: str,
    number: int,
    moment: float,
    tree: WorkingTree,
    versions: dict[str, dict[str, str]],
) -> int:
    new = "two" if "owner: one" in tree.read("runtimes/torch.yaml") else "one"
    old = "one" if new == "two" else "two"
    _own(tree, new)
    code = nursery.stopped(words, number, moment)
    told = nursery.told.read_text("utf-8")
    assert told in ("", "trainc: interrupted\n")
    assert told == "" or number == signal.SIGINT
    assert list(nursery.left.iterdir()) == []
    found = tree.rendered()
    assert found.keys() == versions[new].keys()
    assert all(text in (versions[old][path], versions[new][path]) for path, text in found.items())
    assert tree.run("build", "-w").code == 0
    assert tree.rendered() == versions[new]
    return code
