"""The rules for `metadata` of a whole object, which no schema carries.

Source: k8s.io/apimachinery/pkg/api/validation (ValidateObjectMeta), Kubernetes 1.36.
"""

from typing import Any

from trainc.apiserver.fault import Fault, invalid
from trainc.apiserver.names import is_label, label, label_value, qualified, subdomain
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree, dotted, plain
from trainc.text.memo import TextMemo
from trainc.text.placeholders import is_placeholder

_ANNOTATION_BYTES = 256 * 1024


# What is said of texts: the same labels and namespaces come back with every object.
_GOOD_NAMES = TextMemo(lambda text: len(text) <= 63 and is_label(text), longest=63, most=4_096)
_GOOD_KEYS = TextMemo(lambda text: not qualified(text), longest=320, most=4_096)
_GOOD_VALUES = TextMemo(lambda text: not label_value(text), longest=63, most=4_096)
_PLAIN_NAMES = frozenset({"name", "namespace"})
_OWNERS = ("metadata", "ownerReferences")
_OWNER = ("apiVersion", "kind", "name", "uid")


def is_good_name(text: object) -> bool:
    """Whether a text is a label of at most 63 characters, which every name may be."""
    return text.__class__ is str and _GOOD_NAMES[text]


def is_sound(metadata: Tree) -> bool:
    """Whether there is nothing to say about `metadata`; False means that the other functions have to look closer."""
    if metadata.__class__ is not dict or "name" not in metadata:
        return False
    for field, held in metadata.items():
        if held.__class__ is Sourced:
            value = held.value
            if field not in _PLAIN_NAMES or not is_good_name(value):
                return False
        elif field == "labels":
            if held.__class__ is not dict or not are_good_labels(held):
                return False
        elif field != "annotations" or held.__class__ is not dict or not _good_annotations(held):
            return False
    return True


def are_good_labels(labels: dict[str, Tree]) -> bool:
    """Whether there is nothing to say about the keys and values of labels."""
    return all(
        leaf.__class__ is Sourced and leaf.value.__class__ is str and _GOOD_KEYS[key] and _GOOD_VALUES[leaf.value]
        for key, leaf in labels.items()
    )


def _good_annotations(annotations: dict[str, Tree]) -> bool:
    """Whether any label could have these keys, and the values are texts of ordinary length."""
    size = 0
    for key, leaf in annotations.items():
        if leaf.__class__ is not Sourced or leaf.value.__class__ is not str or not _GOOD_KEYS[key]:
            return False
        size += len(key) + len(leaf.value)
    return size * 4 <= _ANNOTATION_BYTES  # no character takes more than four bytes


def changes(metadata: Tree, former: Tree) -> list[Fault]:
    """What the server has against an update: the name and the namespace stay, labels and annotations have rules."""
    held, was = (tree if type(tree) is dict else {} for tree in (metadata, former))
    faults: list[Fault] = []
    for field in ("name", "namespace"):
        text, old = _text(held, field), _text(was, field)
        if text and text != old and not (field == "namespace" and {text, old} == {"default", ""}):
            path = ("metadata", field)
            faults.append(Fault(path, "schema", invalid(dotted(path), text, "field is immutable"), text))
    return faults + [
        fault for fault in validate(held) if fault.path[1:2] not in (("name",), ("generateName",), ("namespace",))
    ]


