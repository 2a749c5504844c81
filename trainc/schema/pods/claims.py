"""What is wrong with the claims that pods make for volumes of their own."""

from __future__ import annotations

from trainc.schema.names import subdomain
from trainc.schema.pods.amounts import nanos, spelled
from trainc.schema.pods.said import fields, items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.tree import Path
    from trainc.schema.pods.said import Said

_ALONE = "ReadWriteOncePod"
_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", _ALONE)


def template(tree: Any, path: Path, said: Said) -> None:
    """The template of a claim: how its volume is mounted, how large it is, and what makes it."""
    spec = fields(fields(tree).get("spec"))
    at: Path = (*path, "spec")
    _modes(items(spec.get("accessModes")), (*at, "accessModes"), said)
    requests = fields(fields(spec.get("resources")).get("requests"))
    printed: Path = (*at, "resources", "[storage]")
    if "storage" not in requests:
        said.required(printed, at=at)
    elif nanos(requests["storage"]) <= 0:
        place: Path = (*at, "resources", "requests", "storage")
        said.invalid(printed, spelled(requests["storage"]), "must be greater than zero", at=place)
    name = spec.get("storageClassName")
    if type(name) is str and name:
        said.invalid((*at, "storageClassName"), name, *subdomain(name))
    if spec.get("volumeMode") is not None:
        said.one_of((*at, "volumeMode"), spec["volumeMode"], ("Block", "Filesystem"))


def _modes(modes: list[Any], path: Path, said: Said) -> None:
    if not modes:
        said.required(path, "at least 1 access mode is required")
    for index, mode in enumerate(modes):
        said.one_of(path, mode, _MODES, at=(*path, index))
    if _ALONE in modes and any(mode in _MODES[:-1] for mode in modes):
        said.forbidden(path, f"may not use {_ALONE} with other access modes")
