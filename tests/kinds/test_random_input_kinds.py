"""Random jobs of other operators, 300 of each kind, against formulas of what their operators gave every pod.

The formulas are written from the operators' sources and know nothing of trainc; what a pod gets is read from the manifests alone.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.compiling import compile_in
from tests.conformance.survey_pods import Pod, World

pytestmark = pytest.mark.slow

JOBS = 300
INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
CONTAINER = {"name": "main", "image": "registry.example/train:1", "command": ["python", "train.py"]}


def worlds(tmp_path: Path, jobs: list[Any]) -> list[World]:
    """What each of these jobs becomes, in their order, compiled together through the command line."""
    (tmp_path / "jobs.yaml").write_text(yaml.safe_dump_all(jobs, sort_keys=False), "utf-8")
    run = compile_in(tmp_path, "build", "jobs.yaml")
    assert run.code == 0, run.err[-4000:]
    found: list[World] = []
    held: list[Any] = []
    for one in run.objects:
        held.append(one)
        if one["kind"] == "JobSet":
            found.append(World(held))
            held = []
    return found


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 (the same jobs every time, no secrets)


def environment(pod: Pod) -> dict[str, str]:
    return pod.env(pod.spec["containers"][0])


def fqdn(pod: Pod) -> str:
    return f"{pod.host}.{pod.subdomain}"


def indexed_jobs(choose: random.Random) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    for number in range(JOBS):
        size, name = choose.randint(2, 6), f"job-{number}"
        subdomain = choose.choice([name, f"peers-{number}"])
        peer, tail = choose.randrange(size), choose.choice(["", ".ml", ".ml.svc", ".ml.svc.cluster.local"])
        env = [
            {"name": "MASTER_ADDR", "value": f"{name}-0.{subdomain}{tail}"},
            {"name": "PEER", "value": f"tcp://{name}-{peer}.{subdomain}:29500"},
            {"name": "OTHER", "value": f"{name}-{size}.{subdomain}"},
            {"name": "RANK", "valueFrom": {"fieldRef": {"fieldPath": INDEX}}},
        ]
        limit = choose.choice([None, 0, 3])
        spec = {
            "completionMode": "Indexed",
            "completions": size,
            "parallelism": size,
            **({} if limit is None else {"backoffLimit": limit}),
            "template": {
                "spec": {"subdomain": subdomain, "restartPolicy": "Never", "containers": [{**CONTAINER, "env": env}]}
            },
        }
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "ml"}, "spec": spec}
        yield {"size": size, "peer": peer, "tail": tail, "limit": limit, "subdomain": subdomain}, [job]


def test_indexed_jobs(tmp_path: Path) -> None:
    made = list(indexed_jobs(seeded(1)))
    found = worlds(tmp_path, [job for _, jobs in made for job in jobs])
    for (said, (job,)), world in zip(made, found, strict=True):
        name, size = job["metadata"]["name"], said["size"]
        assert [pod.index for pod in world.pods] == list(range(size))
        for rank, pod in enumerate(world.pods):
            own = environment(pod)
            assert pod.subdomain == said["subdomain"]
            assert own["MASTER_ADDR"] == fqdn(world.pods[0]) + said["tail"]
            assert own["PEER"] == f"tcp://{fqdn(world.pods[said['peer']])}:29500"
            assert own["OTHER"] == f"{name}-{size}.{said['subdomain']}"
            assert own["RANK"] == str(rank)
            assert pod.job["backoffLimit"] == (6 if said["limit"] is None else said["limit"])


def leader_worker_sets(choose: random.Random) -> Iterator[tuple[dict[str, Any], Any]]:
    for number in range(JOBS):
        size, groups = choose.randint(1, 4), choose.randint(1, 2)
        tpus = choose.choice(["none", "all", "workers"])
        split = choose.random() < 0.5 or tpus == "workers"
        chips = {"resources": {"limits": {"google.com/tpu": "4"}}}
        worker = {"spec": {"containers": [{**CONTAINER, **({} if tpus == "none" else chips)}]}}
        leader = {"spec": {"containers": [{**CONTAINER, **(chips if tpus == "all" else {})}]}}
        template = {"size": size, "workerTemplate": worker, **({"leaderTemplate": leader} if split else {})}
        yield (
            {"size": size, "groups": groups, "tpus": tpus if size > 1 or tpus != "workers" else "none"},
            {
                "apiVersion": "leaderworkerset.x-k8s.io/v1",
                "kind": "LeaderWorkerSet",
                "metadata": {"name": f"set-{number}", "annotations": {"trainc.dev/run-to-completion": "true"}},
                "spec": {"replicas": groups, "leaderWorkerTemplate": template},
            },
        )


def test_leader_worker_sets(tmp_path: Path) -> None:
    made = list(leader_worker_sets(seeded(2)))
    found = iter(worlds(tmp_path, [job for _, job in made]))
    for said, _ in made:
        for _ in range(said["groups"]):
            pods = next(found).pods
            assert len(pods) == said["size"]
            for index, pod in enumerate(pods):
                own = environment(pod)
                assert own["LWS_LEADER_ADDRESS"] == fqdn(pods[0])
                assert own["LWS_GROUP_SIZE"] == str(said["size"])
                assert own["LWS_WORKER_INDEX"] == str(index)
                first = 1 if said["tpus"] == "workers" else 0
                if said["tpus"] == "none" or index < first:
                    assert "TPU_WORKER_ID" not in own
                    continue
                hosts = [fqdn(other) for other in pods[first:]]
                assert own["TPU_WORKER_HOSTNAMES"] == ",".join(hosts)
                assert own["TPU_WORKER_ID"] == str(index - first)
                assert own["TPU_PROCESS_ADDRESSES"] == ",".join(f"{host}:8476" for host in hosts)


def mini_clusters(choose: random.Random) -> Iterator[dict[str, Any]]:
    for number in range(JOBS):
        size, tasks = choose.randint(1, 6), choose.choice([None, 0, 1, 2, 4, 8])
        flux = {
            **({"optionFlags": "-c 2"} if choose.random() < 0.3 else {}),
            **({"submitCommand": "flux run"} if choose.random() < 0.3 else {}),
        }
        spec: dict[str, Any] = {
            "size": size,
            "containers": [{"image": "a:1", "command": "app --peer NAME-0.SERVICE x"}],
        }
        service = choose.choice(["", f"peers-{number}"])
        spec |= {} if tasks is None else {"tasks": tasks}
        spec |= {"flux": flux} if flux else {}
        spec |= {"network": {"headlessName": service}} if service else {}
        spec |= choose.choice([{}, {"backoffLimit": 5, "deadlineSeconds": 60}, {"logging": {"debug": True}}])
        name = f"mini-{number}"
        command = spec["containers"][0]["command"].replace("NAME", name).replace("SERVICE", service or name)
        spec["containers"][0]["command"] = command
        metadata = {"name": name, "namespace": "hpc"}
        yield {"apiVersion": "flux-framework.org/v1alpha2", "kind": "MiniCluster", "metadata": metadata, "spec": spec}


def submission(spec: Any, first: str) -> str:
    """The operator's submission: nodes only where there are enough tasks, all nodes where tasks are 0."""
    size, tasks = spec["size"], spec.get("tasks", 1)
    counts = f"-N {size}" if tasks == 0 else f"-N {size} -n{tasks}" if tasks >= size else f"-n{tasks}"
    flux = spec.get("flux", {})
    words = [flux.get("submitCommand", "flux submit"), counts, flux.get("optionFlags", "")]
    words += ["-vvv" if spec.get("logging", {}).get("debug") else "", "--quiet", "--watch", f"app --peer {first} x"]
    return " ".join(word for word in words if word)


