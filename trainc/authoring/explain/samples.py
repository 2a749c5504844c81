"""An example of a field: the YAML that sets it, with a value that its schema admits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.yaml.writer import dump

if TYPE_CHECKING:
    from typing import Any

    from trainc.authoring.explain.fields import Field

# By the name of the field, where a plain value of its type would teach nothing.
_VALUES: dict[str, Any] = {
    "image": "registry.example.com/team/train:1.0.0",
    "command": ["torchrun", "train.py"],
    "args": ["--epochs=3"],
    "numNodes": 4,
    "numProcPerNode": 8,
    "env": [{"name": "NCCL_DEBUG", "value": "WARN"}],
    "resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}},
    "storageUri": "hf://team/model",
    "namespace": "training",
    "name": "bert",
    "manager": "team.example.org/cache",
    "nodeSelector": {"node.kubernetes.io/instance-type": "p5.48xlarge"},
    "labels": {"team": "nlp"},
    "annotations": {"trainc.dev/run": "2"},
    "requires": "trainc>=0.1",
    "paths": ["jobs/llm"],
    "folder": "clusters/eu",
    "kubernetes": "1.36",
    "jobset": "0.13",
    "kueue": "0.19",
    "output": "rendered",
    "registries": {"registry.example.com": "mirror.example.com"},
    "digests": {"registry.example.com/train:1": "sha256:" + "0" * 64},
    "secrets": {"mpi": "existing:ssh-keys"},
    "rules": {"moving-tag": "error"},
    "rulesByPath": {"jobs/legacy": {"moving-tag": "off"}},
    "extends": "torch-distributed",
    "components": [{"name": "shm"}],
    "creationTimestamp": "2026-01-01T00:00:00Z",
    "time": "2026-01-01T00:00:00Z",
    "path": "mlPolicy.numNodes",
    "scheduler": "kueue",
    "secretKeyRef": {"name": "hf-token", "key": "token"},
    "configMapKeyRef": {"name": "settings", "key": "epochs"},
    "secretRef": {"name": "hf-token"},
    "configMapRef": {"name": "settings"},
}
_BY_PATH: dict[str, Any] = {
    "Project.spec.clusters.components": ["gke-tcpxo"],
}
_NUMBERS, _TEXTS = ("integer", "number", "number or string"), ("string", "number or string")
_PLAIN = {"integer": 1, "number": 1, "boolean": True, "string": "text", "number or string": 1}


def sample(field: Field) -> str:
    """The YAML of an object that sets the field, without what else the object needs."""
    value = _value(field)
    for step in reversed(field.steps):
        value = [value] if step == "[]" else {step: value}
    return dump(value) if isinstance(value, dict) else ""


def _value(field: Field) -> Any:
    if field.name in _BY_PATH:
        return _BY_PATH[field.name]
    if "const" in field.schema:
        return field.schema["const"]
    choices = [one for one in field.schema.get("enum", ()) if one is not None]
    if choices:
        return choices[0]
    if field.default is not None:
        return field.default
    value = _VALUES.get(field.path[-1]) if not field.is_element else None
    if value is not None and _fits(value, field.type):
        return value
    return _usual(field)


def _fits(value: object, kind: str) -> bool:
    """Whether a value is of a type in words."""
    if isinstance(value, list):
        item = "object" if isinstance(value[0], dict) else "string"
        return kind == f"list of {item}"
    if isinstance(value, dict):
        inner = next(iter(value.values()))
        return kind == ("map of object" if isinstance(inner, dict) else "map of string") or kind == "object"
    return kind in (_NUMBERS if isinstance(value, int) else _TEXTS)


def _usual(field: Field) -> Any:
    inner = field.element()
    if inner is not None:
        value = _value(inner)
        return [value] if field.type.startswith("list of") else {"KEY": value}
    return _required(field) if field.type == "object" else _PLAIN.get(field.type, "text")


def _required(field: Field) -> dict[str, Any]:
    """The fields that an object must have, or its first plain one."""
    below = dict(field.children())
    wanted = [name for name, child in below.items() if child.required]
    wanted = wanted or [name for name, child in below.items() if child.type in _PLAIN][:1] or list(below)[:1]
    return {name: _value(below[name]) for name in wanted}
