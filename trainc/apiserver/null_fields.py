"""Fields without a value that change what runs: to a server they are absent, and nobody notices.

A custom resource loses every null of its properties before its defaults come in; what decodes an object into a type
makes the empty value of it. Either way a device, a volume's source or a variable's value is gone, and `_meaning` is the
one place that says which of them matter. A null that stands for nothing anyway, such as `emptyDir:`, is left alone.
"""

from collections.abc import Iterator, Mapping

from trainc.apiserver.fault import Fault
from trainc.model.document import Document
from trainc.model.finding import ERROR, NOTE, WARNING, Rule
from trainc.model.report import Report
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree
from trainc.text.object_keys import TRAINC_PREFIX

Meaning = tuple[str, str, str, str]  # level, message, effect and help

NULL_AMOUNT = Rule("null-resource", ERROR)
NULL_FIELD = Rule("null-field", WARNING)
_SIDES = ("limits", "requests")
_COUNTS = frozenset(("numNodes", "numProcPerNode", "parallelism", "replicas", "size", "slotsPerWorker"))
_WORDS = ("command", "args")
# What a volume can be made of; an empty folder needs no value.
_SOURCES = frozenset((
    "awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "configMap", "csi", "downwardAPI",
    "ephemeral", "fc", "flexVolume", "flocker", "gcePersistentDisk", "gitRepo", "glusterfs", "hostPath", "image",
    "iscsi", "nfs", "persistentVolumeClaim", "photonPersistentDisk", "portworxVolume", "projected", "quobyte",
    "rbd", "scaleIO", "secret", "storageos", "vsphereVolume",
))  # fmt: skip
_DECODED = ("Job", "Pod", "ArmadaJob")  # kinds whose nulls become empty values, and are not dropped
_EITHER = " must be of type integer,string: "
# Where a schema and a controller both say that a number is not whole, the words of the one that names the value.
_FORMAT = ": Checked value must be of type "
_CHOICES = "Unsupported value: "  # said again where only some of the known words are taken
_FIRST_ROLE = "DependsOn can't be set for the first ReplicatedJob"


def check_nulls(document: Document, report: Report) -> None:
    """A finding for each null of a job or a runtime that changes what runs.

    In kinds that inherit, a null takes away what is below.
    """
    if document.composed or document.api_version.startswith(TRAINC_PREFIX):
        return
    spec = document.tree.get("spec")
    for path, beside in _nulls(spec, ("spec",), {}) if type(spec) is dict else ():
        if path[-2] in _SIDES:
            report.add(
                NULL_AMOUNT.at(
                    document.span(path, key=True),
                    f"`{path[-1]}` has no amount in `{path[-2]}`",
                    effect="the server drops it, and the container gets none",
                    help="write the amount, or remove the line",
                )
            )
            continue
        if (meaning := _meaning(path, beside, document)) is not None:
            level, message, effect, help_ = meaning
            span = document.span(path, key=type(path[-1]) is str)
            report.add(NULL_FIELD.at(span, message, level=level, effect=effect, help=help_))


def _meaning(path: Path, beside: Mapping[str, Tree], document: Document) -> Meaning | None:
    """What a null does, None where it does nothing; `beside` is the map that holds it."""
    name, above, holder = path[-1], path[-2], path[-3:-2]
    message = f"`{name}` has no value"
    if above in _WORDS:
        if document.kind != "JobSet":
            return None  # schemas refuse a null in a list; the webhook of JobSets has read an empty text before
        message = f"an item of `{above}` has no value"
        return ERROR, message, "the program gets an empty argument", 'write the word, or `""` for an empty one'
    if (
        holder == ("volumes",)
        and name in _SOURCES
        and not any(_is_given(node) for name, node in beside.items() if name != "name")
    ):
        effect = "the server makes the volume an empty folder, which is gone with the pod"
        return ERROR, message, effect, "write what the volume is made of; for an empty folder, `emptyDir: {}`"
    if holder == ("env",) and name == "valueFrom" and "value" not in beside:
        return ERROR, message, "the variable is set, and empty", "write where its value comes from, or a `value`"
    if holder == ("env",) and name == "value" and "valueFrom" not in beside:
        return WARNING, message, "the variable is set, and empty", 'write the value; for an empty one, `""`'
    if above == "nodeSelector":
        is_decoded = document.kind in _DECODED
        effect = "no node fits that has a value there" if is_decoded else "the pods may run on any node"
        return ERROR, f"`{name}` has no value in `nodeSelector`", effect, "write the label's value, or remove the line"
    if name == "limits" and not (type(requests := beside.get("requests")) is dict and requests):
        return WARNING, message, "the container gets no device and no share of its own", "write the amounts below it"
    if name in _COUNTS:
        return WARNING, message, "the server's default counts", "write the number, or remove the line"
    # Some operators write the command where there is none: `ray start`, and what an MPI worker waits with.
    is_filled_in = document.kind == "RayJob" or (document.kind == "MPIJob" and "Worker" in path)
    if name in _WORDS and not is_filled_in and not any(_is_given(beside.get(word)) for word in _WORDS):
        effect = "the runtime's runs" if above == "trainer" else "the image's own entry point runs"
        return NOTE, message, effect, f"write the {'command' if name == 'command' else 'arguments'}, or remove the line"
    return None


def _nulls(node: Tree, path: Path, beside: Mapping[str, Tree]) -> Iterator[tuple[Path, Mapping[str, Tree]]]:
    """Every null below a node: its place, and the map that holds it."""
    if type(node) is dict:
        for key, inner in node.items():
            yield from _nulls(inner, (*path, key), node)
    elif type(node) is list:
        for index, item in enumerate(node):
            yield from _nulls(item, (*path, index), {})
    elif not _is_given(node):
        yield path, beside


def _is_given(node: Tree) -> bool:
    return node is not None and not (type(node) is Sourced and node.value is None)


def deduplicated(faults: list[Fault]) -> list[Fault]:
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
