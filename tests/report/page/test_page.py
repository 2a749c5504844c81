"""`trainc show --report html`: one page without a network, on which nothing of users' files can run."""

import base64
import hashlib
import json
import shutil
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.compiling import ROOT, compile_in
from tests.report.page.pages import HOSTILE, Page, page_of
from tests.repository import RUNTIME, Repository, job
from trainc.report.page import data
from trainc.report.page.data import page_html
from trainc.report.page.texts import SourceLines


@pytest.fixture
def example(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples/fit-kueue", tmp_path / "a")
    return tmp_path / "a"


def test_the_data_of_a_page(example: Path, snapshot: SnapshotAssertion) -> None:
    page = Page(page_of(example))
    assert json.dumps(page.data("index"), indent=1) == snapshot


def test_the_page_asks_nobody_and_runs_its_own_script_alone(example: Path) -> None:
    page = Page(page_of(example))
    names = [tag for tag, _ in page.elements]
    assert names.count("script") == 3
    assert not {"link", "img", "iframe", "object", "base"} & set(names)
    targets = [attributes.get(name) for _, attributes in page.elements for name in ("src", "href", "action")]
    assert all(target is None or target.startswith("#") for target in targets)
    policy = next(attributes["content"] for _, attributes in page.elements if "http-equiv" in attributes)
    style, *scripts = (text for tag, text in page.texts if tag in {"style", "script"})
    assert policy == (
        f"default-src 'none'; style-src '{digest(style)}'; script-src '{digest(scripts[-1])}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert not [
        name for _, attributes in page.elements for name in attributes if name.startswith("on") or name == "style"
    ]


def digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def test_the_same_input_gives_the_same_bytes_wherever_it_lies(example: Path, tmp_path: Path) -> None:
    shutil.copytree(example, tmp_path / "deeper/b")
    first = page_of(example)
    assert first == page_of(tmp_path / "deeper/b")
    assert first == page_of(tmp_path, "a")
    assert str(tmp_path) not in first


def test_a_file_is_written_whole(example: Path) -> None:
    assert compile_in(example, "show", "--report", "html", "-o", "page.html").out == ""
    assert (example / "page.html").read_text("utf-8") == page_of(example)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--report", "html", "--rank", "0"], "omit --rank"),
        (["-o", "page.html"], "-o works only with --report html"),
    ],
)
def test_options_that_say_nothing_to_a_page_are_refused(example: Path, words: list[str], told: str) -> None:
    done = compile_in(example, "show", *words)
    assert done.code == 2
    assert told in done.err


def test_names_of_strangers_stay_text(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write("runtimes/torch.yaml", RUNTIME)
    repository.write(
        "jobs/good.yaml",
        job("good").replace("spec:\n", f'  labels: {{a: b}}\n  annotations: {{note: "{HOSTILE}"}}\nspec:\n', 1),
    )
    repository.write("jobs/bad.yaml", job(f"'{HOSTILE}'"))
    text = page_of(tmp_path)
    page = Page(text)
    assert [tag for tag, _ in page.elements].count("script") == 3
    assert "img" not in [tag for tag, _ in page.elements]
    assert HOSTILE not in text
    index = page.data("index")[0]
    assert [entry["name"] for entry in index["refused"]] == [HOSTILE]
    note = index["findings"][0]["message"]
    assert HOSTILE in note


def test_a_title_is_text() -> None:
    page = Page("".join(page_html(HOSTILE, [HOSTILE], [])))
    assert [text for tag, text in page.texts if tag == "title"] == [HOSTILE]
    assert page.data("index") == [HOSTILE]


def test_jobs_that_are_not_compiled_are_on_the_page(tmp_path: Path) -> None:
    repository = Repository(tmp_path, "good")
    repository.write("jobs/bad.yaml", job("bad").replace("numNodes", "numNode"))
    done = compile_in(tmp_path, "show", "--report", "html")
    assert done.code == 1
    assert done.err == "trainc: 1 job is not compiled; the page shows why\n"
    index = Page(done.out).data("index")[0]
    assert [entry["name"] for entry in index["jobs"]] == ["good"]
    (refused,) = index["refused"]
    assert refused["cause"].endswith("no field `numNode` here")
    assert refused["mistake"] == {"file": "jobs/bad.yaml", "line": 10}
    assert index["findings"][0]["labels"][0]["file"] == "jobs/bad.yaml"


def test_secrets_are_hidden_wherever_they_stand(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    text = job("good").replace("numNodes", "env: [{name: HF_TOKEN, value: verysecretword}]\n    numNodes")
    repository.write("jobs/good.yaml", text)
    manifest = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  token: verysecretword\n"
    repository.write("jobs/refused.yaml", text.replace("name: good", "name: refused").replace("numNodes", "numNode"))
    repository.write(
        "jobs/broken.yaml",
        text.replace("[{name: HF_TOKEN, value: verysecretword}", "[{name: HF_TOKEN, value: verysecretword}} "),
    )
    repository.write(
        "jobs/secret.yaml", f"{manifest}  b: [\n---\n{text.replace('name: good', 'name: named')}---\n{manifest}"
    )
    page = page_of(tmp_path)
    assert "HF_TOKEN" in page
    assert "verysecretword" not in page


def test_every_field_says_where_it_comes_from(example: Path) -> None:
    page = Page(page_of(example))
    index, details = page.data("index")[0], page.data("details")[0]
    tables = details["tables"]
    found = {}
    for label, shape, *changes in details["objects"][0]:
        numbers = list(tables["shapes"][shape])
        for position, number in zip(changes[::2], changes[1::2], strict=True):
            numbers[position] = number
        for number in numbers:
            path, content, setter, beaten = tables["fields"][number]
            key = f"{tables['texts'][label]} {tables['paths'][path][0]}"
            found[key] = (tables["values"][content], [tables["texts"][at] for at in tables["setters"][setter][:3]])
            assert beaten == -1 or tables["beaten"][beaten]
    assert index["jobs"][0]["name"] == "chat-70b"
    assert found["JobSet/chat-70b metadata.name"][0] == "chat-70b"
    where = "JobSet/chat-70b spec.replicatedJobs[node].template.spec.parallelism"
    assert found[where] == (8, ["overrides", "spec.trainer, spec.initializer", ""])


def test_what_does_not_fit_is_counted(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "MAX_CELLS", 10)
    monkeypatch.setattr(data, "MAX_FINDINGS", 0)
    page = Page(page_of(example))
    assert page.data("details")[0]["objects"][1] is None
    left = page.data("index")[0]["left"]
    assert [words.partition(";")[0] for words in left] == ["the manifest fields of 1 job", "the details of 1 finding"]


def test_projects_of_one_repository_share_a_page(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        Repository(tmp_path / name, "good")
    page = Page(page_of(tmp_path))
    assert [(index["folder"], index["jobs"][0]["file"]) for index in page.data("index")] == [
        ("one", "jobs/good.yaml"),
        ("two", "jobs/good.yaml"),
    ]


def test_nothing_to_show_is_said(tmp_path: Path) -> None:
    done = compile_in(tmp_path, "show", "--report", "html")
    assert done.code == 2
    assert "nothing to show" in done.err


def test_lines_are_cut_and_secrets_in_sentences_hidden() -> None:
    lines = SourceLines(lambda _: ["- name: API_KEY", "  value: abcdefgh", "- " + "x" * 1000])
    lines.want("a", 2, around=2)
    assert lines.sentence("`abcdefgh` is not a number", "a") == "`(hidden)` is not a number"
    assert lines.shown()["a"][2] == "  value: (hidden)"
