"""Writes what people keep without a compiler: one expanded base, and a kustomize overlay with patches for each job."""

import json
import os
from collections.abc import Sequence
from typing import Any


def write(rendered: Sequence[Sequence[Any]], folder: str) -> None:
    """A kustomize tree that renders to the same objects: `rendered` has the objects of each job."""
    base = {f"{tree['kind'].lower()}.yaml": tree for tree in rendered[0]}
    _file(folder, "base/kustomization.yaml", {"resources": sorted(base)})
    for name, tree in base.items():
        _file(folder, f"base/{name}", tree)
    names = [next(tree["metadata"]["name"] for tree in objects if tree["kind"] == "JobSet") for objects in rendered]
    for name, objects in zip(names, rendered, strict=True):
        patches = [_patch(origin, tree) for origin, tree in zip(rendered[0], objects, strict=True) if origin != tree]
        _file(folder, f"jobs/{name}/kustomization.yaml", {"resources": ["../../base"], "patches": patches})
    _file(folder, "kustomization.yaml", {"resources": [f"jobs/{name}" for name in names]})


def _patch(origin: Any, tree: Any) -> dict[str, Any]:
    """A JSON patch from the base's object to this job's: kustomize knows no merge keys of a JobSet."""
    target = {"kind": origin["kind"], "name": origin["metadata"]["name"]}
    return {"target": target, "patch": json.dumps(list(_steps(origin, tree, "")))}


def _steps(old: Any, new: Any, path: str) -> list[dict[str, Any]]:
    if old == new:
        return []
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        return [step for key in old for step in _steps(old[key], new[key], f"{path}/{_escaped(key)}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [step for at, item in enumerate(old) for step in _steps(item, new[at], f"{path}/{at}")]
    return [{"op": "replace", "path": path, "value": new}]


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _file(folder: str, path: str, tree: Any) -> None:
    target = os.path.join(folder, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w", encoding="utf-8") as stream:
        json.dump(tree, stream)
