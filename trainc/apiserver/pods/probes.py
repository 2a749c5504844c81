"""What is wrong with probes and hooks: what they do, how often, and for how long."""

from trainc.apiserver.pods.complaints import Field, fields, items
from trainc.apiserver.pods.ports import number_or_name

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


def probe(held: Field, kind: str) -> None:
    """A probe; that of readiness ends nothing, and the others succeed at once."""
    _action(held, _PROBE)
    for field in _COUNTS:
        held[field].not_negative()
    grace, threshold = held["terminationGracePeriodSeconds"], held["successThreshold"]
    if type(grace.value) is int and grace.value <= 0:
        grace.invalid("must be greater than 0")
    if kind == "readinessProbe":
        if grace.value is not None:
            grace.invalid("must not be set for readinessProbes")
    elif threshold.value not in (None, 0, 1):
        threshold.invalid("must be 1")


def _action(held: Field, kinds: tuple[str, ...]) -> str:
    """Look at the first of the actions; gives its name, as the server looks at no other."""
    given = held.given(*kinds)
    if not given:
        held.required("must specify a handler type")
        return ""
    handler, name = given[0], str(given[0].path[-1])
    if name == "exec" and not items(handler.get("command")):
        handler["command"].required()
    if name in ("httpGet", "tcpSocket", "grpc"):
        number_or_name(handler["port"])
    if name == "httpGet":
        handler["scheme"].fallback("HTTP").one_of(("HTTP", "HTTPS"))
        for header in handler["httpHeaders"].maps():
            if not (called := header.text("name")) or not _HEADER.issuperset(called):
                handler["httpHeaders"].reading(called).invalid(_HEADER_TEXT, at=header)
    for other in given[1:]:
        other.forbidden("may not specify more than 1 handler type")
    return name


def lifecycle(held: Field, grace: int | None, system: str) -> None:
    """Hooks of a container in a pod that has `grace` seconds to end, None where unknown, on an operating system."""
    for hook in held.given("postStart", "preStop"):
        actions = hook
        if hook.get("sleep") is not None and not hook["sleep"].has("PodLifecycleSleepAction"):
            actions = hook.reading({name: part for name, part in fields(hook.value).items() if name != "sleep"})
            if not actions.given(*_HOOK):
                continue
        seconds = actions["sleep"].get("seconds")
        if _action(actions, _HOOK) == "sleep" and type(seconds) is int and grace is not None:
            _sleep(actions["sleep"].reading(seconds), grace)
    signal = held["stopSignal"]
    if signal.value is not None and signal.has("ContainerStopSignals"):
        if not system:
            signal.forbidden("may not be set for containers with empty `spec.os.name`")
        else:
            signal.one_of(_SIGNALS.get(system, (signal.value,)))


def is_dropped(held: Field) -> bool:
    """Whether nothing is left of hooks once the server has dropped what is behind a gate that is off."""
    given = [part.path[-1] for part in held.given("postStart", "preStop", "stopSignal")]
    return given == ["stopSignal"] and not held["stopSignal"].has("ContainerStopSignals")


def _sleep(seconds: Field, grace: int) -> None:
    zero = seconds.log.features.has("PodLifecycleSleepActionAllowZero")
    if 0 < seconds.value <= grace or (seconds.value == 0 and zero and grace >= 0):
        return
    bound = f"less than terminationGracePeriodSeconds ({grace})"
    gate = "Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep."
    seconds.invalid(f"must be non-negative and {bound}" if zero else f"must be greater than 0 and {bound}. {gate}")