def validate(metadata: Tree) -> list[Fault]:
    """What the server has against names, labels and annotations."""
    held = metadata if type(metadata) is dict else {}
    faults: list[Fault] = []
    name, prefix = _text(held, "name"), _text(held, "generateName")
    if prefix:
        # A generated name may follow a dash; only the rest is looked at.
        masked = prefix[:-2] + "a" if prefix.endswith("-") and len(prefix) > 1 else prefix
        faults += _invalid(("metadata", "generateName"), prefix, subdomain(masked))
    if not name and not prefix:
        text = "metadata.name: Required value: name or generateName is required"
        faults.append(Fault(("metadata", "name"), "schema", text, blocking=True))
    elif name:
        faults += _invalid(("metadata", "name"), name, subdomain(name))
    if namespace := _text(held, "namespace"):
        faults += _invalid(("metadata", "namespace"), namespace, label(namespace))
    if "labels" in held:
        faults += label_faults(held["labels"], ("metadata", "labels"))
    if "annotations" in held:
        faults += annotation_faults(held["annotations"], ("metadata", "annotations"))
    if "ownerReferences" in held:
        faults += _owners(plain(held["ownerReferences"]))
    finalizers = plain(held.get("finalizers"))
    for name in finalizers if type(finalizers) is list else ():
        if name is None or type(name) is str:
            faults += _invalid(("metadata", "finalizers"), name or "", qualified(name or ""))
    return faults


def _text(held: dict[str, Tree], name: str) -> str:
    text = plain(held.get(name))
    return text if type(text) is str else ""


def _invalid(path: Path, value: str, reasons: tuple[str, ...], at: Path = ()) -> list[Fault]:
    if reasons and is_placeholder(value):
        return []
    return [Fault(at or path, "schema", invalid(dotted(path), value, reason), value) for reason in reasons]


def label_faults(tree: Tree, path: Path) -> list[Fault]:
    """What the server has against a map of labels; each fault points at its key."""
    faults: list[Fault] = []
    for key, leaf in tree.items() if type(tree) is dict else ():
        faults += _invalid(path, key, qualified(key), (*path, key))
        value = leaf.value if type(leaf) is Sourced else leaf
        if type(value) is str:
            faults += _invalid(path, value, label_value(value), (*path, key))
    return faults


def annotation_faults(tree: Tree, path: Path) -> list[Fault]:
    """What the server has against a map of annotations: keys like those of labels, 256 KiB in all."""
    faults: list[Fault] = []
    size = 0
    for key, leaf in tree.items() if type(tree) is dict else ():
        faults += _invalid(path, key, qualified(key.lower()), (*path, key))
        value = leaf.value if type(leaf) is Sourced else leaf
        size += len(key.encode()) + (len(value.encode()) if type(value) is str else 0)
    if size > _ANNOTATION_BYTES:
        text = f"{dotted(path)}: Too long: may not be more than {_ANNOTATION_BYTES} bytes"
        faults.append(Fault(path, "schema", text, blocking=True))
    return faults


def _owners(references: Any) -> list[Fault]:
    """What the server has against owners: each is named in full, and one at most is in control."""
    faults: list[Fault] = []
    controller = ""
    for reference in references if type(references) is list else ():
        held = {field: (reference or {}).get(field) or "" for field in _OWNER}
        group, _, version = held["apiVersion"].rpartition("/")
        if not version or "/" in group:
            faults += _invalid((*_OWNERS, "apiVersion"), held["apiVersion"], ("version must not be empty",), _OWNERS)
        for field in ("kind", "name", "uid"):
            if not held[field]:
                faults += _invalid((*_OWNERS, field), "", ("must not be empty",), _OWNERS)
        if (reference or {}).get("controller") is True:
            name = f"{held['kind']}/{held['name']}"
            if controller:
                text = (
                    'Only one reference can have Controller set to true. Found "true" in references for '
                    f"{controller} and {name}"
                )
                faults.append(Fault(_OWNERS, "schema", invalid(dotted(_OWNERS), references, text)))
            controller = controller or name
    return faults


def without_null_fields(tree: Tree) -> Tree:
    """The object without the fields of its metadata that say nothing: to a server null is an absent field."""
    metadata = tree.get("metadata")
    for leaf in metadata.values() if type(metadata) is dict else ():
        if type(leaf) is Sourced and leaf.value is None:
            kept = {key: held for key, held in metadata.items() if type(held) is not Sourced or held.value is not None}
            return {**tree, "metadata": kept}
    return tree
