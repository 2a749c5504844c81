"""Edits of findings in the text, comments and quotes kept."""

import json
from pathlib import Path

import pytest
import yaml

from tests.changes.migrate.comments import comments
from tests.compiling import compile_in
from tests.kinds.samples.jobs import Compiled
from tests.repository import Repository
from trainc.changes.fix import diff, fix, replacements
from trainc.model.finding import ERROR, Edit, Finding, Rule
from trainc.model.sourced import Span

RULE = Rule("some-rule", ERROR, "something")
TEXT = """\
# top
a:  # one
  b: "x"   # two
  c:
    - name: n  # three
      v: 1
    - name: m
d: 'q'
---
a: {b: 2}
"""


def found(
    *edits: tuple[tuple[str | int, ...], object], line: int = 2, safety: str = "safe", file: str = "f.yaml"
) -> Finding:
    fixes = [Edit(file, line, path, value, safety=safety) for path, value in edits]
    return RULE.at(Span(file, line, 1, line, 2), f"{edits}", fix=fixes)


@pytest.mark.parametrize(
    ("edits", "line", "old", "new"),
    [
        ([(("a", "b"), "y")], 2, 'b: "x"   # two', 'b: "y"   # two'),
        ([(("d",), None)], 2, "d: 'q'\n", ""),
        ([(("a", "c", 0, "v"), 2)], 2, "v: 1", "v: 2"),
        ([(("a", "b"), 3)], 9, "a: {b: 2}", "a: {b: 3}"),
        ([(("a", "n", "o"), True)], 2, "d: 'q'", "d: 'q'"),
        ([(("a", "c", 0), None)], 2, "    - name: n  # three\n      v: 1\n", ""),
        ([(("e",), "yes")], 2, "d: 'q'\n", "d: 'q'\ne: \"yes\"\n"),
    ],
)
def test_edits_change_their_place_and_nothing_else(
    edits: list[tuple[tuple[str | int, ...], object]], line: int, old: str, new: str
) -> None:
    done = fix(TEXT, [found(*edits, line=line)], "f.yaml")
    assert len(done.applied) == 1
    if old == new:
        assert "n:\n    o: true" in done.text
    else:
        assert done.text == TEXT.replace(old, new, 1)


def edited(text: str, *edits: Edit) -> str:
    done = fix(text, [RULE.at(Span("f.yaml", 1, 1, 1, 2), "wrong", fix=edits)], "f.yaml")
    assert len(done.applied) == 1
    return done.text


def test_a_key_gets_another_name_in_its_place() -> None:
    assert edited(TEXT, Edit("f.yaml", 2, ("a",), name="A")) == TEXT.replace("a:  # one", "A:  # one", 1)


def test_a_scalar_is_found_by_its_place() -> None:
    assert edited(TEXT, Edit("f.yaml", 2, (), "y", at=Span("f.yaml", 3, 6, 3, 9))) == TEXT.replace('"x"', '"y"', 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("e: {A: '1', B: x}  # both\n", "e: [{name: A, value: '1'}, {name: B, value: x}] # both\n"),
        (
            "e:\n  # above\n  A: '1'  # one\n  B: x\n",
            "e:\n  # above\n- name: A\n  value: '1' # one\n- name: B\n  value: x\n",
        ),
        (
            "l: [a]\nm:\n    - b\ne:\n    A: '1'\n    B: x\n",
            "l: [a]\nm:\n    - b\ne:\n    - name: A\n      value: '1'\n    - name: B\n      value: x\n",
        ),
    ],
)
def test_a_map_becomes_a_list_of_names_and_values(old: str, new: str) -> None:
    entries = [{"name": "A", "value": "1"}, {"name": "B", "value": "x"}]
    assert edited(old, Edit("f.yaml", 1, ("e",), entries)) == new


def test_a_text_becomes_a_list_of_words() -> None:
    assert edited("c: a b  # it\n", Edit("f.yaml", 1, ("c",), ["a", "b"])) == "c: [a, b] # it\n"


ODD = """\
a:   {  b: 1,c: 2 }   # spaces
l:
    -   x
    -   "y"
m: [
  p,
  q,
]
d:    1
"""


@pytest.mark.parametrize(("path", "value", "line"), [(("d",), 2, "d:    1"), (("l", 1), "z", '    -   "y"')])
def test_lines_that_no_edit_concerns_stay_as_they_are(path: tuple[str | int, ...], value: object, line: str) -> None:
    lines = edited(ODD, Edit("f.yaml", 1, path, value)).splitlines()
    assert [one for one in ODD.splitlines() if one not in lines] == [line]
    assert len(lines) == len(ODD.splitlines())


def test_an_editor_gets_what_differs() -> None:
    finding = RULE.at(Span("f.yaml", 3, 6, 3, 9), "wrong", fix=[Edit("f.yaml", 2, ("a", "b"), "yy")])
    assert replacements(TEXT, finding, "f.yaml") == [(3, 7, 3, 10, 'yy"')]


@pytest.mark.parametrize(
    ("safety", "unsafe", "applied"), [("unsafe", False, 0), ("unsafe", True, 1), ("display-only", True, 0)]
)
def test_what_may_change_the_meaning_waits_for_a_person(safety: str, unsafe: bool, applied: int) -> None:
    done = fix(TEXT, [found((("d",), "r"), safety=safety)], "f.yaml", unsafe=unsafe)
    assert len(done.applied) == applied
    assert (done.text == TEXT) is (applied == 0)


def test_of_two_edits_of_one_place_the_first_wins() -> None:
    done = fix(TEXT, [found((("d",), "r")), found((("d",), "s"))], "f.yaml")
    assert ("d: 'r'" in done.text, len(done.left)) == (True, 1)


