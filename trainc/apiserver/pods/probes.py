"""What is wrong with probes and hooks: what they do, how often, and for how long."""

from __future__ import annotations

from typing import Any

from trainc.apiserver.pods.complaints import Complaints, fields, is_set, items, maps, text
from trainc.apiserver.pods.ports import number_or_name
from trainc.model.tree import Path

_PROBE, _HOOK = ("exec", "httpGet", "tcpSocket", "grpc"), ("exec", "httpGet", "tcpSocket", "sleep")
_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_HEADER = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")
_HEADER_TEXT = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for "
    "validation is '[-A-Za-z0-9]+')"
)
_NAMES = "ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT"
_MORE = "SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ"
_REAL_TIME = ["RTMAX", *(f"RTMAX-{n}" for n in range(1, 15)), "RTMIN", *(f"RTMIN+{n}" for n in range(1, 16))]
_LINUX = tuple(sorted(f"SIG{name}" for name in [*_NAMES.split(), *_MORE.split(), *_REAL_TIME]))
_SIGNALS = {"linux": _LINUX, "windows": ("SIGKILL", "SIGTERM")}


def once(tree: Any, path: Path, log: Complaints) -> None:
    """A probe of life or of the start, which succeeds at once."""
    held = fields(tree)
    _probe(held, path, log)
    if held.get("successThreshold") not in (None, 0, 1):
        log.invalid((*path, "successThreshold"), held["successThreshold"], "must be 1")


def readiness(tree: Any, path: Path, log: Complaints) -> None:
    """A probe of readiness, which ends nothing."""
    held = fields(tree)
    _probe(held, path, log)
    if (grace := held.get("terminationGracePeriodSeconds")) is not None:
        log.invalid((*path, "terminationGracePeriodSeconds"), grace, "must not be set for readinessProbes")


def _probe(held: dict[str, Any], path: Path, log: Complaints) -> None:
    _action(held, _PROBE, path, log)
    for field in _COUNTS:
        log.not_negative((*path, field), held.get(field))
    grace = held.get("terminationGracePeriodSeconds")
    if type(grace) is int and grace <= 0:
        log.invalid((*path, "terminationGracePeriodSeconds"), grace, "must be greater than 0")


def _action(held: dict[str, Any], kinds: tuple[str, ...], path: Path, log: Complaints) -> str:
    """Look at the first of the actions; gives its name, as the server looks at no other."""
    given = is_set(held, *kinds)
    if not given:
        log.required(path, "must specify a handler type")
        return ""
    name, at = given[0], (*path, given[0])
    handler = fields(held[name])
    if name == "exec" and not items(handler.get("command")):
        log.required((*at, "command"))
    elif name == "httpGet":
        _http(handler, at, log)
    elif name in ("tcpSocket", "grpc"):
        number_or_name(handler.get("port"), (*at, "port"), log)
    for other in given[1:]:
        log.forbidden((*path, other), "may not specify more than 1 handler type")
    return name


def _http(handler: dict[str, Any], path: Path, log: Complaints) -> None:
    number_or_name(handler.get("port"), (*path, "port"), log)
    log.one_of((*path, "scheme"), handler.get("scheme") or "HTTP", ("HTTP", "HTTPS"))
    for index, header in maps(handler.get("httpHeaders")):
        if not (name := text(header, "name")) or not _HEADER.issuperset(name):
            log.invalid((*path, "httpHeaders"), name, _HEADER_TEXT, at=(*path, "httpHeaders", index))


def lifecycle(tree: Any, path: Path, log: Complaints, grace: int | None, system: str) -> None:
    """Hooks of a container in a pod that has `grace` seconds to end, None where unknown, on an operating system."""
    held = fields(tree)
    for hook in is_set(held, "postStart", "preStop"):
        at: Path = (*path, hook)
        actions = dict(fields(held[hook]))
        if actions.get("sleep") is not None and not log.has("PodLifecycleSleepAction", (*at, "sleep")):
            del actions["sleep"]
            if not is_set(actions, *_HOOK):
                continue
        seconds = fields(actions.get("sleep")).get("seconds")
        if _action(actions, _HOOK, at, log) == "sleep" and type(seconds) is int and grace is not None:
            _sleep(seconds, grace, (*at, "sleep"), log)
    if held.get("stopSignal") is not None and log.has("ContainerStopSignals", (*path, "stopSignal")):
        if not system:
            log.forbidden((*path, "stopSignal"), "may not be set for containers with empty `spec.os.name`")
        else:
            log.one_of((*path, "stopSignal"), held["stopSignal"], _SIGNALS.get(system, (held["stopSignal"],)))


def is_dropped(tree: Any, path: Path, log: Complaints) -> bool:
    """Whether nothing is left of hooks once the server has dropped what is behind a gate that is off."""
    held = is_set(fields(tree), "postStart", "preStop", "stopSignal")
    return held == ["stopSignal"] and not log.has("ContainerStopSignals", (*path, "stopSignal"))


def _sleep(seconds: int, grace: int, path: Path, log: Complaints) -> None:
    zero = log.features.has("PodLifecycleSleepActionAllowZero")
    if 0 < seconds <= grace or (seconds == 0 and zero and grace >= 0):
        return
    bound = f"terminationGracePeriodSeconds ({grace})"
    why = f"must be non-negative and less than {bound}"
    if not zero:
        gate = "Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep."
        why = f"must be greater than 0 and less than {bound}. {gate}"
    log.invalid(path, seconds, why)
