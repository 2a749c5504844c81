"""What KubeRay marks as ValidationFailed in a RayJob (KubeRay 1.7, controllers/ray/utils/validation.go), in its words."""

from collections.abc import Iterator

from trainc.apiserver.served import Server
from trainc.kinds.rayjob.spec import CLUSTER, KIND, MODE, TIER, RayGroup, read_groups
from trainc.kinds.shared.refusals import Complaint, admitted, label_errors
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import ERROR, Rule
from trainc.model.report import Report
from trainc.model.tree import Tree, get, plain, value
from trainc.text.numbers import parsed_int
from trainc.yaml.reader import embedded

REFUSED = Rule("refused-by-kuberay", ERROR, verdict=True)
_LONGEST = 47
_SPEC = "The RayJob spec is invalid: "
_OWN_RESOURCES = ("num-cpus", "num-gpus", "memory", "resources")


def admit(document: Document, server: Server, _: Cluster, report: Report) -> Document | None:
    """A job as its server would have stored it, None with findings where it or KubeRay would have refused it."""
    return admitted(
        document, server, report, REFUSED, f"{KIND} controller", _refusals, lambda text: text.removeprefix(_SPEC)
    )


def _refusals(tree: Tree) -> Iterator[Complaint]:
    name = value(tree, "metadata", "name") or ""
    if len(name) > _LONGEST:
        text = f"The RayJob metadata is invalid: RayJob name should be no more than {_LONGEST} characters"
        yield ("metadata", "name"), text, "shorten it"
    elif name and label_errors(name):
        text = f"The RayJob metadata is invalid: RayJob name should be a valid DNS1035 label: [{label_errors(name)[0]}]"
        yield ("metadata", "name"), text, "start with a letter; use a-z, 0-9 and `-`"
    labels = get(tree, "metadata", "labels")
    tier = value(labels, TIER)
    if type(tier) is str and value(labels, MODE) is not None and parsed_int(tier) is None:
        text = f'failed to convert {TIER} label to int: strconv.Atoi: parsing "{tier}": invalid syntax'
        yield ("metadata", "labels", TIER), text, "write the number of the highest tier, such as `2`"
    yield from _lifetime(get(tree, "spec") or {})
    yield from _mode(get(tree, "spec") or {})
    if get(tree, *CLUSTER) is not None:
        cluster = get(tree, *CLUSTER)
        groups = read_groups(tree)
        for group in groups:
            yield from _group(group, "Head" if group.is_head else group.group)
            if not group.is_head:
                least, most = value(group.tree, "minReplicas"), value(group.tree, "maxReplicas")
                for field, number in (("minReplicas", least), ("maxReplicas", most)):
                    if type(number) is int and number < 0:
                        text = f"{_SPEC}worker group {group.group} has negative {field} {number}"
                        yield (*group.path, field), text, "use 0 or more"
                if type(least) is int and type(most) is int and least > most:
                    text = f"{_SPEC}worker group {group.group} has minReplicas {least} greater than maxReplicas {most}"
                    yield (*group.path, "minReplicas"), text, f"write at most {most}"
                seconds = value(group.tree, "idleTimeoutSeconds")
                if type(seconds) is int and value(cluster, "autoscalerOptions", "version") != "v2":
                    text = (
                        f"{_SPEC}worker group {group.group}: idleTimeoutSeconds is set, but autoscaler v2 is not enabled. Please set "
                        ".spec.autoscalerOptions.version to 'v2' (or set RAY_enable_autoscaler_v2 environment variable to 'true' in "
                        "the head pod if using KubeRay < 1.4.0)"
                    )
                    yield (*group.path, "idleTimeoutSeconds"), text, "remove it"
                if value(group.tree, "suspend") is True:
                    text = f"{_SPEC}worker group {group.group} can be suspended only when the RayJobDeletionPolicy feature gate is enabled"
                    yield (*group.path, "suspend"), text, "remove it, or the group"
        yield from _redis(groups[0], cluster, plain(get(tree, "metadata", "annotations")) or {})
    try:
        embedded(value(tree, "spec", "runtimeEnvYAML") or "")
    except ValueError:
        yield ("spec", "runtimeEnvYAML"), "failed to unmarshal RuntimeEnvYAML", "write one document of YAML"


