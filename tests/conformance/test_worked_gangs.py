"""The worked example of each scheduler back end, value by value: a launcher and four nodes of eight GPUs.

The expected values were worked out by hand from the upstream rules. Delivery adds its own annotations (sync waves),
which no back end sets. Where Kubernetes 1.37 offers several shapes, trainc writes the one with the fewest objects: a
PodGroup alone, which no missing Workload can keep out; in 1.36, where a PodGroup refers to a template, both.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.compiling import Run, compile_in

TEXT = (Path(__file__).parent / "worked" / "job.yaml").read_text("utf-8")
RESOURCES = {"cpu": "131", "memory": "2052Gi", "nvidia.com/gpu": "32"}
NATIVE = "--set scheduler=native --set gates=GenericWorkload --set kubernetes="


def group(api_version: str, spec: Any, kind: str = "PodGroup") -> Any:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "llm", "namespace": "ml"}, "spec": spec}


def native(version: str, **spec: Any) -> Any:
    return group(f"scheduling.k8s.io/{version}", {"schedulingPolicy": {"gang": {"minCount": 5}}, **spec})


COSCHEDULING = group(
    "scheduling.x-k8s.io/v1alpha1", {"minMember": 5, "scheduleTimeoutSeconds": 300, "minResources": RESOURCES}
)
VOLCANO = group(
    "scheduling.volcano.sh/v1beta1",
    {
        "minMember": 5,
        "minTaskMember": {"launcher": 1, "node": 4},
        "queue": "team-a",
        "priorityClassName": "training",
        "minResources": RESOURCES,
        "networkTopology": {"mode": "hard", "highestTierAllowed": 2},
    },
)
WORKLOAD = group(
    "scheduling.k8s.io/v1alpha2",
    {
        "controllerRef": {"apiGroup": "jobset.x-k8s.io", "kind": "JobSet", "name": "llm"},
        "podGroupTemplates": [{"name": "all", "schedulingPolicy": {"gang": {"minCount": 5}}}],
    },
    "Workload",
)
OF_WORKLOAD = {"workload": {"workloadName": "llm", "podGroupTemplateName": "all"}}
GANG = [
    (
        "--set scheduler=coscheduling --set gangTimeout=300",
        [COSCHEDULING],
        {"labels": {"scheduling.x-k8s.io/pod-group": "llm"}},
        {"schedulerName": "scheduler-plugins-scheduler"},
    ),
    (
        "--set scheduler=volcano --set queue=team-a --set gang=roles --set topology=2",
        [VOLCANO],
        {"annotations": {"scheduling.k8s.io/group-name": "llm", "volcano.sh/task-spec": "<role>"}},
        {"schedulerName": "volcano"},
    ),
    (
        f"{NATIVE}1.37",
        [native("v1beta1", priorityClassName="training", disruptionMode={"all": {}})],
        None,
        {"schedulingGroup": {"podGroupName": "llm"}},
    ),
    (
        f"{NATIVE}1.36",
        [WORKLOAD, native("v1alpha2", podGroupTemplateRef=OF_WORKLOAD)],
        None,
        {"schedulingGroup": {"podGroupName": "llm"}},
    ),
]


def container(name: str, image: str, requests: Any, **more: Any) -> Any:
    resources = {"requests": requests, **({"limits": more.pop("limits")} if "limits" in more else {})}
    return {"name": name, "image": f"registry.example.com/{image}", "resources": resources, **more}


LAUNCHER = container("launcher", "train:1.0", {"cpu": "1", "memory": "2Gi"}, command=["/opt/run/launch.sh"])
NODE = container(
    "node",  # the one container that the Trainer sizes and sets the image of has this name
    "train:1.0",
    {"cpu": "32", "memory": "512Gi"},
    limits={"nvidia.com/gpu": "8"},
    command=["/opt/run/worker.sh"],
)
INIT = [
    container("log-shipper", "logs:2.3", {"cpu": "500m", "memory": "512Mi"}, restartPolicy="Always"),
    container("stage-data", "stage:1.0", {"cpu": "4", "memory": "8Gi"}),
]


def jobset(metadata: Any, pod: Any) -> Any:
    """The JobSet of the example; `metadata` and `pod` are what a back end adds to both pod templates."""
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "llm", "namespace": "ml"},
        "spec": {
            "network": {"enableDNSHostnames": True, "subdomain": "llm", "publishNotReadyAddresses": True},
            "successPolicy": {"operator": "All", "targetReplicatedJobs": ["launcher"]},
            "failurePolicy": {"maxRestarts": 3, "restartStrategy": "BlockingRecreate"},
            "replicatedJobs": [
                job("launcher", 1, metadata, {"containers": [LAUNCHER], **pod}),
                job("node", 4, metadata, {"initContainers": INIT, "containers": [NODE], **pod}),
            ],
        },
    }


def job(name: str, width: int, metadata: Any, pod: Any) -> Any:
    written = {key: {k: v.replace("<role>", name) for k, v in part.items()} for key, part in (metadata or {}).items()}
    return {
        "name": name,
        "replicas": 1,
        "template": {
            "spec": {
                "completionMode": "Indexed",
                "parallelism": width,
                "completions": width,
                "backoffLimit": 0,
                "template": {
                    **({"metadata": written} if written else {}),
                    "spec": {**pod, "restartPolicy": "Never", "priorityClassName": "training"},
                },
            }
        },
    }


def compiled(folder: Path, text: str, arguments: str) -> Run:
    (folder / "job.yaml").write_text(text, "utf-8")
    run = compile_in(folder, "build", "job.yaml", *arguments.split())
    assert [finding for finding in run.findings if finding.level == "error"] == [], run.err
    return run


def without_defaults(tree: Any) -> Any:
    """A JobSet without what its own webhook and CRD would write, and without the Trainer's label of a step."""
    del tree["spec"]["startupPolicy"]
    for each in tree["spec"]["replicatedJobs"]:
        del each["groupName"]
        each["template"].pop("metadata", None)
    return tree


