"""`trainc fit` from the command line: table, JSON, what-if, headroom, all jobs together, half dumps."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.compiling import ROOT, compile_in
from tests.conformance.archives import groups, members
from tests.sampling import sampled

CASES = [
    (group, name.removesuffix(".json"))
    for group in groups("admission")
    for name in sorted(members("admission", group))
    if name.endswith(".json")
]


@pytest.mark.parametrize(
    ("group", "case"),
    sampled(CASES, quick=("cohorts-d-borrow-first-flavor-by-default", "pods-p-x-exclusive-rack-half-full")),
)
def test_recorded_answers_come_out_of_the_command(tmp_path: Path, group: str, case: str) -> None:
    (tmp_path / "case.yaml").write_text(members("admission", group)[f"{case}.yaml"])
    done = compile_in(tmp_path, "fit", "case.yaml", "--report", "json", "--closed-world")
    rows = json.loads(done.out)["jobs"]
    theirs = json.loads(members("admission", group)[f"{case}.json"])["verdicts"]
    for row, one in zip(rows, theirs, strict=True):
        if group == "pods":
            assert row["pods"]["allPodsPlaced"] == one["allPodsPlaced"]
        else:
            assert {key: row["kueue"].get(key) for key in ("admitted", "reason")} == {
                "admitted": one["admitted"],
                "reason": one.get("reason"),
            }


@pytest.mark.parametrize("amount", ["ten", "8x", "1e"])
def test_a_malformed_amount_decides_nothing(tmp_path: Path, amount: str) -> None:
    shutil.copytree(ROOT / "examples/fit-kueue", tmp_path / "fit-kueue")
    for file in (tmp_path / "fit-kueue/clusters").rglob("*.yaml"):
        file.write_text(re.sub(r"nominalQuota: .*", f"nominalQuota: {amount}", file.read_text("utf-8")), "utf-8")
    done = compile_in(tmp_path / "fit-kueue", "fit")
    assert (done.code, done.out) == (2, "")
    assert f"`{amount}` is not a valid quantity" in done.err
    validated = compile_in(tmp_path / "fit-kueue", "validate")
    assert "queue-never-admits" not in validated.out


def test_no_answer_is_not_a_good_one(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/plain", tmp_path / "plain")
    done = compile_in(tmp_path / "plain", "fit")
    assert done.code == 2
    assert "no result" in done.err


def asked(tmp_path: Path, example: str, *words: str) -> list[dict[str, Any]]:
    if not (tmp_path / example).exists():
        shutil.copytree(ROOT / "examples" / example, tmp_path / example)
    done = compile_in(tmp_path / example, "fit", *words, "--report", "json")
    found: list[dict[str, Any]] = json.loads(done.out)["jobs"]
    return found


def test_headroom_is_the_largest_number_that_fits(tmp_path: Path) -> None:
    (row,) = asked(tmp_path, "fit-kueue", "jobs/chat-7b.yaml", "--headroom")
    most = 4 + row["headroom"]
    for nodes, status in ((most, "fits"), (most + 1, "needs nodes")):
        (other,) = asked(tmp_path, "fit-kueue", "jobs/chat-7b.yaml", "--what-if", f"numNodes={nodes}")
        assert other["status"] == status


def test_jobs_together_share_the_quota(tmp_path: Path) -> None:
    job = (ROOT / "examples/fit-kueue/jobs/chat-70b.yaml").read_text("utf-8")
    asked(tmp_path, "fit-kueue")
    (tmp_path / "fit-kueue/jobs/again.yaml").write_text(job.replace("chat-70b", "z-again"))
    rows = asked(tmp_path, "fit-kueue", "--together")
    assert {row["job"]: row["status"] for row in rows} == {
        "llm/chat-70b": "fits",
        "llm/chat-7b": "fits",
        "llm/z-again": "waits",
    }


@pytest.mark.parametrize("word", ["numNodes", "numNodes=0", "numNodes=x", "gpus=3"])
def test_a_question_that_cannot_be_asked_is_wrong_usage(tmp_path: Path, word: str) -> None:
    (tmp_path / "job.yaml").write_text("")
    done = compile_in(tmp_path, "fit", ".", "--what-if", word)
    assert (done.code, done.err.startswith("trainc: --what-if must be numNodes=N")) == (2, True)


@pytest.mark.parametrize("kind", ["ResourceFlavor", "Topology", "Node"])
def test_half_a_dump_gets_no_verdict(tmp_path: Path, kind: str) -> None:
    text = members("admission", "topology")["e-preferred-rack-spills-to-block.yaml"]
    kept = [part for part in text.split("\n---\n") if f"\nkind: {kind}\n" not in f"\n{part}"]
    (tmp_path / "case.yaml").write_text("\n---\n".join(kept))
    (row,) = json.loads(compile_in(tmp_path, "fit", "case.yaml", "--report", "json").out)["jobs"]
    assert row["status"] == "unknown"
    assert kind in row["reason"]


MPI = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: open}
spec:
  mlPolicy:
    numNodes: 1
    mpi: {mpiImplementation: OpenMPI, numProcPerNode: 1, runLauncherAsNode: true}
  podGroupPolicy: {coscheduling: {}}
  template:
    spec:
      replicatedJobs:
        - name: launcher
          template:
            metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
            spec: {template: {spec: {containers: [{name: node, image: "x:1", resources: {requests: {cpu: 4}}}]}}}
        - name: node
          template:
            spec: {template: {spec: {containers: [{name: node, image: "x:1", resources: {requests: {cpu: 4}}}]}}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: pi, namespace: lab}
spec: {runtimeRef: {name: open}, trainer: {numNodes: 2}}
"""
NODES = {
    "apiVersion": "trainc.dev/v1alpha1",
    "kind": "Inventory",
    "spec": {"nodes": [{"names": ["n1", "n2", "n3"], "labels": {}, "allocatable": {"cpu": "4", "pods": "110"}}]},
}


