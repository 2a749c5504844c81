"""Settings that many jobs share are understood once, and never taken for others that are equal in Python alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainc.model.tree import stamp
from trainc.verify.frames import Frame, Work, frame_of, work_of
from trainc.verify.values import SUBSTITUTED, content, said, written

SCALARS = st.sampled_from([None, True, False, 0, 1, 2, -1, 1.0, 0.0, "", "1", "Indexed", "NonIndexed", "${N}"])
FIELDS = st.sampled_from(["completionMode", "completions", "parallelism", "backoffLimit", "successPolicy", "suspend"])


@pytest.mark.parametrize(
    ("replicas", "spec", "numbers", "indexed"),
    [
        (None, {}, (1, 1, 1), True),
        (2, {"parallelism": 3}, (2, 3, 3), True),
        (1, {"parallelism": 3, "completions": 2}, (1, 2, 2), True),
        (1, {"parallelism": 2, "completions": 6}, (1, 2, 6), True),
        (1, {"parallelism": True}, (1, SUBSTITUTED, SUBSTITUTED), True),
        (1, {"parallelism": 1.0}, (1, SUBSTITUTED, SUBSTITUTED), True),
        (1, {"parallelism": 1}, (1, 1, 1), True),
        ("${N}", {"completions": "${M}"}, (SUBSTITUTED, 1, SUBSTITUTED), True),
        (0, {"completionMode": "NonIndexed"}, (0, 1, 1), False),
        (1, {"completionMode": ""}, (1, 1, 1), True),
    ],
)
def test_the_numbers_of_a_role(replicas: Any, spec: Any, numbers: tuple[Any, ...], *, indexed: bool) -> None:
    role = stamp({} if replicas is None else {"replicas": replicas}, "test")
    work = work_of(role, stamp(spec, "test"))
    assert (work.replicas, work.width, work.size) == numbers
    assert work.indexed is indexed
    assert spec.keys() <= work.traits


@given(SCALARS, st.dictionaries(FIELDS, SCALARS))
def test_remembered_work_is_that_of_these_fields(replicas: Any, spec: Any) -> None:
    role, tree = stamp({"replicas": replicas}, "test"), stamp(spec, "test")
    known, fresh = work_of(role, tree), Work((said(role, "replicas"), (tuple(tree), written(tree))))
    for part in Work.__slots__:
        assert repr(getattr(known, part)) == repr(getattr(fresh, part))


@given(st.dictionaries(st.sampled_from(["restartPolicy", "hostIPC"]), SCALARS), SCALARS)
def test_remembered_frames_are_those_of_these_pods(pod: Any, grace: Any) -> None:
    tree = stamp({**pod, "terminationGracePeriodSeconds": grace}, "test")
    grace_said, host_ipc = said(tree, "terminationGracePeriodSeconds"), said(tree, "hostIPC")
    known, fresh = frame_of(tree), Frame((tuple(tree), grace_said, host_ipc))
    for part in Frame.__slots__:
        assert getattr(known, part) == getattr(fresh, part)


@given(st.lists(st.one_of(SCALARS, st.just({}), st.just([])), min_size=2, max_size=2))
def test_what_is_said_is_the_same_only_of_the_same(two: list[Any]) -> None:
    first, second = (said(stamp({"a": one}, "test"), "a") for one in two)
    assert (first == second) is (repr(two[0]) == repr(two[1]))
    assert all(
        said_of == written(stamp({"a": one}, "test"))[0] for said_of, one in zip((first, second), two, strict=True)
    )
    assert repr(content(first)) == repr(two[0] if type(two[0]) not in (dict, list) else None)
