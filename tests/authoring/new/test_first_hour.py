"""A new user gets from an empty folder to a committed, compiled and reviewed job, with each framework."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.compiling import compile_in
from tests.sampling import sampled
from trainc.authoring.new import STARTS

IMAGE = "registry.example.com/team/train:1.0.0"


def git(folder: Path, *words: str) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *words], check=True, cwd=folder, env=environment)


@pytest.mark.parametrize("framework", sampled(STARTS, quick=("plain",)))
def test_from_an_empty_folder_to_a_reviewed_change(framework: str, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", ".")
    nodes = [] if STARTS[framework].is_named else ["--nodes", "2"]
    made = compile_in(tmp_path, "new", "first", "--framework", framework, "--gpus", "8", "--image", IMAGE, *nodes)
    assert made.code == 0, made.err
    assert "world size" in compile_in(tmp_path, "show", "jobs/first.yaml").out
    runtime = yaml.safe_load((tmp_path / "jobs/first.yaml").read_text("utf-8"))["spec"]["runtimeRef"]["name"]
    listed = compile_in(tmp_path, "runtimes").out
    assert f"{runtime} " in listed
    assert "used by job first" in listed
    assert compile_in(tmp_path, "build", "-w").code == 0
    assert compile_in(tmp_path, "build", "--check").code == 0
    git(tmp_path, "add", "-A")
    git(tmp_path, "-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "-qm", "Train")
    assert "nothing changes" in compile_in(tmp_path, "diff").out
    job = tmp_path / "jobs/first.yaml"
    job.write_text(job.read_text("utf-8").replace(IMAGE, IMAGE.replace("1.0.0", "1.1.0")), "utf-8")
    assert compile_in(tmp_path, "validate", "--against", "HEAD").code == 1
    assert "1.0.0 -> " in compile_in(tmp_path, "diff").out
    assert compile_in(tmp_path, "run", "first").code == 0
    assert compile_in(tmp_path, "build", "-w").code == 0
    assert compile_in(tmp_path, "build", "--check").code == 0
    rendered = [path for path in tmp_path.glob("rendered/**/*.yaml") if "first" in path.name]
    assert any("name: first-r2" in path.read_text("utf-8") for path in rendered), rendered
