"""What a server says of one value in several ways, said once: one edit settles it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.apiserver.fault import Fault

_EITHER = " must be of type integer,string: "
# Where a schema and a controller both say that a number is not whole, the words of the one that names the value.
_FORMAT = ": Checked value must be of type "
_CHOICES = "Unsupported value: "  # said again where only some of the known words are taken
_FIRST_ROLE = "DependsOn can't be set for the first ReplicatedJob"


def told_once(faults: list[Fault]) -> list[Fault]:
    """The faults without those that the words of another one settle as well."""
    if len(faults) < 2:
        return faults
    both = {fault.path for fault in faults if _EITHER in fault.message}
    typed = {fault.path for fault in faults if " must be of type " in fault.message and _FORMAT not in fault.message}
    last = {fault.path: fault for fault in faults if _CHOICES in fault.message}
    first = [fault.path for fault in faults if _FIRST_ROLE in fault.message]
    return [
        fault
        for fault in faults
        if not (
            (fault.path in both and _EITHER not in fault.message)
            or (fault.path in typed and _FORMAT in fault.message)
            or (_CHOICES in fault.message and last[fault.path] is not fault)
            or any(fault.path[: len(path)] == path and fault.path != path for path in first)
        )
    ]
