"""Repositories in which a form could answer wrongly: limits, runtimes with findings, several clusters, committed runs."""

import re
from pathlib import Path

import pytest

from benchmarks import tree
from tests.compiler.forms.comparison import Comparison

PROJECT = "apiVersion: trainc.dev/v1alpha1\nkind: Project\n"
MOVING = tree.RUNTIME.replace("torch:2.8.0", "torch:latest")
SILENCED = tree.RUNTIME.replace("torch:2.8.0", "torch:latest  # trainc: allow[moving-tag] the platform team moves it")
CLUSTERS = """\
spec:
  clusters:
    one: {paths: ["jobs/00[0-3]*.yaml"], namespace: trials}
    two: {paths: ["jobs/00[4-9]*.yaml"], scheduler: volcano, images: {registries: {registry.example.com: mirror.example.com}}}
"""
OFF = 'spec:\n  rules: {moving-tag: "off"}\n'


def job(name: str, number: int, *, image: bool = True) -> str:
    text = re.sub(r"speech-\d+", name, tree.job(0)[1])
    text = text.replace("train:0", f"train:{number}").replace('"0"', f'"{number}"').replace("ML-0", f"ML-{number}")
    return text if image else re.sub(r" +image: .*\n", "", text)


def compared(place: Path, texts: list[str], runtime: str, project: str, commands: list[str]) -> Comparison:
    for name, text in (("runtimes/r.yaml", runtime), ("trainc.yaml", project)):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text, "utf-8")
    (place / "jobs").mkdir()
    for number, text in enumerate(texts):
        (place / f"jobs/{number:04}.yaml").write_text(text, "utf-8")
    comparison = Comparison()
    for command in commands:
        comparison.compare(place, [*command.split(), "-v"], command)
    return comparison


def test_names_near_their_limits(tmp_path: Path) -> None:
    numbers = (1, 2, 3, 12, 123, 1_234, 12_345, 123_456, 99_999, 7, 8)
    texts = [job(f"{'x' * length}-{number}", number) for length in (30, 33, 36, 38, 52) for number in numbers]
    comparison = compared(tmp_path, texts, tree.RUNTIME, PROJECT, ["build jobs", "validate ."])
    assert comparison.differences == []
    assert comparison.filled > 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runtime", "project"),
    [(MOVING, PROJECT), (SILENCED, PROJECT), (MOVING, PROJECT + OFF)],
    ids=["warned", "allowed", "off"],
)
def test_findings_of_a_runtime_reach_every_job(tmp_path: Path, runtime: str, project: str) -> None:
    texts = [job(f"bert-{number}", number, image=False) for number in range(100, 140)]
    comparison = compared(tmp_path, texts, runtime, project, ["build jobs", "validate .", "validate . --report sarif"])
    assert comparison.differences == []
    assert comparison.filled > 50


@pytest.mark.slow
def test_several_clusters(tmp_path: Path) -> None:
    texts = [job(f"bert-{number}", number) for number in range(100, 180)]
    commands = ["build -o rendered", "validate .", "build jobs --cluster two"]
    comparison = compared(tmp_path, texts, tree.RUNTIME, PROJECT + CLUSTERS, commands)
    assert comparison.differences == []
    assert comparison.filled > 50


@pytest.mark.slow
def test_gangs_and_admission(tmp_path: Path) -> None:
    texts = [job(f"bert-{number}", number) for number in range(100, 140)]
    commands = [
        "build jobs --set scheduler=volcano",
        "build jobs --set scheduler=coscheduling",
        "build jobs --only admission",
    ]
    comparison = compared(tmp_path, texts, tree.RUNTIME, PROJECT, commands)
    assert comparison.differences == []
    assert comparison.filled > 50


@pytest.mark.slow
def test_a_claim_for_one_node_is_found_for_every_job(tmp_path: Path) -> None:
    """Some of the PVCs that are named after jobs are for one node; of two PVCs of one name a job mounts the nearer one."""
    numbers = range(100, 140)
    texts = [job(f"bert-{number}", number) for number in numbers]
    texts += [_with_claim(job(f"gpt-{number}", number), f"gpt-{number}") for number in numbers]
    claims = [_claim(f"gpt-{number}", "ReadWriteMany" if number % 3 else "ReadWriteOnce") for number in numbers]
    (tmp_path / "storage").mkdir()
    (tmp_path / "storage/claims.yaml").write_text("---\n".join([_claim("datasets", "ReadWriteMany"), *claims]), "utf-8")
    comparison = compared(tmp_path, texts, tree.RUNTIME, PROJECT, ["build jobs", "validate ."])
    assert comparison.differences == []
    assert comparison.filled > 50
    (tmp_path / "storage/claims.yaml").rename(tmp_path / "jobs/claims.yaml")
    (tmp_path / "near").mkdir()
    (tmp_path / "near/claim.yaml").write_text(_claim("datasets", "ReadWriteOnce"), "utf-8")
    (tmp_path / "jobs/0022.yaml").rename(tmp_path / "near/0022.yaml")
    comparison.compare(tmp_path, ["validate", ".", "-v"], "a nearer claim")
    assert comparison.differences == []


def _with_claim(text: str, name: str) -> str:
    pod = " " * 24 + "serviceAccountName"
    volume = f"{{name: own, persistentVolumeClaim: {{claimName: {name}}}}}"
    mounted = "containers: [{name: node, volumeMounts: [{name: own, mountPath: /own}]}]"
    return text.replace(pod, f"{' ' * 24}{mounted}\n{' ' * 24}volumes: [{volume}]\n{pod}")


def _claim(name: str, mode: str) -> str:
    spec = f"{{accessModes: [{mode}], resources: {{requests: {{storage: 1Ti}}}}}}"
    return f"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {name}}}\nspec: {spec}\n"
