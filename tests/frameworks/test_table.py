"""The table of frameworks: what it names is there whole."""

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compiling import ROOT
from trainc.apiserver.models.runtime import MLPolicy
from trainc.frameworks import FRAMEWORKS, framework
from trainc.frameworks.base.vocabularies import VOCABULARIES
from trainc.model.patches import Start

PAGE = ROOT / "docs/kinds.md"
POLICIES = {field.alias for field in MLPolicy.model_fields.values()}
HEAD = "| framework | selected by | what it sets |\n|---|---|---|\n"


def test_frameworks_are_there_whole() -> None:
    sources = [path for path in ROOT.glob("trainc/frameworks/*.py") if "\nFRAMEWORK = " in path.read_text("utf-8")]
    unlisted = sorted({path.stem for path in sources} - set(FRAMEWORKS))
    lacking = [f"trainc/frameworks/base/vocabularies.py: VOCABULARIES has no {name}" for name in unlisted]
    for name in FRAMEWORKS:
        declared = framework(name)
        assert declared is not None
        assert (declared.name, declared.vocabulary.variables) == (name, VOCABULARIES[name].variables)
        lacking += missing(name, declared.starts)
    assert not lacking, "\n".join(["", *lacking])


def test_what_a_framework_lacks_is_said_in_words() -> None:
    """All of it in one run."""
    assert list(missing("absent", {})) == [
        "trainc/frameworks/absent.py: `starts` of its FRAMEWORK is empty, so `trainc new` cannot write a job",
        "runtimes/: no runtime whose policy or label selects absent",
        "tests/cases/absent/: no case",
    ]


def missing(name: str, starts: Mapping[str, Start]) -> Iterator[str]:
    """What a framework lacks, a sentence for each piece that begins with its place."""
    if not starts:
        yield f"trainc/frameworks/{name}.py: `starts` of its FRAMEWORK is empty, so `trainc new` cannot write a job"
    if not any(selects(path, name) for path in runtimes()):
        yield f"runtimes/: no runtime whose policy or label selects {name}"
    if not list(ROOT.glob(f"tests/cases/{name}/*/input")):
        yield f"tests/cases/{name}/: no case"


def test_the_page_of_kinds_has_a_row_for_each(request: pytest.FixtureRequest) -> None:
    """Each row is the first line of the framework's module; `--snapshot-update` writes them."""
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(HEAD)
    now = before + HEAD + "".join(map(row, FRAMEWORKS)) + rest[rest.index("\n\n") + 1 :]
    if request.config.option.update_snapshots:
        PAGE.write_text(now, "utf-8")
    assert PAGE.read_text("utf-8") == now


def row(name: str) -> str:
    doc = (importlib.import_module(f"trainc.frameworks.{name}").__doc__ or "").splitlines()[0]
    selected = f"label `trainer.kubeflow.org/framework: {name}`"
    if name in POLICIES:
        selected = f"`mlPolicy.{name}`"
    elif name == "plain":
        selected = "a runtime without a framework policy"
    return f"| {name} | {selected} | {doc.partition(': ')[2].removesuffix('.')} |\n"


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


MODULES = sorted(ROOT.glob("trainc/frameworks/*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_is_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) < 350


@pytest.mark.parametrize("path", runtimes(), ids=lambda path: path.stem)
def test_a_runtime_says_what_it_is_for_and_pins_its_images(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith("# For ")
    assert yaml.safe_load(text)["metadata"]["name"] == path.stem
    images = [line.split("image: ")[1] for line in text.splitlines() if "image: " in line]
    tags = [image.rpartition("/")[2].partition(":")[2] for image in images]
    assert images != []
    assert all(tag not in {"", "latest"} for tag in tags)
