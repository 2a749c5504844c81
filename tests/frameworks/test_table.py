"""The table of frameworks: what it names is there whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.compiling import ROOT
from trainc.frameworks import FRAMEWORKS, framework
from trainc.frameworks.vocabularies import VOCABULARIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PAGE = (ROOT / "docs/kinds.md").read_text("utf-8")
HOWTO = (ROOT / "docs/howto/frameworks.md").read_text("utf-8")
EXAMPLES = sorted(ROOT.glob("examples/*/runtimes/*.yaml"))


def test_frameworks_are_there_whole() -> None:
    lacking = [*unlisted(), *(words for name in FRAMEWORKS for words in missing(name))]
    assert not lacking, "\n".join(["", *lacking])


def test_what_a_framework_lacks_is_said_in_words() -> None:
    """All of it in one run; a name that nobody knows lacks everything."""
    assert list(missing("absent")) == [
        "trainc/frameworks/__init__.py: FRAMEWORKS has no line for absent",
        "trainc/frameworks/vocabularies.py: VOCABULARIES has no names of absent's variables",
        "trainc/frameworks/absent.py: `starts` of its FRAMEWORK is empty, so `trainc new` cannot write a job",
        "runtimes/: no runtime whose policy or label selects absent",
        "examples/: no runtime there selects absent",
        "tests/cases/absent/: no case",
        "docs/kinds.md: the table of frameworks has no row for absent",
    ]


def test_what_belongs_to_no_framework_is_said_in_words() -> None:
    modules = {"absent": "FRAMEWORK = Framework(\n", "absent_checks": "def verify() -> None: ...\n"}
    assert unlisted(modules, ["torch", "absent"]) == [
        "trainc/frameworks/absent.py is not in FRAMEWORKS",
        "trainc/frameworks/vocabularies.py: absent is not in FRAMEWORKS",
    ]


def unlisted(modules: dict[str, str] | None = None, named: Iterable[str] = VOCABULARIES) -> list[str]:
    """The modules (name to source) and vocabularies of frameworks that the table does not know."""
    if modules is None:
        modules = {path.stem: path.read_text("utf-8") for path in ROOT.glob("trainc/frameworks/*.py")}
    declaring = sorted(name for name, text in modules.items() if "\nFRAMEWORK = " in f"\n{text}")
    found = [
        f"trainc/frameworks/{name}.py" for name in declaring if f"trainc.frameworks.{name}" not in FRAMEWORKS.values()
    ]
    names = [f"trainc/frameworks/vocabularies.py: {name}" for name in named if name not in FRAMEWORKS]
    return [f"{place} is not in FRAMEWORKS" for place in (*found, *names)]


def missing(name: str) -> Iterator[str]:
    """What a framework lacks, a sentence for each piece that begins with its place."""
    declared = framework(name) if name in FRAMEWORKS else None
    if declared is None:
        yield f"trainc/frameworks/__init__.py: FRAMEWORKS has no line for {name}"
    elif declared.name != name:
        yield f"trainc/frameworks/{name}.py: its FRAMEWORK is called {declared.name}"
    if name not in VOCABULARIES:
        yield f"trainc/frameworks/vocabularies.py: VOCABULARIES has no names of {name}'s variables"
    starts = declared.starts if declared is not None else {}
    if not starts:
        yield f"trainc/frameworks/{name}.py: `starts` of its FRAMEWORK is empty, so `trainc new` cannot write a job"
    if not any(selects(path, name) for path in runtimes()):
        yield f"runtimes/: no runtime whose policy or label selects {name}"
    if not any(selects(path, name) for path in EXAMPLES):
        yield f"examples/: no runtime there selects {name}"
    if not list(ROOT.glob(f"tests/cases/{name}/*/input")):
        yield f"tests/cases/{name}/: no case"
    if f"\n| {name} |" not in PAGE:
        yield f"docs/kinds.md: the table of frameworks has no row for {name}"
    yield from undescribed(starts)


def undescribed(starts: Iterable[str]) -> Iterator[str]:
    """The names of `trainc new --framework` that a page leaves out."""
    for start in starts:
        if not re.search(rf"^{start} +\S+: ", PAGE, re.MULTILINE):
            yield f"docs/kinds.md: the output of `trainc new --framework list` lacks {start}"
        if f"--framework {start} " not in HOWTO:
            yield f"docs/howto/frameworks.md: no section runs `trainc new NAME --framework {start}`"


def test_a_name_of_trainc_new_that_pages_leave_out_is_said() -> None:
    assert list(undescribed(["torch", "absent"])) == [
        "docs/kinds.md: the output of `trainc new --framework list` lacks absent",
        "docs/howto/frameworks.md: no section runs `trainc new NAME --framework absent`",
    ]


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
