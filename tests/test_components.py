"""The components that trainc ships say what the machines have: every instance, every topology."""

from itertools import combinations_with_replacement
from math import prod
from typing import Any

import pytest
import yaml

from tests.compiler.resolve.inheriting import BASE, JOB, compiled, runtime
from tests.compiling import ROOT
from trainc.lint.tables.machines import GENERATIONS, MACHINES
from trainc.text.object_keys import GPU_RESOURCE
from trainc.text.quantity import Quantity

FILES = sorted(ROOT.glob("runtimes/components/*.yaml"))
LIBRARY: dict[str, Any] = {path.stem: yaml.load(path.read_bytes(), yaml.CSafeLoader) for path in FILES}
# Generation by component: its label, and for three dimensions how many cubes of 4x4x4 chips a pod of it has.
TPUS = {
    "tpu-v4": ("tpu-v4-podslice", 64),
    "tpu-v5e": ("tpu-v5-lite-podslice", 0),
    "tpu-v5p": ("tpu-v5p-slice", 140),
    "tpu-v6e": ("tpu-v6e-slice", 0),
    "tpu-7x": ("tpu7x", 144),
}
FLAT = ("1x1", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16")
SMALL = ("2x2x1", "2x2x2", "2x2x4", "2x4x4")


def parameter(component: str, name: str) -> dict[str, Any]:
    return next(one for one in LIBRARY[component]["spec"]["parameters"] if one["name"] == name)


def legal(cubes: int) -> set[str]:
    """Every topology of a generation: the small blocks, then AxBxC of multiples of four, in ascending order."""
    sides = range(1, cubes + 1)
    found = {sizes for sizes in combinations_with_replacement(sides, 3) if prod(sizes) <= cubes}
    return {"x".join(str(4 * side) for side in sizes) for sizes in found} | set(SMALL)


@pytest.mark.parametrize("component", TPUS)
def test_every_legal_topology_is_a_choice_and_no_other(component: str) -> None:
    label, cubes = TPUS[component]
    topologies = [choice["value"] for choice in parameter(component, "topology")["choices"]]
    assert len(set(topologies)) == len(topologies)
    assert set(topologies) == (legal(cubes) if cubes else set(FLAT))
    assert all(GENERATIONS[label].legal(tuple(map(int, one.split("x")))) for one in topologies)


@pytest.mark.parametrize("component", TPUS)
def test_pods_times_chips_is_what_a_topology_has(component: str) -> None:
    label, _ = TPUS[component]
    for choice in parameter(component, "topology")["choices"]:
        nodes, chips = choice["with"]["nodes"], choice["with"]["chips"]
        size = prod(map(int, choice["value"].split("x")))
        assert nodes * chips == size, choice
        assert chips == (1 if size == 1 else 4)
        assert chips in (1, *GENERATIONS[label].hosts)


@pytest.mark.parametrize("component", TPUS)
def test_a_topology_reaches_pods_and_chips(component: str) -> None:
    choices = parameter(component, "topology")["choices"]
    for choice in {str(one): one for one in (choices[0], choices[len(choices) // 2], choices[-1])}.values():
        use = {"name": component, "with": {"topology": choice["value"]}}
        base = {**BASE, "spec": {**BASE["spec"], "mlPolicy": {"numNodes": 1}}}
        objects, errors = compiled(base, runtime("leaf", {"extends": "base", "components": [use]}), JOB)
        job = objects[-1]["spec"]["replicatedJobs"][0]["template"]["spec"]
        pod = job["template"]["spec"]
        assert errors == []
        assert job["parallelism"] == choice["with"]["nodes"]
        assert pod["containers"][0]["resources"]["limits"] == {"google.com/tpu": str(choice["with"]["chips"])}
        assert pod["nodeSelector"]["cloud.google.com/gke-tpu-topology"] == choice["value"]
        assert pod["nodeSelector"]["cloud.google.com/gke-tpu-accelerator"] == TPUS[component][0]


def test_an_instance_brings_all_of_its_cards() -> None:
    choices = parameter("aws-efa", "instance")["choices"]
    several = {
        name
        for name, one in MACHINES.items()
        if one.resource == GPU_RESOURCE and one.cards > 1 and name.startswith("p")
    }
    assert {choice["value"] for choice in choices} == several
    for choice in choices:
        machine = MACHINES[choice["value"]]
        assert choice["with"] == {"gpus": machine.devices, "cards": machine.cards}


@pytest.mark.slow
def test_the_defaults_of_the_components_are_what_their_choices_say() -> None:
    for name, component in LIBRARY.items():
        use = {"name": name}
        given = {"name": name, "with": defaults(component)}
        needs = [{"name": one} for one in component["spec"].get("requires", ())]
        both = [
            compiled(BASE, runtime("leaf", {"extends": "base", "components": [*needs, which]}), JOB)
            for which in (use, given)
        ]
        assert both[0] == both[1], name
        assert both[0][1] == [], name


def defaults(component: dict[str, Any]) -> dict[str, Any]:
    found = {one["name"]: one["default"] for one in component["spec"].get("parameters", ()) if "default" in one}
    for one in component["spec"].get("parameters", ()):
        for choice in one.get("choices", ()):
            if choice["value"] == one.get("default"):
                found |= choice.get("with", {})
    return found


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_component_tells_its_sources_and_when_they_were_read(path: Any) -> None:
    text = path.read_text("utf-8")
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert any("Read 20" in line for line in comments)
    assert len(comments) > 2
    component = LIBRARY[path.stem]
    assert component["metadata"]["name"] == path.stem
    assert component["spec"]["description"].endswith(".")
    assert all(one["description"].endswith(".") for one in component["spec"].get("parameters", ()))


@pytest.mark.parametrize("component", LIBRARY)
def test_a_component_stands_in_relation_to_components_that_exist(component: str) -> None:
    spec = LIBRARY[component]["spec"]
    named = {name for field in ("requires", "conflictsWith", "after") for name in spec.get(field, ())}
    assert named <= set(LIBRARY) - {component}
    assert all(component in LIBRARY[name]["spec"]["conflictsWith"] for name in spec.get("conflictsWith", ()))


def test_the_sizes_are_quantities() -> None:
    assert Quantity.parse(parameter("shm", "size")["default"]) == Quantity.parse("64Gi")
