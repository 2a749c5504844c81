"""Draws objects: fields from the definitions of a server, values from pools of good and bad ones."""

import random
from collections.abc import Callable, Mapping
from typing import Any

QUANTITIES = ("1", 1, "500m", "1000m", "2Gi", "1024Mi", "1e3", 0, "0", "-1", "0.5", 0.5, "", "1 Gi", "1.5Gi", 8)
INTEGERS = (0, 1, 1, 2, 2, 3, 8, -1, 2147483647, 2147483648)
TEXTS = ("a", "b", "node", "", "A_b", "x" * 64, "1", "true", "a.b", "a/b", "$(X)", " ", "ä")
NAMES = ("a", "b", "data", "node", "main", "launcher", "trainer", "x-1", "A", "", "a.b", "x" * 64, "1a")
KEYS = ("a", "b", "app", "example.com/x", "kueue.x-k8s.io/queue-name", "trainer.kubeflow.org/framework", "A b", "")
_BY_NAME: dict[str, tuple[Any, ...]] = {
    "name": NAMES,
    "image": ("busybox", "ghcr.io/a/b:1", "example.com/a@sha256:" + "0" * 64, ""),
    "mountPath": ("/data", "/dev/shm", "/data", "data", ""),  # noqa: S108 (a path of a pod)
    "command": ("python", "sh", "torchrun"),
    "args": ("train.py", "--x=1", "$(A)"),
    "protocol": ("TCP", "UDP", "tcp"),
    "restartPolicy": ("Never", "OnFailure", "Always", "never"),
    "operator": ("In", "NotIn", "Exists", "All", "Any", "Equal"),
    "namespace": ("default", "a"),
    "apiVersion": ("v1",),
    "path": ("/x", "a", "../b"),
}
_INSERTIONS = (0, 0, 1, 1, 2, 3, 6)
Schema = Mapping[str, Any]


class Drawer:
    """Values drawn from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 (inputs of tests)

    def chance(self, share: float) -> bool:
        """True in this share of cases."""
        return self.random.random() < share

    def pick(self, *values: Any) -> Any:
        """One of the values."""
        return self.random.choice(values)

    def some(self, fields: dict[str, Callable[[], Any]], share: float = 0.3) -> dict[str, Any]:
        """Some of the fields."""
        return {name: value() for name, value in fields.items() if self.chance(share)}

    def value(self, schema: Schema, name: str = "", depth: int = 0) -> Any:
        """A value of a schema; now and then one that it does not allow."""
        if schema.get("x-kubernetes-int-or-string"):
            return self.random.choice(QUANTITIES)
        if "enum" in schema and self.chance(0.9):
            return self.random.choice(schema["enum"])
        kind = schema.get("type", "string")
        if kind == "object" and "properties" in schema:
            return self._object(schema, depth)
        if kind == "object":
            inner = schema.get("additionalProperties") or {}
            values = inner if isinstance(inner, dict) else {}
            return {self.pick(*KEYS): self.value(values, name, depth + 1) for _ in range(self.pick(0, 1, 1, 2))}
        if kind == "array":
            items = schema.get("items", {})
            return [self.value(items, name, depth + 1) for _ in range(self.pick(0, 1, 1, 2) if depth < 6 else 1)]
        if kind == "boolean":
            return self.pick(True, False)
        if kind == "integer":
            return self.random.choice(INTEGERS)
        if kind == "number":
            return self.random.choice((0, 1, 0.5))
        return self.random.choice(_BY_NAME.get(name, TEXTS))

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        properties: dict[str, Schema] = schema["properties"]
        wanted = set(schema.get("required", ())) if self.chance(0.95) else set()
        optional = [name for name in properties if name not in wanted and name not in {"status", "metadata"}]
        wanted |= set(self.random.sample(optional, min(len(optional), self.pick(0, 1, 1, 2) if depth < 5 else 0)))
        return {name: self.value(properties[name], name, depth + 1) for name in properties if name in wanted}

    def insert(self, tree: dict[str, Any], schema: Schema) -> None:
        """Add some fields that the schema has, each at a random object of the tree."""
        for _ in range(self.random.choice(_INSERTIONS)):
            target, known = self._place(tree, schema)
            names = [name for name in known.get("properties", {}) if name not in target and name != "status"]
            if names:
                name = self.random.choice(names)
                target[name] = self.value(known["properties"][name], name, 3)

    def _place(self, tree: dict[str, Any], schema: Schema) -> tuple[dict[str, Any], Schema]:
        """A random object of the tree, and its schema."""
        places: list[tuple[dict[str, Any], Schema]] = []

        def walk(node: Any, known: Schema) -> None:
            if isinstance(node, dict):
                places.append((node, known))
                for name, value in node.items():
                    if name in known.get("properties", {}) and name != "metadata":
                        walk(value, known["properties"][name])
            elif isinstance(node, list):
                for value in node:
                    walk(value, known.get("items", {}))

        walk(tree.get("spec", {}), schema["properties"]["spec"])
        return self.random.choice(places)