@pytest.mark.parametrize(("nodes", "status"), [(2, "fits"), (3, "fits"), (4, "needs nodes")])
def test_a_job_of_another_size_is_compiled_again(tmp_path: Path, nodes: int, status: str) -> None:
    """Its launcher, the role that trains, stays one pod and is one of the nodes."""
    (tmp_path / "job.yaml").write_text(MPI)
    (tmp_path / "nodes.json").write_text(json.dumps(NODES))
    words = ("fit", "job.yaml", "--inventory", "nodes.json", "--what-if", f"numNodes={nodes}", "--report", "json")
    (row,) = json.loads(compile_in(tmp_path, *words).out)["jobs"]
    assert row["status"] == status
    assert "pods" not in row or [group["pods"] for group in row["pods"]["groups"]] == [1, nodes - 1]


def test_headroom_counts_the_nodes_of_the_job(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(MPI)
    (tmp_path / "nodes.json").write_text(json.dumps(NODES))
    done = compile_in(tmp_path, "fit", "job.yaml", "--inventory", "nodes.json", "--headroom", "--report", "json")
    assert json.loads(done.out)["jobs"][0]["headroom"] == 1


QUEUED = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: NAME, namespace: research, labels: {kueue.x-k8s.io/queue-name: research}}
spec:
  replicatedJobs:
    - name: node
      template:
        spec:
          parallelism: 2
          completions: 2
          template:
            spec:
              restartPolicy: Never
              containers:
                - {name: node, image: "example.org/train:1", resources: {limits: {nvidia.com/gpu: 8}}}
