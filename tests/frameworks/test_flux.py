"""Flux: scripts, settings, the wrapped command, refusals."""

import shutil
import subprocess

import pytest

from tests.frameworks.planning import lowered, patches, plan, refusals, role, said, sets
from trainc.frameworks.flux import entrypoint, init, span
from trainc.model.plan import Plan
from trainc.model.tree import plain

CODE = "{name: node, command: [lmp, -in, a b], args: [-x]}"


def flux(job: str = "{numNodes: 2}", container: str = CODE, policy: str = "") -> Plan:
    return plan(f"{{flux: {{{policy}}}}}", role("node", container), job)


@pytest.mark.parametrize(("count", "expected"), [(1, "0"), (2, "0-1"), (8, "0-7")])
def test_ranges(count: int, expected: str) -> None:
    assert span(count) == expected


def test_the_entrypoint_describes_the_job() -> None:
    text = entrypoint("run", 4, 2, 1)
    assert "hosts='run-node-0-[0-3]'\n" in text
    assert "resources='--cores=0-1 --gpus=0'\n" in text
    assert "flags='-N 4 -n 8 -g 1'\n" in text


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize("text", [entrypoint("run", 4, 2, 1), init("run", "run", 4, "it's", "fcfs")])
def test_bash_can_read_the_scripts(text: str) -> None:
    subprocess.run(["bash", "-n"], input=text, text=True, check=True)


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        ("{numNodes: 2}", "lmp -in a b"),
        ("{numNodes: 2, args: [-y, '2']}", "lmp -in a b -y 2"),
        ("{numNodes: 2, command: [' run ']}", "run"),
    ],
)
def test_the_command_is_one_word_of_the_entrypoint(job: str, expected: str) -> None:
    planned = flux(job)
    assert sets(planned, "command") == ["/bin/bash", "/etc/flux-config/entrypoint.sh", expected]
    assert sets(planned, "args") == ["-x"]


def test_settings_of_the_job_beat_those_of_the_runtime() -> None:
    container = "{name: node, env: [{name: FLUX_VIEW_IMAGE, value: a}, {name: FLUX_QUEUE_POLICY, value: easy}]}"
    planned = flux("{numNodes: 1, env: [{name: FLUX_VIEW_IMAGE, value: b}]}", container)
    installer = plain(next(patch.init_containers[0] for patch in patches(planned, "node") if patch.init_containers))
    assert installer["image"] == "b"
    assert "policy='easy'\n" in lowered(planned).objects[0]["data"]["init.sh"].value


@pytest.mark.parametrize(
    ("planned", "expected"),
    [
        (
            flux("{numNodes: 1, numProcPerNode: 0}"),
            "spec.trainer.numProcPerNode: Invalid value: 0: must be greater than or equal to 1 for Flux TrainJob",
        ),
        (flux("{}"), "runtime error: invalid memory address or nil pointer dereference"),
        (flux(""), "runtime error: invalid memory address or nil pointer dereference"),
    ],
)
def test_refusals(planned: Plan, expected: str) -> None:
    assert expected in refusals(planned)


def test_an_argument_that_falls_apart() -> None:
    assert said(flux("{numNodes: 2, args: [a b]}")) == ["secret-needed", "split-argument"]


def test_an_installer_without_image() -> None:
    planned = flux("{numNodes: 1, env: [{name: FLUX_VIEW_IMAGE}]}")
    [installer] = [c for patch in patches(planned, "node") for c in patch.init_containers]
    assert "image" not in installer


def test_a_trainer_that_flux_does_not_equip() -> None:
    planned = plan("{flux: {}}", role("ranks"), "{numNodes: 1}")
    assert said(planned) == ["secret-needed", "trainer-not-node"]
