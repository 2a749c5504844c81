"""What Volcano 1.16 gives to each pod of a Job, by formulas written from its documentation and source, not from ours.

Hosts have the names that Volcano gives: `JOB-TASK-INDEX.JOB`.
"""

import json
import random
from typing import Any

Environment = dict[str, str]
PLUGINS: tuple[dict[str, list[str]], ...] = (
    {},
    {"env": []},
    {"svc": []},
    {"env": [], "svc": []},
    {"pytorch": []},
    {"tensorflow": []},
    {"mpi": []},
)
TAKEN = ("VC_TASK_INDEX", "MASTER_ADDR", "TF_CONFIG", "SEED", "VC_WORKER_NUM")


def random_job(seed: int) -> dict[str, Any]:
    """A job that Volcano accepts, with any of its plugins, flags, tasks and minima."""
    chance = random.Random(seed)  # noqa: S311 (jobs, not keys)
    names = chance.sample(["ps", "worker", "gpu-node", "evaluator", "x1"], chance.randint(1, 3))
    plugins = dict(chance.choice(PLUGINS))
    if "pytorch" in plugins or "mpi" in plugins:
        names = ["master", *(name for name in names if name != "master")]
        chance.shuffle(names)
    if "pytorch" in plugins:
        plugins["pytorch"] = [
            f"--worker={chance.choice(names)}",
            *chance.choice([[], ["--port=9"], ["--port", "0x10"]]),
        ]
        plugins["pytorch"] = [flag for flag in plugins["pytorch"] if flag != "--worker=master"]
    if "tensorflow" in plugins:
        plugins["tensorflow"] = chance.choice([[], ["--ps=x1", "-port=3333"], ["--chief", "ps"]])
    if chance.random() < 0.2:
        plugins["svc"] = ["--inject-hosts-env=false"]
    tasks = [_task(chance, name) for name in names]
    if not any(task.get("replicas") for task in tasks):
        tasks[0]["replicas"] = 1
    spec: dict[str, Any] = {"queue": "q", "plugins": plugins, "tasks": tasks}
    total = sum(task.get("replicas", 0) for task in tasks)
    if chance.random() < 0.3:
        spec["minAvailable"] = chance.randint(1, total)
    if chance.random() < 0.4:
        spec["maxRetry"] = chance.randint(0, 5)
    if chance.random() < 0.5:
        spec["policies"] = [{"events": ["PodFailed", "PodEvicted"], "action": "RestartJob"}]
    metadata = {"name": f"job{seed}", "namespace": "ml"}
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": metadata, "spec": spec}


def _task(chance: random.Random, name: str) -> dict[str, Any]:
    env = [{"name": chosen, "value": "own"} for chosen in chance.sample(TAKEN, chance.randint(0, 2))]
    pod: dict[str, Any] = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i:1", "env": env}]}
    pod["containers"][0]["resources"] = {"requests": {"cpu": f"{chance.randint(1, 9) * 100}m"}}
    if chance.random() < 0.3:
        pod["containers"].append({"name": "helper", "image": "i:1", "resources": {"limits": {"cpu": 1}}})
    if chance.random() < 0.3:
        pod["initContainers"] = [{"name": "before", "image": "i:1"}]
    task: dict[str, Any] = {"name": name, "template": {"spec": pod}}
    task["replicas"] = 1 if name == "master" else chance.randint(0, 4)
    if chance.random() < 0.3:
        task["minAvailable"] = chance.randint(0, task["replicas"])
    return task


def _flag(arguments: list[str], name: str, default: str) -> str:
    for place, argument in enumerate(arguments):
        bare = argument.lstrip("-")
        if argument[0] == "-" and bare.split("=")[0] == name:
            return bare.split("=", 1)[1] if "=" in bare else arguments[place + 1]
    return default


def _hosts(job: dict[str, Any], task: dict[str, Any]) -> list[str]:
    own = job["metadata"]["name"]
    return [f"{own}-{task['name']}-{index}.{own}" for index in range(task["replicas"])]


def files(job: dict[str, Any]) -> dict[str, str]:
    """The files in /etc/volcano, by name; none without the plugin `svc`."""
    plugins = job["spec"]["plugins"]
    if not {"svc", "pytorch", "tensorflow", "mpi"} & plugins.keys():
        return {}
    return {f"{task['name'].replace('-', '_')}.host": "\n".join(_hosts(job, task)) for task in job["spec"]["tasks"]}


