"""How long the name of a JobSet may be, where its webhook says that what is derived from the name gets too long."""

from trainc.apiserver.fault import Fault
from trainc.model.tree import Tree, get, value

LIMIT = 63  # characters of a DNS label
_RANDOM = "-abcde"  # the shape of what ends the name of every pod


def is_too_long(fault: Fault) -> bool:
    """Whether a fault is that of a name from which names of more than 63 characters would be derived."""
    return "generated for this JobSet will exceed 63 characters" in fault.message


def shorter(jobset: Tree, fault: Fault, run: str = "") -> str:
    """What to do about such a fault: the number of characters that are left for the name, and what takes the others.

    `run` is the end of the JobSet's name that nobody wrote: the number of its run. A server writes one to `generateName`.
    """
    written = value(jobset, "metadata", "name")
    if written is None:
        written, run = value(jobset, "metadata", "generateName"), _RANDOM[1:]
    role = get(jobset, *fault.path[:-1])
    replicas, completions = value(role, "replicas"), value(role, "template", "spec", "completions")
    # What is filled in later has one digit at least.
    more = f"-{value(role, 'name')}-{replicas - 1 if type(replicas) is int else 0}"
    mode = value(role, "template", "spec", "completionMode")
    # The webhook looks at the Jobs alone, the pods come to nothing later.
    if completions is None and mode in {None, "Indexed"}:
        pods = value(role, "template", "spec", "parallelism")
        more += f"-{pods - 1 if type(pods) is int and pods > 0 else 0}"
    if completions is not None and mode == "Indexed":
        more += f"-{completions - 1 if type(completions) is int else 0}{_RANDOM}"
    left = LIMIT - len(run) - len(more)
    name = str(written).removesuffix(run)
    if left < 1:
        return f"shorten the name of the role: `{run}{more}` alone takes {len(run) + len(more)} of {LIMIT} characters"
    return (
        f"shorten `{name}` from {len(name)} to at most {left} characters: `{run}{more}` follows in the longest name, "
        f"and {LIMIT} are the limit"
    )
