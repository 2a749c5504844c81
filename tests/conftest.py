"""Snapshots that live in a case's own folder, no memory of earlier runs, and the mark of slow tests."""

from __future__ import annotations

import gc
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings
from syrupy.data import SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from syrupy.assertion import SnapshotAssertion


# How long an example takes says more of the machine than of trainc. The suite makes the same examples each time, so
# that a change is judged by what it changes; `--hypothesis-profile explore` makes new ones.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("suite", settings.get_profile("explore"), derandomize=True)
settings.load_profile("suite")
os.environ["TRAINC_CACHE_DIR"] = ""  # no test may depend on what an earlier run kept


gc.set_threshold(100_000, 20, 50)  # as in a process of trainc: parsing the package takes a third of the time

SLOW = Path(__file__).parent / "slow.txt"
QUICK = "not slow"


@cache
def slow_parts() -> list[tuple[str, frozenset[str]]]:
    """The lines of `slow.txt`: the start of a test's id, and the functions and parameters that are quick all the same."""
    lines = [line.split() for line in SLOW.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return [(f"tests/{part}", frozenset(quick[1:])) for _seconds, part, *quick in lines]


def is_slow(test: str, parts: list[tuple[str, frozenset[str]]]) -> bool:
    """Whether a test, by its id, is one that `-m "not slow"` leaves out."""
    name, _, parameters = test.partition("[")
    file, _, function = name.partition("::")
    return any(
        part in (file, name) and not is_exception(function, parameters.removesuffix("]"), exceptions)
        for part, exceptions in parts
    )


def is_exception(function: str, parameters: str, exceptions: frozenset[str]) -> bool:
    """Whether what is named after "but" in a line of `slow.txt` holds this function or these parameters."""
    return any(
        word in (function, parameters) or in_sample(parameters, word) or matches(parameters, word)
        for word in exceptions
    )


def in_sample(parameters: str, share: str) -> bool:
    """Whether parameters belong to a share such as `1/5`: the same ones in each run, whatever others there are."""
    _, one, size = share.partition("1/")
    return bool(one and size.isdigit() and parameters and crc32(parameters.encode()) % int(size) == 0)


def matches(parameters: str, pattern: str) -> bool:
    """Whether parameters start or end as a pattern with one `*` says."""
    start, star, end = pattern.partition("*")
    return bool(star) and parameters.startswith(start) and parameters.endswith(end)


def pytest_configure(config: pytest.Config) -> None:
    """Spare a quick run the search for snapshots that nothing uses: those of slow tests would be among them."""
    if config.option.markexpr == QUICK:
        config.option.disable_unused_snapshots = True


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Spare a quick run the import of files that have nothing for it."""
    if config.option.markexpr != QUICK:
        return None
    return (f"tests/{collection_path.relative_to(SLOW.parent).as_posix()}", frozenset()) in slow_parts() or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that `slow.txt` names."""
    parts: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for part, exceptions in slow_parts():
        parts.setdefault(part.partition("::")[0], []).append((part, exceptions))
    for item in items:
        of_file = parts.get(item.nodeid.partition("::")[0])
        if of_file and is_slow(item.nodeid, of_file):
            item.add_marker("slow")


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
        for name, text in texts.items():
            assert in_place(name=name) == text, f"{name} differs; --snapshot-update accepts it"
        assert left == set(), "files that the run no longer writes"

    return compare
