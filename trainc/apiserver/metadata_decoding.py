"""Reading `metadata` as a typed object: what cannot be decoded, what is unknown, and what is left.

Source: k8s.io/apimachinery ObjectMeta and sigs.k8s.io/json, Kubernetes 1.36.
"""

from trainc.apiserver.fault import JSON_TYPES, Fault
from trainc.apiserver.golang.decoding import misfits
from trainc.apiserver.schema.node import SchemaNode, load
from trainc.apiserver.schema.walker import unknown
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree

_TIMES = frozenset({"creationTimestamp", "deletionTimestamp", "time"})


def decode(metadata: Tree) -> list[Fault]:
    """Why `metadata` cannot be read as ObjectMeta; the server names the first fault only."""
    if type(metadata) is not dict:
        got = JSON_TYPES.get(type(metadata.value if type(metadata) is Sourced else metadata))
        text = f"json: cannot unmarshal {got} into Go value of type v1.ObjectMeta"
        return [Fault(("metadata",), "decode", text)] if got else []
    faults = misfits(load().metadata(), metadata, is_open=lambda _: False)
    # A type that reads itself ends decoding at once; of other faults the first one is told at the end.
    told = next((fault for fault in faults if fault.path[-1] in _TIMES), faults[0] if faults else None)
    return [] if told is None else [Fault(("metadata", *told.path), "decode", told.text)]


def unknown_fields(metadata: Tree) -> list[Fault]:
    """The fields of `metadata` that ObjectMeta and the structs in it do not have."""
    return _unknown(load().metadata(), metadata, ("metadata",))


def _unknown(node: SchemaNode, tree: Tree, path: Path) -> list[Fault]:
    faults: list[Fault] = []
    for key, value in tree.items() if type(tree) is dict else ():
        child = node.prop(key)
        if child is None:
            faults.append(unknown((*path, key), tuple(node.props.names)))
        elif type(value) is list and (item := child.item()) is not None and item.props.names:
            for index, one in enumerate(value):
                faults += _unknown(item, one, (*path, key, index))
    return faults


def read(metadata: Tree) -> Tree:
    """Decodable metadata as the server holds it: without unknown fields, nulls and empty texts; null labels are empty."""
    if type(metadata) is not dict:
        return metadata
    out = {}
    for name, value in metadata.items():
        if load().metadata().prop(name) is not None and not (type(value) is Sourced and value.value in (None, "")):
            out[name] = value
            if type(value) is dict:
                out[name] = {
                    key: Sourced("", leaf.origin) if leaf.value is None else leaf for key, leaf in value.items()
                }
    return out
