"""What a path in trainc.yaml holds."""

from __future__ import annotations


def covers(path: str, file: str) -> bool:
    """Whether a path holds a file: as the folder it lies below, or as a pattern in which `*` passes slashes, too."""
    from fnmatch import fnmatchcase  # noqa: PLC0415 (only projects with several clusters, or with levels, ask)

    return fnmatchcase(file, path) or file.startswith(path.removesuffix("/") + "/")
