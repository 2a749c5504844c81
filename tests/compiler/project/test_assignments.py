"""Settings of a cluster, from `--set` and from trainc.yaml."""

import re

import pytest

from trainc.compiler.project.assignments import assigned
from trainc.model.cluster import Cluster
from trainc.text.trouble import Trouble


@pytest.mark.parametrize(
    ("word", "field", "wanted"),
    [
        ("scheduler=kueue", "scheduler", "kueue"),
        ("schedulerName=ours", "scheduler_name", "ours"),
        ("queue=research", "queue", "research"),
        ("topology=example.com/rack", "topology", "example.com/rack"),
        ("namespace=nlp", "namespace", "nlp"),
        ("gangTimeout=600", "timeout", 600),
        ("gang=replicas", "unit", "replicas"),
        ("autoscaling=TRUE", "autoscaling", True),
        ("autoscaling=false", "autoscaling", False),
        ("kubernetes=v1.36.1", "kubernetes", (1, 36)),
        ("jobset=0.13", "jobset", (0, 13)),
        ("kueue=0.16", "kueue", (0, 16)),
        ("gates=A, B,", "gates", frozenset({"A", "B"})),
        ("admission=kueue", "admission", frozenset({"kueue"})),
    ],
)
def test_a_setting_fills_a_field(word: str, field: str, wanted: object) -> None:
    found = getattr(Cluster(**assigned([word])), field)
    assert getattr(found, "value", found) == wanted


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("scheduler", "--set takes KEY=VALUE, not `scheduler`"),
        ("schedular=kueue", "unknown setting `schedular`; did you mean `scheduler`?"),
        ("queue=", "`queue` is a name, not ``"),
        ("gangTimeout=0", "`gangTimeout` is a number of seconds, not `0`"),
        ("gangTimeout=1m", "`gangTimeout` is a number of seconds, not `1m`"),
        ("gang=all", "`gang` is one of whole, roles, replicas, not `all`"),
        ("autoscaling=yes", "`autoscaling` is true or false, not `yes`"),
        ("kubernetes=1", '`kubernetes` is a version such as "1.37", not `1`'),
    ],
)
def test_what_a_setting_cannot_be(word: str, said: str) -> None:
    with pytest.raises(Trouble, match=rf"^{re.escape(said)}$"):
        assigned([word])


def test_the_last_assignment_counts_and_says_where_it_comes_from() -> None:
    queue = Cluster(**assigned(["queue=a", "queue=b"])).queue
    assert queue is not None
    assert queue.value == "b"
    assert queue.origin.by == "--set queue=b"
