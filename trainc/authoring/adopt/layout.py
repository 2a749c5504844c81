"""Where each object stands in the repository: names of files that every system can have."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainc.authoring.adopt.objects import DumpedObject

JOBS, HELD, ARCHIVE = "jobs", "held", "archive"
# Neither kubectl, nor Argo CD, nor Flux, nor trainc reads a file of such a name.
SUFFIXES = {JOBS: "", HELD: ".held", ARCHIVE: ".finished"}
_DEVICES = frozenset(
    ("aux", "con", "nul", "prn", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)))
)
_LONGEST = 200  # characters of a name; a file may have 255
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-.")


def job_path(one: DumpedObject, cluster: str, folder: str = JOBS) -> str:
    """The file of a job: by cluster, namespace and name; a TrainJob has its plain name."""
    kind = {"TrainJob": "", "JobSet": ".jobset"}.get(one.kind, f".{_kind(one)}")
    namespace = step(one.namespace or "default")
    return f"{folder}/{cluster}/{namespace}/{step(one.name)}{kind}.yaml{SUFFIXES[folder]}"


def runtime_path(one: DumpedObject) -> str:
    """The file of a runtime; one of a namespace stands in a folder of that name."""
    inner = f"{step(one.namespace)}/" if one.kind == "TrainingRuntime" and one.namespace else ""
    return f"runtimes/{inner}{step(one.name)}.yaml"


def step(name: str) -> str:
    """A name as one step of a path: letters that a file may not have give way to a digest of the name."""
    if name and len(name) <= _LONGEST and _LETTERS.issuperset(name) and name[0] not in ".-" and name[-1] != ".":
        return f"{name}_" if name.partition(".")[0] in _DEVICES else name
    safe = "".join(letter if letter in _LETTERS else "_" for letter in name.lower())[:_LONGEST].strip(".-")
    return f"{safe}_{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _kind(one: DumpedObject) -> str:
    """A kind in small letters; Volcano calls its own a Job, too."""
    return "volcanojob" if one.api.startswith("batch.volcano.sh/") else one.kind.lower()
