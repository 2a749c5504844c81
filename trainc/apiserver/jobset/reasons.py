"""Why JobSet's webhook refuses something, in words that say it first, and what to do; its own text stands behind them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.apiserver.fault import Fault

_MOST = 160  # characters of a server's text that a person is shown
_LONG = 60  # characters of a value after which a reason is hard to find

# What the webhook's program reads, by the types of its language, and what stands there instead.
_TYPES = {
    "string": "a string",
    "bool": "`true` or `false`",
    "int": "a whole number",
    "int32": "a whole number",
    "int64": "a whole number",
}
_WRITTEN = {
    "string": "a string",
    "bool": "`true` or `false`",
    "number": "a number",
    "object": "a map",
    "array": "a list",
}


def shortened(text: str) -> str:
    """A text with its middle left out where it is long: it begins with the field and ends with the reason."""
    if len(text) <= _MOST:
        return text
    half = _MOST // 2 - 3
    return f"{text[:half]} ... {text[-half:]}"


def reason_first(fault: Fault) -> tuple[str, str]:
    """The reason without a long value before it, and what to do; both empty where the server's words will do."""
    claim = _between(fault.message, "have a matching volumeMount: ", " from VolumeClaimPolicies")
    if claim:
        mount = f"`volumeMounts: [{{name: {claim}, mountPath: /data}}]`"
        return f"no container mounts the claim `{claim}`", f"mount it in a container, as in {mount}"
    if "DependsOn can't be set for the first ReplicatedJob" in fault.message:
        return "the first replicatedJob cannot depend on another one", "list it behind those it depends on"
    written, is_unreadable, wanted = fault.message.removeprefix("json: cannot unmarshal ").partition(" into Go ")
    if is_unreadable:
        kind = wanted.rpartition(" of type ")[2]
        return (
            f"{_TYPES.get(kind, f'a Go value of type {kind}')} is needed here, not {_WRITTEN.get(written, written)}",
            "",
        )
    value, reason = _parts(fault.message)
    return (reason, "") if len(value) > _LONG else ("", "")


def _between(text: str, before: str, after: str) -> str:
    _, _, rest = text.partition(before)
    return rest.partition(after)[0] if after in rest else ""


def _parts(message: str) -> tuple[str, str]:
    """The value and the reason of an `Invalid value: VALUE: REASON`; the value is JSON, and may hold colons itself."""
    import json  # noqa: PLC0415 (only where something is refused)

    _, _, rest = message.partition(": Invalid value: ")
    if not rest:
        return "", ""
    try:
        _, end = json.JSONDecoder(parse_int=str).raw_decode(rest)
    except ValueError:
        return "", ""
    return rest[:end], rest[end:].removeprefix(": ")
