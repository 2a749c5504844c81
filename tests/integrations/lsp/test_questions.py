"""Hover, definition, completion and quick fixes, by a real client in front of the real server process."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.uris import to_fs_path

from tests.compiling import ROOT
from tests.integrations.lsp.editor import Editor, editor, run

pytestmark = pytest.mark.slow

JOB = "jobs/llm/base-7b.yaml"
TYPED = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: typed
  namespace: llm
  annotations:
    trainc.dev/run: "1"
spec:
  runtimeRef:
    name: llm
"""


@pytest.fixture
def platform(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples/platform", tmp_path / "platform"))


async def hovered(one: Editor, uri: str, text: str) -> str:
    found = await one.client.text_document_hover_async(types.HoverParams(**one.at(uri, text)))
    if found is None:
        return ""
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


async def defined(one: Editor, uri: str, text: str, root: Path) -> list[tuple[str, int]]:
    found: Any = await one.client.text_document_definition_async(types.DefinitionParams(**one.at(uri, text)))
    return [(Path(str(to_fs_path(at.uri))).relative_to(root).as_posix(), at.range.start.line + 1) for at in found]


async def candidates(one: Editor, uri: str, before: str) -> list[types.CompletionItem]:
    found: Any = await one.client.text_document_completion_async(
        types.CompletionParams(types.TextDocumentIdentifier(uri), end_of(one, uri, before))
    )
    return list(found)


def end_of(one: Editor, uri: str, text: str) -> types.Position:
    before = one.texts[uri][: one.texts[uri].index(text) + len(text)]
    return types.Position(before.count("\n"), len(before.rpartition("\n")[2]))


def applied(text: str, edits: list[types.TextEdit]) -> str:
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    for edit in sorted(edits, key=lambda one: one.range.start.line, reverse=True):
        start, end = (starts[at.line] + at.character for at in (edit.range.start, edit.range.end))
        text = text[:start] + edit.new_text + text[end:]
    return text


def test_hover_says_what_a_field_is_and_where_it_lands(platform: Path) -> None:
    async def story() -> None:
        async with editor(platform) as one:
            uri = one.open(platform / JOB)
            said = await hovered(one, uri, "numNodes")
            assert said.startswith("`TrainJob.spec.trainer.numNodes` integer")
            said = await hovered(one, uri, "8")
            assert "lands in JobSet/base-7b spec.replicatedJobs[node].template.spec.parallelism" in said
            said = await hovered(one, uri, "runtimeRef")
            assert said.startswith("`TrainJob.spec.runtimeRef`")
            one.change(uri, one.texts[uri] + "    broken: [\n")
            assert await hovered(one, uri, "numNodes") == ""
            runtime = one.open(platform / "runtimes/torch-gpu.yaml")
            assert "JobSet/" in await hovered(one, runtime, "nvidia.com/gpu: ")

    run(story())


def test_hover_on_a_rendered_file_says_who_set_it(platform: Path) -> None:
    shutil.copytree(platform / "output", platform / "rendered")

    async def story() -> None:
        async with editor(platform) as one:
            uri = one.open(platform / "rendered/eu/llm/base-7b.yaml")
            said = await hovered(one, uri, "parallelism: 8")
            assert "set by overrides (" in said
            assert " at jobs/llm/base-7b.yaml:" in said

    run(story())


def test_definitions(platform: Path) -> None:
    async def story() -> None:
        async with editor(platform) as one:
            job = one.open(platform / JOB)
            assert await defined(one, job, "name: llm", platform) == [("runtimes/llm.yaml", 5)]
            runtime = one.open(platform / "runtimes/llm.yaml")
            assert await defined(one, runtime, "torch-gpu", platform) == [("runtimes/torch-gpu.yaml", 5)]
            settings = one.open(platform / "trainc.yaml")
            assert await defined(one, settings, "gke-tcpxo", platform) == [("runtimes/components/gke-tcpxo.yaml", 10)]
            queues = await defined(one, settings, "queue: training", platform)
            assert {file for file, _ in queues} == {"clusters/eu/queues.yaml", "clusters/us/queues.yaml"}
            one.change(
                job,
                one.texts[job].replace(
                    "  name: base-7b", "  name: base-7b\n  annotations:\n    trainc.dev/cluster: us,eu"
                ),
            )
            assert await defined(one, job, "eu", platform) == [("trainc.yaml", 7)]
            assert await defined(one, job, "numNodes", platform) == []

    run(story())


FIELDS: list[tuple[str, set[str], str]] = [
    ("  trainer:\n    num", {"numNodes", "numProcPerNode"}, "runtimeRef"),
    ("  trainer:\n    numNodes: 2\n    ", {"numProcPerNode", "image", "env"}, "numNodes"),
    ("  trainer:\n    env:\n      - ", {"name", "value", "valueFrom"}, "image"),
    ("  suspend: ", {"true", "false"}, "numNodes"),
    ("  ", {"trainer", "initializer", "runtimePatches"}, "runtimeRef"),
    ("  trainer: [}\n  init", {"initializer"}, "trainer"),
]


def test_fields_fit_where_they_are_written(platform: Path) -> None:
    async def story() -> None:
        async with editor(platform) as one:
            uri = one.open(platform / "jobs/llm/typed.yaml", TYPED)
            for text, wanted, other in FIELDS:
                one.change(uri, TYPED + text)
                found = {item.label for item in await candidates(one, uri, TYPED + text)}
                assert wanted <= found, text
                assert other not in found, text

    run(story())


_PATCH = """\
  runtimePatches:
    - manager: team.example.org/x
      trainingRuntimeSpec:
        template:
          spec:
            replicatedJobs:
              - name: node
                template:
                  spec:
                    template:
                      spec:
                        containers:
                          - name: """


NAMES: list[tuple[str, str, set[str]]] = [
        ("jobs/llm/typed.yaml", TYPED.removesuffix("llm\n"), {"llm", "perception", "torch-base", "torch-distributed"}),
        ("jobs/llm/typed.yaml", TYPED.replace('"1"\n', '"1"\n    trainc.dev/components: shm, ').partition("spec:")[0].rstrip("\n"), {"shm", "tracking"}),
        ("jobs/llm/typed.yaml", TYPED.partition("spec:")[0] + "    ", {"trainc.dev/cluster", "trainc.dev/components"}),
        ("jobs/llm/typed.yaml", TYPED.replace('run: "1"', "cluster: ").partition("\nspec:")[0], {"eu", "us"}),
        ("jobs/llm/typed.yaml", TYPED + _PATCH, {"node"}),
        ("runtimes/typed.yaml", "apiVersion: trainc.dev/v1alpha1\nkind: Runtime\nspec:\n  components:\n    - ", {"shm", "checkpoints"}),
        ("trainc.yaml", "apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec:\n  clusters:\n    eu:\n      folder: clusters/eu\n      queue: ", {"training"}),
        ("jobs/llm/typed.yaml", "kind: Train", {"TrainJob"}),
    ]  # fmt: skip


def test_names_of_the_project_are_offered(platform: Path) -> None:
    async def story() -> None:
        async with editor(platform) as one:
            for file, text, wanted in NAMES:
                uri = one.open(platform / file, text)
                found = {item.label for item in await candidates(one, uri, text)}
                assert wanted <= found, text
                assert not found & {"numNodes", "apiVersion"}, text
                one.close(uri)

    run(story())


def test_a_quick_fix_is_applied_and_the_finding_is_gone(platform: Path) -> None:
    async def story() -> None:
        async with editor(platform) as one:
            uri = one.open(platform / JOB)
            right = one.texts[uri]
            one.change(uri, right.replace("numNodes: 8", 'numNodes: "8"  # eight'))
            found = await one.diagnostics(uri)
            document = types.TextDocumentIdentifier(uri)
            given = types.CodeActionParams(document, found[0].range, types.CodeActionContext(found))
            actions: Any = await one.client.text_document_code_action_async(given)
            quick = next(action for action in actions if action.kind == types.CodeActionKind.QuickFix)
            assert quick.is_preferred
            assert list(quick.diagnostics) == found
            assert quick.title.endswith("[invalid-field]")
            one.change(uri, applied(one.texts[uri], quick.edit.changes[uri]))
            assert one.texts[uri].split() == right.replace("numNodes: 8", "numNodes: 8  # eight").split()
            assert await one.diagnostics(uri) == []
            start = types.Range(types.Position(0, 0), types.Position(0, 0))
            for only in (None, [types.CodeActionKind.Refactor]):
                given = types.CodeActionParams(document, start, types.CodeActionContext([], only=only))
                assert not await one.client.text_document_code_action_async(given)

    run(story())


def test_all_safe_edits_are_one_action(platform: Path) -> None:
    async def story() -> None:
        async with editor(platform) as one:
            uri = one.open(platform / JOB)
            text = one.texts[uri].replace("numNodes: 8", 'numNodes: "8"').replace("spec:", 'spec:\n  suspend: "false"')
            one.change(uri, text)
            start = types.Range(types.Position(0, 0), types.Position(0, 0))
            only = [types.CodeActionKind.SourceFixAll]
            given = types.CodeActionParams(
                types.TextDocumentIdentifier(uri), start, types.CodeActionContext([], only=only)
            )
            actions: Any = await one.client.text_document_code_action_async(given)
            assert [action.kind for action in actions] == ["source.fixAll.trainc"]
            changed = applied(text, actions[0].edit.changes[uri])
            assert "  suspend: false\n" in changed
            assert "    numNodes: 8\n" in changed
            one.change(uri, changed)
            assert await one.diagnostics(uri) == []

    run(story())
