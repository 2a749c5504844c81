"""The table of frameworks: what it names is there whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.compiling import ROOT
from trainc.frameworks import FRAMEWORKS, framework

if TYPE_CHECKING:
    from pathlib import Path

README = (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_framework_is_there_whole(name: str) -> None:
    """Its module, its line in the table, a runtime to start from, cases, an example, and a row in the README."""
    found = framework(name)
    assert found is not None
    assert found.name == name
    assert [path for path in runtimes() if selects(path, name)] != []
    assert list(ROOT.glob(f"tests/cases/{name}/*/input")) != []
    assert name == "plain" or [path for path in ROOT.glob("examples/*/runtimes/*.yaml") if selects(path, name)] != []
    assert f"| {name} |" in README


def runtimes() -> list[Path]:
    return sorted(ROOT.glob("runtimes/*.yaml"))


def selects(path: Path, name: str) -> bool:
    """Whether a runtime's policy, or its label where it has none, selects the framework."""
    runtime = yaml.safe_load(path.read_text("utf-8"))
    if runtime["kind"] not in {"ClusterTrainingRuntime", "TrainingRuntime"}:
        return False
    policies = runtime["spec"].get("mlPolicy", {}).keys() - {"numNodes"}
    return policies == {name} or (not policies and labels(runtime).get("trainer.kubeflow.org/framework") == name)


def labels(tree: Any) -> dict[str, str]:
    found: dict[str, str] = tree["metadata"].get("labels", {})
    return found


PAGES = [path for path in sorted(ROOT.glob("trainc/frameworks/*.py")) if path.stem != "vocabularies"]  # that is a table


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_module_is_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) < 150


@pytest.mark.parametrize("path", runtimes(), ids=lambda path: path.stem)
def test_a_runtime_says_what_it_is_for_and_pins_its_images(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith("# For ")
    assert yaml.safe_load(text)["metadata"]["name"] == path.stem
    images = [line.split("image: ")[1] for line in text.splitlines() if "image: " in line]
    tags = [image.rpartition("/")[2].partition(":")[2] for image in images]
    assert images != []
    assert all(tag not in {"", "latest"} for tag in tags)
