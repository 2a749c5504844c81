"""What KubeRay gives to the pods of a Ray cluster: variables, commands, memory, probes, and the head's Service."""

import json
import re
from collections.abc import Mapping
from math import inf
from sys import float_info

from trainc.apiserver.pods.requests import quantity_of
from trainc.kinds.rayjob.spec import (
    DRIVER,
    HEAD,
    PORTS,
    RayGroup,
    head_port,
    named_ports,
    read_groups,
    submission,
)
from trainc.kinds.rayjob.spec import FRAMEWORK as NAME
from trainc.kinds.shared.environment import every_and_init, framework, has_words
from trainc.model.patch import Patch
from trainc.model.patches import Contribution
from trainc.model.plan import Plan, Role
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import Tree, get, given, leaves, plain, value
from trainc.text.embedded_json import json_value
from trainc.text.numbers import whole_number
from trainc.text.object_keys import JOBSET_NAME, REPLICATED_JOB, TPU_RESOURCE
from trainc.text.placeholders import is_placeholder
from trainc.text.quantity import NANO, Quantity, QuantityError
from trainc.yaml.reader import embedded

_COMMAND = ["/bin/bash", "-c", "--"]
_DISK_USAGE = "RAY_DASHBOARD_ENABLE_K8S_DISK_USAGE"
_OVERWRITE = "ray.io/overwrite-container-cmd"
_TAGS = "kuberay_version=v1.7.0;kuberay_crd=RayJob"
_WAITS = {"cpu": "200m", "memory": "256Mi"}
_WAIT = """\
waited=0
until ray health-check --address {address} >/dev/null 2>&1; do
  echo "waiting for the control store of Ray at {address} ($waited s)"
  sleep 5
  waited=$((waited + 5))
done
"""
ULIMIT = "ulimit -n ${RAY_START_ULIMIT_OPEN_FILES:-65536}"
AGENT_PORT = 52365
_WITH_VALUE = ("log-color", "include-dashboard", "include-log-monitor")  # switches that take `true` or `false`
_ACCELERATORS = {"aws.amazon.com/neuroncore": "neuron_cores", TPU_RESOURCE: "TPU"}
_SLICE = re.compile(r"nvidia\.com/mig-\d+g\.\d+gb$")


class RayWiring:
    """One RayJob as its pods see it: its groups by role, and the addresses of the head."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.groups = {group.role: group for group in read_groups(plan.job)}
        self.head = self.groups[HEAD]
        job = plan.name.value
        self.service = f"{job}-head-svc"
        self.host = f"{job}-{HEAD}-0-0.{job}"
        self.address = f"{self.host}:{head_port(self.head)}"
        dashboard = named_ports(self.head.ray_container).get("dashboard", PORTS["dashboard"])
        self.dashboard = f"{self.host}:{dashboard}"
        self.submission = submission(plan.job, plan.name)

    def text(self, by: str, text: str) -> Sourced[str]:
        return derive(by, lambda _: text, self.plan.name)

    def line(self, group: RayGroup) -> str:
        params = start_params(group, self.address)
        words = ["ray", "start", *(["--head"] if group.is_head else [])]
        for name in sorted(params):
            text = params[name]
            if text.lower() in {"true", "false"} and name not in _WITH_VALUE:
                words += [f"--{name}"] if text.lower() == "true" else []
            else:
                words.append(f"--{name}={text}")
        return " ".join(words)


def entries(wiring: RayWiring, role: Role, container: Tree) -> dict[str, object]:
    """The variables of KubeRay 1.7 for one container, in its order; some of the user's own stay."""
    group = wiring.groups.get(role.name.value)
    first = bool(role.containers) and container is role.containers[0]
    if group is None:
        driver = {
            "PYTHONUNBUFFERED": "1",
            "RAY_DASHBOARD_ADDRESS": wiring.text("address of the dashboard", wiring.dashboard),
            "RAY_JOB_SUBMISSION_ID": wiring.submission,
        }
        return driver if first else {}
    head = {"FQ_RAY_IP": wiring.text("address of the head", wiring.host)}
    head["RAY_IP"] = wiring.text("Service of the head", wiring.service)
    if all(container is not other for other in role.containers):
        return dict(head)
    if not first:
        return {}
    port = head_port(wiring.head)
    written = {value(entry, "name") for entry in container.get("env") or ()}
    address = f"127.0.0.1:{port}" if group.is_head else wiring.address
    unless_given: dict[str, object] = {
        "RAY_PORT": port,
        "RAY_ADDRESS": wiring.text("address of the head", address),
        "RAY_USAGE_STATS_KUBERAY_IN_USE": "1",
    }
    return {
        **({} if group.is_head else head),
        "RAY_CLUSTER_NAME": _field("metadata.labels['ray.io/cluster']"),
        "RAY_CLUSTER_NAMESPACE": _field("metadata.namespace"),
        "RAY_CLOUD_INSTANCE_ID": _field("metadata.name"),
        "RAY_NODE_TYPE_NAME": _field("metadata.labels['ray.io/group']"),
        "KUBERAY_GEN_RAY_START_CMD": wiring.text("ray start", wiring.line(group)),
        **{name: content for name, content in unless_given.items() if name not in written},
        **({"RAY_USAGE_STATS_EXTRA_TAGS": _TAGS} if group.is_head else {}),
        **({} if _DISK_USAGE in written else {_DISK_USAGE: "1"}),
    }


