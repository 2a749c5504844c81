"""Both directions of `why` agree with each other, on every leaf; tests/test_cases.py holds them to the output."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compiling import Run, compile_in
from tests.sampling import sampled
from tests.test_cases import CASES, EXAMPLES, names, options
from trainc.apiserver.models.trainjob import Trainer
from trainc.authoring.explain import find, sample
from trainc.changes.why import LANDS, explain, landings, on_line
from trainc.compiler.load.lists import expand
from trainc.model.bundle import Bundle
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.tree import get, value
from trainc.yaml.reader import read

INHERITING = [case for case in CASES if "inheritance" in case.parts]


def run(folder: Path, place: Path) -> Run:
    if folder in CASES:
        shutil.copytree(folder / "input", place / "input")
        return compile_in(place, *options(folder))
    shutil.copytree(folder, place / "input", ignore=shutil.ignore_patterns("output"))
    done = compile_in(place, "build", "input", "-o", "output")
    assert done.bundles, done.err
    return done


def documents(run: Run, file: str) -> list[Document]:
    with open(f"{run.root}/{file}", "rb") as stream:
        return list(expand(read(stream.read(), file, Report()), Report()))


@pytest.mark.parametrize(
    "folder",
    sampled(
        [*INHERITING, *EXAMPLES],
        [*names(INHERITING, "tests"), *names(EXAMPLES, "examples")],
        quick=("cases/inheritance/extends-shipped", "armada"),
    ),
)
def test_a_line_lands_where_the_output_says_that_it_comes_from(folder: Path, tmp_path: Path) -> None:
    done = run(folder, tmp_path)
    told = {spot for bundle in done.bundles for spot in _origins(bundle) if not spot[0].startswith("trainc:")}
    texts = {file: documents(done, file) for file, *_ in told}
    found: set[tuple[str, int, str, str]] = set()
    lines = {(file, line) for file, line, *_ in told}
    for file, read_from in texts.items():
        for one in landings(read_from, "", done.bundles, ()):
            if (file, one.at.line) in lines and one.outcome == LANDS:
                found.update((file, one.at.line, field.object, field.path) for field in one.fields)
    assert found == told


def _origins(bundle: Bundle) -> set[tuple[str, int, str, str]]:
    """File and line of everything that a field of the output rests on, with the field."""
    return {
        (span.file, span.line, answer.object, answer.path)
        for answer in explain(bundle, "")
        for span in answer.winner.origin.spans()
    }


@pytest.mark.parametrize(
    "folder",
    sampled(INHERITING, names(INHERITING, "tests"), quick=("cases/inheritance/extends-shipped",)),
)
def test_every_line_with_a_value_has_an_answer(folder: Path, tmp_path: Path) -> None:
    done = run(folder, tmp_path)
    for file in sorted(path.relative_to(done.root).as_posix() for path in (tmp_path / "input").rglob("*.yaml")):
        parsed = documents(done, file)
        for line in range(1, (tmp_path / "input" / file).read_text("utf-8").count("\n") + 1):
            wanted = [path for document in parsed for path in on_line(document, line)]
            answers = list(landings(parsed, line, done.bundles, done.findings))
            assert len(answers) == len([path for path in wanted if path])
            assert all(one.fields or one.findings or one.reason for one in answers)


def test_a_leaf_stands_on_its_own_line_and_below_its_keys() -> None:
    text = b"a:\n  b:\n    - name: x\n      c: 1\n    - name: z\nd: [p, q]\n"
    (document,) = read(text, "a.yaml", Report())
    lines = {line: [value(document.tree, *path) for path in on_line(document, line)] for line in range(1, 7)}
    assert lines == {1: ["x", 1, "z"], 2: ["x", 1, "z"], 3: ["x"], 4: [1], 5: ["z"], 6: ["p", "q"]}
    assert get(document.tree, "d", 1).value == "q"


BARE: dict[str, Any] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "bert", "namespace": "training"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": {}},
}


@pytest.mark.parametrize("field", [field.alias or name for name, field in Trainer.model_fields.items()])
def test_each_field_lands_in_the_output(field: str, tmp_path: Path) -> None:
    # The example that `trainc explain` prints; a field without one that is its own gets a value in explain/samples.py.
    trainer = yaml.safe_load(sample(find(f"TrainJob.spec.trainer.{field}")[0]))["spec"]["trainer"]
    job = yaml.safe_dump({**BARE, "spec": {**BARE["spec"], "trainer": trainer}})
    (tmp_path / "job.yaml").write_text(job)
    built = compile_in(tmp_path, "build", "job.yaml")
    (tmp_path / "bare.yaml").write_text(yaml.safe_dump(BARE))
    assert built.code == 0, built.err
    is_forgotten = built.out == compile_in(tmp_path, "build", "bare.yaml").out
    assert not is_forgotten, f"the code forgets `{field}`: the output is the same"
    line = next(number for number, text in enumerate(job.splitlines(), 1) if text.strip().startswith(f"{field}:"))
    answers = json.loads(compile_in(tmp_path, "why", f"job.yaml:{line}", "--report", "json").out)
    lost = [answer["path"] for answer in answers if answer["outcome"] != "lands"]
    assert answers
    assert not lost, f"{', '.join(lost)} has no line in the output: pass on the value that was read, not a copy of it"
