"""One job through all doors: written by the SDK, mended in an editor, let in by the hook, reviewed, looked at."""

import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests import extras
from tests.cli.test_action import CHECK, COMMENT, VALIDATE, PullRequest, succeeds
from tests.report.page.browser import PROGRAMS, Browser
from tests.report.page.pages import Page, page_of
from trainc.kubeflow import trainer_client

pytestmark = pytest.mark.slow

types = extras.package("lsprotocol.types")
with warnings.catch_warnings():  # the SDK's own models are written for an older pydantic
    warnings.simplefilter("ignore")
    trainer = extras.package("kubeflow.trainer")
    options = extras.package("kubeflow.trainer.options")

JOB = "jobs/gpt.yaml"


def test_story(tmp_path: Path) -> None:
    story = PullRequest(tmp_path)
    story.hooks()
    container = trainer.CustomTrainerContainer(image="registry.example.com/ml/line:1.0.0", num_nodes=2)
    client = trainer_client(story.folder, namespace="research")
    client.train("torch", trainer=container, options=[options.Name("gpt")])
    _is_mended_in_an_editor(story)
    refused = story.commit()
    assert refused.returncode == 1
    assert "`rendered/research/gpt.yaml` has not been rendered" in refused.stdout
    assert story.trainc("build", "-w").returncode == 0
    assert story.commit().returncode == 0
    assert story.git("status", "--porcelain").stdout == ""
    assert [job.num_nodes for job in client.list_jobs() if job.name == "gpt"] == [2]
    for step in (VALIDATE, CHECK, COMMENT):
        succeeds(story.step(step))
    (comment,) = story.bodies()
    assert "| new | `research/gpt` |" in comment
    _is_looked_at(story, tmp_path)


def _is_looked_at(story: PullRequest, folder: Path) -> None:
    """The page has the job, and says where its image is written; in Chromium somebody looks for it and clicks."""
    text = page_of(story.folder)
    assert "research/gpt" in [f"{job['namespace']}/{job['name']}" for job in Page(text).data("index")[0]["jobs"]]
    if any(shutil.which(program) is None for program in PROGRAMS):
        return
    (folder / "page.html").write_text(text, "utf-8")
    (folder / "browser").mkdir()
    browser = Browser(folder / "browser")
    try:
        browser.open(folder / "page.html", 1280)
        browser.click("#search")
        browser.press("gpt")
        browser.wait("return document.querySelector('tbody a')?.textContent === 'research/gpt'")
        browser.click("tbody a")
        browser.wait("return document.querySelector('h1').textContent === 'research/gpt'")
        assert browser.run("return document.querySelectorAll('svg .pod, svg .first').length") == 2
        field = "[...document.querySelectorAll('.manifest button')].find((one) => one.textContent.startsWith('image:'))"
        browser.run(f"{field}.click()")
        assert JOB in browser.run(f"return {field}.nextElementSibling.textContent")
        assert browser.errors() == []
    finally:
        browser.stop()


def _is_mended_in_an_editor(story: PullRequest) -> None:
    """A slip of the pen is underlined, and the quick fix takes it back."""
    from tests.integrations.lsp.editor import editor, run  # noqa: PLC0415 (needs pygls)
    from tests.integrations.lsp.test_questions import applied  # noqa: PLC0415

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