def _field(path: str) -> Tree:
    return {"valueFrom": {"fieldRef": {"fieldPath": path}}}


def more(plan: Plan) -> Contribution:
    """The commands of all pods, what Ray's containers have beside variables, and the head's Service."""
    wiring = RayWiring(plan)
    ports = {"metrics": PORTS["metrics"], **(named_ports(wiring.head.ray_container) or PORTS)}
    selector = {JOBSET_NAME: plan.name, REPLICATED_JOB: HEAD}
    listed = [{"name": name, "port": ports[name], "protocol": "TCP"} for name in sorted(ports)]
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": wiring.text("Service of the head", wiring.service)},
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector, "ports": listed},
    }
    out = Contribution(objects=(service,))
    for role in plan.roles:
        group = wiring.groups.get(role.name.value)
        if not role.containers:
            continue
        container = role.containers[0]
        if group is not None:
            out += _ray(wiring, role, group)
        elif role.name.value == DRIVER and not has_words(container, "command"):
            text = script(get(plan.job, "spec"), f"http://{wiring.dashboard}", wiring.submission.value)
            sets = {"command": ["/bin/bash", "-ce", "--"], "args": [wiring.text("driver", text)]}
            out += Contribution([Patch(role.index, container["name"].value, sets=sets)])
    return out


def _ray(wiring: RayWiring, role: Role, group: RayGroup) -> Contribution:
    container = role.containers[0]
    name = container["name"].value
    params = start_params(group, wiring.address)
    sets: dict[str, Tree] = {}
    # The user's own command runs before Ray starts; one that starts Ray itself is left alone.
    own = " ".join(str(leaf.value) for field in ("command", "args") for _, leaf in leaves(container.get(field) or []))
    meta = get(role.tree, "template", "spec", "template", "metadata", "annotations")
    if "ray start" not in own and str(value(meta, _OVERWRITE)).lower() != "true":
        text = f"{own and f'{own} && '}{ULIMIT}; {wiring.line(group)}"
        sets = {"command": _COMMAND, "args": [wiring.text("ray start", text)]}
    sets |= _probes(wiring, group, container, params)
    ports = named_ports(container)
    metrics = PORTS["metrics"]
    port = {"name": "metrics", "containerPort": metrics, "protocol": "TCP"}
    is_taken = "metrics" in ports or any(value(p, "containerPort") == metrics for p in container.get("ports") or ())
    patches = [Patch(role.index, name, sets=sets, ports=() if is_taken else (port,))]
    mounted = {value(mount, "mountPath") for mount in container.get("volumeMounts") or ()}
    if "/dev/shm" not in mounted and "plasma-directory" not in params:  # noqa: S108 (a path of the pod)
        patches.append(Patch(role.index, name, mounts=({"name": "shared-mem", "mountPath": "/dev/shm"},)))  # noqa: S108
        size = given(get(container, "resources", "limits", "memory"), get(container, "resources", "requests", "memory"))
        folder = {"medium": "Memory", **({} if size is None else {"sizeLimit": size})}
        if all(value(other, "name") != "shared-mem" for other in role.pod.get("volumes") or ()):
            patches.append(Patch(role.index, volumes=({"name": "shared-mem", "emptyDir": folder},)))
    if not group.is_head:
        patches.append(Patch(role.index, init_containers=(_waits(wiring, container),)))
    return Contribution(patches)


