"""Jobs that are alike are compiled once, and nobody can tell."""

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
from trainc.compiler.forms import STYLES, probe
from trainc.compiler.forms.places import NAME, NUMBER, OWN_SETTINGS, REGISTRIES, WORD, is_told
from trainc.compiler.forms.template import layout_of, parted
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
  namespace: nlp
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
    assert traces.compared > 1


def shown(text: str, *, whole_images: bool = False) -> list[str]:
    """The lines of a job in which something may vary, that in brackets."""
    [document] = read(text, "job.yaml", Report())
    layout = layout_of(document, text, whole_images=whole_images)
    assert layout is not None
    values = layout.read(parted(text)[1])
    assert values is not None
    assert layout.text(values) == text
    return [line.strip() for line in layout.text([f"<{one}>" for one in values]).split("\n") if "<" in line]


def test_values_that_may_vary() -> None:
    assert shown(JOB) == [
        "name: <bert-007>",
        "namespace: <nlp>",
        'labels: {sweep: <sweep-12>, kueue.x-k8s.io/priority-class: p1, size: "<12>"}',
        "image: registry.example.com:5000/<team-4/train>:<123>",
        'args: [--lr=<0.0003>, --seed, "12", --batch-size=<32>, --run-name=<bert-007>, --output-dir=/data2/<bert-007>/out3]',
        '- {name: SEED, value: "<12>"}',
    ]
    assert "image: registry.example.com:5000/team-4/train:<123>" in shown(JOB, whole_images=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: torch-1", "name: torch-1, kind: TrainingRuntime"),  # the namespace is a part of its name
        ("registry.example.com:5000", "ghcr.io"),
        ("train:123", "train:1.2.3"),
        ("bert-007", "bert-r7"),
        ("sweep: sweep-12", "example.kueue.x-k8s.io/sweep: sweep-12"),
    ],
)
def test_values_that_mean_something_are_exact(old: str, new: str) -> None:
    lines = shown(JOB.replace(old, new))
    assert [line for line in shown(JOB) if line not in lines] != []


def test_probes_are_the_extremes_of_their_classes_and_related_as_the_values_are() -> None:
    values, classes = ("bert-007", "bert", "12", "bert-007", "x/bert/y"), (NAME, WORD, NUMBER, NAME, "repository")
    for style in STYLES:
        name, namespace, number, again, path = probe(values, classes, style)
        assert name == again != "bert-007"
        assert namespace in name
        assert f"/{namespace}/" in path
        assert number not in name
    assert len(probe(("bert",), (WORD,), "shortest")[0]) == 3
    assert len(probe(("bert",), (WORD,), "longest")[0]) > 36
    assert probe(("7", "8"), (NUMBER, NUMBER), "longest") == ("999999", "999998")


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


def test_images_of_every_registry_that_trainc_knows_are_exact() -> None:
    hosts = {
        found[1]
        for text in constants()
        if (found := re.match(r"((?:[a-z0-9-]+\.)+[a-z]+)/[\w/-]+(?::[\w.-]+)?$", text))
    }
    images = {host for host in hosts if host.endswith((".io", ".dev"))}
    assert len(images) > 3
    assert [host for host in sorted(images) if not host.endswith(REGISTRIES) and not is_told(f"{host}/")] == []
