"""Compiles jobs whose runtimes are given as text, in memory and alone."""

from typing import Any

from trainc.compiler import pipeline
from trainc.model.finding import Finding
from trainc.model.report import Report
from trainc.model.settings import Project, Selection
from trainc.model.tree import plain
from trainc.yaml.writer import dump, dump_all

JOB: dict[str, Any] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "bert"},
    "spec": {"runtimeRef": {"name": "leaf"}, "trainer": {}},
}
BASE: dict[str, Any] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "ClusterTrainingRuntime",
    "metadata": {"name": "base"},
    "spec": {
        "mlPolicy": {"numNodes": 2, "torch": {}},
        "template": {
            "spec": {
                "replicatedJobs": [
                    {
                        "name": "node",
                        "template": {
                            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                            "spec": {
                                "template": {
                                    "spec": {
                                        "nodeSelector": {"zone": "a"},
                                        "containers": [
                                            {
                                                "name": "node",
                                                "image": "registry.example/train:1",
                                                "command": ["torchrun", "train.py"],
                                                "env": [{"name": "A", "value": "0"}, {"name": "B", "value": "0"}],
                                            }
                                        ],
                                    }
                                }
                            },
                        },
                    }
                ]
            }
        },
    },
}


def runtime(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "trainc.dev/v1alpha1", "kind": "Runtime", "metadata": {"name": name}, "spec": spec}


def component(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "trainc.dev/v1alpha1", "kind": "RuntimeComponent", "metadata": {"name": name}, "spec": spec}


def on_pods(pod: dict[str, Any]) -> dict[str, Any]:
    """A piece of a runtime that says something about the pods of `node`."""
    job = {"name": "node", "template": {"spec": {"template": {"spec": pod}}}}
    return {"template": {"spec": {"replicatedJobs": [job]}}}


def compiled(*objects: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """The manifests of one stream of objects, and the errors that were found in it."""
    report = Report()
    selection = Selection((), stdin=dump_all(objects).encode())
    bundles = list(pipeline.bundles(Project("/nowhere"), selection, report))
    errors = [finding.rule.name for finding in report.findings if finding.level == "error"]
    return [plain(tree) for bundle in bundles for tree in bundle.objects], errors


def flattened(name: str, *objects: dict[str, Any]) -> str:
    """The text of the plain runtime that one amounts to."""
    report = Report()
    selection = Selection((), stdin=dump_all(objects).encode())
    found = pipeline.flattening(Project("/nowhere"), selection, report)(name, report)
    assert found is not None, report.findings
    return dump(found.tree)


def told(*objects: dict[str, Any]) -> list[tuple[str, str, Finding]]:
    """The errors found in one stream of objects: the rule, the line that is blamed, and all of it."""
    text = dump_all(objects)
    report = Report()
    list(pipeline.bundles(Project("/nowhere"), Selection((), stdin=text.encode()), report))
    lines = text.splitlines()
    errors = [finding for finding in report.findings if finding.level == "error"]
    return [(one.rule.name, lines[one.span.line - 1].strip(" -"), one) for one in errors]
