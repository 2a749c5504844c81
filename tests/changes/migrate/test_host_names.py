"""Names that an operator gave its pods, in jobs that are TrainJobs already and in ConfigMaps beside a job."""

import pytest

from trainc.changes.migrate import migrate

JOB = """# a job that was a PyTorchJob once
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: distill, namespace: ml}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    numNodes: 3
    image: registry.example.com/ml/train:1.0
    command:
    - bash
    - -c
    - |
      # the head of the group
      accelerate launch --main_process_ip=HOST \\
        --main_process_port=29500 train.py  # go
    env: [{name: JOB, value: distill}]   # why
"""
FILES = """---
# scripts
apiVersion: v1
kind: ConfigMap
metadata: {name: scripts, namespace: ml}
data:
  peers.py: |
    peers = ["HOST"]   # all
"""


@pytest.mark.parametrize(
    ("former", "present"),
    [
        ("distill-master-0", "distill-node-0-0.distill"),
        ("distill-worker-0", "distill-node-0-0.distill"),
        ("distill-chief-0.ml.svc", "distill-node-0-0.distill.ml.svc"),
        ("${JOB}-master-0", "distill-node-0-0.distill"),
        ("$(JOB)-worker-0.distill.ml", "distill-node-0-0.distill.ml"),
        ("distill-worker-$RANK", "distill-node-0-$RANK.distill"),
    ],
)
def test_a_name_is_rewritten_and_nothing_else(former: str, present: str) -> None:
    text = JOB.replace("HOST", f"{former},distill-worker-0" if "RANK" in former else former)
    wanted = JOB.replace("HOST", f"{present},distill-node-0-0.distill" if "RANK" in former else present)
    done = migrate(text + FILES.replace("HOST", former))
    assert done.problems == ()
    assert done.text == wanted + FILES.replace("HOST", present)
    again = migrate(done.text)
    assert (again.text, again.changes) == (done.text, ())


def test_workers_follow_a_master() -> None:
    done = migrate(JOB.replace("HOST", "distill-master-0") + FILES.replace("HOST", "distill-worker-0"))
    assert done.text == JOB.replace("HOST", "distill-node-0-0.distill") + FILES.replace(
        "HOST", "distill-node-0-1.distill"
    )


@pytest.mark.parametrize(
    ("former", "why"),
    [
        ("distill-worker-1", "depends on whether the job had a Master"),
        ("${OTHER}-master-0", "is built from `${OTHER}`"),
        ('"distill-worker-" + rank + "distill-worker-0"', "outside of the quotes"),
    ],
)
def test_what_cannot_be_followed_is_said(former: str, why: str) -> None:
    text = JOB.replace("HOST", former) if '"' not in former else JOB + FILES.replace('"HOST"', former)
    done = migrate(text)
    assert any(why in str(problem.message) for problem in done.problems)


@pytest.mark.parametrize(
    "host", ["other-master-0", "distill-node-0-0.distill", "distill-master-0x", "x/distill-master-0"]
)
def test_other_texts_stay(host: str) -> None:
    text = JOB.replace("HOST", host)
    done = migrate(text)
    assert (done.text, done.changes, done.problems) == (text, (), ())


def test_a_configmap_follows_an_older_job() -> None:
    """The TrainJob is compiled as one: nothing would rewrite the script any more."""
    older = """apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: distill, namespace: ml}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: Never
      template:
        spec:
          containers:
          - name: pytorch
            image: registry.example.com/ml/train:1.0
            command: [python, /scripts/peers.py]
"""
    done = migrate(older + FILES.replace("HOST", 'distill-worker-1", f"distill-worker-{rank}'))
    assert done.problems == ()
    host = "distill-node-0-{}.distill.ml.svc.cluster.local"
    assert FILES.replace("HOST", f'{host.format(1)}", f"{host.format("{rank}")}') in done.text


def test_a_configmap_names_pods_of_several_jobs() -> None:
    other = JOB.replace("distill", "other").replace("HOST", "other-master-0")
    done = migrate(
        f"{JOB.replace('HOST', 'x')}---\n{other}" + FILES.replace("HOST", 'distill-worker-0", "other-chief-0')
    )
    assert FILES.replace("HOST", 'distill-node-0-0.distill", "other-node-0-0.other') in done.text
