"""Causes that keep the containers of a bound pod from starting: images, configuration, volumes, init containers, nodes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainc.cluster.diagnose.cause import Cause
from trainc.cluster.diagnose.fields import maps, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.cluster.diagnose.cluster import Event
    from trainc.cluster.diagnose.fields import Plain
    from trainc.cluster.diagnose.run import DumpedJob, DumpedPod

    Found = tuple[str, str, str, str, tuple[str | tuple[str, object], ...]]  # name, words, help, message, field

_IMAGE = (
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
    "RegistryUnavailable",
)
_CONFIG = ("CreateContainerConfigError", "CreateContainerError", "RunContainerError")
# Why an image is not pulled, by what the runtime says; the first that fits counts.
_PULLS: tuple[tuple[str, str, str, str], ...] = (
    (r"toomanyrequests|rate limit", "image-rate-limit", "the registry limits the rate of pulls", "pull with credentials, or from a mirror"),
    (r"x509|certificate", "image-registry", "the registry's certificate is not trusted", "install its CA on the nodes"),
    (r"no such host|i/o timeout|connection refused|dial tcp", "image-registry", "the registry cannot be reached", "correct the registry's name, or look at the node's network"),
    (r"unauthorized|\b401\b|\b403\b|[Ff]orbidden|no basic auth|denied|authorization failed", "image-forbidden", "the registry refuses the credentials, or the repository does not exist", "name a Secret with credentials under imagePullSecrets, and check the image's name"),
    (r"no match for platform|exec format", "image-platform", "the image has no variant for the node's architecture", "build one, or select other nodes"),
    (r"not found|manifest unknown|NotFound", "image-not-found", "the registry has no such image or tag", "push it, or correct the name or the tag"),
    (r"no space left", "node-disk-full", "the node's disk is full", "look at the node"),
)  # fmt: skip
_MISSING = (
    re.compile(r"couldn't find key (?P<key>\S+) in (?P<kind>Secret|ConfigMap) (?:[^/\s]+/)?(?P<name>[^\s\"]+)"),
    re.compile(r'(?P<kind>secret|configmap)s? "(?P<name>[^"]+)" not found'),
    re.compile(r"references non-existent (?P<kind>secret|config) key: (?P<key>\S+)"),
)
_VOLUME = re.compile(r'MountVolume\.\w+ failed for volume "([^"]+)"')
_UNMOUNTED = re.compile(r"unmounted volumes=\[([^\]]*)\]")
_KINDS = {"secret": "Secret", "configmap": "ConfigMap", "config": "ConfigMap"}


def starting(run: DumpedJob) -> Iterator[Cause]:
    """Why containers of pods that have a node do not start: one cause for all pods with the same trouble."""
    alike: dict[tuple[str, str], tuple[Found, list[DumpedPod]]] = {}
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


def _container(pod: DumpedPod, pulls: Sequence[str]) -> Found | None:
    """The first container of the pod that cannot start, in the order in which they start."""
    for status, is_init in pod.statuses():
        name = text(status, "name")
        waiting = status.get("state", {}).get("waiting") if type(status.get("state")) is dict else None
        reason, message = text(waiting, "reason"), text(waiting, "message")
        place = ("initContainers" if is_init else "containers", ("name", name))
        if reason in _IMAGE:
            return _image(pod, pulls, status, reason, message, place)
        if reason in _CONFIG:
            return _config(name, reason, message, place)
    return None


def _image(
    pod: DumpedPod,
    pulls: Sequence[str],
    status: Plain,
    reason: str,
    message: str,
    place: tuple[str | tuple[str, object], ...],
) -> Found:
    name = text(status, "name")
    image = _image_of(pod, name) or text(status, "image")
    field = (*place, "image")
    if reason == "InvalidImageName":
        return "image-name", f"`{image}` is not a valid image name", "correct it", message, field
    if reason == "ErrImageNeverPull":
        words = f"image `{image}` is not on the node, and imagePullPolicy is Never"
        return "image-never-pulled", words, "set imagePullPolicy: IfNotPresent", message, (*place, "imagePullPolicy")
    texts = [message, *(one for one in pulls if image in one)]
    for pattern, rule, words, help_ in _PULLS:
        quote = next((one for one in texts if re.search(pattern, one)), "")
        if quote:
            return rule, f"image `{image}` is not pulled: {words}", help_, quote, field
    return "image-not-pulled", f"image `{image}` is not pulled", "see the runtime's message", message, field


def _image_of(pod: DumpedPod, container: str) -> str:
    for key in ("initContainers", "containers"):
        for spec in maps(pod.tree, "spec", key):
            if text(spec, "name") == container:
                return text(spec, "image")
    return ""


def _config(name: str, reason: str, message: str, place: tuple[str | tuple[str, object], ...]) -> Found:
    if missing := _missing(message):
        return (
            "no-reference",
            f"container `{name}` needs {missing}",
            "create it in this namespace, or correct the reference",
            (message),
            (*place, "env"),
        )
    if "runAsNonRoot" in message:
        words = f"container `{name}` would run as root, which runAsNonRoot forbids"
        return (
            "runs-as-root",
            words,
            "set runAsUser, or use an image with another user",
            message,
            (
                *place,
                "securityContext",
            ),
        )
    if reason == "RunContainerError" or "executable file not found" in message:
        words = f"the runtime cannot start the command of container `{name}`"
        return "command-not-started", words, "correct `command`, or the image", message, (*place, "command")
    return "container-not-created", f"container `{name}` is not created", "see the runtime's message", message, place


def _missing(message: str) -> str:
    """The Secret or ConfigMap, and the key, that a message misses; empty where it misses none."""
    for pattern in _MISSING:
        if match := pattern.search(message):
            parts = match.groupdict()
            kind = _KINDS.get(parts["kind"].lower(), parts["kind"])
            subject = f"{kind} `{parts['name']}`" if parts.get("name") else f"the {kind}"
            return (
                f"key `{parts['key']}` of {subject}, which is not there"
                if parts.get("key")
                else (f"{subject}, which does not exist")
            )
    return ""


def _mounts(run: DumpedJob, pod: DumpedPod) -> Found | None:
    """What events say of a bound pod whose containers were never created: volumes, sandbox, devices."""
    events = run.pod_events(pod.name, "FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox", "NetworkNotReady")
    if not events or any("running" in (status.get("state") or {}) for status, _ in pod.statuses()):
        return None
    event = next((one for one in events[::-1] if _missing(one.message)), None)
    event = event or next(
        (one for one in events[::-1] if one.reason != "FailedMount" or _VOLUME.search(one.message)), events[-1]
    )
    return _volume(event)


def _volume(event: Event) -> Found:
    message = event.message
    if event.reason in ("FailedCreatePodSandBox", "NetworkNotReady"):
        words = "the node cannot set up its network or sandbox"
        return "no-sandbox", words, "look at the node's network plugin; nothing in Git causes this", message, ()
    match = _VOLUME.search(message) or _UNMOUNTED.search(message)
    volume = f"volume `{match[1]}`" if match else "a volume"
    field: tuple[str | tuple[str, object], ...] = ("volumes", ("name", match[1])) if match else ("volumes",)
    if missing := _missing(message):
        return "no-volume-source", f"{volume} needs {missing}", "create it, or correct the volume", message, field
    if "Multi-Attach" in message:
        words = "a volume is attached to another node and allows one only"
        return "volume-in-use", words, "use a ReadWriteMany claim for several nodes", message, ("volumes",)
    return "volume-not-mounted", f"{volume} is not mounted", "see the kubelet's message", message, field


def stuck_deletion(run: DumpedJob) -> Iterator[Cause]:
    """A pod that should be gone and is not: its Job, or the next attempt, waits for it."""
    for pod in run.pods:
        if pod.is_deleted and pod.phase not in ("Succeeded", "Failed"):
            yield Cause(
                "pod-not-deleted",
                5,
                f"{run.shown(pod)} is being deleted and does not go" + (f" (node `{pod.node}`)" if pod.node else ""),
                "look at its node; where that is lost for good, delete the pod by force",
                text(pod.tree, "metadata", "deletionTimestamp"),
                pods=(run.shown(pod),),
            )
            return


def stuck_init(run: DumpedJob) -> Iterator[Cause]:
    """Init containers that run on and on while the containers behind them wait."""
    for pod in run.pods:
        if pod.phase != "Pending" or pod.is_deleted:
            continue
        sidecars = {
            text(spec, "name")
            for spec in maps(pod.tree, "spec", "initContainers")
            if text(spec, "restartPolicy") == "Always"
        }
        for status, is_init in pod.statuses():
            state = status.get("state")
            if is_init and type(state) is dict and "running" in state and text(status, "name") not in sidecars:
                name = text(status, "name")
                yield Cause(
                    "init-runs",
                    8,
                    f"{run.shown(pod)}: init container `{name}` runs and has not ended",
                    f"see its log: kubectl logs -n {pod.namespace} {pod.name} -c {name}",
                    text(state, "running", "startedAt") or pod.created,
                    pods=(run.shown(pod),),
                    fields=(run.field(pod.role, "initContainers", ("name", name)),),
                )
                return