def test_edits_of_other_files_are_left() -> None:
    assert fix(TEXT, [found((("d",), "r"), file="g.yaml")], "f.yaml").text == TEXT


def test_a_diff_shows_the_change() -> None:
    done = fix(TEXT, [found((("d",), "r"))], "f.yaml")
    assert {"-d: 'q'", "+d: 'r'"} <= set(diff(TEXT, done.text, "f.yaml"))
    assert diff(TEXT, TEXT, "f.yaml") == []


BROKEN = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: demo}
spec:
  runPolicy: {managedBy: ""}  # nobody
  pytorchReplicaSpecs:
    Master:  # the first
      template:
        spec:
          containers:
            - name: main  # trains
              image: img
    worker:  # the others
      replicas: 2
      template: {spec: {containers: [{name: pytorch, image: img}]}}
"""


def test_a_refused_job_is_mended_by_its_findings() -> None:
    before = Compiled(BROKEN)
    assert len(before.refusals) == 3
    done = fix(BROKEN, before.report.findings, "job.yaml")
    assert "Worker:  # the others" in done.text
    assert "- name: pytorch" in done.text
    assert comments(done.text) == comments(BROKEN)
    after = Compiled(done.text)
    assert after.refusals == []
    assert fix(done.text, after.report.findings, "job.yaml").text == done.text


@pytest.mark.parametrize("comment", ["", "    # the last\n", "        # deeper\n\n", "# far\n"])
def test_a_new_entry_stands_in_the_column_of_those_beside_it(comment: str) -> None:
    """All of the file was laid out anew where it had four columns and the entry came last."""
    text = f"a:\n    b: 1\n    c:\n        - d\n{comment}e:\n    f: 2\n"
    done = fix(text, [found((("a", "g"), {"h": "i"}), line=1)], "f.yaml").text
    assert [line for line in done.splitlines() if line not in text.splitlines()] == ["    g:", "      h: i"]
    assert done.replace("    g:\n      h: i\n", "") == text


JOB = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: distill, namespace: ml}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    numNodes: 2
    image: registry.example.com/ml/train:1.0
    command:
    - bash
    - -c
    - |
      # the head of the group
      accelerate launch --num_machines=2 --machine_rank=$JOB_COMPLETION_INDEX \\
        --main_process_ip=HOST --main_process_port=29500 train.py  # go
"""


@pytest.mark.parametrize("name", ["distill-worker-0", "distill-master-0"])
def test_a_script_keeps_all_but_the_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB.replace("HOST", name), "utf-8")
    assert compile_in(tmp_path, "fix", "-w", "job.yaml").code == 0
    assert (tmp_path / "job.yaml").read_text("utf-8") == JOB.replace("HOST", "distill-node-0-0.distill")


@pytest.mark.parametrize("name", ["distill-worker-1", "other-worker-0"])
def test_another_pod_is_left_to_a_person(name: str, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB.replace("HOST", name), "utf-8")
    compile_in(tmp_path, "fix", "-w", "job.yaml")
    assert (tmp_path / "job.yaml").read_text("utf-8") == JOB.replace("HOST", name)


JOBS = {
    "an unknown field": (
        {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob"},
        {"runtimeRef": {"name": "torch"}, "trainer": {"numnodes": 2, "image": "x:1", "command": ["a"]}},
        ("spec", "trainer", "numNodes"),
        2,
    ),
    "a number for a text": (
        {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob"},
        {
            "runtimeRef": {"name": "torch"},
            "trainer": {"image": "x:1", "command": ["a"], "env": [{"name": "A", "value": 1}]},
        },
        ("spec", "trainer", "env", 0, "value"),
        "1",
    ),
    "a version that nobody serves": (
        {"apiVersion": "kubeflow.org/v1", "kind": "TrainJob"},
        {"runtimeRef": {"name": "torch"}, "trainer": {"image": "x:1", "command": ["a"]}},
        ("apiVersion",),
        "trainer.kubeflow.org/v1alpha1",
    ),
    "a role in small letters": (
        {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"},
        {
            "pytorchReplicaSpecs": {
                "worker": {
                    "replicas": 1,
                    "template": {"spec": {"containers": [{"name": "pytorch", "image": "x:1", "command": ["a"]}]}},
                }
            }
        },
        ("spec", "pytorchReplicaSpecs", "Worker", "replicas"),
        1,
    ),
}


@pytest.mark.parametrize("layout", ["yaml", "json"])
@pytest.mark.parametrize("name", JOBS)
def test_the_item_is_mended_and_nothing_else(tmp_path: Path, name: str, layout: str) -> None:
    """There was no edit for most of them, and the others would have changed the List itself."""
    names, spec, (*above, last), value = JOBS[name]
    job = {**names, "metadata": {"name": "demo", "namespace": "ml"}, "spec": spec}
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "b"}}
    whole = {"apiVersion": "v1", "kind": "List", "items": [other, job]}
    file = f"listed.{layout}"
    text = json.dumps(whole, indent=2) if layout == "json" else yaml.safe_dump(whole, sort_keys=False)
    repository = Repository(tmp_path)
    repository.write(file, text)
    done = repository.run("fix", "--write", file)
    assert done.code == 0, done.err
    found = yaml.safe_load((tmp_path / file).read_text("utf-8"))
    assert (found["kind"], found["items"][0], set(found)) == ("List", other, set(whole))
    node = found["items"][1]
    for step in above:
        node = node[step]
    assert node[last] == value
    assert repository.run("validate", file).code == 0
