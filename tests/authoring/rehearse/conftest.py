"""One rehearsal at a time: the processes of all tests share the ports of the machine."""

import fcntl
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def ports() -> Iterator[None]:
    """A lock on this file, which the workers of pytest-xdist share."""
    with Path(__file__).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
