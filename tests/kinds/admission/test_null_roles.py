"""A role written without any spec: the API server drops it, and its operator would have refused it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.compiling import compile_in
from tests.kinds.samples.texts import FIELDS, job, role

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("kind", FIELDS)
def test_a_role_that_is_null_is_one_without_containers(kind: str, tmp_path: Path) -> None:
    field, main = FIELDS[kind]
    role_ = "Launcher" if kind == "MPIJob" else "Worker"
    first = role("Worker") if kind == "MPIJob" else role("Master")
    text = job(kind, *(() if kind == "JAXJob" else (first,)), (role_, "")).replace(
        f"    {role_}:\n", f"    {role_}: null\n"
    )
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    found = [f.refusal.text for f in compile_in(tmp_path, "build", "job.yaml").findings if f.refusal]
    at = f"spec.{field}[Worker].template.spec.containers: Required value"
    shown = f'"{main}"' if kind == "PaddleJob" else main
    expected = [f"{at}: must be specified", f"{at}: must have at least one container with name {shown}"]
    if kind == "MPIJob":
        expected = ["MPIReplicaSpecs is not valid: containers definition expected in Launcher"]
    assert sorted(found) == sorted(expected)