def _waits(wiring: RayWiring, container: Tree) -> Tree:
    """The container that holds a worker back until the control store answers, with Ray's own environment."""
    head = {"FQ_RAY_IP": ("address of the head", wiring.host), "RAY_IP": ("Service of the head", wiring.service)}
    own = [entry for entry in container.get("env") or () if value(entry, "name") not in head]
    return {
        "name": "wait-gcs-ready",
        "image": container.get("image"),
        "command": _COMMAND,
        "args": [wiring.text("waiting for the head", _WAIT.replace("{address}", wiring.address))],
        "env": [*own, *({"name": name, "value": wiring.text(*told)} for name, told in head.items())],
        "resources": {"limits": _WAITS, "requests": _WAITS},
        **{key: container[key] for key in ("imagePullPolicy", "securityContext", "volumeMounts") if key in container},
    }


def _probes(wiring: RayWiring, group: RayGroup, container: Tree, params: dict[str, str]) -> dict[str, Tree]:
    """The probes that KubeRay adds where there are none."""
    agent = _port(params, "dashboard-agent-listen-port", AGENT_PORT)
    version = str(value(wiring.plan.job, "spec", "rayClusterSpec", "rayVersion") or "")
    major, minor = (whole_number(part) for part in (*version.split("."), "", "")[:2])
    if major is not None and minor is not None and (major, minor) >= (2, 53):  # one path says whether a node is healthy
        check: Tree = {"httpGet": {"path": "/api/healthz", "port": agent}}
    else:
        urls = [(2, agent, "api/local_raylet_healthz")]
        if group.is_head:
            urls.append((10, _port(params, "dashboard-port", PORTS["dashboard"]), "api/gcs_healthz"))
        wget = "wget --tries 1 -T {} -q -O- http://localhost:{}/{} | grep success"
        check = {"exec": {"command": ["bash", "-c", " && ".join(wget.format(*url) for url in urls)]}}
    common = {"timeoutSeconds": 5 if group.is_head else 2, "periodSeconds": 5, "successThreshold": 1, **check}
    wanted = {
        "livenessProbe": {"initialDelaySeconds": 30, "failureThreshold": 120, **common},
        "readinessProbe": {"initialDelaySeconds": 10, "failureThreshold": 10, **common},
    }
    return {name: probe for name, probe in wanted.items() if name not in container}


def _port(params: dict[str, str], name: str, default: int) -> int:
    port = whole_number(params.get(name, ""))
    return default if port is None else port


FRAMEWORK = framework(NAME, entries, every_and_init, more=more, wired=RayWiring)

# `ray job logs --follow` ends with 0 whatever becomes of the job, so the dashboard is asked at the end. A dashboard that
# answers may still refuse a submission, until the agent of the head has come up.
_SCRIPT = """\
until python -c "import urllib.request as r; exit(b'success' not in r.urlopen('{url}/api/gcs_healthz', timeout=5).read())" >/dev/null 2>&1; do
  echo "waiting for the Ray dashboard at {url}"
  sleep 2
done
is_submitted() { ray job status --address {url} {id} >/dev/null 2>&1; }
if is_submitted; then
  ray job logs --address {url} --follow {id}
else
  for attempt in 1 2 3 4 5 6; do
    ray job submit --address {url}{options} --submission-id {id} -- {entrypoint} && break
    is_submitted && break
    sleep 10
  done
fi
python -c "import json, urllib.request as r; exit(json.load(r.urlopen('{url}/api/jobs/{id}'))['status'] != 'SUCCEEDED')"
"""


def script(spec: Tree, url: str, submission: str) -> str:
    """The driver's script: it waits for the dashboard, submits once, follows, and fails unless the job succeeded."""
    out = _SCRIPT.replace("{options}", _options(spec)).replace("{url}", url).replace("{id}", submission)
    return out.replace("{entrypoint}", (value(spec, "entrypoint") or "").strip())


def _options(spec: Tree) -> str:
    words: list[str] = []
    if (environment := embedded(value(spec, "runtimeEnvYAML") or "")) is not None:
        words += ["--runtime-env-json", _quoted(_json(environment))]
    if metadata := plain(get(spec, "metadata")):
        words += ["--metadata-json", _quoted(_json(metadata))]
    for flag, field in (("cpus", "entrypointNumCpus"), ("gpus", "entrypointNumGpus")):
        if amount := value(spec, field):
            words += [f"--entrypoint-num-{flag}", amount if is_placeholder(amount) else f"{amount:g}"]
    if resources := value(spec, "entrypointResources"):
        words += ["--entrypoint-resources", _quoted(resources)]
    return "".join(f" {word}" for word in words)


