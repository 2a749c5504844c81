"""Jobs that differ in numbers alone are compiled once, and nobody can tell."""

from __future__ import annotations

import ast
import json
import os
import random
import re
import shutil
import tempfile
from pathlib import Path

import pytest

from benchmarks import tree
from tests.compiler.forms.__main__ import sources, ways
from tests.compiler.forms.comparison import Comparison, planted
from tests.compiler.forms.traces import Traces
from tests.compiling import ROOT, compile_in
from trainc.compiler.forms import different, largest, smallest
from trainc.compiler.forms.places import OWN_SETTINGS, free_runs, is_told
from trainc.compiler.forms.text import class_of, contexts, is_comparable, joined, split
from trainc.model.report import Report
from trainc.yaml.reader import read

pytestmark = pytest.mark.slow

SAMPLE = 40  # of the cases and examples; `python -m tests.compiler.forms` takes all
VARIANTS = 24
JOBS = 120
ROOMS = (
    "frameworks",
    "kinds",
    "compiler/lower",
    "compiler/resolve",
    "schedulers",
    "apiserver",
    "lint",
    "cluster/capacity",
)

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: bert-007
  labels: {sweep: sweep-12, kueue.x-k8s.io/priority-class: p1, size: "12"}
spec:
  runtimeRef: {name: torch-1}
  trainer:
    image: registry.example.com:5000/team-4/train:123
    numNodes: 16
    args: [--lr=0.0003, --seed, "12", --batch-size=32, --run-name=bert-007, --output-dir=/data2/bert-007/out3]
    env:
      - {name: SEED, value: "12"}
      - {name: WORLD_SIZE, value: "16"}
"""


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of similar jobs: names, labels, tags and seeds differ, and sometimes more."""
    place = tmp_path_factory.mktemp("jobs")
    tree.write(JOBS, str(place))
    for path in sorted(place.glob("jobs/**/*.yaml")):
        text = path.read_text("utf-8")
        for field, value in (("namespace", "ml"), ("team", "ml"), ("image", "registry.example.com/ml/train:7")):
            text = re.sub(rf"(?m)^( +{field}): \S+$", rf"\1: {value}", text)
        text = re.sub(r"(?m)^( +numNodes): \d+$", r"\1: 4", text)
        text = re.sub(r"(speech|vision|ranking|search|forecast|pricing|translate|robots)", "bert", text)
        text = re.sub(r"(3e-|batch-size=|a100-)\w+", r"\g<1>3", text)
        path.write_text(text, "utf-8")
    return place


@pytest.mark.parametrize("command", ["build jobs", "build jobs --format json", "validate .", "build jobs --jobs 2"])
def test_similar_jobs_come_out_as_if_each_were_compiled(jobs: Path, command: str) -> None:
    comparison = Comparison()
    comparison.compare(jobs, command.split(), "similar jobs")
    assert comparison.differences == []
    if "--jobs" not in command:
        assert comparison.filled > JOBS * 0.6


