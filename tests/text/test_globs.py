"""Globs of trainc.yaml."""

from fnmatch import fnmatchcase
from random import Random

import pytest

from tests.effort import cpu, within
from tests.sampling import sampled
from trainc.text.globs import holds


@pytest.mark.parametrize(
    ("glob", "file", "held"),
    [
        ("jobs/eu/*", "jobs/eu/a.yaml", True),
        ("jobs/eu/*", "jobs/eu/llm/a.yaml", True),
        ("jobs/eu/*", "jobs/us/a.yaml", False),
        ("jobs/*.yaml", "jobs/a.yaml", True),
        ("jobs/*.yaml", "jobs/a.yml", False),
        ("jobs/a.yaml", "jobs/a.yaml", True),
        ("jobs/a.yaml", "jobs/a.yaml.yaml", False),
        ("jobs", "jobs/eu/a.yaml", True),
        ("jobs/", "jobs/eu/a.yaml", True),
        ("./jobs/", "jobs/eu/a.yaml", True),
        ("jobs/**", "jobs/eu/a.yaml", True),
        ("job", "jobs/a.yaml", False),
        ("jobs/e*", "jobs/eu/a.yaml", True),
        ("*", "jobs/a.yaml", True),
        ("", "a.yaml", False),
        (".", "a.yaml", True),
        ("./", "jobs/a.yaml", True),
        ("jobs/[ab].yaml", "jobs/b.yaml", True),
        ("jobs/[a[.yaml", "jobs/[a[.yaml", True),
        ("jobs/[]a].yaml", "jobs/].yaml", True),
        ("[]a[", "[]a[", True),
        ("[!]", "[!]", True),
    ],
)
def test_a_glob_holds_files_and_what_lies_below_folders(glob: str, file: str, held: bool) -> None:
    assert holds(glob, file) is held


@pytest.mark.parametrize("seed", sampled(range(200), every=10))
def test_brackets_mean_what_the_library_says(seed: int) -> None:
    random = Random(seed)  # noqa: S311
    for _ in range(20):
        glob = "".join(random.choices("[]!a-*", k=random.randint(1, 8)))
        file = "".join(random.choices("[]!a-", k=random.randint(1, 5)))
        assert holds(glob, file) == fnmatchcase(file, glob)


def test_brackets_that_nothing_closes_take_no_time() -> None:
    assert not holds("[" * 2_000, "a.yaml")
    within(2, lambda: cpu(lambda: holds("[" * 20_000, "a.yaml")))
