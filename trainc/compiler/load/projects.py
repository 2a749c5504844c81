"""Projects below a folder: each trainc.yaml starts one of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable

from trainc.compiler.load.walk import contents, files, folders, ours
from trainc.model.settings import FILE


def nested_projects(path: str) -> list[str]:
    """The folders below a path, in order, in which another project starts; a project in a project is found as well."""
    return [folder for folder in folders(path) if folder != path and os.path.isfile(os.path.join(folder, FILE))]


def holds_specs(root: str, paths: Iterable[str]) -> bool:
    """Whether a project holds, under these paths, a file that a run would read besides its trainc.yaml."""
    inside = tuple(os.path.relpath(os.path.abspath(path), root) for path in paths)
    return any(name != FILE and ours(contents(root, name)) for name in files(root, inside))
