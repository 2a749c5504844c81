"""What KubeRay 1.7 gives to the pods of a RayJob, by formulas written from its documentation and source, not from ours."""

import json
import math
import random
from typing import Any

CPUS = (None, "500m", "1", "2500m", "8")
MEMORIES = (None, "512Mi", "4Gi", "1G")
LIMITS = ("nvidia.com/gpu", "amd.com/gpu", "google.com/tpu", "aws.amazon.com/neuroncore", "nvidia.com/mig-1g.5gb")
PARAMS: tuple[dict[str, str], ...] = (
    {},
    {"num-cpus": "3"},
    {"no-monitor": "true", "include-dashboard": "false"},
    {"disable-usage-stats": "false", "log-color": "true"},
    {"resources": '\'{"custom": 2, "TPU": 1}\''},
    {"resources": "not json"},
    {"plasma-directory": "/scratch", "object-store-memory": "78643200"},
    {"metrics-export-port": "9090"},
)
TOLD = ({"CPU": "3", "GPU": "1"}, {"memory": "2Gi", "Custom": "1500m"})


def random_job(seed: int) -> dict[str, Any]:
    """A RayJob that KubeRay runs, with any sizes, flags and variables."""
    chance = random.Random(seed)  # noqa: S311 (jobs, not keys)
    head = _group(chance, "ray-head")
    if chance.random() < 0.3:
        head["rayStartParams"] = {**head["rayStartParams"], "port": "6390"}
    groups = []
    for name in chance.sample(["small", "gpu", "w1"], chance.randint(0, 3)):
        least = chance.randint(0, 2)
        bounds = {"minReplicas": least, "maxReplicas": least + chance.randint(0, 2), "replicas": chance.randint(0, 5)}
        hosts = {"numOfHosts": chance.randint(1, 2)} if chance.random() < 0.3 else {}
        groups.append({"groupName": name, **bounds, **hosts, **_group(chance, "ray-worker")})
    spec: dict[str, Any] = {
        "entrypoint": "python train.py",
        "shutdownAfterJobFinishes": True,
        "rayClusterSpec": {"rayVersion": "2.52.0", "headGroupSpec": head, "workerGroupSpecs": groups},
    }
    if chance.random() < 0.5:
        spec["backoffLimit"] = chance.randint(0, 3)
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {"name": f"ray{seed}", "namespace": "ml"},
        "spec": spec,
    }


def _group(chance: random.Random, name: str) -> dict[str, Any]:
    limits = {"cpu": chance.choice(CPUS), "memory": chance.choice(MEMORIES)}
    requests = {"cpu": chance.choice(CPUS), "memory": chance.choice(MEMORIES)}
    limits |= {resource: str(chance.randint(1, 8)) for resource in chance.sample(LIMITS, chance.choice([0, 0, 1, 2]))}
    amounts = {
        "limits": {key: text for key, text in limits.items() if text},
        "requests": {key: text for key, text in requests.items() if text and key not in limits},
    }
    env = [
        {"name": key, "value": "own"} for key in chance.sample(["RAY_ADDRESS", "RAY_PORT", "RAY_CLUSTER_NAME", "X"], 2)
    ]
    container: dict[str, Any] = {"name": name, "image": "ray:2.52.0", "resources": amounts, "env": env}
    if chance.random() < 0.2:
        container["command"] = ["echo", "hello"]
    if chance.random() < 0.1:
        container["args"] = ["ray start --head"]
    out: dict[str, Any] = {
        "rayStartParams": dict(chance.choice(PARAMS)),
        "template": {"spec": {"containers": [container]}},
    }
    if chance.random() < 0.2:
        out["rayStartParams"], out["resources"] = {}, chance.choice(TOLD)
    return out


def pods(job: dict[str, Any]) -> dict[str, int]:
    """The number of pods of each role, those without any left out."""
    out = {"head": 1, "driver": 1}
    for group in job["spec"]["rayClusterSpec"]["workerGroupSpecs"]:
        replicas = min(max(group["replicas"], group["minReplicas"]), group["maxReplicas"])
        out[group["groupName"]] = replicas * group.get("numOfHosts", 1)
    return {role: count for role, count in out.items() if count}


