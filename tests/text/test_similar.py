"""The name somebody meant, of few names and of many."""

import pytest

from trainc.text.similar import closest
from trainc.text.spelling import meant, nearest

MANY = [f"torch-{number:04}-{number * 7919 % 1000:03}" for number in range(2000)]


@pytest.mark.parametrize(
    ("name", "names", "found"),
    [
        ("torch-distribted", ["jax-distributed", "torch-distributed"], "torch-distributed"),
        ("zzz", ["jax-distributed", "torch-distributed"], ""),
        ("a", [], ""),
        ("orch-distributed", [*MANY, "torch-distributed"], "torch-distributed"),
        ("torch-distribute", [*MANY, "torch-distributed"], "torch-distributed"),
        ("torch-dsitributed", [*MANY, "torch-distributed"], "torch-distributed"),
        ("zzz", MANY, ""),
    ],
)
def test_nearest(name: str, names: list[str], found: str) -> None:
    assert nearest(name, names) == found


def test_help() -> None:
    assert meant("cpus", ["cpu"], "see the list") == "did you mean `cpu`?"
    assert meant("cpus", ["memory"], "see the list") == "see the list"


@pytest.mark.slow
def test_a_name_with_one_letter_wrong_is_found_among_thousands() -> None:
    for name in MANY[::37]:
        for at in range(6, len(name)):
            assert closest(f"{name[:at]}x{name[at + 1 :]}", tuple(MANY), 0.6)
