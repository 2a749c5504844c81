"""Causes that keep pods without a node, or the containers of a bound pod from starting.

No node fits, a gang is not whole, nobody schedules them; images, configuration, volumes, init containers, nodes.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from trainc.cluster.diagnose.cause import Cause, at, condition, labels, maps, number, text
from trainc.cluster.diagnose.cluster import DumpedJob, DumpedPod, container_of
from trainc.text.object_keys import COSCHEDULING_LABEL, VOLCANO_GROUP

ContainerFault = tuple[str, str, str, str, tuple[str | tuple[str, object], ...]]  # name, words, help, message, field

_NODES = re.compile(
    r"([0-9]{1,9})/([0-9]{1,9}) nodes are (?:un)?available: (.*?)(?:\.\s*(?:preemption:.*)?|;.*)?$", re.DOTALL
)
_GANG = (
    "cannot find enough sibling pods", "rejection in", "gets rejected due to", "last failed in", "PodGroup not found",
    "tasks in gang unschedulable", "pod group is not ready", "waiting for minCount pods", "can possibly be ass",
)  # fmt: skip
_SIBLINGS = re.compile(r"current pods number: (\d+), minMember of group: (\d+)")
_CLAIM = re.compile(r'persistentvolumeclaim "([^"]+)" (?:not found|is being deleted|bound to non-existent)')
_TAINT = re.compile(r"taint(?:\(s\))? \{([^}]*)\}")
# What the scheduler says of nodes: a part of its text, the same in words for N nodes, what to do, the field of the pod.
_REASONS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("Insufficient ", "{n} of {all} nodes lack free {detail}", "request less, wait for others to end, or add nodes", ("containers",)),
    ("Too many pods", "{n} of {all} nodes run as many pods as they can", "wait, or add nodes", ()),
    ("volume node affinity conflict", "{n} of {all} nodes cannot reach its volume", "use a volume in the zone of the nodes", ("volumes",)),
    ("didn't match Pod's node affinity", "{n} of {all} nodes do not match its node selector or affinity", "change the node selector, or label nodes", ("nodeSelector",)),
    ("didn't match pod topology spread", "{n} of {all} nodes would break its topology spread", "relax topologySpreadConstraints", ("topologySpreadConstraints",)),
    ("anti-affinity", "{n} of {all} nodes run pods that its anti-affinity excludes", "free a topology domain, or remove exclusive placement", ("affinity",)),
    ("pod affinity", "{n} of {all} nodes do not run the pods that its affinity requires", "change the affinity", ("affinity",)),
    ("free ports", "{n} of {all} nodes have its host port in use", "remove hostPort or hostNetwork", ("containers",)),
    ("untolerated taint", "{n} of {all} nodes have a taint that it does not tolerate{detail}", "tolerate the taint, or use other nodes", ("tolerations",)),
    ("unschedulable", "{n} of {all} nodes are cordoned", "uncordon nodes, or wait", ()),
)  # fmt: skip
_IMAGE = (
    "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable",
)  # fmt: skip
_CONFIG = ("CreateContainerConfigError", "CreateContainerError", "RunContainerError")
# Why a container is not created, by reason and message: a name, words for it, what to do, the field of the container.
_CONFIGS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    ("runAsNonRoot", "runs-as-root", "container `{}` would run as root, which runAsNonRoot forbids", "set runAsUser, or use an image with another user", ("securityContext",)),
    ("^RunContainerError|executable file not found", "command-not-started", "the runtime cannot start the command of container `{}`", "correct `command`, or the image", ("command",)),
    ("", "container-not-created", "container `{}` is not created", "see the runtime's message", ()),
)  # fmt: skip
# Why an image is not pulled, by what the runtime says; the first that fits counts.
_PULLS: tuple[tuple[str, str, str, str], ...] = (
    (r"toomanyrequests|rate limit", "image-rate-limit", "the registry limits the rate of pulls", "pull with credentials, or from a mirror"),
    (r"x509|certificate", "image-registry", "the registry's certificate is not trusted", "install its CA on the nodes"),
    (r"no such host|i/o timeout|connection refused|dial tcp", "image-registry", "the registry cannot be reached", "correct the registry's name, or check the node's network"),
    (r"unauthorized|\b401\b|\b403\b|[Ff]orbidden|no basic auth|denied|authorization failed", "image-forbidden", "the registry rejects the credentials, or the repository does not exist", "name a Secret with credentials under imagePullSecrets, and check the image's name"),
    (r"no match for platform|exec format", "image-platform", "the image has no variant for the node's architecture", "build one, or select other nodes"),
    (r"not found|manifest unknown|NotFound", "image-not-found", "the registry has no such image or tag", "push it, or correct the name or the tag"),
    (r"no space left", "node-disk-full", "the node's disk is full", "check the node"),
)  # fmt: skip
_MISSING = (
    re.compile(r"couldn't find key (?P<key>\S+) in (?P<kind>Secret|ConfigMap) (?:[^/\s]+/)?(?P<name>[^\s\"]+)"),
    re.compile(r'(?P<kind>secret|configmap)s? "(?P<name>[^"]+)" not found'),
    re.compile(r"references non-existent (?P<kind>secret|config) key: (?P<key>\S+)"),
)
_VOLUME = re.compile(r'MountVolume\.\w+ failed for volume "([^"]+)"')
_UNMOUNTED = re.compile(r"unmounted volumes=\[([^\]]*)\]")
_KINDS = {"secret": "Secret", "configmap": "ConfigMap", "config": "ConfigMap"}


def pending(run: DumpedJob) -> Iterator[Cause]:
    """Why pods have no node: one cause for all that wait for the same reason, those of a gang behind the others."""
    waiting = [pod for pod in run.pods if not pod.node and pod.phase in ("Pending", "") and not pod.is_deleted]
    messages: dict[tuple[str, str], list[DumpedPod]] = {}
    for pod in waiting:
        scheduled = condition(pod.tree, "PodScheduled")
        events = run.pod_events(pod.name, "FailedScheduling", "Unschedulable")
        message = text(scheduled, "message") or (events[-1].message if events else "")
        reason = text(scheduled, "reason") if scheduled else ("" if message else "Unseen")
        messages.setdefault((reason, message), []).append(pod)
    for (reason, message), pods in messages.items():
        yield _cause(run, reason, message, pods)


def _cause(run: DumpedJob, reason: str, message: str, pods: list[DumpedPod]) -> Cause:
    role, names = pods[0].role, tuple(run.shown(pod) for pod in pods)
    since = min((pod.created for pod in pods if pod.created), default="")
    quotes = (message,) if message else ()
    cause = partial(Cause, since=since, pods=names, quotes=quotes)
    about = f"{len(pods)} pods wait" if len(pods) > 1 else f"{names[0]} waits"
    scheduler = text(pods[0].tree, "spec", "schedulerName") or "default-scheduler"
    if reason == "SchedulingGated":
        gates = ", ".join(f"`{text(gate, 'name')}`" for gate in maps(pods[0].tree, "spec", "schedulingGates"))
        return cause(
            "scheduling-gated", 4, f"{about} behind the scheduling gate {gates}",
            "check which controller removes that gate; Kueue removes its own when it admits and places the job",
            fields=(run.field(role, "schedulingGates"),),
        )  # fmt: skip
    if reason == "Unseen":
        return cause(
            "no-scheduler", 4, f"{about} and scheduler `{scheduler}` has not processed them",
            f"check that a scheduler named `{scheduler}` runs, or change schedulerName",
            fields=(run.field(role, "schedulerName"),),
        )  # fmt: skip
    if any(word in message for word in _GANG) and _REASONS[0][0] not in message:
        return _gang(run, message, pods[0], about, cause)
    if not (match := _NODES.search(message)):
        if match := _CLAIM.search(message):
            return cause(
                "no-claim", 4, f"{about}: PersistentVolumeClaim `{match[1]}` does not exist or is not usable",
                "create the PVC in this namespace, or name another", fields=(run.field(role, "volumes"),),
            )  # fmt: skip
        return cause("not-scheduled", 4, f"{about} to be scheduled", "see the scheduler's message")
    words, help_, field = _why_no_node(match[3], int(match[2]), run, pods[0])
    fields = (run.field(role, *field),) if field else ()
    if field == ("containers",) and (lacking := re.search(r"Insufficient ([\w./-]*[\w-])", match[3])):
        fields = (run.resources(role, lacking[1]),)
    if field == ("volumes",):
        for volume in maps(pods[0].tree, "spec", "volumes"):
            claim = text(volume, "persistentVolumeClaim", "claimName")
            events = run.cluster.events("PersistentVolumeClaim", run.namespace, claim) if claim else []
            quotes = (*quotes, *(f"{claim}: {event.message}" for event in events[-1:]))
    return cause("no-node-fits", 4, f"{about} for a node: {words}", help_, quotes=quotes, fields=fields)


def _why_no_node(reasons: str, nodes: int, run: DumpedJob, pod: DumpedPod) -> tuple[str, str, tuple[str, ...]]:
    """What keeps the pod off each group of nodes in words; help and field of the one that is nearest to fitting."""
    if claim := _CLAIM.search(reasons):
        why = f"PersistentVolumeClaim `{claim[1]}` does not exist or is not usable"
        return why, "create it, or name another", ("volumes",)
    if "unbound immediate PersistentVolumeClaims" in reasons:
        names = [text(one, "persistentVolumeClaim", "claimName") for one in maps(pod.tree, "spec", "volumes")]
        listed = ", ".join(f"`{name}`" for name in names if name)
        return f"a PVC is not bound to a volume ({listed})", "see the PVC's events: class, size, zone", ("volumes",)
    words: list[tuple[int, str, str, tuple[str, ...]]] = []
    for part in re.split(r", (?=\d+ )", reasons):
        count, _, reason = part.strip().rstrip(".").partition(" ")
        for place, (mark, phrase, help_, field) in enumerate(_REASONS):
            if mark in reason and count.isdigit():
                detail = _detail(mark, reason, run, pod)
                words.append((place, phrase.format(n=count, all=nodes, detail=detail), help_, field))
                break
    if not words:
        return reasons, "see the scheduler's message", ()
    words.sort(key=lambda one: one[0])
    return ", ".join(one[1] for one in words), words[0][2], words[0][3]


def _detail(mark: str, reason: str, run: DumpedJob, pod: DumpedPod) -> str:
    if mark == "untolerated taint":
        taint = _TAINT.search(reason)
        return f" (`{taint[1].strip().replace(': ', '=').rstrip('=:')}`)" if taint else ""
    resource = reason.partition(mark)[2].strip()
    containers = maps(pod.tree, "spec", "containers") or maps(run.pod_spec(pod.role), "containers")
    amounts = (
        at(container, "resources", side, resource) for container in containers for side in ("requests", "limits")
    )
    wanted = next((str(amount)[:20] for amount in amounts if type(amount) in (str, int)), "")
    return f"{resource} (a pod requests {wanted})" if wanted else resource


def _gang(run: DumpedJob, message: str, pod: DumpedPod, about: str, cause: Callable[..., Cause]) -> Cause:
    group = _group_of(pod)
    tree = run.cluster.find("PodGroup", run.namespace, group.strip("`"))
    cause = partial(cause, fields=(run.job_field(pod.role, "parallelism"),))
    if siblings := _SIBLINGS.search(message):
        return cause(
            "gang-too-small", 4, f"{about}: PodGroup {group} needs {siblings[2]} pods, and {siblings[1]} exist",
            "set minMember to the number of pods that exist at once; check for pods that are not created",
        )  # fmt: skip
    if "PodGroup not found" in message or (
        "waiting for minCount" in message and not tree and run.cluster.has("PodGroup", run.namespace)
    ):
        words = f"{about}: PodGroup {group} does not exist"
        return cause("gang-missing", 4, words, "apply the PodGroup with the job")
    if "waiting for minCount" in message:
        words = f"{about}: PodGroup {group} has fewer pods than minCount"
        return cause("gang-too-small", 4, words, "see which pods are not created")
    unschedulable = text(condition(tree, "Unschedulable") or condition(tree, "PodGroupInitiallyScheduled"), "message")
    least = number(tree, "spec", "minMember") or number(tree, "spec", "schedulingPolicy", "gang", "minCount")
    whole = f"for its {least} pods" if least else "for the whole gang"
    return cause(
        "gang-does-not-fit", 5, f"{about}: PodGroup {group} finds no room at once {whole}",
        "request fewer nodes, wait for others to end, or add nodes",
        quotes=tuple(dict.fromkeys(filter(None, (message, unschedulable)))), is_result=True,
    )  # fmt: skip


def _group_of(pod: DumpedPod) -> str:
    name = labels(pod.tree, "metadata", "labels").get(COSCHEDULING_LABEL)
    name = name or labels(pod.tree, "metadata", "annotations").get(VOLCANO_GROUP)
    name = name or text(pod.tree, "spec", "schedulingGroup", "podGroupName")
    name = name or text(pod.tree, "spec", "workloadRef", "podGroup")
    return f"`{name}`" if name else "of the pod"


def group_refused(run: DumpedJob) -> Iterator[Cause]:
    """A PodGroup whose queue does not let it in, so that nobody looks at its pods."""
    if not run.pods or any(pod.node for pod in run.pods):
        return
    name = _group_of(run.pods[0]).strip("`")
    tree = run.cluster.find("PodGroup", run.namespace, name)
    if text(tree, "status", "phase") != "Pending":
        return
    queue = text(tree, "spec", "queue") or "default"
    events = run.cluster.events("PodGroup", run.namespace, name, "Unschedulable")
    message = events[-1].message if events else text(condition(tree, "Unschedulable"), "message")
    if "queue resource quota insufficient" in message or "overused" in message:
        full = f"Volcano queue `{queue}` has no room for it" if "quota" in message else "the cluster is too full for it"
        yield Cause(
            "volcano-queue-full", 3, f"PodGroup `{name}` is not admitted: {full}",
            "wait, request less, or raise the queue's capability",
            text(tree, "metadata", "creationTimestamp"), quotes=(message,),
        )  # fmt: skip


def starting(run: DumpedJob) -> Iterator[Cause]:
    """Why containers of pods that have a node do not start: one cause for all pods with the same trouble."""
    alike: dict[tuple[str, str], tuple[ContainerFault, list[DumpedPod]]] = {}
    pulls = [event.message for pod in run.pods for event in run.pod_events(pod.name, "Failed")]
    for pod in run.pods:
        if pod.is_deleted or pod.phase in ("Succeeded", "Failed"):
            continue
        waiting = _container(pod, pulls) or (_mounts(run, pod) if pod.node and pod.phase != "Running" else None)
        if waiting:
            alike.setdefault(waiting[:2], (waiting, []))[1].append(pod)
    for (name, words, help_, message, field), pods in alike.values():
        names = tuple(run.shown(pod) for pod in pods)
        about = f"{names[0]}" + (f" and {len(pods) - 1} more pods" if len(pods) > 1 else "")
        since = min((pod.created for pod in pods if pod.created), default="")
        steps = (run.field(pods[0].role, *field),) if field else ()
        quotes = (message,) if message else ()
        yield Cause(name, 6, f"{about}: {words}", help_, since, pods=names, quotes=quotes, fields=steps)


def _container(pod: DumpedPod, pulls: Sequence[str]) -> ContainerFault | None:
    """The first container of the pod that cannot start, in the order in which they start."""
    for status, is_init in pod.statuses():
        name = text(status, "name")
        waiting = at(status, "state", "waiting")
        reason, message = text(waiting, "reason"), text(waiting, "message")
        place = ("initContainers" if is_init else "containers", ("name", name))
        if reason in _IMAGE:
            image = text(container_of(at(pod.tree, "spec"), name), "image") or text(status, "image")
            field = (*place, "image")
            if reason == "InvalidImageName":
                return "image-name", f"`{image}` is not a valid image name", "correct it", message, field
            if reason == "ErrImageNeverPull":
                words = f"image `{image}` is not on the node, and imagePullPolicy is Never"
                help_, field = "set imagePullPolicy: IfNotPresent", (*place, "imagePullPolicy")
                return "image-never-pulled", words, help_, message, field
            texts = [message, *(one for one in pulls if image in one)]
            for pattern, rule, words, help_ in _PULLS:
                if quote := next((one for one in texts if re.search(pattern, one)), ""):
                    return rule, f"image `{image}` cannot be pulled: {words}", help_, quote, field
            return "image-not-pulled", f"image `{image}` cannot be pulled", "see the runtime's message", message, field
        if reason in _CONFIG:
            return _config(name, reason, message, place)
    return None


def _config(name: str, reason: str, message: str, place: tuple[str | tuple[str, object], ...]) -> ContainerFault:
    if missing := _missing(message):
        words = f"container `{name}` needs {missing}"
        return "no-reference", words, "create it in this namespace, or correct the reference", message, (*place, "env")
    rule, words, help_, field = next(row[1:] for row in _CONFIGS if re.search(row[0], f"{reason}: {message}"))
    return rule, words.format(name), help_, message, (*place, *field)


def _missing(message: str) -> str:
    """The Secret or ConfigMap, and the key, that a message misses; empty where it misses none."""
    for pattern in _MISSING:
        if match := pattern.search(message):
            parts = match.groupdict()
            kind, key = _KINDS.get(parts["kind"].lower(), parts["kind"]), parts.get("key")
            subject = f"{kind} `{parts['name']}`" if parts.get("name") else f"the {kind}"
            return f"key `{key}` of {subject}, which is not there" if key else f"{subject}, which does not exist"
    return ""


def _mounts(run: DumpedJob, pod: DumpedPod) -> ContainerFault | None:
    """What events say of a bound pod whose containers were never created: volumes, sandbox, devices."""
    events = run.pod_events(pod.name, "FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "NetworkNotReady")
    if not events or any("running" in (status.get("state") or {}) for status, _ in pod.statuses()):
        return None
    telling = [one for one in events if one.reason != "FailedMount" or _VOLUME.search(one.message)] or events
    event = ([one for one in events if _missing(one.message)] or telling)[-1]
    message = event.message
    if event.reason in ("FailedCreatePodSandBox", "NetworkNotReady"):
        words = "the node cannot set up its network or sandbox"
        return "no-sandbox", words, "check the node's network plugin; nothing in Git causes this", message, ()
    match = _VOLUME.search(message) or _UNMOUNTED.search(message)
    volume = f"volume `{match[1]}`" if match else "a volume"
    field: tuple[str | tuple[str, object], ...] = ("volumes", ("name", match[1])) if match else ("volumes",)
    if missing := _missing(message):
        return "no-volume-source", f"{volume} needs {missing}", "create it, or correct the volume", message, field
    if "Multi-Attach" in message:
        words = "a volume is attached to another node and allows one only"
        return "volume-in-use", words, "use a ReadWriteMany PVC for several nodes", message, ("volumes",)
    return "volume-not-mounted", f"{volume} is not mounted", "see the kubelet's message", message, field


def stuck_deletion(run: DumpedJob) -> Iterator[Cause]:
    """A pod that should be gone and is not: its Job, or the next attempt, waits for it."""
    for pod in run.pods:
        if pod.is_deleted and pod.phase not in ("Succeeded", "Failed"):
            yield Cause(
                "pod-not-deleted", 5,
                f"{run.shown(pod)} is being deleted and does not terminate" + (f" (node `{pod.node}`)" if pod.node else ""),
                "check its node; if it is lost for good, force-delete the pod",
                text(pod.tree, "metadata", "deletionTimestamp"), pods=(run.shown(pod),),
            )  # fmt: skip
            return


def stuck_init(run: DumpedJob) -> Iterator[Cause]:
    """Init containers that run on and on while the containers behind them wait."""
    for pod in run.pods:
        if pod.phase != "Pending" or pod.is_deleted:
            continue
        inits = maps(pod.tree, "spec", "initContainers")
        sidecars = {text(spec, "name") for spec in inits if text(spec, "restartPolicy") == "Always"}
        for status, is_init in pod.statuses():
            state, name = at(status, "state"), text(status, "name")
            if is_init and type(state) is dict and "running" in state and name not in sidecars:
                yield Cause(
                    "init-runs", 8, f"{run.shown(pod)}: init container `{name}` runs and has not ended",
                    f"see its log: kubectl logs -n {pod.namespace} {pod.name} -c {name}",
                    text(state, "running", "startedAt") or pod.created, pods=(run.shown(pod),),
                    fields=(run.field(pod.role, "initContainers", ("name", name)),),
                )  # fmt: skip
                return
