"""The rules for `metadata` of a whole object, which no schema carries.

Source: k8s.io/apimachinery ObjectMeta (decoding) and pkg/api/validation (ValidateObjectMeta), Kubernetes 1.36.
"""

from __future__ import annotations

from trainc.model.remembered import Texts
from trainc.model.sourced import Sourced
from trainc.model.tree import dotted, plain
from trainc.schema.fault import Fault, invalid, is_placeholder
from trainc.schema.names import is_label, label, label_value, qualified, subdomain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path, Tree

_TEXTS = ("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion")
_TIMES = ("creationTimestamp", "deletionTimestamp")
_NUMBERS = ("generation", "deletionGracePeriodSeconds")
_MAPS = ("labels", "annotations")
_LISTS = ("finalizers", "ownerReferences", "managedFields")
_FIELDS = frozenset((*_TEXTS, *_TIMES, *_NUMBERS, *_MAPS, *_LISTS))
_WORDS = {str: "string", bool: "bool", int: "number", float: "number", dict: "object", list: "array"}
_ANNOTATION_BYTES = 256 * 1024


def _is_good_name(text: str) -> bool:
    return len(text) <= 63 and is_label(text)


# What is said of texts: the same labels and namespaces come back with every object.
_GOOD_NAMES = Texts(_is_good_name, longest=63, most=4_096)
_GOOD_KEYS = Texts(lambda text: not qualified(text), longest=320, most=4_096)
_GOOD_VALUES = Texts(lambda text: not label_value(text), longest=63, most=4_096)


def is_sound(metadata: Tree) -> bool:
    """Whether there is nothing to say about `metadata`; False means that the other functions have to look closer."""
    if metadata.__class__ is not dict or "name" not in metadata:
        return False
    for field, held in metadata.items():
        if held.__class__ is Sourced:
            value = held.value
            if field not in _PLAIN_NAMES or value.__class__ is not str or not _GOOD_NAMES[value]:
                return False
        elif field == "labels":
            if held.__class__ is not dict or not _good_labels(held):
                return False
        elif field != "annotations" or held.__class__ is not dict or not _good_annotations(held):
            return False
    return True


_PLAIN_NAMES = frozenset({"name", "namespace"})


def _good_labels(labels: dict[str, Tree]) -> bool:
    for key, leaf in labels.items():
        if leaf.__class__ is not Sourced or leaf.value.__class__ is not str:
            return False
        if not _GOOD_KEYS[key] or not _GOOD_VALUES[leaf.value]:
            return False
    return True


def _good_annotations(annotations: dict[str, Tree]) -> bool:
    """Whether any label could have these keys, and the values are texts of ordinary length."""
    size = 0
    for key, leaf in annotations.items():
        if leaf.__class__ is not Sourced or leaf.value.__class__ is not str:
            return False
        if not _GOOD_KEYS[key]:
            return False
        size += len(key) + len(leaf.value)
    return size * 4 <= _ANNOTATION_BYTES  # no character takes more than four bytes


def decode(metadata: Tree) -> list[Fault]:
    """Why `metadata` cannot be read as ObjectMeta; the server names the first fault only."""
    if type(metadata) is not dict:
        got = _word(metadata)
        return (
            []
            if got == ""
            else [_undecodable(("metadata",), f"{got} into Go struct field .metadata of type v1.ObjectMeta")]
        )
    for name in sorted(metadata):
        fault = _decode_field(name, metadata[name]) if name in _FIELDS else None
        if fault is not None:
            return [fault]
    return []