def groups(job: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The head and the groups of workers, by role."""
    cluster = job["spec"]["rayClusterSpec"]
    return {"head": cluster["headGroupSpec"], **{group["groupName"]: group for group in cluster["workerGroupSpecs"]}}


def address(job: dict[str, Any]) -> str:
    """Where the control store is."""
    name = job["metadata"]["name"]
    return f"{name}-head-0-0.{name}:{groups(job)['head']['rayStartParams'].get('port', '6379')}"


def start(job: dict[str, Any], role: str) -> str:
    """The line of `ray start`."""
    group = groups(job)[role]
    amounts = group["template"]["spec"]["containers"][0]["resources"]
    flags = dict(group["rayStartParams"]) | _told(group.get("resources", {}))
    flags = ({"dashboard-host": "0.0.0.0"} if role == "head" else {"address": address(job)}) | flags  # noqa: S104 (a flag)
    flags = {"metrics-export-port": "8080", "dashboard-agent-listen-port": "52365"} | flags | {"block": "true"}
    cpu = amounts["limits"].get("cpu") or amounts["requests"].get("cpu")
    flags = ({"num-cpus": str(math.ceil(_amount(cpu)))} if cpu else {}) | flags
    memory = amounts["limits"].get("memory")
    flags = ({"memory": str(math.ceil(_amount(memory)))} if memory else {}) | flags
    try:
        custom = json.loads(flags.get("resources", "{}").strip("'"))
        flags = _accelerated(flags, custom, amounts["limits"])
    except ValueError:
        pass
    words = []
    for name in sorted(flags):
        text = flags[name]
        if text in {"true", "false"} and name not in {"log-color", "include-dashboard", "include-log-monitor"}:
            words += [f"--{name}"] * (text == "true")
        else:
            words.append(f"--{name}={text}")
    return " ".join(["ray start", *(["--head"] if role == "head" else []), *words])


def _accelerated(flags: dict[str, str], custom: dict[str, Any], limits: dict[str, str]) -> dict[str, str]:
    gpus = sorted(name for name in limits if name.endswith("gpu") or "/mig-" in name)
    flags = ({"num-gpus": limits[gpus[0]]} if gpus else {}) | flags
    known = {"aws.amazon.com/neuroncore": "neuron_cores", "google.com/tpu": "TPU"}
    found = sorted(name for name in limits if name in known)
    if found and not {"TPU", "neuron_cores"} & custom.keys():
        custom = custom | {known[found[0]]: int(limits[found[0]])}
        flags = flags | {"resources": "'" + json.dumps(custom, separators=(",", ":"), sort_keys=True) + "'"}
    return flags


def _told(resources: dict[str, str]) -> dict[str, str]:
    flags = {"CPU": "num-cpus", "GPU": "num-gpus", "memory": "memory"}
    out = {flags[name]: str(math.ceil(_amount(text))) for name, text in resources.items() if name in flags}
    custom = {name: _amount(text) for name, text in resources.items() if name not in flags}
    return out | ({"resources": "'" + json.dumps(custom, separators=(",", ":")) + "'"} if custom else {})


def _amount(text: str) -> float:
    units = {"m": 0.001, "Mi": 2**20, "Gi": 2**30, "G": 10**9}
    unit = next((unit for unit in ("Mi", "Gi", "G", "m") if text.endswith(unit)), "")
    return float(text[: len(text) - len(unit)]) * units.get(unit, 1)


def command(job: dict[str, Any], role: str) -> list[str]:
    """The words that the container runs."""
    container = groups(job)[role]["template"]["spec"]["containers"][0]
    own = " ".join([*container.get("command", ()), *container.get("args", ())])
    if "ray start" in own:
        return [*container.get("command", ()), *container.get("args", ())]
    line = "ulimit -n ${RAY_START_ULIMIT_OPEN_FILES:-65536}; " + start(job, role)
    return ["/bin/bash", "-c", "--", f"{own} && {line}" if own else line]


def environment(job: dict[str, Any], role: str) -> dict[str, str]:
    """The variables of the container that Ray runs in."""
    container = groups(job)[role]["template"]["spec"]["containers"][0]
    own = {entry["name"]: entry["value"] for entry in container["env"]}
    host, _, port = address(job).partition(":")
    name = job["metadata"]["name"]
    ours = {
        "RAY_CLUSTER_NAME": name,
        "RAY_CLUSTER_NAMESPACE": "ml",
        "RAY_CLOUD_INSTANCE_ID": "some-pod",
        "RAY_NODE_TYPE_NAME": "headgroup" if role == "head" else role,
        "KUBERAY_GEN_RAY_START_CMD": start(job, role),
    }
    if role == "head":
        host, ours["RAY_USAGE_STATS_EXTRA_TAGS"] = "127.0.0.1", "kuberay_version=v1.7.0;kuberay_crd=RayJob"
    else:
        ours |= {"FQ_RAY_IP": host, "RAY_IP": f"{name}-head-svc"}
    kept = {"RAY_PORT": port, "RAY_ADDRESS": f"{host}:{port}", "RAY_USAGE_STATS_KUBERAY_IN_USE": "1"}
    return kept | {"RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE": "1"} | own | ours
