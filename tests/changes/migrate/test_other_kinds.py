"""Random jobs of other operators, migrated: the objects stay but for what is explained, a second time changes nothing."""

import random
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tests.kinds import test_random_input_kinds as generators
from tests.kinds.samples import kuberay, volcano
from trainc.changes.migrate import migrate
from trainc.changes.migrate.compared import compiled
from trainc.yaml.comments import comments

# Why the objects of a migrated job may be other than before; nothing else may differ.
DOCUMENTED = (
    "marks the role that the Trainer scales and configures",
    "` under the Trainer",  # a container or a role has the Trainer's name
    "the gang is all pods of the job",
    "the Trainer reads the queue there",
    "the same hosts",
    "its pods request nothing",
    "set by the Trainer's",
    "the port where processes meet",
    "the Trainer hands on neither labels nor annotations",
    "Volcano ignores minima of tasks that are 0 or add up to more",
)
JOBS = 15  # of each kind
# Volcano's controller writes PodGroups that a person may not: such a job stays as it is, with this reason.
UNWRITABLE = "`minTaskMember` adds up to"


def indexed() -> list[Any]:
    return [jobs for _, jobs in generators.indexed_jobs(generators.seeded(11))]


def sets() -> list[Any]:
    return [[job] for _, job in generators.leader_worker_sets(generators.seeded(12))]


def clusters() -> list[Any]:
    return [[job] for job in generators.mini_clusters(generators.seeded(13))]


def submitted() -> list[Any]:
    return [[file] for file in generators.submit_files(generators.seeded(14))]


KINDS: dict[str, Callable[[], list[Any]]] = {
    "Job": indexed,
    "LeaderWorkerSet": sets,
    "MiniCluster": clusters,
    "ArmadaJob": submitted,
    "Volcano Job": lambda: [[volcano.random_job(seed)] for seed in range(300)],
    "RayJob": lambda: [[kuberay.random_job(seed)] for seed in range(300)],
}


def commented(text: str, chance: random.Random) -> str:
    """A text with comments above, beside and at the end of some of its lines."""
    out = ["# above it"]
    for number, line in enumerate(text.splitlines()):
        is_plain = not line.endswith(("|", "|-", ">", '"', "'")) and line.strip() and ":" in line and "'" not in line
        if is_plain and chance.random() < 0.1:
            out.append(" " * (len(line) - len(line.lstrip())) + f"# above {number}")
        out.append(line + (f"  # beside {number}" if is_plain and chance.random() < 0.1 else ""))
    return "\n".join([*out, "# the end", ""])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_objects_stay(kind: str) -> None:
    chance = random.Random(kind)  # noqa: S311 (the same jobs on every run)
    for documents in KINDS[kind]()[:JOBS]:
        text = commented(yaml.safe_dump_all(documents, sort_keys=False, width=4096), chance)
        before = compiled(text)[0]
        assert before, text
        done = migrate(text)
        if any(one.message.startswith(UNWRITABLE) for one in done.problems):
            assert (done.text, [one.want is not None for one in done.outcomes]) == (text, [False])
            continue
        assert not done.problems, (text, [one.message for one in done.problems])
        assert done.touched
        assert {one.kind for one in done.outcomes} == {kind}
        assert all(one.policy or one.reason for one in done.outcomes)
        after = compiled(done.text)[0]
        assert sorted(map(name, before)) == sorted(map(name, after))
        if not done.differences:
            assert {name(tree): tree for tree in before} == {name(tree): tree for tree in after}
        assert not [one for one in done.differences if not any(reason in one.reason for reason in DOCUMENTED)]
        assert migrate(done.text).text == done.text
        assert not set(comments(text.encode())) - set(comments(done.text.encode()))


def name(tree: Any) -> tuple[str, str]:
    return tree["kind"], tree["metadata"]["name"]


VOLCANO = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: line}
spec:
  queue: research
  plugins: {tensorflow: []}
  tasks:
  - name: ps
    replicas: 1
    template: {spec: {restartPolicy: Never, containers: [{name: tf, image: a, command: [ps]}]}}
  - name: worker
    replicas: 2
    template: {spec: {restartPolicy: Never, containers: [{name: tf, image: a, command: [train]}]}}
"""
JAX = """\
apiVersion: batch/v1
kind: Job
metadata: {name: line}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    spec:
      subdomain: line
      restartPolicy: Never
      containers:
      - name: train
        image: a
        command: [python, train.py]
        env:
        - {name: JAX_COORDINATOR_ADDRESS, value: "line-0.line:29500"}
        - {name: JAX_NUM_PROCESSES, value: "NUMBER"}
        - name: JAX_PROCESS_ID
          valueFrom: {fieldRef: {fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}
"""
VOLCANO_IN_LINE = "apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: a}, spec: {tasks: []}"
SERVICE = """\
---
# the peers
apiVersion: v1
kind: Service
metadata: {name: line}
spec: {clusterIP: None, selector: {job-name: line}}  # by name
"""


@pytest.mark.parametrize(
    ("text", "policy"),
    [(VOLCANO, "tensorflow"), (JAX.replace("NUMBER", "2"), "jax"), (JAX.replace("NUMBER", "3"), "plain")],
)
def test_a_policy_takes_over_what_it_would_set_to_the_same(text: str, policy: str) -> None:
    """A size that is wrong stays wrong: nothing is mended in passing."""
    done = migrate(text)
    assert (done.problems, [one.policy for one in done.outcomes]) == ((), [policy])


def test_the_service_of_a_job_selects_the_pods_of_the_jobset() -> None:
    done = migrate(JAX + SERVICE)
    assert not done.problems
    assert "# the peers" in done.text
    assert "jobset.sigs.k8s.io/jobset-name: line" in done.text
    assert "# by name" in done.text
    assert "job-name: line}" not in done.text
    assert not compiled(done.text)[1].failed


@pytest.mark.parametrize(
    ("text", "reason", "is_foreign"),
    [
        ("apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: a}\n", "a RayCluster has no program", True),
        ("apiVersion: ray.io/v1\nkind: Rayjob\nmetadata: {name: a}\n", "unknown kind `Rayjob`", True),
        (
            JAX.replace("{name: line}", "{name: line, annotations: {trainc.dev/keep: job}}"),
            "it stays a plain Job",
            False,
        ),
        (f"apiVersion: v1\nkind: List\nitems:\n- {{{VOLCANO_IN_LINE}}}\n", "jobs in a List are not rewritten", False),
    ],
)
def test_a_job_that_stays_is_told_with_the_reason(text: str, reason: str, *, is_foreign: bool) -> None:
    done = migrate(text)
    assert done.text == text
    assert [one.want is not None for one in done.outcomes] == [False]
    assert [one.message.startswith(reason) for one in done.problems] == [True]
    assert done.has_failed is not is_foreign
