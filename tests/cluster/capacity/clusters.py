"""Small clusters and jobs for tests of answers."""

from typing import Any

import yaml

from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.fit import Fit, FitAnswer
from trainc.compiler.project.dumps import read_dump
from trainc.model.report import Report
from trainc.model.tree import stamp

Plain = dict[str, Any]
HOSTNAME = "kubernetes.io/hostname"
QUEUE = "kueue.x-k8s.io/queue-name"


def thing(kind: str, name: str, namespace: str = "", **fields: Any) -> Plain:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **fields.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **fields}


def node(name: str, *, cpu: int = 8, labels: dict[str, str] | None = None, **spec: Any) -> Plain:
    found = thing("Node", name, metadata={"labels": {HOSTNAME: name, **(labels or {})}}, spec=spec)
    conditions = [{"type": "Ready", "status": "True"}]
    found["status"] = {"allocatable": {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}, "conditions": conditions}
    return found


def queue(cpu: int = 100, *, flavor: Plain | None = None, **spec: Any) -> list[Plain]:
    """A LocalQueue `team` in namespace `lab`, its ClusterQueue and its one flavor."""
    quota = {"name": "cpu", "nominalQuota": str(cpu)}
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "main", "resources": [quota]}]}
    return [
        thing("Namespace", "lab", metadata={"labels": {"kubernetes.io/metadata.name": "lab"}}),
        thing("ResourceFlavor", "main", spec=flavor or {}),
        thing("ClusterQueue", "all", spec={"namespaceSelector": {}, "resourceGroups": [group], **spec}),
        thing("LocalQueue", "team", "lab", spec={"clusterQueue": "all"}),
    ]


def topology(*levels: str) -> Plain:
    return thing("Topology", "tree", spec={"levels": [{"nodeLabel": level} for level in levels]})


def job(
    name: str = "run",
    *,
    pods: int = 2,
    jobs: int = 1,
    cpu: int | str | None = 4,
    queued: bool = False,
    annotations: Plain | None = None,
    pod_annotations: Plain | None = None,
    **spec: Any,
) -> Plain:
    """A JobSet of equal pods; `spec` goes to their spec."""
    resources = {"requests": {"cpu": str(cpu)}} if cpu is not None else {}
    pod = {"containers": [{"name": "main", "image": "x", "resources": resources}], **spec}
    template = {"metadata": {"annotations": pod_annotations or {}}, "spec": pod}
    inner = {"parallelism": pods, "completions": pods, "template": template}
    metadata: Plain = {"labels": {QUEUE: "team"} if queued else {}, "annotations": annotations or {}}
    roles = [{"name": "node", "replicas": jobs, "template": {"spec": inner}}]
    return thing("JobSet", name, "lab", metadata=metadata, spec={"replicatedJobs": roles})


def facts(*objects: Plain, closed: bool = False) -> ClusterFacts:
    report = Report()
    text = yaml.safe_dump_all(objects).encode()
    found = ClusterFacts(read_dump(text, "dump.yaml", report), closed=closed)
    assert not report.findings, [finding.message for finding in report.findings]
    return found


def ask(tree: Plain, *objects: Plain, closed: bool = False, **options: Any) -> FitAnswer:
    """The answer for one job on a cluster."""
    return Fit(facts(*objects, closed=closed), **options).answer(stamp(tree, "job"))
