"""ResourceLists as kpt and kustomize write them, and what `trainc fn` answers."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.compiling import compile_in

PATH, INDEX = "internal.config.kubernetes.io/path", "internal.config.kubernetes.io/index"
ConfigMap = {"apiVersion": "v1", "kind": "ConfigMap"}


def objects(text: str, path: str = "") -> list[dict[str, Any]]:
    """The documents of a file, with the notes that kpt makes on them where a path is given."""
    found = list(yaml.safe_load_all(text))
    for index, document in enumerate(found) if path else ():
        notes = document.setdefault("metadata", {"name": "project"}).setdefault("annotations", {})
        notes |= {PATH: path, INDEX: str(index), "config.kubernetes.io/path": path, "config.k8s.io/id": str(index)}
    return found


def package(folder: Path) -> list[dict[str, Any]]:
    """Every object of the YAML files below a folder."""
    return [
        document
        for file in sorted(folder.rglob("*.yaml"))
        for document in objects(file.read_text("utf-8"), file.relative_to(folder).as_posix())
    ]


def listed(items: Iterable[Mapping[str, Any]], config: Mapping[str, Any] | None = None) -> str:
    """A ResourceList."""
    given = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": list(items)}
    return yaml.safe_dump(given | ({"functionConfig": config} if config is not None else {}), sort_keys=False)


class Answer:
    """The exit code of a function, its list, and what it said to people."""

    def __init__(self, folder: Path, text: str) -> None:
        run = compile_in(folder, "fn", stdin=text)
        self.code, self.err, self.text = run.code, run.err, run.out
        answer = yaml.safe_load(run.out) if run.out else {}
        self.items: list[dict[str, Any]] = answer.get("items", [])
        self.results: list[dict[str, Any]] = answer.get("results", [])

    @property
    def kinds(self) -> list[str]:
        return [item["kind"] for item in self.items]

    def plain(self) -> list[dict[str, Any]]:
        """The items without the notes of tools."""
        return [_plain(item) for item in self.items]


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    metadata = dict(item["metadata"])
    notes = metadata.pop("annotations", {})
    kept = {key: text for key, text in notes.items() if not key.startswith(("internal.", "config.k"))}
    return {**item, "metadata": metadata | ({"annotations": kept} if kept else {})}
