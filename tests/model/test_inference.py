"""Counts inferred from resources."""

import pytest

from trainc.model.inference import Inferred, gpu_names, whole
from trainc.model.sourced import Origin
from trainc.model.tree import stamp


@pytest.mark.parametrize(
    ("quantity", "expected"),
    [
        (4, 4),
        ("4", 4),
        ("0", 0),
        ("2500m", 3),
        ("0.7", 1),
        ("1500m", 2),
        ("3.7", 4),
        ("1e3", 1000),
        ("1E", 10**18),
        ("0.5Ki", 512),
        ("1Gi", 2**30),
        (".5", 1),
        ("5.", 5),
        ("1n", 1),
        ("-2500m", -3),
    ],
)
def test_a_quantity_rounds_up(quantity: object, expected: int) -> None:
    assert whole(quantity) == expected


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({}, 0),
        ({"limits": {"nvidia.com/gpu": 2}}, 2),
        ({"requests": {"nvidia.com/gpu": 0}, "limits": {"nvidia.com/gpu": 2}}, 2),
        ({"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 2}}, 1),
        ({"limits": {"example.com/NPU-GPU": "1500m"}}, 2),
        ({"limits": {"gpu.intel.com/i915": 1}}, 1),
        ({"limits": {"nvidia.com/mig-1g.5gb": 1}}, 0),
        ({"limits": {"google.com/tpu": 4}}, 0),
        ({"limits": {"nvidia.com/gpu": 2, "amd.com/gpu": 3}}, 3),
    ],
)
def test_gpus(resources: dict[str, dict[str, object]], expected: int) -> None:
    assert Inferred(stamp(resources, "test")).gpus.value == expected


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({}, 0),
        ({"limits": {"cpu": "2.5"}}, 3),
        ({"requests": {"cpu": 3}, "limits": {"cpu": 8}}, 3),
        ({"requests": {"cpu": "0"}, "limits": {"cpu": 8}}, 8),
        ({"requests": {"memory": "1Gi"}}, 0),
    ],
)
def test_cpus(resources: dict[str, dict[str, object]], expected: int) -> None:
    assert Inferred(stamp(resources, "test")).cpus.value == expected


def test_names_of_gpus_are_sorted() -> None:
    assert gpu_names({"nvidia.com/gpu": 1, "cpu": 1, "amd.com/gpu": 1}) == ["amd.com/gpu", "nvidia.com/gpu"]


def test_a_count_knows_what_it_was_made_from() -> None:
    found = Inferred({"limits": {"nvidia.com/gpu": stamp("2", "test")}}).gpus
    assert found.origin == Origin(None, "GPUs per node", (Origin(by="test"),))