def environments(job: dict[str, Any]) -> dict[tuple[str, int], dict[str, Environment]]:
    """By task and index, the variables of each container by name."""
    out = {}
    for task in job["spec"]["tasks"]:
        pod = task["template"]["spec"]
        for index in range(task["replicas"]):
            found = {}
            for container in pod["containers"]:
                own = {entry["name"]: entry["value"] for entry in container.get("env", ())}
                found[container["name"]] = own | _shared(job, task, index) | _main(job, task, index)
            for container in pod.get("initContainers", ()):
                found[container["name"]] = _shared(job, task, index)
            out[task["name"], index] = found
    return out


def _shared(job: dict[str, Any], task: dict[str, Any], index: int) -> Environment:
    plugins = job["spec"]["plugins"]
    own: Environment = {}
    if "env" in plugins:
        own |= {"VK_TASK_INDEX": str(index), "VC_TASK_INDEX": str(index)}
    if files(job) and "--inject-hosts-env=false" not in plugins.get("svc", ()):
        for other in job["spec"]["tasks"]:
            key = other["name"].replace("-", "_").upper()
            own |= {f"VC_{key}_HOSTS": ",".join(_hosts(job, other)), f"VC_{key}_NUM": str(other["replicas"])}
    if "mpi" in plugins and task["name"] == "master":
        workers = [other for other in job["spec"]["tasks"] if other["name"] == "worker"]
        own |= {"MPI_HOST": ",".join(_hosts(job, workers[0]))} if workers else {}
    return own


def _main(job: dict[str, Any], task: dict[str, Any], index: int) -> Environment:
    plugins, tasks = job["spec"]["plugins"], {task["name"]: task for task in job["spec"]["tasks"]}
    own: Environment = {}
    if "pytorch" in plugins:
        worker = _flag(plugins["pytorch"], "worker", "worker")
        world = 1 + (tasks[worker]["replicas"] if worker in tasks else 0)
        port = int(_flag(plugins["pytorch"], "port", "23456"), 0)
        own |= {"MASTER_ADDR": _hosts(job, tasks["master"])[0], "MASTER_PORT": str(port), "WORLD_SIZE": str(world)}
        rank = {worker: str(index + 1), "master": "0"}.get(task["name"])
        own |= {"RANK": rank} if rank is not None else {}
    if "tensorflow" in plugins and not (len(tasks) == 1 and task["replicas"] == 1):
        flags = plugins["tensorflow"]
        names = {_flag(flags, role, role): role for role in ("evaluator", "chief", "worker", "ps")}
        number = _flag(flags, "port", "2222")
        cluster = {names[name]: other for name, other in tasks.items() if name in names and other["replicas"]}
        order = [role for role in ("ps", "worker", "chief", "evaluator") if role in cluster]
        listed = {role: [f"{host}:{number}" for host in _hosts(job, cluster[role])] for role in order}
        config = {"cluster": listed, "task": {"type": names.get(task["name"], task["name"]), "index": index}}
        own["TF_CONFIG"] = json.dumps(config, separators=(",", ":"))
    return own


def group(job: dict[str, Any]) -> dict[str, Any]:
    """What its PodGroup says of numbers: members, members of each task, and CPUs in thousandths."""
    tasks = job["spec"]["tasks"]
    least = {task["name"]: task.get("minAvailable", task["replicas"]) for task in tasks}
    minimum = job["spec"].get("minAvailable") or sum(least.values())
    if minimum < sum(least.values()):
        counts, rest = {}, minimum
        for task in tasks:
            counts[task["name"]] = min(task["replicas"], rest)
            rest -= counts[task["name"]]
    else:
        counts, rest = dict(least), minimum - sum(least.values())
        for task in tasks:
            more = min(task["replicas"] - least[task["name"]], rest)
            counts[task["name"]] += more
            rest -= more
    cpu = sum(counts[task["name"]] * _cpu(task) for task in tasks)
    return {"minMember": minimum, "minTaskMember": least, "cpu": cpu}


def _cpu(task: dict[str, Any]) -> int:
    out = 0
    for container in task["template"]["spec"]["containers"]:
        asked = container["resources"].get("requests") or container["resources"]["limits"]
        text = str(asked["cpu"])
        out += int(text[:-1]) if text.endswith("m") else int(text) * 1000
    return out
