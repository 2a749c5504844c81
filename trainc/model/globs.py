"""Which files a glob of trainc.yaml means."""

from __future__ import annotations

from fnmatch import fnmatchcase


def holds(glob: str, file: str) -> bool:
    """Whether a glob means a file, or a folder that it lies in, at any depth; `*` stands for `/` as well."""
    glob = glob.rstrip("/").removeprefix("./")
    return glob == "." or fnmatchcase(file, glob) or fnmatchcase(file, f"{glob}/*")
