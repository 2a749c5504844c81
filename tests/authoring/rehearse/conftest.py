"""One rehearsal at a time: the processes of all tests share the ports of the machine."""

from __future__ import annotations

import fcntl
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A lock that the workers of pytest-xdist share."""
    with (tmp_path_factory.getbasetemp().parent / "ports").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
