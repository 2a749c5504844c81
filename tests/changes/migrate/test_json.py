"""What is written as JSON stays JSON, in fix and migrate: other programs read such files too."""

import json
from typing import Any

import pytest

from tests.changes.migrate.test_round_trip import older
from tests.sampling import sampled
from trainc.changes.fix import fix
from trainc.changes.migrate import migrate
from trainc.changes.migrate.chunks import values
from trainc.changes.migrate.placed_text import says
from trainc.model.finding import ERROR, Edit, Rule
from trainc.model.sourced import Span

TREE: dict[str, Any] = {"a": {"b": [{"c": 1}, {"d": "é\u2028"}]}, "e": 1.5, "f": [], "g": {"h": None}}
LAYOUTS: dict[str, dict[str, Any]] = {
    "one line": {},
    "no spaces": {"separators": (",", ":")},
    "one column": {"indent": 1},
    "four columns": {"indent": 4},
    "tabs": {"indent": "\t"},
}


def edited(text: str, path: tuple[str | int, ...], value: object) -> str:
    edits = [Edit("f.json", 1, path, value)]
    finding = Rule("some-rule", ERROR, "something").at(Span("f.json", 1, 1, 1, 2), "wrong", fix=edits)
    return fix(text, [finding], "f.json").text


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "tabs"])
def test_an_edit_leaves_the_layout(layout: str, end: str) -> None:
    text = json.dumps(TREE, ensure_ascii=False, **LAYOUTS[layout]) + end
    wanted = {**TREE, "a": {"b": [{"c": 2}, {"d": "é\u2028"}]}}
    assert edited(text, ("a", "b", 0, "c"), 2) == json.dumps(wanted, ensure_ascii=False, **LAYOUTS[layout]) + end


def test_an_unusual_layout_stays_where_nothing_changes() -> None:
    text = '{\n  "a": [1,\n        2],\n  "b":   {"c": "x"},\n  "d": 1\n}\n'
    done = edited(text, ("d",), 2)
    assert json.loads(done) == {"a": [1, 2], "b": {"c": "x"}, "d": 2}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", sampled(range(8), quick=("1",)))
def test_an_older_job_becomes_the_same_as_in_yaml(seed: int, layout: str) -> None:
    [tree] = values(older(seed))
    text = json.dumps(tree, **LAYOUTS[layout])
    done = migrate(text)
    expected = values(migrate(older(seed)).text)
    found = json.loads(done.text)
    assert says(found["items"] if found["kind"] == "List" else [found], expected)
    assert migrate(done.text).text == done.text


def test_documents_in_braces_keep_their_marks_and_comments() -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "peers"},
        "spec": {"clusterIP": "None", "selector": {"job-name": "bert"}},
    }
    container = {"name": "a", "image": "x:1", "env": [{"name": "MASTER_ADDR", "value": "bert-0.peers"}]}
    pod = {"subdomain": "peers", "restartPolicy": "Never", "containers": [container]}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "bert"},
        "spec": {"completionMode": "Indexed", "completions": 2, "parallelism": 2, "template": {"spec": pod}},
    }
    for start in ("---\n", "--- "):
        text = "".join(f"{start}{json.dumps(one, indent=1)} # kept\n" for one in (job, service))
        done = migrate(text)
        assert not done.problems
        assert [one["kind"] for one in values(done.text)] == ["TrainJob", "TrainingRuntime", "Service"]
        assert done.text.count("# kept") == 2
        assert values(done.text)[2]["spec"]["selector"] == {"jobset.sigs.k8s.io/jobset-name": "bert"}


def test_a_former_spelling_changes_in_its_place() -> None:
    text = json.dumps(
        {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "metadata": {"name": "a"},
            "spec": {
                "runtimeRef": {"name": "torch-distributed"},
                "podTemplateOverrides": [{"targetJobs": [{"name": "node"}], "spec": {"serviceAccountName": "x"}}],
            },
        },
        indent=2,
    )
    done = json.loads(migrate(text).text)
    assert list(done["spec"]) == ["runtimeRef", "runtimePatches"]


@pytest.mark.parametrize("between", ["", "\n---\n"])
def test_characters_in_halves_are_whole(between: str) -> None:
    """The second of two documents with one became an empty List: its job was gone. `migrate` ended with 3."""
    tree = values(older(1))[0]
    tree["metadata"]["annotations"] = {"n": "\U0001f600", "m": "\\ud83d"}
    text = json.dumps(tree)
    assert "\\ud83d\\ude00" in text
    other = text.replace('"demo"', '"other"') if between else ""
    done = migrate(f"{text}{between}{other}")
    assert not done.problems
    jobs = [one for one in values(done.text) for one in one.get("items", [one]) if one["kind"] == "TrainJob"]
    assert [job["metadata"]["annotations"]["n"] for job in jobs] == ["\U0001f600"] * (1 + bool(between))
    edits = edited(text, ("metadata", "annotations", "n"), "x")
    assert json.loads(edits)["metadata"]["annotations"] == {"n": "x", "m": "\\ud83d"}
    if between:
        both = f"{text}{between}{text}"
        places = [Edit("f.json", line, ("metadata", "annotations", "o"), "y") for line in (1, 2)]
        finding = Rule("some-rule", ERROR, "something").at(Span("f.json", 1, 1, 1, 2), "wrong", fix=places)
        found = values(fix(both, [finding], "f.json").text)
        assert [one["metadata"]["annotations"]["o"] for one in found] == ["y", "y"]
