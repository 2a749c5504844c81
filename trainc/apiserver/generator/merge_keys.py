"""How `kubectl patch` joins lists: the keys of Kubernetes' own lists, as a module of constants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainc.apiserver.generator.core_schemas import Schema, below, expand, full_name

_OWN = {"replicatedJobs": "name"}
_STRATEGY = "x-kubernetes-patch-strategy"
_KEY = "x-kubernetes-patch-merge-key"
_TEXT = '''"""Which lists merge, and by which key; generated from Kubernetes 1.36 by `python -m trainc.apiserver.generate`.

An empty key marks a list of scalars that merges as a set; a list of any other name is replaced whole.
"""

from __future__ import annotations

MERGE_KEYS: dict[str, str] = {{
{keys}
}}
'''


def merge_keys() -> str:
    """The text of `trainc/text/merge_keys.py`."""
    keys = _OWN | keys_of(_fields(expand(full_name("JobTemplateSpec"))))
    return _TEXT.format(keys="\n".join(f'    "{name}": "{key}",' for name, key in sorted(keys.items())))


def keys_of(fields: Iterable[tuple[str, Schema]]) -> dict[str, str]:
    """The key of each list that merges; one name with two keys is refused, because merging goes by name alone."""
    keys: dict[str, str] = {}
    for name, node in fields:
        if "merge" not in node.get(_STRATEGY, "").split(","):
            continue
        key = node.get(_KEY, "")
        if keys.setdefault(name, key) != key:
            raise ValueError(f"lists named {name} are merged by {keys[name]!r} and by {key!r}")
    return keys


def _fields(node: Schema) -> Iterator[tuple[str, Schema]]:
    yield from node.get("properties", {}).items()
    for child in below(node):
        yield from _fields(child)
