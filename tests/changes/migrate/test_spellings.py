"""Earlier spellings of TrainJobs and runtimes in today's."""

from typing import Any

import pytest
import yaml

from tests.changes.migrate.comments import comments
from trainc.changes.migrate import migrate

JOB = """\
# the job
apiVersion: {api}
kind: TrainJob
metadata:
  name: fine-tune # ours
spec:
{spec}
"""
RUNTIME = """\
# first proposal
apiVersion: kubeflow.org/v2alpha1
kind: ClusterTrainingRuntime
metadata:
  name: torch-two
spec:
  mlSpec:
    torchSpec: # torchrun
      numProcPerNode: "5"
      standalone: false
  numNodes: 5
  podGroupSpec:
    scheduleTimeoutSeconds: 60
  replicatedJobs:
    # the nodes
    - name: trainer-node
      template:
        metadata:
          labels:
            training.kubeflow.org/phase: trainer
        spec:
          template:
            spec:
              containers:
                - name: trainer
                  image: 'registry.example/torch:1'
"""
NOW, THEN = "trainer.kubeflow.org/v1alpha1", "kubeflow.org/v2alpha1"


def patch(manager: str, *roles: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    jobs = [{"name": name, "template": {"spec": {"template": template}}} for name, template in roles]
    return {"manager": manager, "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}}}


ROWS = {
    "reference": (
        THEN,
        "  trainingRuntimeRef: {name: torch, namespace: other, kind: TrainingRuntime}",
        {"runtimeRef": {"name": "torch", "kind": "TrainingRuntime"}},
    ),
    "initializers": (
        THEN,
        "  datasetConfig: {storageUri: 'hf://a/b', secretRef: {name: s, namespace: n}}\n  modelConfig: {input: {storageUri: 'hf://c/d'}, output: {storageUri: 'hf://e/f'}}",
        {
            "initializer": {
                "dataset": {"storageUri": "hf://a/b", "secretRef": {"name": "s"}},
                "model": {"storageUri": "hf://c/d"},
            }
        },
    ),
    "processes as text": (NOW, '  trainer: {numProcPerNode: "4"}', {"trainer": {"numProcPerNode": 4}}),
    "processes by resource": (NOW, "  trainer: {numNodes: 2, numProcPerNode: gpu}", {"trainer": {"numNodes": 2}}),
    "labels": (
        NOW,
        "  labels: {team: nlp}",
        {
            "runtimePatches": [
                {
                    "manager": "trainc.dev/metadata",
                    "trainingRuntimeSpec": {"template": {"metadata": {"labels": {"team": "nlp"}}}},
                }
            ]
        },
    ),
    "pod overrides of v2.0": (
        NOW,
        "  podSpecOverrides:\n  - targetJobs: [{name: node}, {name: launcher}]\n    serviceAccountName: sa",
        {
            "runtimePatches": [
                patch(
                    "trainc.dev/override-0",
                    ("node", {"spec": {"serviceAccountName": "sa"}}),
                    ("launcher", {"spec": {"serviceAccountName": "sa"}}),
                )
            ]
        },
    ),
    "pod overrides of the proposal": (
        THEN,
        "  podSpecOverrides:\n  - targetReplicatedJobs: [trainer-node]\n    container: [{name: trainer, command: [x], env: [{name: A, value: b}]}]",
        {
            "runtimePatches": [
                patch(
                    "trainc.dev/override-0",
                    ("node", {"spec": {"containers": [{"name": "node", "env": [{"name": "A", "value": "b"}]}]}}),
                )
            ]
        },
    ),
    "template overrides of v2.1": (
        NOW,
        "  podTemplateOverrides:\n  - manager: example.com/x\n    targetJobs: [{name: node}]\n    metadata: {labels: {a: b}}\n    spec: {nodeSelector: {c: d}}",
        {
            "runtimePatches": [
                patch(
                    "example.com/x",
                    ("node", {"metadata": {"labels": {"a": "b"}}, "spec": {"nodeSelector": {"c": "d"}}}),
                )
            ]
        },
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_trainjob_of_earlier_days(name: str) -> None:
    api, spec, expected = ROWS[name]
    text = JOB.format(api=api, spec=spec)
    done = migrate(text)
    found = yaml.safe_load(done.text)
    assert (found["apiVersion"], found["spec"]) == (NOW, expected)
    assert done.changes
    assert comments(done.text) == comments(text)
    assert migrate(done.text).text == done.text


def test_a_runtime_of_the_first_proposal() -> None:
    done = migrate(RUNTIME)
    found = yaml.safe_load(done.text)
    assert found["apiVersion"] == NOW
    assert found["spec"] == {
        "mlPolicy": {"torch": {}, "numNodes": 5},
        "podGroupPolicy": {"coscheduling": {"scheduleTimeoutSeconds": 60}},
        "template": {
            "spec": {
                "replicatedJobs": [
                    {
                        "name": "node",
                        "template": {
                            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                            "spec": {
                                "template": {
                                    "spec": {"containers": [{"name": "node", "image": "registry.example/torch:1"}]}
                                }
                            },
                        },
                    }
                ]
            }
        },
    }
    assert comments(done.text) == comments(RUNTIME)
    assert "'registry.example/torch:1'" in done.text
    assert migrate(done.text).changes == ()


@pytest.mark.parametrize(
    "text", ["", "a: b\n", "# only a comment\n", JOB.format(api=NOW, spec="  trainer: {numNodes: 2}")]
)
def test_what_is_of_today_stays_as_it_is_written(text: str) -> None:
    done = migrate(text)
    assert (done.text, done.changes) == (text, ())


def test_a_role_that_is_nothing_is_passed_over() -> None:
    text = (
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nmetadata: {name: torch}\n"
        "spec: {template: {spec: {replicatedJobs: [null, a, {name: [trainer-node]}]}}}\n"
    )
    assert migrate(text).text == text


def test_other_documents_of_a_file_stay_as_they_are_written() -> None:
    other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name:   spaced}  # so\n"
    done = migrate(f"{other}---\n{RUNTIME}---\n{other}")
    assert done.text.startswith(f"{other}---\n")
    assert done.text.endswith(f"---\n{other}")


def test_a_list_of_earlier_days_is_not_passed_over() -> None:
    """It had nothing to migrate, with exit 0, and did not compile."""
    item = JOB.format(api=NOW, spec="  podTemplateOverrides:\n  - targetJobs: [{name: node}]\n    spec: {priority: 1}")
    listed = {"apiVersion": "v1", "kind": "List", "items": [yaml.safe_load(item)]}
    done = migrate(yaml.safe_dump(listed))
    assert done.has_failed
    assert "jobs in a List are not rewritten" in done.problems[0].message
    listed["items"] = [yaml.safe_load(migrate(item).text)]
    assert not migrate(yaml.safe_dump(listed)).problems


def test_a_comment_that_silences_a_rule_does_not_lose_its_place() -> None:
    spec = "  podTemplateOverrides:\n  - targetJobs: [{name: node}]\n    spec: {\n      # trainc: allow[x] why\n      priority: 1}"
    done = migrate(text := JOB.format(api=NOW, spec=spec))
    assert (done.text, done.has_failed) == (text, True)


@pytest.mark.parametrize("kind", ["PyTorchJob", "Volcano Job"])
def test_a_job_in_braces_is_refused_for_the_comment_that_loses_its_place(kind: str) -> None:
    """The error that the comment silenced was the whole reason given."""
    comment = "# trainc: allow[masked-exit-code] the log matters more"
    pod = '{restartPolicy: OnFailure, containers: [{name: pytorch, image: "r:1", command: [sh, -c, "python t.py | tee log"]}]}'
    worker = f"{{\n  {comment}\n  replicas: 2, template: {{spec: {pod}}}"
    top = "metadata: {name: a, namespace: ml}, spec: {"
    text = {
        "PyTorchJob": f"{{apiVersion: kubeflow.org/v1, kind: PyTorchJob, {top}pytorchReplicaSpecs: {{Worker: {worker}}}}}}}}}\n",
        "Volcano Job": f"{{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, {top}tasks: [{worker}, name: w}}]}}}}\n",
    }[kind]
    done = migrate(text)
    assert (done.text, done.has_failed) == (text, True)
    assert done.problems[0].message.endswith(
        f"`{comment}` would lose its place: write its value in lines, without braces"
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_job_in_another_encoding_is_not_passed_over(encoding: str) -> None:
    text = JOB.format(api=NOW, spec="  suspend: true")
    done = migrate(text.encode(encoding).decode("utf-8", "surrogateescape"))
    assert done.has_failed
    assert done.problems[0].span.line == 1
