"""Which tests a run takes, snapshots that live in a case's own folder, and no memory of earlier runs."""

import gc
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import chdir
from difflib import unified_diff
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import yaml
from hypothesis import HealthCheck, settings
from syrupy.assertion import SnapshotAssertion
from syrupy.data import SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from tests import extras, sampling
from trainc.apiserver.expressions.budget import begin_run
from trainc.cli.caching import run_cache

# How long an example takes says more of the machine than of trainc. The suite makes the same examples each time, so
# that a change is judged by what it changes; `--hypothesis-profile explore` makes new ones.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("suite", settings.get_profile("explore"), derandomize=True)
settings.register_profile("quick", settings.get_profile("suite"), max_examples=30)
settings.load_profile("suite")
os.environ["TRAINC_CACHE_DIR"] = ""  # no test may depend on what an earlier run kept
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each of the many processes would parse the package anew
sys.dont_write_bytecode = False


def in_memory() -> None:
    """Temporary files of this run and of what it starts: the tests make small ones, which cost a disk a third of a run."""
    memory = "/dev/shm"  # noqa: S108 (below it stand folders of random names, as below any other)
    if os.environ.get("TMPDIR") or not os.access(memory, os.W_OK):
        return
    if not os.statvfs(memory).f_flag & os.ST_NOEXEC and shutil.disk_usage(memory).free > 2 << 30:
        os.environ["TMPDIR"] = tempfile.tempdir = memory


in_memory()

# PyYAML's parser in C for each text that a test reads or writes.
vars(yaml).update(SafeLoader=yaml.CSafeLoader, SafeDumper=yaml.CSafeDumper)

gc.set_threshold(100_000, 20, 50)  # as in a process of trainc: parsing the package takes a third of the time

ROOT = os.path.dirname(os.path.dirname(__file__))
QUICK = "not slow"
SLOW_FILE = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.slow\b", re.MULTILINE)
REST = "python -m pytest --all runs the slow rest too, on all cores: about 6 minutes on two"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run the slow tests too, on all cores")


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads its own option
def pytest_cmdline_main(config: pytest.Config) -> None:
    """A run of everything takes all cores; one that names nothing is quick; one that names something runs it whole."""
    option = config.option
    if option.all and option.numprocesses is None and not hasattr(config, "workerinput"):
        option.numprocesses, option.dist = "auto", "worksteal"
    named = (
        config.args_source is pytest.Config.ArgsSource.ARGS
        or option.keyword
        or option.markexpr
        or getattr(option, "lf", False)
    )
    if not (option.all or named):
        option.markexpr = QUICK
    if option.markexpr == QUICK:
        option.disable_unused_snapshots = True  # those of slow tests would be among them


@pytest.hookimpl(wrapper=True, optionalhook=True)  # a hook of pytest-xdist
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """One more than cores: tests of programs that wait, or that are stopped, leave a tenth of a core's time to another."""
    return (yield) + 1


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Spare a quick run the import of files that are slow as a whole, and a plain installation those for an extra."""
    if extras.PLAIN and extras.is_left_out(collection_path.relative_to(ROOT).as_posix()):
        return True
    is_quick = config.option.markexpr == QUICK and collection_path.suffix == ".py"
    return (is_quick and SLOW_FILE.search(collection_path.read_text("utf-8")) is not None) or None


def pytest_configure(config: pytest.Config) -> None:
    """Spare a quick run the items of slow parameters, and most examples of properties."""
    sampling.leave_out_slow = config.option.markexpr == QUICK
    if sampling.leave_out_slow and not config.getoption("--hypothesis-profile"):
        settings.load_profile("quick")


def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> list[pytest.Item] | None:  # noqa: ARG001
    """Spare a quick run the items of slow functions."""
    marks = getattr(obj, "pytestmark", ()) if sampling.leave_out_slow and name.startswith("test_") else ()
    return [] if any(mark.name == "slow" for mark in marks) else None


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line of a quick run."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if config.option.markexpr == QUICK and reporter and not hasattr(config, "workerinput"):
        reporter.write_line(REST)


def pytest_runtest_setup() -> None:
    """Each test may ask the CEL engines as much as a run of the program may, whatever those before it have asked."""
    begin_run()


@pytest.fixture(scope="session", autouse=True)
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """No test compiles in this repository, whose files would be read with it."""
    with chdir(tmp_path_factory.mktemp("elsewhere")):
        yield


@pytest.fixture(scope="session", autouse=True)
def one_build() -> Generator[None]:
    """No test alters a file of this package, and each run would look at all of them."""
    with patch("trainc.cli.caching.run_cache._sources", cache(run_cache._sources)):
        yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs an extra where a plain installation is tested."""
    left_out = [item for item in items if extras.is_left_out(item.nodeid)]
    if left_out:
        items[:] = [item for item in items if not extras.is_left_out(item.nodeid)]
        config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the garbage collector the hundreds of thousands of objects of all items, which stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


class InPlace(SingleFileSnapshotExtension):
    """One plain text file for each snapshot, in `folder`, under the name the test gives."""

    _write_mode = WriteMode.TEXT
    folder = ""

    @classmethod
    def get_location(cls, *, test_location: object, index: object) -> str:  # noqa: ARG003 (the signature is syrupy's)
        return os.path.join(cls.folder, str(index))

    @classmethod
    def matches_test_location(cls, *, test_location: object, snapshot_location: str) -> bool:  # noqa: ARG003
        return snapshot_location.startswith(cls.folder)

    def discover_snapshots(self, **_: Any) -> SnapshotCollections:
        """Nothing: `expected` below looks for leftovers in the one folder it owns."""
        return SnapshotCollections()


@pytest.fixture
def expected(snapshot: SnapshotAssertion, request: pytest.FixtureRequest) -> Callable[[Path, Mapping[str, str]], None]:
    """Compare texts with the files of a folder: every file, and no file more."""

    def compare(folder: Path, texts: Mapping[str, str]) -> None:
        here = type("Here", (InPlace,), {"folder": str(folder)})
        in_place = snapshot.use_extension(here)
        left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - set(texts)
        if request.config.option.update_snapshots:
            for name in left:
                (folder / name).unlink()
            left = set()
        differing = [name for name, text in texts.items() if in_place(name=name) != text]
        if differing or left:
            new = [difference(folder / name, texts[name]) for name in differing]
            gone = [f"{relative(folder / name)}\nthe run no longer writes it\n" for name in sorted(left)]
            head = f'python -m pytest "{request.node.nodeid}"  # with --snapshot-update to accept it\n'
            pytest.fail("\n".join([head, *new, *gone]), pytrace=False)

    return compare


def difference(file: Path, text: str) -> str:
    """A file and how it would differ."""
    before = file.read_text("utf-8").splitlines() if file.exists() else []
    lines = unified_diff(before, text.splitlines(), "expected", "now", lineterm="")
    return "\n".join([relative(file), *lines, ""])


def relative(file: Path) -> str:
    return os.path.relpath(file, ROOT)
