"""How `kubectl patch` joins lists: the keys of Kubernetes' own lists, as a module of constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.api.generator.core import Schema, expand, full_name

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWN = {"replicatedJobs": "name"}
_STRATEGY = "x-kubernetes-patch-strategy"
_KEY = "x-kubernetes-patch-merge-key"
_TEXT = '''"""How lists are joined by a strategic merge; generated from Kubernetes 1.36 by `python -m trainc.api.generate`."""

from __future__ import annotations

MERGE_KEYS: dict[str, str] = {{
{keys}
}}
"""Field name to the key under which its items are told apart; a list of any other name is replaced whole."""

SET_LISTS: frozenset[str] = frozenset({sets})
"""Lists of scalars that are joined as sets."""

RETAIN_KEYS: frozenset[str] = frozenset({retained})
"""Lists whose items a patch may narrow to the keys named in `$retainKeys`."""
'''


def merge_keys() -> str:
    """The text of `trainc/model/merge_keys.py`."""
    fields = list(_fields(expand(full_name("JobTemplateSpec")))) + _metadata()
    keys = dict(_OWN)
    for name, node in fields:
        if _KEY in node and keys.setdefault(name, node[_KEY]) != node[_KEY]:
            raise ValueError(f"lists named {name} are merged by {keys[name]} and by {node[_KEY]}")
    merged = {name for name, node in fields if "merge" in node.get(_STRATEGY, "").split(",") and _KEY not in node}
    retained = {name for name, node in fields if "retainKeys" in node.get(_STRATEGY, "").split(",") and _KEY in node}
    lines = "\n".join(f'    "{name}": "{key}",' for name, key in sorted(keys.items()))
    return _TEXT.format(keys=lines, sets=_set(merged), retained=_set(retained))


def _metadata() -> list[tuple[str, Schema]]:
    """The lists of object metadata; a template keeps only some of its fields, and these with their strategy."""
    return list(_fields(expand(full_name("ObjectMeta"))))


def _fields(node: Schema) -> Iterator[tuple[str, Schema]]:
    for name, child in node.get("properties", {}).items():
        yield name, child
        yield from _fields(child)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield from _fields(node[key])


def _set(names: set[str]) -> str:
    return "{" + ", ".join(f'"{name}"' for name in sorted(names)) + "}"
