"""Plans from JobSets written down in a test, and bundles with a contribution laid on."""

from typing import Any

from trainc.lint import expand
from trainc.lint.rules.scheduling import placing_of_pods
from trainc.model.bundle import Bundle
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import Finding
from trainc.model.patches import Contribution
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.tree import get, plain, stamp
from trainc.schedulers import contribute
from trainc.schedulers.gang import roles_of
from trainc.yaml.reader import read

JOB = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: llm, namespace: ml}
spec:
  replicatedJobs:
  - name: launcher
    template:
      spec:
        parallelism: 1
        completions: 1
        backoffLimit: 0
        template:
          spec:
            priorityClassName: training
            restartPolicy: Never
            containers:
            - {name: launcher, image: a, resources: {requests: {cpu: '1', memory: 2Gi}}}
  - name: node
    template:
      spec:
        parallelism: 4
        completions: 4
        backoffLimit: 0
        template:
          spec:
            priorityClassName: training
            restartPolicy: Never
            initContainers:
            - {name: logs, restartPolicy: Always, resources: {requests: {cpu: 500m, memory: 512Mi}}}
            - {name: stage, resources: {requests: {cpu: '4', memory: 8Gi}}}
            containers:
            - name: trainer
              image: a
              resources: {requests: {cpu: '32', memory: 512Gi}, limits: {nvidia.com/gpu: '8'}}
"""


def plan_of(text: str, gang: Any = None, job: Any = None) -> Plan:
    """The plan of a JobSet; `gang` is a runtime's podGroupPolicy, `job` the TrainJob where there is one."""
    (document,) = read(text, "job.yaml", Report())
    return plan_from(document, gang, job)


def plan_from(document: Document, gang: Any = None, job: Any = None) -> Plan:
    """The plan of a JobSet that has been read."""
    tree = document.tree
    return Plan(
        document=document if job is None else Document("job.yaml", stamp(job, "test"), {}),
        runtime=None,
        name=tree["metadata"]["name"],
        namespace=tree["metadata"].get("namespace"),
        framework="plain",
        policy=None,
        gang=None if gang is None else stamp(gang, "test"),
        template={
            "metadata": {key: tree["metadata"].get(key, {}) for key in ("labels", "annotations")},
            "spec": tree["spec"],
        },
        roles=roles_of(tree["spec"]),
    )


def placed(plan: Plan, cluster: Cluster, report: Report | None = None) -> Bundle:
    """The bundle of a plan with what its back ends add."""
    return laid_on(plan, contribute(plan, cluster, report or Report()))


def laid_on(plan: Plan, contribution: Contribution) -> Bundle:
    """Groups first, then the JobSet with every patch on its pods."""
    jobs = [stamp(plain(role.tree), "test") for role in plan.roles]
    for patch in contribution.patches:
        template = jobs[patch.role]["template"]["spec"]["template"]
        metadata = template.setdefault("metadata", {})
        for section in ("labels", "annotations"):
            metadata[section] = {**metadata.get(section, {}), **getattr(patch, section)}
        for field, node in patch.pod.items():
            template["spec"][field] = node
            if getattr(node, "value", node) is None:
                del template["spec"][field]
    jobset = {
        "apiVersion": stamp("jobset.x-k8s.io/v1alpha2", "test"),
        "kind": stamp("JobSet", "test"),
        "metadata": {
            "name": plan.name,
            **({} if plan.namespace is None else {"namespace": plan.namespace}),
            "labels": {**get(plan.template, "metadata", "labels"), **contribution.labels},
            "annotations": {**get(plan.template, "metadata", "annotations"), **contribution.annotations},
        },
        "spec": {**plan.template["spec"], "replicatedJobs": jobs},
    }
    return Bundle(plan.document, (*contribution.objects, jobset), plan)


def bundle_of(text: str) -> Bundle:
    """The documents of a text as they stand."""
    documents = list(read(text, "job.yaml", Report()))
    return Bundle(documents[-1], tuple(document.tree for document in documents))


def findings_of(bundle: Bundle, cluster: Cluster | None = None) -> list[Finding]:
    """What the rules say about the placing of a bundle's pods."""
    job = expand(bundle, cluster, Report())
    return [] if job is None else list(placing_of_pods(job))


def found(bundle: Bundle, cluster: Cluster | None = None) -> list[str]:
    """The same as `level[rule]` of each finding."""
    return sorted(f"{finding.level}[{finding.rule.name}]" for finding in findings_of(bundle, cluster))


def sourced(value: Any) -> Any:
    """A setting as the command line gives it."""
    return stamp(value, "--set")


def choose(name: str, **more: Any) -> Cluster:
    """A cluster with that scheduler."""
    return Cluster(scheduler=sourced(name), **more)


def made(text: str, cluster: Cluster, **more: Any) -> tuple[list[Any], Any, list[Any]]:
    """The objects beside the JobSet, the JobSet, and its pod templates."""
    *objects, jobset = map(plain, placed(plan_of(text, **more), cluster).objects)
    return objects, jobset, [job["template"]["spec"]["template"] for job in jobset["spec"]["replicatedJobs"]]
