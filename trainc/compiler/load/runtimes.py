"""What files may hold, by their text alone: few hold anything but jobs, and only these are kept as documents."""

from trainc.model.references import KINDS

OWN = b"trainc.dev/v1alpha1"  # in Runtimes and RuntimeComponents
KIND = b"TrainingRuntime"  # the end of both kinds of the Trainer; a job may say it in its reference
REFERENCE = b"runtimeRef"
_FAR = 8  # lines between a reference and a field of it
_CLUSTER = b"trainc.dev/cluster"
_ESCAPE = b"\\"  # may hide that
_OBJECTS = tuple([kind.encode() for kind in KINDS if not kind.endswith("Secret") or kind == "Secret"])


def may_hold_objects(data: bytes) -> bool:
    """Whether a text names a kind of objects that jobs name."""
    for kind in _OBJECTS:  # noqa: SIM110 (every file is asked)
        if kind in data:
            return True
    return False


def may_name_clusters(data: bytes) -> bool:
    """Whether a text may say for which cluster it is."""
    return _CLUSTER in data or _ESCAPE in data


def may_hold_runtimes(data: bytes) -> bool:
    """Whether a text says a kind of which runtimes are made, anywhere but in a job's reference."""
    if OWN in data:
        return True
    at = data.find(KIND)
    while at >= 0:
        if not _refers(data, at):
            return True
        at = data.find(KIND, at + 1)
    return False


def _refers(data: bytes, at: int) -> bool:
    """Whether a word belongs to a reference: it is open on the same line, or stands less indented above."""
    end = data.rfind(b"\n", 0, at) + 1
    line = data[end:at]
    _, match, inside = line.rpartition(REFERENCE)
    if match:
        return b"}" not in inside  # several objects may stand on one line
    indent = _indent(line)
    for _ in range(_FAR):
        start = data.rfind(b"\n", 0, max(end - 1, 0)) + 1
        above = data[start:end]
        if above.strip() and _indent(above) < indent:
            return above.strip().removeprefix(b'"').startswith(REFERENCE)
        end = start
    return False


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" "))
