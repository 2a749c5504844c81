"""What typed structures do to a template, field by field where the JSON does not tell."""

from typing import Any

import pytest

from trainc.apiserver.normalise import normalise
from trainc.model.tree import plain, stamp


def written(field: str, tree: Any, **more: Any) -> Any:
    return plain(normalise(stamp({field: tree}, "test"), **more)).get(field)


@pytest.mark.parametrize(
    ("field", "tree", "expected"),
    [
        ("tolerations", [{"key": "", "operator": "", "value": ""}], [{}]),
        ("matchExpressions", [{"key": "", "operator": ""}], [{"key": "", "operator": ""}]),
        ("env", [{"name": "", "value": ""}], [{"name": ""}]),
        ("sysctls", [{"name": "", "value": ""}], [{"name": "", "value": ""}]),
        ("imagePullSecrets", [{"name": ""}], [{}]),
        ("dependsOn", [{"name": "", "status": ""}], [{"name": "", "status": ""}]),
        ("seccompProfile", {"type": ""}, {"type": ""}),
        ("seLinuxOptions", {"type": ""}, {}),
        ("httpGet", {"path": "", "port": ""}, {"port": ""}),
        ("hostPath", {"path": "", "type": ""}, {"path": "", "type": ""}),
        ("azureDisk", {"kind": "", "readOnly": False}, {"kind": "", "readOnly": False}),
        ("nfs", {"server": "", "path": "", "readOnly": False}, {"server": "", "path": ""}),
        ("iscsi", {"lun": 0, "chapAuthSession": False}, {"lun": 0}),
        ("csi", {"fsType": "", "volumeAttributes": {}}, {"fsType": ""}),
        ("readinessProbe", {"periodSeconds": 0, "terminationGracePeriodSeconds": 0}, {"terminationGracePeriodSeconds": 0}),
        ("resourceFieldRef", {"resource": "limits.cpu"}, {"resource": "limits.cpu", "divisor": "0"}),
        ("resourceFieldRef", {"resource": "", "containerName": "", "divisor": 1}, {"resource": "", "divisor": "1"}),
        ("onPodConditions", [{"type": "Ready"}], [{"type": "Ready", "status": ""}]),
        ("templates", [{"metadata": {"name": "data"}}], [{"metadata": {"name": "data"}, "spec": {}}]),
        ("resources", {"limits": {"cpu": "1000m"}, "requests": {}}, {"limits": {"cpu": "1"}}),
    ],
)  # fmt: skip
def test_zero_values(field: str, tree: Any, expected: Any) -> None:
    assert written(field, tree) == expected


@pytest.mark.parametrize(
    ("field", "tree", "template", "patch"),
    [
        ("spec", {"serviceAccountName": "", "hostname": ""}, {}, {"serviceAccountName": ""}),
        ("projected", {"defaultMode": 0}, {"defaultMode": 0}, {"defaultMode": 0, "sources": None}),
        ("projected", {"sources": []}, {}, {"sources": None}),
    ],
)
def test_a_patch_has_structures_of_its_own(field: str, tree: Any, template: Any, patch: Any) -> None:
    assert written(field, tree) == template
    assert written(field, tree, patch=True) == patch
