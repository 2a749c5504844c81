"""What a pod could read of itself under its operator, it reads in its JobSet; the table of docs/kinds.md says so."""

import copy
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in
from tests.matrix.kinds import KINDS, Kind
from tests.matrix.mistakes import HEALTHY
from trainc.kinds.shared.pod_fields import OPERATOR_FIELDS, OperatorField, annotation, label
from trainc.yaml.writer import dump

FAMILIES = {
    "kinds of Kubeflow": ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"),
    "Volcano Job": ("VolcanoJob",),
    "LeaderWorkerSet": ("LeaderWorkerSet",),
    "RayJob": ("RayJob",),
}
# Worker 0 of several is the master, which one template cannot say.
LOST = {("JAXJob", "training.kubeflow.org/job-role")}


def combinations() -> Iterator[tuple[OperatorField, Kind]]:
    for field in OPERATOR_FIELDS:
        for kind in KINDS:
            if kind.family in FAMILIES[field.kinds]:
                yield field, kind


@pytest.mark.parametrize(
    ("field", "kind"), [pytest.param(*pair, id=f"{pair[0].key}-{pair[1].name}") for pair in combinations()]
)
def test_a_pod_reads_each_field(field: OperatorField, kind: Kind, tmp_path: Path) -> None:
    template = copy.deepcopy(HEALTHY)
    path = annotation(field.key) if field.key.endswith("/size") else label(field.key)
    entry = {"name": "OF_OPERATOR", "valueFrom": {"fieldRef": {"fieldPath": path}}}
    template["spec"]["containers"][0]["env"].append(entry)
    documents = kind.documents(template, template, 3)
    run = compile_in(tmp_path, "validate", "-", stdin="---\n".join(map(dump, documents)))
    lost = [finding for finding in run.findings if finding.rule.name == "pod-field-lost"]
    assert bool(lost) is ((kind.family, field.key) in LOST), run.err


def test_every_family_is_a_kind() -> None:
    assert {name for names in FAMILIES.values() for name in names} <= {kind.family for kind in KINDS}


def test_the_table_stands_in_the_documentation() -> None:
    rows = "\n".join(f"| {field.kinds} | `{field.key}` | {field.present} |" for field in OPERATOR_FIELDS)
    assert rows in (ROOT / "docs/kinds.md").read_text()
