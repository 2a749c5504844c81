"""What is committed is what the models say."""

from pathlib import Path

import pytest

pytest.importorskip("kubernetes_validate", reason="needs the OpenAPI document of Kubernetes")

from tests.compiling import ROOT
from trainc.apiserver.generate import render, write

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def rendered() -> dict[str, str]:
    return render()


def test_committed_files_are_up_to_date(rendered: dict[str, str]) -> None:
    stale = [name for name, text in rendered.items() if (ROOT / name).read_bytes() != text.encode()]
    assert not stale, "run `python -m trainc.apiserver.generate`"


def test_nothing_else_lies_in_schemas(rendered: dict[str, str]) -> None:
    files = [path for path in (ROOT / "schemas").rglob("*") if path.is_file()]
    found = {path.relative_to(ROOT).as_posix() for path in files if path.parent.name != "reports"}  # those are by hand
    assert found == {name for name in rendered if name.startswith("schemas/")}


def test_writing_gives_these_files(rendered: dict[str, str], tmp_path: Path) -> None:
    written = write(tmp_path)
    assert {path.relative_to(tmp_path).as_posix(): path.read_text(encoding="utf-8") for path in written} == rendered
