"""Names that an operator gave its pods, whole or built from variables, in containers and ConfigMaps of every kind."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compiling import Run, compile_in
from tests.matrix.kinds import KINDS

# By kind: what stands behind the job's name under the operator, and in the JobSet ("" where it stays).
NAMES = {
    "PyTorchJob/Worker": ("-worker-0", "-node-0-1.{}.ml.svc.cluster.local"),
    "TFJob/Worker": ("-ps-0", "-ps-0-0.{}"),
    "XGBoostJob/Worker": ("-master-0", "-node-0-0.{}"),
    "PaddleJob/Worker": ("-worker-0", "-worker-0-0.{}"),
    "JAXJob/Worker": ("-worker-1", "-worker-0-1.{}"),
    "MPIJob/Launcher": ("-worker-0", "-worker-0-0.{}"),
    "Job": ("-1.peers", "-node-0-1.peers"),
    "VolcanoJob/worker": ("-worker-1", "-worker-0-1"),
    "LeaderWorkerSet/worker": ("-0-1.{}", "-worker-0-0.{}"),
}
SCRIPT = "ping HOST:29500"


def rendered(kind: str, script: str, tmp_path: Path, *, job: str = "") -> tuple[Run, list[Any], str]:
    """What a job with a script becomes, in a container and in a ConfigMap; `job` is the value of a variable."""
    around = next(one for one in KINDS if one.name == kind)
    variables = [{"name": "JOB", "value": job}] if job else []
    pod = {
        "restartPolicy": "Never",
        "containers": [
            {
                "name": "train",
                "image": "registry.example.com/train:1.0",
                "command": ["bash", "-c", script],
                "env": variables,
            }
        ],
        **({"subdomain": "peers"} if kind == "Job" else {}),
    }
    (document,) = around.documents({"spec": pod}, {"spec": pod}, 4)
    name = document["metadata"]["name"]
    files = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "scripts", "namespace": "ml"}}
    text = yaml.safe_dump_all([document, {**files, "data": {"run.sh": script}}])
    (tmp_path / "job.yaml").write_text(text.replace("NAME", name), "utf-8")
    run = compile_in(tmp_path, "build", "job.yaml")
    return run, list(yaml.safe_load_all(run.out)), name


def spliced(run: Run) -> int:
    """How many names were found that nobody can follow."""
    return sum(one.rule.name in {"host-name-spliced", "spliced-job-host"} for one in run.findings)


def texts(objects: list[Any], script: str) -> list[str]:
    """The script in the ConfigMap, and in each container that has it."""
    found = [one["data"]["run.sh"] for one in objects if one["kind"] == "ConfigMap" and "run.sh" in one["data"]]
    for jobset in (one for one in objects if one["kind"] == "JobSet"):
        for role in jobset["spec"]["replicatedJobs"]:
            containers = role["template"]["spec"]["template"]["spec"]["containers"]
            found += [text for one in containers for text in one["command"] if text.startswith(script)]
    return found


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("job", ["NAME", "${JOB}", "$JOB", "$(JOB)"])
def test_a_name_is_rewritten_in_containers_and_files(kind: str, job: str, tmp_path: Path) -> None:
    former, now = NAMES[kind]
    script = SCRIPT.replace("HOST", job + former.format("NAME"))
    run, objects, name = rendered(kind, script, tmp_path, job="NAME")
    wanted = SCRIPT.replace("HOST", name + now.format(name))
    found = texts(objects, "ping")
    assert len(found) >= 2
    assert set(found) == {wanted}
    assert spliced(run) == 0


@pytest.mark.parametrize("kind", NAMES)
def test_a_name_that_cannot_be_followed_is_found(kind: str, tmp_path: Path) -> None:
    script = SCRIPT.replace("HOST", "${RUN}" + NAMES[kind][0].format("NAME"))
    run, objects, name = rendered(kind, script, tmp_path)
    assert set(texts(objects, "ping")) == {script.replace("NAME", name)}
    assert spliced(run) >= 2  # in the container and in the file


@pytest.mark.parametrize("kind", NAMES)
def test_the_pod_of_another_job_is_left_alone(kind: str, tmp_path: Path) -> None:
    script = SCRIPT.replace("HOST", "${JOB}" + NAMES[kind][0].format("OTHER"))
    run, objects, _ = rendered(kind, script, tmp_path, job="other")
    assert set(texts(objects, "ping")) == {script}
    assert spliced(run) == 0


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("ping NAME-worker-$i", "ping NAME-worker-0-$i"),
        ("ping NAME-worker-{0..1}.NAME", "ping NAME-worker-0-{0..1}.NAME"),
        ("ping NAME-worker-$((i + 1)):22", "ping NAME-worker-0-$((i + 1)):22"),
        ("ping NAME-worker-1.NAME.$NS.svc", "ping NAME-worker-0-1.NAME.$NS.svc"),
        ("ping 1\nHEAD=NAME\nping $HEAD-master-0", "ping 1\nHEAD=NAME\nping NAME-master-0-0"),
        ("ping 1\nfor JOB in a b; do ping $JOB-master-0; done", ""),
        ("ping 1\nJOB=$(pick)\nping $JOB-master-0", ""),
        ('ping 1\nname = "NAME"\nf"{name}-worker-{i}"', 'ping 1\nname = "NAME"\nf"NAME-worker-0-{i}"'),
        (
            'ping 1\nname = os.environ["JOB"]\nf"{name}-worker-1"',
            'ping 1\nname = os.environ["JOB"]\nf"NAME-worker-0-1"',
        ),
        ('ping 1\nname = read()\nf"{name}-worker-{i}"', ""),
        ('ping 1\n"NAME-worker-" + str(rank)', ""),
        ('ping 1\nname + "-worker-1"', ""),
        ('ping 1\n"{}-worker-{}".format(job, rank)', ""),
        ('ping 1\n"%s-worker-%d" % (job, rank)', ""),
        ("ping 1; ls /logs/$RUN-worker-1", "ping 1; ls /logs/$RUN-worker-1"),
        ("ping 1 --log=$JOB-worker-1/out", "ping 1 --log=$JOB-worker-1/out"),
        ("ping 1 $JOB-worker-7 $JOB-worker-1-a x$JOB-worker-1", "ping 1 $JOB-worker-7 $JOB-worker-1-a x$JOB-worker-1"),
    ],
)
def test_ways_to_build_a_name(script: str, wanted: str, tmp_path: Path) -> None:
    """Each with its present name, or a finding where `wanted` is empty."""
    run, objects, name = rendered("VolcanoJob/worker", script, tmp_path, job="NAME")
    assert set(texts(objects, "ping")) == {(wanted or script).replace("NAME", name)}
    assert (spliced(run) > 0) == (not wanted)


def test_the_head_of_a_ray_cluster_has_the_name_of_its_service(tmp_path: Path) -> None:
    """KubeRay makes up the cluster's name for each run: a name that somebody copied never resolved again."""
    kind = next(one for one in KINDS if one.name == "RayJob/head")
    pod = {"restartPolicy": "Never", "containers": [{"name": "ray", "image": "rayproject/ray:2.50.0"}]}
    (document,) = kind.documents({"spec": pod}, {"spec": pod}, 2)
    name = document["metadata"]["name"]
    document["spec"]["entrypoint"] = f"python fit.py --head {name}-x7k2p-head-svc:10001 --other {name}-aeiou-head-svc"
    script = f"ray://{name}-raycluster-x7k2p-head-svc.ml:10001 ${{RAY_CLUSTER_NAME}}-head-svc"
    files = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "scripts", "namespace": "ml"}}
    text = yaml.safe_dump_all([document, {**files, "data": {"run.sh": script}}])
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    run = compile_in(tmp_path, "build", "job.yaml")
    assert f"python fit.py --head {name}-head-svc:10001 --other {name}-aeiou-head-svc" in run.out
    assert f"ray://{name}-head-svc.ml:10001 ${{RAY_CLUSTER_NAME}}-head-svc" in run.out


@pytest.mark.parametrize("job", ["mini", "${JOB}"])
def test_the_brokers_of_a_mini_cluster(job: str, tmp_path: Path) -> None:
    container = {
        "image": "ghcr.io/flux/app:1.0",
        "command": f"python train.py --head {job}-0.flux-service",
        "environment": {"JOB": "mini"},
    }
    spec = {"size": 2, "network": {"headlessName": "flux-service"}, "containers": [container]}
    metadata = {"name": "mini", "namespace": "ml"}
    document = {"apiVersion": "flux-framework.org/v1alpha2", "kind": "MiniCluster", "metadata": metadata, "spec": spec}
    files = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "scripts", "namespace": "ml"}}
    text = yaml.safe_dump_all([document, {**files, "data": {"run.sh": f"ping {job}-1.flux-service"}}])
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    run = compile_in(tmp_path, "build", "job.yaml")
    assert "--head mini-node-0-0.flux-service" in run.out
    assert "ping mini-node-0-1.flux-service" in run.out
    assert spliced(run) == 0