def _lifetime(spec: Tree) -> Iterator[Complaint]:
    keeps = value(spec, "shutdownAfterJobFinishes") is not True
    ttl = value(spec, "ttlSecondsAfterFinished")
    ends = "a RayJob with shutdownAfterJobFinishes set to false"
    if value(spec, "suspend") is True and keeps:
        text = f"{_SPEC}{ends} is not allowed to be suspended"
        yield ("spec", "suspend"), text, "set `shutdownAfterJobFinishes: true`"
    if type(ttl) is int and ttl < 0:
        text = f"{_SPEC}TTLSecondsAfterFinished must be a non-negative integer"
        yield ("spec", "ttlSecondsAfterFinished"), text, "use 0 or more"
    elif ttl and keeps:
        text = f"{_SPEC}{ends} cannot have TTLSecondsAfterFinished"
        yield ("spec", "ttlSecondsAfterFinished"), text, "set `shutdownAfterJobFinishes: true`"
    for field in ("activeDeadlineSeconds", "preRunningDeadlineSeconds"):
        seconds = value(spec, field)
        if type(seconds) is int and seconds <= 0:
            yield ("spec", field), f"{_SPEC}{field} must be a positive integer", "write how many seconds"
    retries = value(spec, "backoffLimit")
    if type(retries) is int and retries < 0:
        yield ("spec", "backoffLimit"), f"{_SPEC}backoffLimit must be a positive integer", "use 0 or more"


def _mode(spec: Tree) -> Iterator[Complaint]:
    mode, retries = value(spec, "submissionMode"), value(spec, "backoffLimit")
    selects = bool(get(spec, "clusterSelector"))
    if get(spec, "rayClusterSpec") is None and not selects:
        yield ("spec",), f"{_SPEC}one of RayClusterSpec or ClusterSelector must be set", "write `rayClusterSpec`"
    if selects and value(spec, "suspend") is True:
        text = f"{_SPEC}the ClusterSelector mode doesn't support the suspend operation"
        yield ("spec", "suspend"), text, "remove it"
    if retries and type(retries) is int and retries > 0:
        if selects:
            text = f"{_SPEC}BackoffLimit is incompatible with ClusterSelector mode"
            yield ("spec", "backoffLimit"), text, "remove it"
        if mode == "InteractiveMode":
            yield ("spec", "backoffLimit"), f"{_SPEC}BackoffLimit is incompatible with InteractiveMode", "remove it"
    if mode == "SidecarMode":
        if selects:
            yield ("spec", "clusterSelector"), "ClusterSelector is not supported in SidecarMode", "remove one of them"
        for field in ("submitterPodTemplate", "submitterConfig"):
            if get(spec, field) is not None:
                shown = field[0].upper() + field[1:]
                yield ("spec", field), f"Currently, SidecarMode doesn't support {shown}", "remove it"
        path = ("rayClusterSpec", "headGroupSpec", "template", "spec", "restartPolicy")
        if value(spec, *path) not in {None, "", "Never"}:
            text = "restartPolicy for head Pod should be Never or unset when using SidecarMode"
            yield ("spec", *path), text, "remove it"


def _group(group: RayGroup, name: str) -> Iterator[Complaint]:
    params = group.params
    if not group.containers:
        which = "headGroupSpec" if group.is_head else "workerGroupSpec"
        path = (*group.path, "template", "spec", "containers")
        yield path, f"{_SPEC}{which} should have at least one container", "write the container that Ray runs in"
    if get(group.tree, "resources") and any(params.get(flag) for flag in _OWN_RESOURCES):
        text = f"{_SPEC}resource fields should not be set in both rayStartParams and Resources for {name} group; please use only one"
        yield (*group.path, "resources"), text, "keep one of them"
    if "labels" in params:
        text = f"{_SPEC}rayStartParams['labels'] is not supported for {name} group; please use the top-level Labels field instead"
        yield (*group.path, "rayStartParams", "labels"), text, "use `labels` of the group"


def _redis(head: RayGroup, cluster: Tree, annotations: dict[str, str]) -> Iterator[Complaint]:
    env = {value(entry, "name"): entry for entry in head.ray_container.get("env") or ()}
    path = (*head.path, "template", "spec", "containers", 0, "env")
    tolerant = get(cluster, "gcsFaultToleranceOptions") is not None
    if "RAY_REDIS_ADDRESS" in env and not tolerant and annotations.get("ray.io/ft-enabled", "").lower() != "true":
        text = (
            f"{_SPEC}RAY_REDIS_ADDRESS is set which implicitly enables GCS fault tolerance, but GcsFaultToleranceOptions "
            "is not set. Please set GcsFaultToleranceOptions to enable GCS fault tolerance"
        )
        yield path, text, "remove the variable"
    if head.params.get("redis-username") or "REDIS_USERNAME" in env:
        text = (
            f"{_SPEC}cannot set redis username in rayStartParams or environment variables - use "
            "GcsFaultToleranceOptions.RedisUsername instead"
        )
        yield path, text, "remove it"
    version = value(env.get("RAY_enable_autoscaler_v2"), "value")
    if version in {"1", "true"} and value(cluster, "enableInTreeAutoscaling") is not True:
        text = (
            f"{_SPEC}environment variable RAY_enable_autoscaler_v2 cannot be set to '{version}' when enableInTreeAutoscaling "
            "is false. Please set enableInTreeAutoscaling: true to use autoscaler v2"
        )
        yield path, text, "remove the variable"
