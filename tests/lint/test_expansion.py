"""Roles, pods, names and ranks out of a JobSet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lint.reading import job_of
from trainc.lint.facts.instance import pod_at, pod_of_rank
from trainc.lint.facts.values import UNKNOWN
from trainc.lint.facts.world import PodAddress, place_of

JOB = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: run, namespace: lab}}
spec:
  replicatedJobs:
  - name: prepare
    template: {{metadata: {{labels: {{trainer.kubeflow.org/trainjob-ancestor-step: dataset-initializer}}}}, spec: {{template: {{spec: {{containers: [{{name: a, image: a:1}}]}}}}}}}}
  - name: node
    replicas: {replicas}
    template:
      spec:
        parallelism: {size}
        completions: {size}
        template:
          metadata: {{labels: {{team: nlp}}}}
          spec:
            containers:
            - name: node
              image: a:1
              command: [run, --rank=$(RANK), --all=$(ALL), --dollar=$$(RANK), --unset=$(UNSET)]
              env:
              - {{name: EARLY, value: $(RANK)}}
              - name: RANK
                valueFrom: {{fieldRef: {{fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}}}
              - {{name: ALL, value: $(RANK)-of-{size}}}
              - name: JOB
                valueFrom: {{fieldRef: {{fieldPath: "metadata.labels['jobset.sigs.k8s.io/job-index']"}}}}
              - name: GLOBAL
                valueFrom: {{fieldRef: {{fieldPath: "metadata.labels['jobset.sigs.k8s.io/job-global-index']"}}}}
              - name: TEAM
                valueFrom: {{fieldRef: {{fieldPath: "metadata.labels['team']"}}}}
              - name: SET
                valueFrom: {{fieldRef: {{fieldPath: "metadata.labels['jobset.sigs.k8s.io/jobset-name']"}}}}
              - {{name: KEY, valueFrom: {{secretKeyRef: {{name: s, key: k}}}}}}
"""


def test_one_pod_with_its_environment() -> None:
    job = job_of(JOB.format(replicas=2, size=3))
    role = job.roles[1]
    pod = pod_at(role, 1, 2)
    env = dict(pod.env(role.main[0]))
    assert (pod.host, pod.address, pod.rank) == ("run-node-1-2", "run-node-1-2.run", 5)
    key = env.pop("KEY")
    assert key is UNKNOWN
    assert env == {
        "EARLY": "$(RANK)",
        "RANK": "2",
        "ALL": "2-of-3",
        "JOB": "1",
        "GLOBAL": "2",
        "TEAM": "nlp",
        "SET": "run",
        "JOB_COMPLETION_INDEX": "2",
    }
    assert pod.command(role.main[0]) == ["run", "--rank=2", "--all=2-of-3", "--dollar=$(RANK)", "--unset=$(UNSET)"]


@given(st.integers(1, 5), st.integers(1, 6))
def test_ranks_are_0_to_n_and_distinct(replicas: int, size: int) -> None:
    job = job_of(JOB.format(replicas=replicas, size=size))
    pods = [pod_of_rank(job, rank) for rank in range(replicas * size)]
    assert len({pod.host for pod in pods if pod is not None}) == replicas * size
    assert pod_of_rank(job, replicas * size) is None
    assert all(pod is not None and pod_at(pod.role, pod.replica, pod.index).rank == pod.rank for pod in pods)


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("run-node-0-0.run", (0, 0)),
        ("run-node-1-2.run.lab.svc.cluster.local", (1, 2)),
        ("run-node-2-0.run", "`node` has 2 Jobs, so Job 2 does not exist"),
        ("run-node-0-3.run", "a Job of `node` has 3 pods, so pod 3 does not exist"),
        ("run-node-0-0", "a pod's DNS name is `run-node-0-0.run`, not its bare host name"),
        ("run-node-0-0.other", "the subdomain of these pods is `run`"),
        ("run-worker-0-0.run", "no pod of this job is named `run-worker-0-0` (its roles are `prepare`, `node`)"),
        ("node-0.run", "no pod of this job is named `node-0`"),
        ("etcd.example.org", None),
        ("10.0.0.1", None),
    ],
)
def test_the_pod_that_an_address_names(host: str, found: object) -> None:
    place = place_of(job_of(JOB.format(replicas=2, size=3)), host)
    assert ((place.replica, place.pod) if isinstance(place, PodAddress) else place) == found


def test_defaults_of_an_empty_job() -> None:
    text = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: run}\nspec: {replicatedJobs: [{name: a, template: {spec: {template: {spec: {containers: []}}}}}]}"
    job = job_of(text)
    (role,) = job.roles
    assert (role.replicas, role.width, role.size, role.count, role.indexed, job.dns) == (
        1,
        1,
        1,
        1,
        True,
        True,
    )


@pytest.mark.parametrize("written", ["${N}", "'{{ .n }}'"])
def test_counts_of_a_template_are_unknown(written: str) -> None:
    role = job_of(JOB.format(replicas=2, size=3).replace("parallelism: 3", f"parallelism: {written}")).roles[1]
    assert role.count is UNKNOWN


def test_a_large_job_is_no_larger_than_a_small_one() -> None:
    small, large = (job_of(JOB.format(replicas=1, size=size)) for size in (4, 4096))
    assert len(small.containers) == len(large.containers)
    assert pod_of_rank(large, 4095) is not None
