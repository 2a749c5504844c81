"""`trainc fn` called by the real kpt and the real kustomize, as far as they are installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.compiling import ROOT, compile_in
from tests.repository import RUNTIME, job, write

pytestmark = pytest.mark.slow

OTHER = "# by hand\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other\ndata:\n  a: '1e3'\n"
FUNCTION = """\
apiVersion: trainc.dev/v1alpha1
kind: {kind}
metadata:
  name: trainc
  annotations:
    config.kubernetes.io/function: |
      {how}
"""
PATCH = "- {op: replace, path: /metadata/name, value: bert-2}"
EXEC, CONTAINER = "exec: {path: ./trainc-fn}", "container: {image: registry.example.com/trainc-fn:v1}"
# What kustomize 4.5 and 5.5 ask of Docker. The function gets no other environment than the one asked for here, an empty
# folder and no shell: as in a container, nothing of the machine's files is named to it.
DOCKER = """\
#!{python}
import os, subprocess, sys, tempfile
words = sys.argv[1:]
*options, image = words
assert options[:2] == ["run", "--rm"] and "-i" in options, words
assert ["--network", "none"] == options[options.index("--network"):][:2], words
assert ["--user", "nobody"] == options[options.index("--user"):][:2], words
assert image == "registry.example.com/trainc-fn:v1", words
given = [options[at + 1].split("=", 1) for at, word in enumerate(options) if word == "-e"]
with tempfile.TemporaryDirectory() as folder:
    environment = {{"PYTHONPATH": {root!r}, **dict(pair for pair in given if len(pair) == 2)}}
    sys.exit(subprocess.run([{python!r}, "-m", "trainc", "fn"], cwd=folder, env=environment).returncode)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a job, its runtime and something else."""
    folder = tmp_path / "package"
    write(folder, {"jobs/bert.yaml": job("bert"), "runtimes/torch.yaml": RUNTIME, "other.yaml": OTHER})
    _program(folder / "trainc-fn", f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m trainc fn "$@"\n')
    (tmp_path / "bin").mkdir()
    _program(tmp_path / "bin/docker", DOCKER.format(python=sys.executable, root=str(ROOT)))
    return folder


def _program(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
    path.chmod(0o755)


def _run(package: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HOME": str(package.parent), "PATH": f"{package.parent / 'bin'}:{os.environ['PATH']}"}
    return subprocess.run(words, check=False, cwd=package, env=environment, capture_output=True, text=True)


def _kustomization(package: Path, field: str, how: str, kind: str = "Build") -> None:
    resources = ["jobs/bert.yaml", "runtimes/torch.yaml", "other.yaml"]
    content = {
        "resources": resources,
        field: ["function.yaml"],
        "patches": [{"patch": PATCH, "target": {"kind": "TrainJob"}}],
    }
    write(
        package,
        {"kustomization.yaml": yaml.safe_dump(content), "function.yaml": FUNCTION.format(kind=kind, how=how)},
    )


def _kustomize(package: Path, how: str) -> subprocess.CompletedProcess[str]:
    """The real program: its own binary for executables, the one in kubectl for containers."""
    name = "kustomize" if how == EXEC else "kubectl"
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    if how == EXEC:
        return _run(package, name, "build", "--enable-alpha-plugins", "--enable-exec", ".")
    return _run(package, name, "kustomize", "--enable-alpha-plugins", ".")


@pytest.mark.parametrize("how", [EXEC, CONTAINER], ids=["exec", "container"])
def test_as_a_transformer_of_kustomize(package: Path, how: str) -> None:
    """It sees what kustomize has patched; its answer is what `build` makes of them."""
    _kustomization(package, "transformers", how)
    done = _kustomize(package, how)
    assert done.returncode == 0, done.stderr
    made = list(yaml.safe_load_all(done.stdout))
    renamed = package.parent / "renamed"
    write(renamed, {"bert.yaml": job("bert-2"), "torch.yaml": RUNTIME})
    expected = compile_in(renamed, "build", ".").objects
    assert [one for one in made if one["kind"] != "ConfigMap"] == expected
    assert [(one["metadata"]["name"], one["data"]) for one in made if one["kind"] == "ConfigMap"] == [
        ("other", {"a": "1e3"})
    ]


@pytest.mark.parametrize("how", [EXEC, CONTAINER], ids=["exec", "container"])
def test_an_error_stops_kustomize(package: Path, how: str) -> None:
    _kustomization(package, "transformers", how)
    write(package, {"jobs/bert.yaml": job("bert").replace("numNodes: 2", "numNodes: two")})
    done = _kustomize(package, how)
    assert (done.returncode, done.stdout) == (1, "")
    assert "TrainJob/bert-2: spec.trainer.numNodes: error[invalid-field]" in done.stderr


@pytest.mark.parametrize("how", [EXEC, CONTAINER], ids=["exec", "container"])
def test_validate_goes_under_transformers(package: Path, how: str) -> None:
    """Below `validators` kustomize refuses every KRM function: it compares objects before and after its own notes."""
    _kustomization(package, "transformers", how, "Validate")
    done = _kustomize(package, how)
    assert done.returncode == 0, done.stderr
    assert "kind: TrainJob" in done.stdout
    assert "kind: JobSet" not in done.stdout


@pytest.mark.parametrize("how", [EXEC, CONTAINER], ids=["exec", "container"])
def test_as_a_generator_of_kustomize(package: Path, how: str) -> None:
    specs = yaml.safe_load(job("bert")), yaml.safe_load(RUNTIME)
    function = yaml.safe_load(FUNCTION.format(kind="Build", how=how)) | {"spec": {"resources": list(specs)}}
    write(package, {"kustomization.yaml": "generators: [function.yaml]\n", "function.yaml": yaml.safe_dump(function)})
    done = _kustomize(package, how)
    assert done.returncode == 0, done.stderr
    expected = compile_in(package, "build", ".").objects
    assert list(yaml.safe_load_all(done.stdout)) == expected


@pytest.mark.skipif(shutil.which("kpt") is None, reason="kpt is not installed")
def test_kpt_writes_a_package(package: Path) -> None:
    """Manifests go where `build -w` writes them; a file that holds nothing for trainc keeps its comments."""
    out = package.parent / "out"
    done = _run(package, "kpt", "fn", "eval", ".", "--exec", f"{package / 'trainc-fn'}", "-o", str(out))
    assert done.returncode == 0, done.stderr
    files = {file.relative_to(out).as_posix() for file in out.rglob("*.yaml")}
    assert files == {"other.yaml", "rendered/research/bert.yaml"}
    assert (out / "other.yaml").read_text("utf-8") == OTHER
    expected = compile_in(package, "build", ".").objects
    assert list(yaml.safe_load_all((out / "rendered/research/bert.yaml").read_text("utf-8"))) == expected


@pytest.mark.skipif(shutil.which("kpt") is None, reason="kpt is not installed")
def test_kpt_shows_results_and_fails(package: Path) -> None:
    write(package, {"jobs/bert.yaml": job("bert").replace("numNodes: 2", "numNodes: two")})
    before = {file: file.read_bytes() for file in package.rglob("*.yaml")}
    words = ("kpt", "fn", "eval", ".", "--exec", f"{package / 'trainc-fn'}", "--results-dir", "found")
    done = _run(package, *words, "--", "command=validate")
    assert done.returncode == 1
    assert "[error] trainer.kubeflow.org/v1alpha1/TrainJob/research/bert spec.trainer.numNodes" in done.stderr
    assert {file: file.read_bytes() for file in before} == before
    written = yaml.safe_load((package / "found/results.yaml").read_text("utf-8"))
    assert written["items"][0]["results"][0]["field"]["currentValue"] == "two"
