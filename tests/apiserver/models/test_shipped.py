"""People can list, read and copy the schemas."""

import json

import pytest
import yaml

from trainc.apiserver.shipped import contents, folder, listed, show


def test_listed() -> None:
    kinds = [(one.group, one.version, one.kind) for one in listed()]
    assert kinds == sorted(kinds)
    assert ("scheduling.volcano.sh", "v1beta1", "PodGroup") in kinds
    assert ("trainer.kubeflow.org", "v1alpha1", "TrainJob") in kinds
    assert all(one.about.endswith(".") for one in listed())
    assert all((folder() / path).is_file() for one in listed() for path in (one.crd, one.json) if path)
    assert [one.kind for one in listed() if not one.crd] == ["Inventory", "Project"]


@pytest.mark.parametrize("kind", ["Inventory", "Project"])
def test_a_kind_that_no_server_has_comes_as_json_alone(kind: str) -> None:
    assert show(kind) == show(kind, form="json") != ""


@pytest.mark.parametrize(
    ("kind", "plurals"),
    [
        ("TrainJob", ["trainjobs.trainer.kubeflow.org"]),
        ("jobset", ["jobsets.jobset.x-k8s.io"]),
        ("MPIJob", ["mpijobs.kubeflow.org"]),
        ("PodGroup", ["podgroups.scheduling.volcano.sh", "podgroups.scheduling.x-k8s.io"]),
        ("podgroup.scheduling.volcano.sh", ["podgroups.scheduling.volcano.sh"]),
        ("Nope", []),
    ],
)
def test_show_as_yaml(kind: str, plurals: list[str]) -> None:
    documents = yaml.load_all(show(kind), Loader=yaml.CSafeLoader)
    assert [document["metadata"]["name"] for document in documents] == plurals


def test_show_as_json() -> None:
    assert json.loads(show("TrainJob", form="json"))["title"] == "TrainJob"


def test_contents() -> None:
    of_kinds = {path for one in listed() for path in (one.crd, one.json) if path}
    assert {path for path in contents() if not path.startswith("reports/")} == of_kinds
