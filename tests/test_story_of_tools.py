"""One job through all doors: written by the SDK, mended in an editor, let in by the hook, reviewed, looked at."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.test_action import CHECK, COMMENT, VALIDATE, PullRequest, succeeds
from tests.page.pages import page_of
from trainc.kubeflow import trainer_client

if TYPE_CHECKING:
    from pathlib import Path

types = pytest.importorskip("lsprotocol.types", reason="pygls is not installed")
with warnings.catch_warnings():  # the SDK's own models are written for an older pydantic
    warnings.simplefilter("ignore")
    trainer = pytest.importorskip("kubeflow.trainer", reason="the Kubeflow SDK is not installed")
    options = pytest.importorskip("kubeflow.trainer.options")

JOB = "jobs/gpt.yaml"


def test_story(tmp_path: Path) -> None:
    story = PullRequest(tmp_path)
    story.hooks()
    container = trainer.CustomTrainerContainer(image="registry.example.com/ml/line:1.0.0", num_nodes=2)
    trainer_client(story.folder, namespace="research").train("torch", trainer=container, options=[options.Name("gpt")])
    _is_mended_in_an_editor(story)
    refused = story.commit()
    assert refused.returncode == 1
    assert "`rendered/research/gpt.yaml` has not been rendered" in refused.stdout
    assert story.trainc("build", "-w").returncode == 0
    assert story.commit().returncode == 0
    for step in (VALIDATE, CHECK, COMMENT):
        succeeds(story.step(step))
    (comment,) = story.bodies()
    assert "| new | `research/gpt` |" in comment
    assert '"gpt"' in page_of(story.folder)


def _is_mended_in_an_editor(story: PullRequest) -> None:
    """A slip of the pen is underlined, and the quick fix takes it back."""
    from tests.lsp.editor import editor, run  # noqa: PLC0415 (needs pygls)
    from tests.lsp.test_questions import applied  # noqa: PLC0415

    right = story.read(JOB)
    wrong = right.replace("numNodes: 2", 'numNodes: "2"')

    async def mend() -> None:
        async with editor(story.folder) as one:
            uri = one.open(story.folder / JOB, wrong)
            (underlined,) = [found for found in await one.diagnostics(uri) if found.code == "invalid-field"]
            context = types.CodeActionContext([underlined])
            given = types.CodeActionParams(types.TextDocumentIdentifier(uri), underlined.range, context)
            actions: Any = await one.client.text_document_code_action_async(given)
            edits = actions[0].edit.changes[uri]
            one.change(uri, applied(wrong, edits))
            assert "invalid-field" not in [found.code for found in await one.diagnostics(uri)]
            story.write(JOB, one.texts[uri])

    run(mend())
    assert story.read(JOB) == right
