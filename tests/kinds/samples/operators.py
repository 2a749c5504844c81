"""What each operator sets in a pod, worked out from a plain manifest by its own rules: the judge of what is compiled."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

# Per kind: the field of the roles, the main container, its port's name and number.
KINDS = {
    "JAXJob": ("jaxReplicaSpecs", "jax", "jaxjob-port", 6666),
    "PyTorchJob": ("pytorchReplicaSpecs", "pytorch", "pytorchjob-port", 23456),
    "TFJob": ("tfReplicaSpecs", "tensorflow", "tfjob-port", 2222),
    "XGBoostJob": ("xgbReplicaSpecs", "xgboost", "xgboostjob-port", 9999),
    "PaddleJob": ("paddleReplicaSpecs", "paddle", "master", 36543),
}
Pairs = list[tuple[str, object]]


class Pod(NamedTuple):
    """One replica of a job, and how its peers are called there: by address, and by bare host name."""

    job: Any
    role: str
    number: int
    address: Callable[[str, int], str]
    short: Callable[[str, int], str]

    @property
    def specs(self) -> Any:
        return self.job["spec"][KINDS[self.job["kind"]][0]]

    @property
    def total(self) -> int:
        return sum(count(spec) for spec in self.specs.values())

    def port(self, role: str) -> int:
        _, main, name, number = KINDS[self.job["kind"]]
        (container,) = (c for c in containers(self.specs[role]) if c["name"] == main)
        named: list[int] = [port["containerPort"] for port in container.get("ports", []) if port.get("name") == name]
        return named[0] if named else number


def count(spec: Any) -> int:
    found: int = spec.get("replicas", 1)
    return found


def containers(spec: Any) -> Any:
    return spec["template"]["spec"]["containers"]


def replicas(job: Any) -> Iterator[tuple[str, int]]:
    for role, spec in job["spec"][KINDS[job["kind"]][0]].items():
        yield from ((role, index) for index in range(count(spec)))


def _jax(pod: Pod) -> Pairs:
    return [
        ("PYTHONUNBUFFERED", 1),
        ("COORDINATOR_PORT", pod.port("Worker")),
        ("COORDINATOR_ADDRESS", pod.address("worker", 0)),
        ("NUM_PROCESSES", pod.total),
        ("PROCESS_ID", pod.number),
    ]


def _rank(pod: Pod) -> int:
    return pod.number + (pod.role == "Worker")


def _pytorch(pod: Pod) -> Pairs:
    spec = pod.job["spec"]
    elastic = spec.get("elasticPolicy")
    procs = spec.get("nprocPerNode", None if elastic and "nProcPerNode" in elastic else "auto")
    out: Pairs = [("PYTHONUNBUFFERED", 1)]
    if "Master" in pod.specs:
        port, address = pod.port("Master"), pod.address("master", 0)
        each = int(procs) if procs is not None and re.fullmatch(r"[+-]?[0-9]{1,18}", procs) else 1
        out += [
            ("MASTER_PORT", port),
            ("PET_MASTER_PORT", port),
            ("MASTER_ADDR", address),
            ("PET_MASTER_ADDR", address),
        ]
        out += [("WORLD_SIZE", pod.total * each), ("RANK", _rank(pod)), ("PET_NODE_RANK", _rank(pod))]
    out += [] if procs is None else [("PET_NPROC_PER_NODE", procs)]
    return out + ([("PET_NNODES", pod.total)] if elastic is None else _elastic(pod, elastic))


def _elastic(pod: Pod, elastic: Any) -> Pairs:
    size = count(pod.specs["Worker"])
    least = elastic.get("minReplicas", elastic.get("maxReplicas", size))
    most = elastic.get("maxReplicas", elastic.get("minReplicas", size))
    host = elastic.get("rdzvHost", pod.short("worker", 0))
    out: Pairs = [
        ("PET_RDZV_ENDPOINT", f"{host}:{elastic.get('rdzvPort', pod.port('Worker'))}"),
        ("PET_RDZV_BACKEND", elastic.get("rdzvBackend", "c10d")),
        ("PET_NNODES", f"{least}:{most}"),
    ]
    for field, name in (("maxRestarts", "MAX_RESTARTS"), ("nProcPerNode", "NPROC_PER_NODE"), ("rdzvId", "RDZV_ID")):
        out += [(f"PET_{name}", elastic[field])] if field in elastic else []
    if elastic.get("rdzvConf"):
        out.append(("PET_RDZV_CONF", ",".join(f"{c.get('key', '')}={c.get('value', '')}" for c in elastic["rdzvConf"])))
    return out + ([("PET_STANDALONE", "")] if elastic.get("standalone") else [])


def _xgboost(pod: Pod) -> Pairs:
    out: Pairs = [("MASTER_PORT", pod.port("Master")), ("MASTER_ADDR", pod.address("master", 0))]
    out += [("WORLD_SIZE", pod.total), ("RANK", _rank(pod)), ("PYTHONUNBUFFERED", 1)]
    if pod.total > 1:
        workers = ",".join(pod.address("worker", i) for i in range(pod.total - 1))
        out += [("WORKER_PORT", pod.port("Worker")), ("WORKER_ADDRS", workers)]
    return out


def _paddle(pod: Pod) -> Pairs:
    serving = "Master" if "Master" in pod.specs else "Worker"
    port = pod.port(serving)
    out: Pairs = [("PYTHONUNBUFFERED", 1), ("PADDLE_JOB_ID", pod.job["metadata"]["name"]), ("PADDLE_NNODES", pod.total)]
    if (pod.role, pod.number) == (serving, 0):
        out += [("POD_IP_DUMMY", "10.0.0.7"), ("PADDLE_MASTER", f"10.0.0.7:{port}")]
    else:
        out.append(("PADDLE_MASTER", f"{pod.address(serving.lower(), 0)}:{port}"))
    if serving == "Master":
        out.append(("PADDLE_SERVER_NUM" if pod.role == "Master" else "PADDLE_TRAINER_NUM", 1))
    return out


def _tensorflow(pod: Pod) -> Pairs:
    if pod.total == 1:
        return []
    name = pod.role.lower()
    hosts = {role: [_endpoint(pod, role, i) for i in range(count(spec))] for role, spec in pod.specs.items()}
    task = {"type": name, "index": pod.number}
    found: Any = {"cluster": {role.lower(): hosts[role] for role in sorted(hosts, key=str.lower)}, "task": task}
    if pod.job["spec"].get("enableDynamicWorker"):
        own = _endpoint(pod, pod.role, pod.number)
        worker = {str(pod.number): own} if name == "worker" else {}
        servers = {"worker": hosts.get("PS"), "ps": [own]}.get(name, [])
        found = {"cluster": {"worker": worker, "ps": servers}, "task": task}
    else:
        found["environment"] = "cloud"
    return [("TF_CONFIG", json.dumps(found, separators=(",", ":")))]


def _endpoint(pod: Pod, role: str, index: int) -> str:
    return f"{pod.address(role.lower(), index)}.{pod.job['metadata']['namespace']}.svc:{pod.port(role)}"


SETS: dict[str, Callable[[Pod], Pairs]] = {
    "JAXJob": _jax,
    "PyTorchJob": _pytorch,
    "TFJob": _tensorflow,
    "XGBoostJob": _xgboost,
    "PaddleJob": _paddle,
}
