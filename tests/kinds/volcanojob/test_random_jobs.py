"""Hundreds of random Volcano Jobs: every container of every pod sees what Volcano would have given it."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compiling import compile_in
from tests.kinds.samples.expanded import pods
from tests.kinds.samples.volcano import environments, files, group, random_job
from trainc.text.quantity import NANO, Quantity

pytestmark = pytest.mark.slow

JOBS = 300


def test_pods_files_and_groups_are_those_of_volcano(tmp_path: Path) -> None:
    jobs = [random_job(seed) for seed in range(JOBS)]
    (tmp_path / "jobs.yaml").write_text(yaml.safe_dump_all(jobs, sort_keys=False), "utf-8")
    run = compile_in(tmp_path, "build", "jobs.yaml")
    assert run.code == 0, run.err
    made: dict[tuple[str, str], Any] = {(o["kind"], o["metadata"]["name"]): o for o in run.objects}
    for job in jobs:
        compare(job, made)


def compare(job: dict[str, Any], made: dict[tuple[str, str], Any]) -> None:
    name = job["metadata"]["name"]
    roles = pods(made["JobSet", name])
    present = {f"{name}-{task}-{i}.{name}": pod.host for task, found in roles.items() for i, pod in enumerate(found)}

    def renamed(text: str) -> str:
        return re.sub(rf"{name}-[a-z0-9-]+?-[0-9]+\.{name}\b", lambda found: present[found[0]], text)

    for (task, index), containers in environments(job).items():
        seen = roles[task][index].environments()
        for container, wanted in containers.items():
            shown = {key: text for key, text in seen[container].items() if key != "JOB_COMPLETION_INDEX"}
            assert shown == {key: renamed(text) for key, text in wanted.items()}, (name, task, index, container)
    hosts = made.get(("ConfigMap", f"{name}-svc"), {"data": {}})["data"]
    assert {key: text for key, text in hosts.items() if key.endswith(".host")} == {
        key: renamed(text) for key, text in files(job).items()
    }
    spec, wanted = made["PodGroup", name]["spec"], group(job)
    asked = Quantity.parse(spec.get("minResources", {}).get("cpu", "0"))
    assert {**{key: spec[key] for key in ("minMember", "minTaskMember")}, "cpu": asked.nanos * 1000 // NANO} == wanted
    policy = made["JobSet", name]["spec"].get("failurePolicy", {"maxRestarts": 0})
    runs = job["spec"].get("maxRetry") or 3
    assert policy["maxRestarts"] == (runs - 1 if "policies" in job["spec"] else 0)