def _decode_field(name: str, value: Tree) -> Fault | None:
    path = ("metadata", name)
    got = _word(value)
    if got == "":
        return None
    if name in _MAPS:
        if got != "object":
            return _undecodable(path, f"{got} into Go struct field ObjectMeta.{name} of type map[string]string")
        for key, item in value.items():
            if _word(item) not in ("string", ""):
                return _undecodable(
                    (*path, key), f"{_word(item)} into Go struct field ObjectMeta.{name} of type string"
                )
        return None
    if name in _LISTS:
        wanted = {"finalizers": "[]string", "ownerReferences": "[]v1.OwnerReference"}.get(
            name, "[]v1.ManagedFieldsEntry"
        )
        if got != "array":
            return _undecodable(path, f"{got} into Go struct field ObjectMeta.{name} of type {wanted}")
        return _decode_finalizers(value) if name == "finalizers" else None
    wanted, typ = ("number", "int64") if name in _NUMBERS else ("string", "types.UID" if name == "uid" else "string")
    if got != wanted:
        return _undecodable(path, f"{got} into Go struct field ObjectMeta.{name} of type {typ}")
    return None


def _decode_finalizers(items: list[Tree]) -> Fault | None:
    for at, item in enumerate(items):
        got = _word(item)
        if got not in ("string", ""):
            text = f"{got} into Go struct field ObjectMeta.finalizers of type string"
            return _undecodable(("metadata", "finalizers", at), text)
    return None


def _word(value: Tree) -> str:
    """JSON's word for a value in Go's errors, empty for null."""
    return _WORDS.get(type(value.value if type(value) is Sourced else value), "")


def _undecodable(path: Path, text: str) -> Fault:
    return Fault(path, "decode", f"json: cannot unmarshal {text}")


def unknown_fields(metadata: Tree) -> list[Fault]:
    """The fields of `metadata` that ObjectMeta does not have."""
    if type(metadata) is not dict or _FIELDS.issuperset(metadata):
        return []
    odd = [("metadata", key) for key in metadata if key not in _FIELDS]
    known = tuple(sorted(_FIELDS))
    return [Fault(path, "unknown", f'unknown field "{dotted(path)}"', candidates=known) for path in odd]


def without_nothing(metadata: Tree) -> Tree:
    """What a server keeps of metadata in which some fields are null or empty texts."""
    if type(metadata) is not dict or not any(_is_nothing(held) for held in metadata.values()):
        return metadata
    return {name: held for name, held in metadata.items() if not _is_nothing(held)}


def _is_nothing(held: Tree) -> bool:
    value = held.value if type(held) is Sourced else held
    return value is None or (type(value) is str and not value)


def validate(metadata: Tree) -> list[Fault]:
    """What the server has against names, labels and annotations."""
    held = metadata if type(metadata) is dict else {}
    faults: list[Fault] = []
    name, prefix = _text(held, "name"), _text(held, "generateName")
    if prefix:
        # A generated name may follow a dash; only the rest is looked at.
        masked = prefix[:-2] + "a" if prefix.endswith("-") and len(prefix) > 1 else prefix
        faults += _invalid(("metadata", "generateName"), prefix, subdomain(masked))
    if not name:
        text = "metadata.name: Required value: name or generateName is required"
        faults.append(Fault(("metadata", "name"), "schema", text, blocking=True))
    else:
        faults += _invalid(("metadata", "name"), name, subdomain(name))
    namespace = _text(held, "namespace")
    if namespace:
        faults += _invalid(("metadata", "namespace"), namespace, label(namespace))
    if "labels" in held:
        faults += label_faults(held["labels"], ("metadata", "labels"))
    if "annotations" in held:
        faults += annotation_faults(held["annotations"], ("metadata", "annotations"))
    if "finalizers" in held:
        faults += _finalizers(held["finalizers"])
    return faults


def _text(held: dict[str, Tree], name: str) -> str:
    value = held.get(name)
    bare = value.value if type(value) is Sourced else value
    return bare if type(bare) is str else ""


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


def _finalizers(tree: Tree) -> list[Fault]:
    faults: list[Fault] = []
    for name in plain(tree) if type(tree) is list else ():
        if type(name) is str:
            faults += _invalid(("metadata", "finalizers"), name, qualified(name))
    return faults