def test_a_folder_of_rendered_files_is_the_same(jobs: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    shutil.copytree(jobs, place)
    first = compile_in(place, "build", "-w", "--no-forms")
    assert first.code == 0, first.err
    rendered = {path.name: path.read_bytes() for path in place.glob("rendered/**/*.yaml")}
    assert compile_in(place, "build", "--check").code == 0
    (place / "rendered/ml/bert-00077.yaml").unlink()
    (place / "rendered/ml/bert-00078.yaml").write_text("something else\n", "utf-8")
    texts = [compile_in(place, "build", "--check", *more) for more in ((), ("--no-forms",))]
    assert texts[0].err == texts[1].err
    assert texts[0].code == texts[1].code == 1
    (place / "rendered/ml/bert-00078.yaml").unlink()
    shutil.rmtree(place / "rendered/ml")
    again = compile_in(place, "build", "-w")
    assert again.code == 0, again.err
    assert rendered == {path.name: path.read_bytes() for path in place.glob("rendered/**/*.yaml")}


def test_a_job_that_is_there_twice_is_found(jobs: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    shutil.copytree(jobs, place)
    twin = next(place.glob("jobs/**/*-00090.yaml"))
    shutil.copy(twin, twin.with_name("twin.yaml"))
    runs = [compile_in(place, "validate", ".", "-v", *more) for more in ((), ("--no-forms",))]
    assert "same-name" in runs[0].err
    assert runs[0].err == runs[1].err


def test_cases_with_other_numbers_give_the_same() -> None:
    chance = random.Random(20)  # noqa: S311 (jobs, no secrets)
    comparison = Comparison()
    for source, argv, name in chance.sample(sources(), SAMPLE):
        _compare(comparison, source, argv, name, chance)
    assert comparison.differences == []
    assert comparison.jobs > 500
    assert comparison.filled > 50


def _compare(comparison: Comparison, source: Path, argv: list[str], name: str, chance: random.Random) -> None:
    with tempfile.TemporaryDirectory() as folder:
        seed = chance.getrandbits(32)
        if planted(source, Path(folder) / name, VARIANTS, random.Random(seed)):  # noqa: S311 (as above)
            comparison.compare(Path(folder), ways(argv)[0], f"{source.relative_to(ROOT)} seed {seed}")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each job is traced in a process of its own")
def test_no_step_of_the_compiler_depends_on_a_number_that_is_filled_in(jobs: Path, tmp_path: Path) -> None:
    chance = random.Random(4)  # noqa: S311 (as above)
    traces = Traces(chance)
    with traces.watching():
        compile_in(jobs, "build", "jobs")
        for index, (source, argv, name) in enumerate(chance.sample(sources(), SAMPLE // 2)):
            place = tmp_path / str(index)
            if planted(source, place / name, VARIANTS, chance):
                compile_in(place, *argv)
    assert traces.differences == []
    assert traces.compared > 3


def test_numbers_that_may_vary() -> None:
    [document] = read(JOB, "job.yaml", Report())
    skeleton, values = split(JOB)
    free = free_runs(document, JOB)
    shown = joined(skeleton, [f"<{value}>" if index in free else value for index, value in enumerate(values)])
    varying = [line.strip() for line in shown.split("\n") if "<" in line]
    assert varying == [
        "name: bert-<007>",
        'labels: {sweep: sweep-<12>, kueue.x-k8s.io/priority-class: p1, size: "12"}',
        "image: registry.example.com:5000/team-4/train:<123>",
        'args: [--lr=<0>.<0003>, --seed, "<12>", --batch-size=32, --run-name=bert-<007>, --output-dir=/data2/bert-<007>/out3]',
        '- {name: SEED, value: "<12>"}',
    ]


@pytest.mark.parametrize(
    ("run", "name"), [("7", "n"), ("123456", "n"), ("1234567", "1234567"), ("0", "0"), ("00", "z2"), ("00012", "z5")]
)
def test_classes(run: str, name: str) -> None:
    assert class_of(run) == name


def test_probes_are_the_extremes_of_their_classes() -> None:
    classes = {3: "n", 5: "z3", 8: "n"}
    first = different(classes, {"102938"})
    assert first is not None
    assert len(set(first.values())) == len(first)
    assert "102938" not in first.values()
    assert {index: class_of(run) for index, run in first.items()} == classes
    assert smallest(classes, {8: {"1"}}) == {3: "2", 5: "000", 8: "2"}
    assert largest(classes, {}) == {3: "999999", 5: "099", 8: "999998"}
    assert different(dict.fromkeys(range(12), "z2"), ()) is None


def test_numbers_behind_one_word_are_compared() -> None:
    assert contexts("bert-12-node-0: 7, my-bert-3") == ["bert-", "-node-", "", "my-bert-"]
    assert is_comparable("bert-", "my-bert-")
    assert is_comparable("", "")
    assert not is_comparable("", "bert-")
    assert not is_comparable("bert-", "gpt-")


def constants() -> set[str]:
    """Every text that stands in the rooms whose code asks what a value is."""
    found: set[str] = set()
    for room in ROOMS:
        for path in (ROOT / "trainc" / room).rglob("*.py"):
            nodes = ast.walk(ast.parse(path.read_text("utf-8")))
            found.update(one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str))
    return found


def test_no_rule_knows_a_setting_that_may_vary() -> None:
    asked = {text.lstrip("-").replace("-", "_").lower() for text in constants()}
    assert sorted(asked & OWN_SETTINGS) == []


def test_labels_of_every_domain_that_trainc_knows_are_exact() -> None:
    keys = [text for text in constants() if re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+/[\w.-]*", text)]
    assert len(keys) > 50
    assert [key for key in keys if not is_told(key)] == ["tensorflow.org/v1alpha1"]  # an API that had no labels


def test_a_cluster_that_pins_digests_compiles_every_job(jobs: Path, tmp_path: Path) -> None:
    """A digest is pinned for one build of an image, which is nowhere in a job or in what it becomes."""
    place = tmp_path / "place"
    shutil.copytree(jobs, place)
    for number, path in enumerate(sorted(place.glob("jobs/**/*.yaml"))):
        text = path.read_text("utf-8")
        path.write_text(re.sub(r"ml/train:\d+", f"ml/train:{1_000 + number}", text), "utf-8")
    pins = {"registry.example.com/ml/train:1090": f"sha256:{'0a' * 32}"}
    spec = {"clusters": {"main": {"paths": ["**"], "images": {"digests": pins}}}}
    project = {"apiVersion": "trainc.dev/v1alpha1", "kind": "Project", "spec": spec}
    (place / "trainc.yaml").write_text(json.dumps(project), "utf-8")
    comparison = Comparison()
    comparison.compare(place, ["build", "jobs"], "pinned")
    assert comparison.differences == []
    run = compile_in(place, "build", "jobs")
    run = compile_in(place, "build", "jobs")
    assert "@sha256:0a" in run.out, run.err
