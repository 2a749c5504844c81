"""Files of shapes that no server would store are findings: renderings edited since, dumps, nulls, objects beside a job."""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.compiling import ROOT, relative_environment
from tests.hostile.mutants import mutate
from tests.sampling import sampled


def trainc(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """One run of the real program."""
    return subprocess.run(
        [sys.executable, "-m", "trainc", *argv],
        cwd=folder, env=relative_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip


PROJECT = "apiVersion: trainc.dev/v1alpha1\nkind: Project\nmetadata: {name: p}\nspec: {clusters: {lab: {folder: clusters/lab}}}\n"
JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: run}
spec:
  replicatedJobs:
  - name: node
    template:
      spec:
        template:
          spec:
            restartPolicy: Never
            containers:
            - %s
            - {name: a, image: "r/x:1", command: %s}
"""


def test_a_null_container_is_a_container_that_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOBSET % ("null", "[python]"), "utf-8")
    done = trainc(tmp_path, "validate", "job.yaml")
    assert done.returncode == 1
    assert "error[bad-container-name]: a container has no name\n  --> job.yaml:13:15" in done.stderr


def test_a_null_in_a_list_of_texts_is_an_empty_text(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOBSET % ("{name: b, image: r/x}", "[python, null]"), "utf-8")
    done = trainc(tmp_path, "build", "job.yaml", "--only", "admission")  # trainc itself refuses it: `null-field`
    assert done.returncode == 0, done.stderr
    assert '            - python\n            - ""\n' in done.stdout.replace("              - ", "            - ")


def test_webhooks_read_by_their_own_types_what_a_definition_lets_through(tmp_path: Path) -> None:
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "jobsets.jobset.x-k8s.io"},
        "spec": {
            "group": "jobset.x-k8s.io",
            "names": {"kind": "JobSet", "plural": "jobsets"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1alpha2",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {
                                "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                            },
                        }
                    },
                }
            ],
        },
    }
    policies = (
        "  volumeClaimPolicies:\n  - templates:\n    - {metadata: {name: data}, spec: {accessModes: [ReadWriteMany]}}\n"
    )
    (tmp_path / "clusters/lab").mkdir(parents=True)
    (tmp_path / "clusters/lab/crd.yaml").write_text(json.dumps(definition), "utf-8")
    (tmp_path / "trainc.yaml").write_text(PROJECT, "utf-8")
    (tmp_path / "job.yaml").write_text(JOBSET % ("{name: b, image: r/x}", "[python]") + policies, "utf-8")
    done = trainc(tmp_path, "validate", "job.yaml", "--report", "json")
    assert "replicatedJob containers don't have a matching volumeMount: data" in done.stdout
    assert done.returncode == 1


def test_a_rendering_that_was_edited_into_nonsense_is_named(tmp_path: Path) -> None:
    for side in ("old", "new"):
        shutil.copytree(ROOT / "examples/torch-ddp/output", tmp_path / side)
    file = next((tmp_path / "new").rglob("*.yaml"))
    text = file.read_text("utf-8")
    assert "containers:\n" in text
    file.write_text(text.replace("containers:\n", "containers:\n            - null\n", 1), "utf-8")
    done = trainc(tmp_path, "diff", "old", "new")
    assert done.returncode == 2
    assert "not what trainc wrote, so it cannot be compared: " in done.stderr
    assert 'must be of type object: "null"' in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_renderings_are_read_as_texts_of_strangers(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from trainc import cli  # noqa: PLC0415 (in this process: a hundred comparisons)

    chance = random.Random(seed)  # noqa: S311
    original = next((ROOT / "examples/torch-ddp/output").rglob("*.yaml")).read_text("utf-8")
    head = original.partition("\n")[0]
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    (tmp_path / "old/a.yaml").write_text(original, "utf-8")
    monkeypatch.chdir(tmp_path)
    for _ in range(100):
        documents = list(yaml.safe_load_all(original))
        for _ in range(chance.choice((1, 1, 2))):
            mutate(documents, chance)
        (tmp_path / "new/a.yaml").write_text(f"{head}\n" + yaml.dump_all(documents), "utf-8")
        for argv in (["diff", "old", "new"], ["diff", "new", "old", "--report", "markdown"]):
            assert cli.main(argv) in {0, 1, 2}, (documents, capsys.readouterr().err)
    capsys.readouterr()


DUMPS = {
    "taints": ({"kind": "Node", "metadata": {"name": "a"}, "spec": {"taints": [{"effect": ["x"]}]}}, "spec.taints[0].effect", "a text"),
    "labels": ({"kind": "Node", "metadata": {"name": "a", "labels": {"x": 1}}}, "metadata.labels.x", "a text"),
    "null": ({"kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [None]}}, "spec.containers[0]", "anything"),
    "priority": ({"kind": "PriorityClass", "metadata": {"name": "a"}, "value": "x"}, "value", "a whole number"),
    "flavors": ({"kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": {"resourceGroups": {}}}, "spec.resourceGroups", "a list"),
    "checks": ({"kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": {"admissionChecksStrategy": {"admissionChecks": [{"name": "c", "onFlavors": [{}]}]}}},
        "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[0]", "a text"),
}  # fmt: skip


@pytest.mark.parametrize("name", sampled(DUMPS, quick=("labels", "flavors")))
def test_a_dump_that_no_server_answers_with(name: str, tmp_path: Path) -> None:
    tree, path, wanted = DUMPS[name]
    (tmp_path / "clusters/lab").mkdir(parents=True)
    (tmp_path / "clusters/lab/dump.yaml").write_text(json.dumps({"apiVersion": "v1", **tree}), "utf-8")
    (tmp_path / "trainc.yaml").write_text(PROJECT, "utf-8")
    (tmp_path / "job.yaml").write_text(JOBSET % ("{name: b, image: r/x}", "[python]"), "utf-8")
    done = trainc(tmp_path, "validate", "job.yaml")
    assert done.returncode == 1
    assert f"error[foreign-dump]: `{path}` of this {tree['kind']} is not {wanted}" in done.stderr


def test_metadata_of_any_object_beside_a_job_are_those_of_every_server(tmp_path: Path) -> None:
    beside = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: [x]}\n"
    (tmp_path / "job.yaml").write_text(JOBSET % ("{name: b, image: r/x}", "[python]") + beside, "utf-8")
    done = trainc(tmp_path, "validate", "job.yaml")
    assert done.returncode == 1
    assert "cannot unmarshal array into Go struct field ObjectMeta.annotations" in done.stderr
