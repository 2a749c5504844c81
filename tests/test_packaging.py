"""What is installed: the lock knows every dependency, and the version is said once."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import trainc
from tests.compiling import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCK = (ROOT / "requirements-dev.lock").read_text("utf-8")
WANTED = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]


def pins() -> dict[str, list[Requirement]]:
    found: dict[str, list[Requirement]] = {}
    for line in LOCK.splitlines():
        requirement = Requirement(line)
        found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


@pytest.mark.parametrize("wanted", WANTED)
def test_the_lock_pins_what_is_asked_for(wanted: str) -> None:
    requirement = Requirement(wanted)
    pinned = pins()[canonicalize_name(requirement.name)]
    versions = [next(iter(pin.specifier)).version for pin in pinned]
    assert all(version in requirement.specifier for version in versions)


def test_the_lock_names_no_host() -> None:
    assert "://" not in LOCK


def test_the_version_is_said_once() -> None:
    assert trainc.__version__ == PROJECT["project"]["version"]
