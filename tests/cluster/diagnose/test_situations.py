"""Situations of a cluster as folders: what kubectl prints in `input.*`, and what `trainc diagnose` says of it."""

import json
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.compiling import ROOT, Run, compile_in
from tests.sampling import sampled

HERE = ROOT / "tests/cluster/diagnose"
CASES = sorted(path for path in (HERE / "cases").iterdir() if path.is_dir())
NAMES = [case.name for case in CASES]


@pytest.mark.parametrize("case", sampled(CASES, NAMES, every=6))
def test_situation(case: Path, tmp_path: Path, expected: Callable[[Path, Mapping[str, str]], None]) -> None:
    run = diagnosed(case, tmp_path)
    expected(case / "expected", {"answer.txt": f"{run.out}{run.err}exit code {run.code}\n"})


@pytest.mark.parametrize("case", sampled(CASES, NAMES, quick=("all-terminated-after-one",)))
def test_json_says_the_same(case: Path, tmp_path: Path) -> None:
    """A program reads the statuses and causes that people read, and nothing that a terminal or a runner obeys."""
    text = diagnosed(case, tmp_path)
    run = diagnosed(case, tmp_path, "--report", "json")
    assert run.code == text.code
    if run.code == 2:
        assert run.out == ""
        return
    assert run.out.isascii()
    assert "\x1b" not in run.out
    for job in json.loads(run.out)["jobs"]:
        assert f"{job['kind']} {job['job']}: {job['status']}" in text.out
        if "cause" in job:
            assert f"[{job['cause']['name']}]" in text.out


@pytest.mark.parametrize("case", [case for case in CASES if (case / "input.yaml").exists()], ids=lambda case: case.name)
def test_a_case_says_what_it_shows(case: Path) -> None:
    first = (case / "input.yaml").read_text("utf-8").partition("\n")[0]
    assert first.startswith("# ")
    assert first.endswith(".")


def diagnosed(case: Path, folder: Path, *more: str) -> Run:
    shutil.copytree(case, folder, dirs_exist_ok=True)
    shutil.copytree(HERE / "repository", folder / "repository", dirs_exist_ok=True)
    args = case / "args"
    words = (
        shlex.split(args.read_text("utf-8"))
        if args.exists()
        else ["diagnose", "--repository", "repository", "input.yaml"]
    )
    return compile_in(folder, *words, *more)


STUCK = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: ocr, namespace: vision, uid: "1"}
spec:
  suspend: true
  replicatedJobs:
  - name: node
    template: {spec: {parallelism: 1, completions: 1, template: {spec: {containers: [{name: node, image: x}]}}}}
"""


def test_the_cluster_can_be_chosen(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/platform", tmp_path / "platform")
    (tmp_path / "dump.yaml").write_text(STUCK)
    first = compile_in(tmp_path / "platform", "diagnose", "../dump.yaml").out
    assert "in Git: jobs/vision/ocr.yaml:5:9" in first
    assert "compiled for `eu`; `--cluster` names us instead" in first
    chosen = compile_in(tmp_path / "platform", "diagnose", "../dump.yaml", "--cluster", "us").out
    assert "in Git: jobs/vision/ocr.yaml:5:9" in chosen
    assert "compiled for" not in chosen
