"""What is wrong is underlined while people type, by a real client in front of the real server process."""

import shutil
from pathlib import Path

import pytest
from lsprotocol import types

from tests.compiling import ROOT
from tests.integrations.lsp.editor import editor, run

pytestmark = pytest.mark.slow

JOB = "jobs/llm/base-7b.yaml"


@pytest.fixture
def platform(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples/platform", tmp_path / "platform"))


def codes(found: list[types.Diagnostic]) -> list[str]:
    return [str(one.code) for one in found]


def test_a_mistake_is_underlined_while_it_is_there(platform: Path) -> None:
    async def story() -> None:
        async with editor(platform) as one:
            uri = one.open(platform / JOB)
            assert await one.diagnostics(uri) == []
            right = one.texts[uri]
            one.change(uri, right.replace("numNodes: 8", "numNode: 8"))
            found = await one.diagnostics(uri)
            assert codes(found) == ["unknown-field"]
            assert found[0].range == types.Range(types.Position(10, 4), types.Position(10, 11))
            assert "did you mean `numNodes`?" in found[0].message
            assert found[0].severity is types.DiagnosticSeverity.Error
            one.change(uri, right.replace("numNodes: 8", "numNodes: ["))
            assert codes(await one.diagnostics(uri)) == ["yaml-syntax"]
            one.change(uri, right)
            assert await one.diagnostics(uri) == []

    run(story())


def test_every_beginning_of_a_file_is_answered(platform: Path) -> None:
    async def story() -> None:
        async with editor(platform) as one:
            uri = one.open(platform / JOB)
            text = one.texts[uri]
            for end in range(0, len(text), 23):
                one.change(uri, text[:end])
                await one.diagnostics(uri)
            one.change(uri, text)
            assert await one.diagnostics(uri) == []

    run(story())


def test_an_unsaved_runtime_counts_for_jobs_and_their_files(platform: Path) -> None:
    async def story() -> None:
        async with editor(platform) as one:
            job = one.open(platform / JOB)
            runtime = one.open(platform / "runtimes/llm.yaml")
            right = one.texts[runtime]
            one.change(runtime, right.replace("name: llm", "name: another"))
            found = await one.until(job, lambda found: found.diagnostics)
            assert codes(found) == ["missing-runtime"]
            other = one.uri(platform / "jobs/llm/chat-7b.yaml")
            assert codes(await one.until(other, lambda _: True)) == ["missing-runtime"]
            one.change(runtime, right)
            assert await one.until(job, lambda found: not found.diagnostics) == []
            assert await one.until(other, lambda found: not found.diagnostics) == []
            one.close(job)
            one.close(runtime)
            one.texts[job] = right

    run(story())


def test_jobs_of_one_name_are_found_after_a_pause_and_taken_back(platform: Path) -> None:
    async def story() -> None:
        async with editor(platform) as one:
            uri = one.open(platform / "jobs/llm/chat-7b.yaml")
            assert await one.diagnostics(uri) == []
            text = one.texts[uri]
            one.change(uri, text.replace("name: chat-7b", "name: base-7b"))
            assert codes(await one.until(uri, lambda found: found.diagnostics)) == ["same-name"]
            one.change(uri, text)
            assert await one.until(uri, lambda found: found.version == 3) == []
            assert await one.until(uri, lambda found: not found.diagnostics) == []

    run(story())


def test_trainc_yaml_is_judged_as_it_stands_in_the_editor(platform: Path) -> None:
    async def story() -> None:
        async with editor(platform) as one:
            uri = one.open(platform / "trainc.yaml")
            assert await one.diagnostics(uri) == []
            text = one.texts[uri]
            one.change(uri, text.replace("scheduler: kueue", "schedule: kueue"))
            assert codes(await one.diagnostics(uri)) == ["bad-project"]
            one.change(uri, text.replace("queue: training", "queue: traning"))
            assert codes(await one.until(uri, lambda found: "unknown-queue" in codes(found.diagnostics)))
            one.change(uri, text)
            assert await one.until(uri, lambda found: not found.diagnostics) == []

    run(story())


@pytest.mark.parametrize(
    ("encoding", "start"), [("utf-16", 34), ("utf-8", 36), ("utf-32", 33)], ids=["utf-16", "utf-8", "utf-32"]
)
def test_positions_count_what_the_editor_asked_for(encoding: str, start: int, platform: Path) -> None:
    async def story() -> None:
        async with editor(platform, encodings=None if encoding == "utf-16" else [encoding]) as one:
            uri = one.open(platform / JOB)
            one.change(
                uri,
                one.texts[uri].replace(
                    "  name: base-7b", '  labels: {note: "\U0001d6fc of runs", b: [c]}\n  name: base-7b'
                ),
            )
            found = await one.diagnostics(uri)
            assert codes(found) == ["undecodable"]
            assert found[0].range.start == types.Position(4, start)

    run(story())


def test_files_outside_of_a_project_and_other_texts(tmp_path: Path, platform: Path) -> None:
    lonely = tmp_path / "elsewhere"
    lonely.mkdir()
    (lonely / "other.yaml").write_text("kind: TrainJob\nspec: [", "utf-8")

    async def story() -> None:
        async with editor(platform, lonely) as one:
            job = one.open(lonely / "job.yaml", (platform / JOB).read_text("utf-8"))  # never saved
            assert codes(await one.diagnostics(job)) == ["missing-runtime"]
            values = one.open(lonely / "values.yaml", "replicas: 1\n")
            assert await one.diagnostics(values) == []
            assert one.uri(lonely / "other.yaml") not in one.known
            gone = one.open(lonely / "no" / "such" / "folder" / "job.yaml", "kind: TrainJob\n")
            await one.diagnostics(gone)
            untitled = types.TextDocumentItem("untitled:Untitled-1", "yaml", 1, "kind: TrainJob\n")
            one.client.text_document_did_open(types.DidOpenTextDocumentParams(untitled))
            inside = one.open(platform / JOB)
            assert await one.diagnostics(inside) == []

    run(story())


def test_a_link_that_leads_out_of_the_project_is_not_read(tmp_path: Path, platform: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text("kind: TrainJob\nspec: [\n", "utf-8")
    (platform / "jobs/linked.yaml").symlink_to(secret)

    async def story() -> None:
        async with editor(platform) as one:
            linked = one.open(platform / "jobs/linked.yaml")
            assert await one.diagnostics(linked) == []
            job = one.open(platform / JOB)
            assert await one.diagnostics(job) == []

    run(story())


def test_a_file_that_changes_on_the_disk_is_read_again(platform: Path) -> None:
    async def story() -> None:
        async with editor(platform) as one:
            job = one.open(platform / JOB)
            assert await one.diagnostics(job) == []
            (platform / "runtimes/llm.yaml").unlink()
            event = types.FileEvent(one.uri(platform / "runtimes/llm.yaml"), types.FileChangeType.Deleted)
            one.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
            assert codes(await one.until(job, lambda found: found.diagnostics)) == ["missing-runtime"]
            one.close(job)
            assert await one.until(job, lambda found: not found.diagnostics) == []

    run(story())


def test_a_project_that_cannot_be_read_says_so_and_comes_back(tmp_path: Path, platform: Path) -> None:
    elsewhere = tmp_path / "elsewhere.yaml"
    settings = platform / "trainc.yaml"
    shutil.move(settings, elsewhere)
    settings.symlink_to(elsewhere)

    async def story() -> None:
        async with editor(platform) as one:
            uri = one.open(platform / JOB)
            found = await one.diagnostics(uri)
            assert [one.message.partition(" is a symbolic link ")[2] for one in found] == [
                "to a file outside its folder; put the file itself there"
            ]
            one.change(uri, one.texts[uri] + "# typed\n")
            assert len(await one.diagnostics(uri)) == 1
            settings.unlink()
            shutil.move(elsewhere, settings)
            one.change(uri, one.texts[uri] + "# typed\n")
            assert await one.until(uri, lambda found: not found.diagnostics) == []

    run(story())


def test_what_a_closed_file_did_not_save_is_forgotten(platform: Path) -> None:
    async def story() -> None:
        async with editor(platform) as one:
            kept = one.open(platform / JOB)
            assert await one.diagnostics(kept) == []
            uri = one.open(platform / "jobs/llm/chat-7b.yaml")
            one.change(uri, one.texts[uri].replace("runtimeRef", "runtimeReff"))
            assert await one.diagnostics(uri)
            one.close(uri)
            assert await one.until(uri, lambda found: not found.diagnostics) == []

    run(story())
