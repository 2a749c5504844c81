"""What `trainc diff` and `build -w` make of edits that are easily overlooked."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.changes.compare.test_diff import IMAGE, filled
from tests.working_tree import WorkingTree
from trainc.changes.compare.updates import differences
from trainc.model.tree import stamp

POD = "spec.replicatedJobs[node].template.spec.template.spec"
LAST = "memory: 16Gi\n"
ENV = (
    LAST
    + """\
                      env:
                        - {name: ONE, value: "1"}
                        - {name: TWO, value: "2"}
"""
)


@pytest.fixture
def project(tmp_path: Path) -> WorkingTree:
    tree = WorkingTree(tmp_path)
    filled(tree)
    tree.change("runtimes/torch.yaml", LAST, ENV)
    assert tree.commit().returncode == 0
    return tree


def edited(project: WorkingTree, old: str, new: str) -> tuple[list[tuple[str, str, str]], dict[str, Any]]:
    """What changes in both jobs by an edit of their runtime, and all of the answer."""
    project.change("runtimes/torch.yaml", old, new)
    found = json.loads(project.run("diff", "--report", "json").out)
    [one] = found["edited"]
    assert one["jobs"] == ["research/bert", "research/t5"]
    assert one["causes"] == ["runtimes/torch.yaml"]
    return [(change["what"], change["old"], change["new"]) for change in one["changes"]], found


@pytest.mark.slow
def test_a_file_that_was_only_saved_again_causes_nothing(project: WorkingTree) -> None:
    for path in sorted(project.folder.rglob("*.yaml")):
        os.utime(path, (1, 1))
    project.change("runtimes/torch.yaml", *IMAGE)
    out = project.run("diff").out
    assert out.startswith("-/+ 2 jobs: research/bert, research/t5  because of runtimes/torch.yaml\n")


@pytest.mark.slow
def test_a_run_keeps_its_rendering_though_its_file_was_saved_again(project: WorkingTree) -> None:
    assert project.run("build", "-w").code == 0
    assert project.commit("rendered").returncode == 0
    project.change("runtimes/torch.yaml", *IMAGE)
    os.utime(project.folder / "jobs/bert.yaml", (1, 1))
    out = project.run("diff").out
    assert (
        "=   2 jobs: research/bert, research/t5  keep their renderings, without the edit of runtimes/torch.yaml\n"
        in out
    )


SWAPPED = ENV.replace("ONE", "X").replace("TWO", "ONE").replace("X", "TWO").replace('"1"', "3").replace('"2"', '"1"')
SWAPPED = SWAPPED.replace("3", '"2"', 1)


def test_another_order_is_a_change_that_the_server_refuses(project: WorkingTree) -> None:
    changes, found = edited(project, ENV, SWAPPED)
    assert changes == [(f"order of {POD}.containers[node].env", "ONE, TWO", "TWO, ONE")]
    assert found["edited"][0]["refused"] == [f"{POD}.containers[node].env"]


@pytest.mark.slow
def test_a_run_keeps_the_order_that_it_was_started_with(project: WorkingTree) -> None:
    assert project.run("build", "-w").code == 0
    assert project.commit("rendered").returncode == 0
    project.change("runtimes/torch.yaml", ENV, SWAPPED)
    assert "keep their renderings, without the edit of runtimes/torch.yaml" in project.run("diff").out
    done = project.run("build", "-w")
    assert (done.code, project.git("status", "--short").stdout.split()) == (0, ["M", "runtimes/torch.yaml"])
    assert "2 runs keep their rendering (runtimes/torch.yaml changed)" in done.err


@pytest.mark.slow
def test_two_ports_of_one_number_are_two() -> None:
    def container(name: str) -> Any:
        ports = [{"containerPort": 9, "protocol": "TCP", "name": name}, {"containerPort": 9, "protocol": "UDP"}]
        return stamp({"ports": ports}, "test")

    assert [str(change) for change in differences(container("a"), container("b"))] == ['ports[9].name: "a" -> "b"']
    assert differences(container("a"), container("a")) == []


def test_what_changes_beside_an_image_is_told_as_well(project: WorkingTree) -> None:
    pod = "                spec:\n                  containers:"
    changes, _ = edited(project, pod, pod.replace("spec:", "spec:\n                  hostIPC: true"))
    assert changes == [(f"{POD}.hostIPC", "", "True")]
    project.change("runtimes/torch.yaml", *IMAGE)
    [one] = json.loads(project.run("diff", "--report", "json").out)["edited"]
    assert [change["what"] for change in one["changes"]] == ["image of node/node", f"{POD}.hostIPC"]


@pytest.mark.parametrize(
    ("edit", "line"),
    [
        pytest.param("", "maximum accelerator hours: unlimited -> 128", marks=pytest.mark.slow),
        (
            "rules: [{name: node, action: RestartJobSetAndIgnoreMaxRestarts}]",
            "maximum accelerator hours, not counting restarts outside the limit: unlimited -> 128",
        ),
    ],
)
def test_accelerator_hours(edit: str, line: str, project: WorkingTree) -> None:
    if edit:
        project.change("runtimes/torch.yaml", "maxRestarts: 3\n", f"maxRestarts: 3\n        {edit}\n")
        assert project.commit("rule").returncode == 0
    assert "hours" not in project.run("diff").out
    project.change(
        "runtimes/torch.yaml", "backoffLimit: 0", "backoffLimit: 0\n              activeDeadlineSeconds: 3600"
    )
    assert project.run("diff").out.splitlines()[-1] == line
