"""A build that is killed leaves every file whole, and the next one repairs what is missing."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.compiling import ROOT, relative_environment
from tests.effort import PATIENCE
from tests.repository import Repository

pytestmark = pytest.mark.slow

JOBS = 6
POINTS = 10
# A child that has everything loaded compiles once for each number it is told: only the build itself is killed. The
# child kills itself before it replaces that many files and one more; a negative number lets it run.
PROGRAM = """
import os, sys
from trainc.cli import main
main(["validate", "-q"])
import trainc.cli.rendered
while True:
    child = os.fork()
    if not child:
        left, replace = [int(sys.stdin.readline())], os.replace
        def counted(source, target):
            if not left[0]:
                os.kill(os.getpid(), 9)
            left[0] -= 1
            replace(source, target)
        os.replace = counted
        os.write(1, b".")
        os._exit(main(["build", "-w", "-q"]))
    os.write(1, b"%d\\n" % child)
    os.waitpid(child, 0)
"""


def test_killed_at_any_moment(tmp_path: Path) -> None:
    repository = Repository(tmp_path, *(f"job-{number:02}" for number in range(JOBS)))
    versions = []
    for owner in ("one", "two"):
        _own(repository, owner)
        started = time.perf_counter()
        assert repository.run("build", "-w").code == 0
        lasts = time.perf_counter() - started
        versions.append(repository.rendered())
    assert versions[0] != versions[1]
    chance = random.Random(20261121)  # noqa: S311 (moments, not secrets)
    with _nursery(tmp_path) as nursery:
        for number in range(POINTS):
            _kill(nursery, repository, versions, number, chance.uniform(0, 1.2 * lasts))
        stale = [_kill(nursery, repository, versions, number, PATIENCE, after=number) for number in range(JOBS)]
        nursery.kill()
    assert stale == [JOBS - number for number in range(JOBS)]


def _own(repository: Repository, owner: str) -> None:
    text = repository.read("runtimes/torch.yaml")
    before = text.partition("owner: ")[2].partition("\n")[0]
    repository.write("runtimes/torch.yaml", text.replace(f"owner: {before}", f"owner: {owner}"))


def _nursery(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**relative_environment(), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    )


def _kill(
    nursery: subprocess.Popen[bytes],
    repository: Repository,
    versions: list[dict[str, str]],
    number: int,
    moment: float,
    *,
    after: int = -1,
) -> int:
    """Start a build, kill it after `moment` seconds or `after` files, and look: how many files are still the old ones."""
    assert nursery.stdin
    assert nursery.stdout
    _own(repository, ("one", "two")[number % 2])
    old, new = versions[1 - number % 2], versions[number % 2]
    child = int(nursery.stdout.readline())
    nursery.stdin.write(b"%d\n" % after)
    assert nursery.stdout.read(1) == b"."
    until = time.monotonic() + moment
    while time.monotonic() < until and _lives(child):
        time.sleep(min(0.001, moment))
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    while _lives(child):
        time.sleep(0.001)
    found = {path: text for path, text in repository.rendered().items() if path.endswith(".yaml")}
    assert found.keys() == new.keys()
    wrong = {path for path, text in found.items() if text not in (old[path], new[path])}
    assert wrong == set()
    stale = {path for path, text in found.items() if text != new[path]}
    check = repository.run("build", "--check", "-v")
    assert check.err.count("error[out-of-date]") == len(stale)
    assert check.code == (1 if stale else 0)
    assert repository.run("build", "-w").code == 0
    assert repository.rendered() == new
    return len(stale)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