@pytest.mark.parametrize(("arguments", "groups", "metadata", "pod"), GANG, ids=[row[0] for row in GANG])
def test_a_gang(tmp_path: Path, arguments: str, groups: list[Any], metadata: Any, pod: Any) -> None:
    run = compiled(tmp_path, TEXT, arguments)
    *made, service, whole = run.objects
    assert made == groups
    assert service["kind"] == "Service"
    assert without_defaults(whole) == jobset(metadata, pod)


def test_a_queue_of_kueue_with_a_topology(tmp_path: Path) -> None:
    wishes = {
        "kueue.x-k8s.io/podset-group-name": "llm-ring",
        "kueue.x-k8s.io/podset-required-topology": "topology.example.com/block",
    }
    labels = {"kueue.x-k8s.io/queue-name": "team-a", "kueue.x-k8s.io/priority-class": "prod"}
    said = f"\n  labels: {labels}\n  annotations: {wishes}\nspec:\n  runtimeRef"
    run = compiled(tmp_path, TEXT.replace("\nspec:\n  runtimeRef", said), "--set scheduler=kueue")
    service, whole = run.objects
    expected = jobset({"annotations": wishes}, {})
    expected["metadata"]["labels"] = labels
    assert service["kind"] == "Service"
    assert without_defaults(whole) == expected


def test_what_finishes_first_is_not_in_the_gang(tmp_path: Path) -> None:
    first = """
      - name: dataset
        template:
          spec:
            backoffLimit: 2
            template:
              spec:
                restartPolicy: OnFailure
                containers:
                - {name: get, image: registry.example.com/get:1.0}
"""
    text = TEXT.replace("replicatedJobs:\n", f"replicatedJobs:{first}", 1)
    for name in ("launcher", "node"):
        waits = f"      - name: {name}\n        dependsOn: [{{name: dataset, status: Complete}}]\n"
        text = text.replace(f"      - name: {name}\n", waits, 1)
    *groups, _, whole = compiled(tmp_path, text, f"{NATIVE}1.37").objects
    assert [tree["spec"]["schedulingPolicy"]["gang"]["minCount"] for tree in groups] == [5]
    pods = [each["template"]["spec"]["template"]["spec"] for each in whole["spec"]["replicatedJobs"]]
    assert [pod.get("schedulingGroup") for pod in pods] == [None, {"podGroupName": "llm"}, {"podGroupName": "llm"}]
