"""A TrainJobPatch in an editor: what is wrong in it, what a field of it is, and what fits there."""

import shutil
from pathlib import Path

import pytest
from lsprotocol import types

from tests.compiling import ROOT
from tests.integrations.lsp.editor import editor, run
from tests.integrations.lsp.test_questions import candidates, hovered

pytestmark = pytest.mark.slow

PATCH = """\
apiVersion: trainc.dev/v1alpha1
kind: TrainJobPatch
metadata:
  name: code-7b
  namespace: llm
  annotations:
    trainc.dev/cluster: us
spec:
  trainer:
    numNodes: 1
"""


@pytest.fixture
def platform(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples/platform", tmp_path / "platform"))


def codes(found: list[types.Diagnostic]) -> list[str]:
    return [str(one.code) for one in found]


def test_what_is_wrong_is_underlined(platform: Path) -> None:
    async def story() -> None:
        async with editor(platform) as one:
            uri = one.open(platform / "jobs/llm/code-7b.us.yaml", PATCH)
            assert await one.diagnostics(uri) == []
            for right, wrong, code in (
                ("numNodes", "numNode", "unknown-field"),
                ("name: code-7b", "name: code-8b", "patch-without-job"),
                ("cluster: us", "cluster: asia", "unknown-cluster"),
                ("numNodes: 1", "numNodes: [", "yaml-syntax"),
            ):
                one.change(uri, PATCH.replace(right, wrong))
                assert codes(await one.diagnostics(uri)) == [code]
            one.change(uri, PATCH)
            assert await one.diagnostics(uri) == []

    run(story())


def test_fields_and_names_are_known(platform: Path) -> None:
    async def story() -> None:
        async with editor(platform) as one:
            uri = one.open(platform / "jobs/llm/code-7b.us.yaml", PATCH)
            assert "`TrainJobPatch.spec.trainer.numNodes` integer" in await hovered(one, uri, "numNodes")
            assert {"eu", "us"} <= {item.label for item in await candidates(one, uri, "trainc.dev/cluster: ")}
            one.change(uri, PATCH.replace("    numNodes: 1\n", "    n\n"))
            assert "numNodes" in {item.label for item in await candidates(one, uri, "    n")}

    run(story())