def test_mini_clusters(tmp_path: Path) -> None:
    made = list(mini_clusters(seeded(3)))
    for job, world in zip(made, worlds(tmp_path, made), strict=True):
        spec, name = job["spec"], job["metadata"]["name"]
        service = spec.get("network", {}).get("headlessName", name)
        size = spec["size"]
        (texts,) = world.configs.values()
        assert len(world.pods) == size
        assert submission(spec, fqdn(world.pods[0])) in texts["entrypoint.sh"]
        indexes = "0" if size == 1 else f"0-{size - 1}"
        hosts = world.pods[0].host.removesuffix("0") + f"[{indexes}]"
        assert f'host = "{hosts}"' in texts["broker.toml"]
        assert f'default_connect = "tcp://%h.{service}.hpc.svc.cluster.local:%p"' in texts["broker.toml"]
        assert re.search(rf"^main='{world.pods[0].host}'$", texts["entrypoint.sh"], re.MULTILINE)
        assert world.pods[0].job["backoffLimit"] == spec.get("backoffLimit", 100)
        assert world.pods[0].job["activeDeadlineSeconds"] == spec.get("deadlineSeconds", 31500000)


def submit_files(choose: random.Random) -> Iterator[Any]:
    amounts = {"cpu": "1", "memory": "1Gi"}
    for number in range(JOBS):
        size = choose.randint(1, 4)
        marks = choose.choice([{}, {"armadaproject.io/gangNodeUniformityLabel": "rack"}])
        gang = {"armadaproject.io/gangId": "g", "armadaproject.io/gangCardinality": str(size), **marks}
        values = list(range(size)) if choose.random() < 0.5 else [choose.randint(0, 9) for _ in range(size)]
        jobs = []
        for value in values:
            own = [
                {"name": "SHARD", "value": str(value)},
                *choose.choice([[], [{"name": "ARMADA_QUEUE", "value": "mine"}]]),
            ]
            container = {**CONTAINER, "env": own, "resources": {"requests": amounts, "limits": amounts}}
            jobs.append({"annotations": gang, "namespace": "ml", "podSpec": {"containers": [container]}})
        yield {"queue": "q", "jobSetId": f"set-{number}", "jobs": jobs}


def test_submit_files(tmp_path: Path) -> None:
    made = list(submit_files(seeded(4)))
    for file, world in zip(made, worlds(tmp_path, made), strict=True):
        size = len(file["jobs"])
        wanted = []
        for job in file["jobs"]:
            own = {entry["name"]: entry["value"] for entry in job["podSpec"]["containers"][0]["env"]}
            more = {"ARMADA_QUEUE": "q", "ARMADA_JOB_SET_ID": file["jobSetId"]}
            if size > 1:
                more |= {"ARMADA_GANG_ID": "g", "ARMADA_GANG_CARDINALITY": str(size)}
                label = job["annotations"].get("armadaproject.io/gangNodeUniformityLabel")
                more |= {"ARMADA_GANG_NODE_UNIFORMITY_LABEL_NAME": label} if label else {}
            wanted.append(more | own)
        found = [environment(pod) for pod in world.pods]
        assert sorted(map(repr, map(sorted, (env.items() for env in found)))) == sorted(
            map(repr, map(sorted, (env.items() for env in wanted)))
        )
        assert all(pod.spec["restartPolicy"] == "Never" for pod in world.pods)
