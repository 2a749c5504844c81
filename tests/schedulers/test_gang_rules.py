"""Every rule about placing pods together, on the folders that fail and pass it."""

import re
import shlex
from pathlib import Path

import pytest

from tests.sampling import sampled
from tests.schedulers.building import findings_of, found, placed, plan_from
from trainc.compiler.project.assignments import assigned
from trainc.model.bundle import Bundle
from trainc.model.cluster import Cluster
from trainc.model.report import Report
from trainc.model.tree import value
from trainc.yaml.reader import read

CASES = Path(__file__).parent.parent / "cases" / "schedulers"
# These need a TrainJob, which only the whole compiler can turn into a plan; `tests/test_cases.py` runs them.
OF_TRAINJOBS = {"unknown-size", "volcano-policy-refused"}
RULES = sorted(path.name for path in CASES.glob("*") if (path / "fails").exists() and path.name not in OF_TRAINJOBS)


def cluster_of(case: Path) -> Cluster:
    """What the case's arguments say."""
    words = shlex.split((case / "args").read_text("utf-8")) if (case / "args").exists() else []
    return Cluster(**assigned(word for word in words if "=" in word), closed="--closed-world" in words)


def findings(case: Path) -> list[str]:
    report = Report()
    documents = list(read((case / "input" / "job.yaml").read_text("utf-8"), "job.yaml", report))
    bundle = Bundle(documents[-1], tuple(document.tree for document in documents))
    cluster = cluster_of(case).with_objects(bundle.objects, closed=False)
    if cluster.scheduler is not None:
        bundle = placed(plan_from(documents[-1]), cluster, report)
    found = [*report.findings, *findings_of(bundle, cluster)]
    return sorted({finding.rule.name for finding in found})


@pytest.mark.parametrize("rule", RULES)
def test_the_failing_case_gives_that_finding_and_no_other(rule: str) -> None:
    assert findings(CASES / rule / "fails") == [rule]


@pytest.mark.parametrize("rule", RULES)
def test_the_passing_case_gives_none(rule: str) -> None:
    assert findings(CASES / rule / "passes") == []


def test_every_finding_of_a_failing_case_has_a_place_in_its_file() -> None:
    for rule in RULES:
        case, report = CASES / rule / "fails", Report()
        documents = list(read((case / "input" / "job.yaml").read_text("utf-8"), "job.yaml", report))
        bundle = Bundle(documents[-1], tuple(document.tree for document in documents))
        spans = [one.span for one in findings_of(bundle, cluster_of(case).with_objects(bundle.objects, closed=False))]
        assert all(span.file == "job.yaml" and span.line > 1 for span in spans)


@pytest.mark.parametrize("rule", sampled(RULES, quick=("gang-priority",)))
@pytest.mark.parametrize("field", ["apiVersion", "name", "kind", "minMember", "minCount"])
@pytest.mark.parametrize(
    "other", ["7", pytest.param("[1]", marks=pytest.mark.slow), pytest.param("true", marks=pytest.mark.slow)]
)
def test_a_group_without_schema_may_hold_anything(rule: str, field: str, other: str) -> None:
    case, report = CASES / rule / "fails", Report()
    parts = (case / "input" / "job.yaml").read_text("utf-8").split("---\n")
    wrong = re.compile(rf"^( *){field}: .*$", re.MULTILINE)
    text = "---\n".join(part if "kind: JobSet" in part else wrong.sub(rf"\1{field}: {other}", part) for part in parts)
    documents = list(read(text, "job.yaml", report))
    bundle = Bundle(documents[-1], tuple(document.tree for document in documents))
    findings_of(bundle, cluster_of(case).with_objects(bundle.objects, closed=False))


def test_a_bundle_without_a_job_is_left_alone() -> None:
    (document,) = read("kind: ConfigMap\nmetadata: {name: a}\n", "a.yaml", Report())
    assert found(Bundle(document, (document.tree,))) == []
    assert value(document.tree, "kind") == "ConfigMap"