"""
# As `kubectl get -o yaml` prints it with Kueue 0.17: `a` has all of the queue, `b` waits for it.
KUEUE_DUMP = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: research, labels: {kubernetes.io/metadata.name: research}}}
- {apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: h100}, spec: {}}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: ClusterQueue
  metadata: {name: research}
  spec:
    namespaceSelector: {}
    queueingStrategy: BestEffortFIFO
    resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: "16"}]}]
  status:
    admittedWorkloads: 1
    pendingWorkloads: 1
    reservingWorkloads: 1
    flavorsUsage: [{name: h100, resources: [{name: nvidia.com/gpu, total: "16", borrowed: "0"}]}]
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: LocalQueue
  metadata: {name: research, namespace: research}
  spec: {clusterQueue: research, stopPolicy: None}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: Workload
  metadata:
    finalizers: [kueue.x-k8s.io/resource-in-use]
    labels: {kueue.x-k8s.io/job-uid: 5b2d2b14-5d3c-4c0e-9f0c-6a3f8f6d2f10}
    name: jobset-a-3f0a1
    namespace: research
    ownerReferences:
    - apiVersion: jobset.x-k8s.io/v1alpha2
      blockOwnerDeletion: true
      controller: true
      kind: JobSet
      name: a
      uid: 5b2d2b14-5d3c-4c0e-9f0c-6a3f8f6d2f10
  spec: {active: true, priority: 0, queueName: research, podSets: [{name: node, count: 2}]}
  status:
    admission:
      clusterQueue: research
      podSetAssignments:
      - {count: 2, flavors: {nvidia.com/gpu: h100}, name: node, resourceUsage: {nvidia.com/gpu: "16"}}
    conditions:
    - {type: QuotaReserved, status: "True", reason: QuotaReserved, message: Quota reserved in ClusterQueue research}
    - {type: Admitted, status: "True", reason: Admitted, message: The workload is admitted}
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: Workload
  metadata:
    name: jobset-b-9c2e7
    namespace: research
    ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, controller: true, kind: JobSet, name: b, uid: 77}]
  spec: {active: true, priority: 0, queueName: research, podSets: [{name: node, count: 2}]}
  status:
    conditions:
    - type: QuotaReserved
      status: "False"
      reason: Pending
      message: "couldn't assign flavors to pod set node: insufficient unused quota for nvidia.com/gpu in flavor h100, 16 more needed"
"""


@pytest.mark.parametrize("words", [("--now",), ("--now", "--together")])
def test_an_admitted_job_does_not_wait_for_its_own_workload(tmp_path: Path, words: tuple[str, ...]) -> None:
    project = "apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec: {clusters: {eu: {folder: eu}}}\n"
    (tmp_path / "trainc.yaml").write_text(project)
    (tmp_path / "eu").mkdir()
    (tmp_path / "eu/dump.yaml").write_text(KUEUE_DUMP)
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(QUEUED.replace("NAME", name))
    done = compile_in(tmp_path, "fit", *words, "--report", "json")
    rows = {row["job"].split(" ")[0]: (row["status"], row["reason"]) for row in json.loads(done.out)["jobs"]}
    assert done.code == 0, done.err
    assert rows["research/a"][0] == "admitted"
    assert rows["research/b"][0] == "waits"
    assert "insufficient unused quota for nvidia.com/gpu in flavor h100, 16 more needed" in rows["research/b"][1]


CLAIMING = (
    QUEUED.replace("NAME", "a")
    .replace(", labels: {kueue.x-k8s.io/queue-name: research}", "")
    .replace(
        "              containers:",
        "              volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]\n              containers:",
    )
)
CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: CLAIM, namespace: research}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "64", memory: 256Gi, pods: "110", nvidia.com/gpu: "16"}}
"""


@pytest.mark.parametrize(
    ("where", "status"), [("", "never"), ("eu/claims.yaml", "fits"), ("data/claim.yaml", "fits"), ("a.yaml", "fits")]
)
def test_a_pvc_that_does_not_exist_is_waited_for_forever(where: str, status: str, tmp_path: Path) -> None:
    """It may be in the dump, in another file of the repository, or in that of the job."""
    (tmp_path / "trainc.yaml").write_text(
        "apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec: {clusters: {eu: {folder: eu}}}\n"
    )
    files = {"a.yaml": CLAIMING, "eu/dump.yaml": f"{NODE}---{CLAIM.replace('CLAIM', 'other')}"}
    if where:
        files[where] = "---".join([*filter(None, [files.get(where)]), CLAIM.replace("CLAIM", "data")])
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (row,) = json.loads(compile_in(tmp_path, "fit", "--report", "json").out)["jobs"]
    assert row["status"] == status, row
    assert ("persistentvolumeclaim" in row.get("reason", "")) is (status == "never")


def test_what_cannot_be_decided_is_not_blamed_on_the_dump(tmp_path: Path) -> None:
    rule = "{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {jobset.sigs.k8s.io/jobset-name: a}}}"
    affinity = f"affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{rule}]}}}}"
    (tmp_path / "a.yaml").write_text(CLAIMING.replace("volumes: [", f"{affinity}\n              volumes: ["))
    (tmp_path / "dump.yaml").write_text(NODE.replace("{name: n1}", "{name: n1, labels: {kubernetes.io/hostname: n1}}"))
    done = compile_in(tmp_path, "fit", "a.yaml", "--inventory", "dump.yaml")
    assert (done.code, "trainc: no result: trainc cannot decide for any job" in done.err) == (2, True), done.out