def _json(data: object) -> str:
    return json.dumps(data, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def _quoted(text: str) -> str:
    """A text as one word of the shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def start_params(group: RayGroup, address: str) -> dict[str, str]:
    """Every flag with its value: those written, then what the group and its container say, then KubeRay's own."""
    params = dict(group.params)
    params.update(_resource_flags(plain(get(group.tree, "resources")) or {}))
    labels = plain(get(group.tree, "labels")) or {}
    if labels:
        params["labels"] = ",".join(f"{key}={labels[key]}" for key in sorted(labels))
    params.setdefault(*(("dashboard-host", "0.0.0.0") if group.is_head else ("address", address)))  # noqa: S104 (in the pod)
    params.setdefault("metrics-export-port", "8080")
    params["block"] = "true"
    params.setdefault("dashboard-agent-listen-port", str(AGENT_PORT))
    resources = get(group.ray_container, "resources")
    limits, requests = get(resources, "limits") or {}, get(resources, "requests") or {}
    cpu = _whole(get(limits, "cpu")) or _whole(get(requests, "cpu"))
    if cpu:
        params.setdefault("num-cpus", str(cpu))
    if memory := _whole(get(limits, "memory")):
        params.setdefault("memory", str(memory))
    _add_accelerators(params, limits)
    return params


def _whole(leaf: Tree) -> int:
    """An amount rounded up, 0 where there is none."""
    amount = quantity_of(leaf) if type(leaf) is Sourced else None
    return 0 if amount is None else amount.ceil()


def _resource_flags(resources: Mapping[str, object]) -> dict[str, str]:
    """The flags that a group's own `resources` stand for."""
    out: dict[str, str] = {}
    custom: dict[str, float] = {}
    for name, text in resources.items():
        try:
            amount = Quantity.parse(text)
        except QuantityError:
            continue  # KubeRay skips it, with a line in its log
        flag = {"cpu": "num-cpus", "memory": "memory"}.get(name.lower()) or ("num-gpus" if is_gpu(name.lower()) else "")
        if flag:
            out[flag] = str(amount.ceil())
        else:
            custom[name] = _float(amount)
    return {**out, **({"resources": _json_in_quotes(custom)} if custom and _are_finite(custom) else {})}


def is_gpu(name: str) -> bool:
    """Whether a resource of Kubernetes is a GPU to Ray."""
    return name.endswith("gpu") or _SLICE.search(name) is not None


def _add_accelerators(params: dict[str, str], limits: Tree) -> None:
    """The first GPU and the first other accelerator among the limits, by name; none where `resources` is not JSON."""
    if (known := _custom(params.get("resources"))) is None:
        return
    for name in sorted(limits):
        if (amount := quantity_of(limits[name])) is None or not amount.nanos:
            continue
        if is_gpu(name):
            params.setdefault("num-gpus", str(amount.ceil()))
        if name in _ACCELERATORS and not any(other in known for other in _ACCELERATORS.values()):
            known[_ACCELERATORS[name]] = _float(amount)
            if _are_finite(known):
                params["resources"] = _json_in_quotes(known)


def _custom(text: str | None) -> dict[str, float] | None:
    if text is None:
        return {}
    try:
        amounts = json_value(text.strip("'\"` "))
    except ValueError:
        return None
    numbers = type(amounts) is dict and all(type(one) in (int, float) for one in amounts.values())
    return amounts if numbers and _are_finite(amounts) else None


def _float(amount: Quantity) -> float:
    """An amount as the nearest number of Go's, infinity beyond the largest."""
    try:
        return amount.nanos / NANO
    except OverflowError:
        return inf


def _are_finite(amounts: Mapping[str, float]) -> bool:
    """Whether JSON has these numbers; KubeRay leaves the flag out where it has not."""
    return all(abs(one) <= float_info.max for one in amounts.values())


def _json_in_quotes(resources: Mapping[str, float]) -> str:
    """A map as JSON in quotes of the shell; a whole number has no point, as Go writes it."""
    shown = {name: int(number) if number == int(number) else number for name, number in sorted(resources.items())}
    return f"'{json.dumps(shown, separators=(',', ':'))}'"
