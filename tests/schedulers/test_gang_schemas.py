"""What every back end emits is legal where it is sent: by the CRDs, or by Kubernetes' own OpenAPI of that version."""

from typing import Any

import jsonschema
import pytest
import yaml

from tests.compiling import ROOT
from tests.schedulers.building import JOB, placed, plan_of, sourced
from trainc.model.cluster import Cluster
from trainc.model.tree import plain

kubernetes_validate = pytest.importorskip("kubernetes_validate")
GATES = ["GenericWorkload", "TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption"]


def emitted(name: str, **settings: Any) -> list[Any]:
    cluster = Cluster(scheduler=sourced(name), **settings)
    return [plain(tree) for tree in placed(plan_of(JOB), cluster).objects[:-1]]


@pytest.mark.parametrize("settings", [{}, {"autoscaling": True}])
def test_coscheduling_groups_pass_their_crd(settings: Any) -> None:
    for tree in emitted("coscheduling", **settings):
        crd_accepts("scheduling.x-k8s.io_podgroups", tree)


@pytest.mark.parametrize(
    "settings",
    [{}, {"unit": "roles"}, {"unit": "replicas", "topology": "rack"}, {"queue": "team-a", "topology": "2"}],
)
def test_volcano_groups_pass_their_crd(settings: Any) -> None:
    said = {key: text if key == "unit" else sourced(text) for key, text in settings.items()}
    for tree in emitted("volcano", **said):
        crd_accepts("scheduling.volcano.sh_podgroups", tree)


def crd_accepts(name: str, tree: Any) -> None:
    crd = yaml.safe_load((ROOT / "schemas" / "crds" / f"{name}.yaml").read_text("utf-8"))
    (version,) = crd["spec"]["versions"]
    assert tree["apiVersion"] == f"{crd['spec']['group']}/{version['name']}"
    schema = version["schema"]["openAPIV3Schema"]
    jsonschema.validate(tree, schema)
    assert tree["spec"].keys() <= schema["properties"]["spec"]["properties"].keys()


@pytest.mark.parametrize(("version", "kinds"), [("1.36", ["Workload", "PodGroup"]), ("1.37", ["PodGroup"])])
@pytest.mark.parametrize("gates", [[], GATES])
def test_native_groups_pass_the_openapi_of_their_kubernetes(version: str, kinds: list[str], gates: list[str]) -> None:
    if not any(known.startswith(version) for known in kubernetes_validate.utils.all_versions()):
        pytest.skip(f"the installed kubernetes-validate has no schemas of Kubernetes {version}")
    major, minor = map(int, version.split("."))
    trees = emitted("native", kubernetes=(major, minor), gates=gates, topology=sourced("example.com/rack"))
    assert [tree["kind"] for tree in trees] == kinds
    for tree in trees:
        kubernetes_validate.validate(tree, version, strict=True)
