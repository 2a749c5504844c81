"""Hundreds of random RayJobs: every pod runs what KubeRay would have had it run, and Ray's own parser takes each line."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compiling import compile_in
from tests.kinds.samples import kuberay
from tests.kinds.samples.expanded import pods

pytestmark = pytest.mark.slow

JOBS = 300
# A pod with accelerators of two makers fits no node, but KubeRay counts them.
PROJECT = """\
apiVersion: trainc.dev/v1alpha1
kind: Project
spec:
  rules: {mixed-accelerators: off}
"""
# Reads lines of `ray ...` from its input and has the command line of Ray parse each, without running it.
PARSE = """
import json, sys
from ray.scripts.scripts import cli
for words in json.load(sys.stdin):
    context = cli.make_context("ray", words[:1], resilient_parsing=False)
    command = cli.get_command(context, words[0])
    for word in words[1:]:
        if not hasattr(command, "get_command"):
            break
        words, command = words[1:], command.get_command(context, word)
    command.make_context(words[0], words[1:], parent=context)
print("parsed")
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], dict[str, Any]]:
    folder: Path = tmp_path_factory.mktemp("rayjobs")
    jobs = [kuberay.random_job(seed) for seed in range(JOBS)]
    (folder / "jobs.yaml").write_text(yaml.safe_dump_all(jobs, sort_keys=False), "utf-8")
    (folder / "trainc.yaml").write_text(PROJECT, "utf-8")
    run = compile_in(folder, "build", "jobs.yaml")
    assert run.code == 0, run.err
    return jobs, {o["metadata"]["name"]: o for o in run.objects if o["kind"] == "JobSet"}


def test_pods_commands_and_variables_are_those_of_kuberay(compiled: tuple[list[Any], dict[str, Any]]) -> None:
    jobs, jobsets = compiled
    for job in jobs:
        roles = pods(jobsets[job["metadata"]["name"]])
        assert {role: len(found) for role, found in roles.items()} == kuberay.pods(job)
        for role in kuberay.pods(job).keys() - {"driver"}:
            container = roles[role][0].template["spec"]["containers"][0]
            assert [*container.get("command", ()), *container.get("args", ())] == kuberay.command(job, role)
            assert roles[role][0].environment(container) == kuberay.environment(job, role), (job["metadata"], role)
        policy = jobsets[job["metadata"]["name"]]["spec"].get("failurePolicy", {"maxRestarts": 0})
        assert policy["maxRestarts"] == job["spec"].get("backoffLimit", 0)


def test_the_command_line_of_ray_takes_every_line(compiled: tuple[list[Any], dict[str, Any]]) -> None:
    ray = shutil.which("ray")
    python = sys.executable if ray is None else ray.rpartition("/")[0] + "/python"
    if subprocess.run([python, "-c", "import ray.scripts.scripts"], capture_output=True, check=False).returncode:
        pytest.skip("Ray is not installed (`pip install 'ray[default]==2.52.0'`)")
    jobs, jobsets = compiled
    lines = {kuberay.start(job, role) for job in jobs for role in kuberay.pods(job).keys() - {"driver"}}
    for jobset in jobsets.values():
        text = pods(jobset)["driver"][0].template["spec"]["containers"][0]["args"][0]
        lines |= {part[part.index("ray ") :] for part in text.splitlines() if part.lstrip().startswith("ray ")}
    words = [shlex.split(line.replace("&& break", ""))[1:] for line in sorted(lines) if "not json" not in line]
    done = subprocess.run([python, "-c", PARSE], input=json.dumps(words), text=True, capture_output=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "parsed"), done.stderr[-2000:]
