"""Laws of verdicts: more quota and more nodes never take an admission away."""

from random import Random

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conformance.archives import members
from tests.sampling import sampled
from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.kueue import Kueue
from trainc.compiler.project.dumps import read_dump
from trainc.model.report import Report
from trainc.yaml.reader import read

GROUPS = [
    (group, name.removesuffix(".json"))
    for group in ("cohorts", "flavors", "mixtures")
    for name in members("admission", group)
    if name.endswith(".json")
]


def admitted(text: str) -> bool:
    jobs = [document.tree for document in read(text, "case.yaml", Report()) if document.kind == "JobSet"]
    return Kueue(ClusterFacts(read_dump(text.encode(), "dump.yaml", Report()), closed=True)).judge(jobs[0]).has_quota


def more_quota(text: str, factor: int) -> str:
    trees = list(yaml.safe_load_all(text))
    for tree in trees:
        if tree["kind"] in {"ClusterQueue", "Cohort"}:
            for group in tree["spec"].get("resourceGroups") or []:
                for resource in [one for flavor in group["flavors"] for one in flavor["resources"]]:
                    for field in ("nominalQuota", "borrowingLimit"):
                        if str(resource.get(field, "")).isdigit():
                            resource[field] = str(int(resource[field]) * factor)
    return yaml.safe_dump_all(trees)


@pytest.mark.parametrize(
    ("group", "case"), sampled([pair for pair in GROUPS if not pair[1].startswith("r-tas")][::2], every=5)
)
def test_more_quota_never_takes_an_admission_away(group: str, case: str) -> None:
    text = members("admission", group)[f"{case}.yaml"]
    if "topologyName" not in text and admitted(text):
        assert admitted(more_quota(text, 3))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_a_free_node_more_never_takes_a_place_away(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (which case, not which key)
    group, case = random.choice([pair for pair in GROUPS if pair[1].startswith("r-tas")])
    text = members("admission", group)[f"{case}.yaml"]
    trees = list(yaml.safe_load_all(text))
    nodes = [tree for tree in trees if tree["kind"] == "Node"]
    if not nodes or not admitted(text):
        return
    copied = yaml.safe_load(yaml.safe_dump(random.choice(nodes)))
    copied["metadata"]["name"] = copied["metadata"]["labels"]["kubernetes.io/hostname"] = "zz-more"
    assert admitted(yaml.safe_dump_all([*trees, copied]))
