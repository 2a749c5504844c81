"""Patches on a replicatedJob: where they land, and what stays as it was."""

from typing import Any

import pytest

from trainc.compiler.lower.contributors import Draft, upsert
from trainc.model.patch import Patch
from trainc.model.tree import plain, stamp

JOB = stamp(
    {
        "name": "node",
        "template": {
            "spec": {
                "template": {
                    "spec": {
                        "containers": [{"name": "a", "env": [{"name": "X", "value": "1"}]}, {"name": "b"}],
                        "volumes": [{"name": "v"}],
                    }
                }
            }
        },
    },
    "runtime",
)


def entry(name: str, value: str) -> Any:
    return stamp({"name": name, "value": value}, "test")


def laid(*patches: Patch) -> Any:
    draft = Draft(JOB)
    for patch in patches:
        draft.lay(patch)
    return draft.job


def pod(job: Any) -> Any:
    return job["template"]["spec"]["template"]["spec"]


def test_the_original_stays_and_unchanged_parts_are_shared() -> None:
    before = plain(JOB)
    job = laid(Patch(0, "a", env=(entry("Y", "2"),)), Patch(0, "a", env=(entry("X", "3"),)))
    assert plain(JOB) == before
    assert plain(pod(job)["containers"][0]["env"]) == [{"name": "X", "value": "3"}, {"name": "Y", "value": "2"}]
    assert pod(job)["containers"][1] is pod(JOB)["containers"][1]
    assert pod(job)["volumes"] is pod(JOB)["volumes"]


def test_a_container_that_a_patch_brings_along_is_found_by_the_next() -> None:
    brought = stamp([{"name": "a", "image": "new"}], "test")
    job = laid(
        Patch(0, "a", sets={"image": stamp("old", "test")}),
        Patch(0, pod={"containers": brought}),
        Patch(0, "a", sets={"tty": stamp(True, "test")}),
    )
    assert plain(pod(job)["containers"]) == [{"name": "a", "image": "new", "tty": True}]
    assert plain(brought) == [{"name": "a", "image": "new"}]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "a=1", "a=1"),
        ("a=1 b=2", "a=3", "a=3 b=2"),
        ("a=1 a=2", "a=3", "a=3 a=2"),
        ("b=1", "a=2 a=3", "b=1 a=3"),
        ("a=1", "b=2 a=3 c=4", "a=3 b=2 c=4"),
    ],
)
def test_an_upsert_replaces_the_first_of_its_name(old: str, new: str, expected: str) -> None:
    items, more = ([entry(*pair.split("=")) for pair in side.split()] for side in (old, new))
    assert " ".join(f"{e['name'].value}={e['value'].value}" for e in upsert(items, more, "name")) == expected
