"""The cluster's images: one step after all merging rewrites registries and pins digests."""

from __future__ import annotations

from trainc.model.patches import Patch
from trainc.model.sourced import Sourced, derive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.model.plan import Role
    from trainc.model.tree import Tree

    Names = Mapping[str, Sourced[str]]


def image_patches(role: Role, images: Mapping[str, Names]) -> list[Patch]:
    """A patch for each container of a role whose image the cluster wants otherwise."""
    patches = []
    for container in (*role.containers, *role.init_containers):
        leaf = container.get("image")
        wanted = wished(leaf, images) if type(leaf) is Sourced else leaf
        if wanted is not leaf:
            patches.append(Patch(role.index, container["name"].value, sets={"image": wanted}))
    return patches


def wished(leaf: Sourced[str], images: Mapping[str, Names]) -> Tree:
    """The image with its digest pinned and its registry replaced, itself where the cluster wants neither."""
    if "digests" in images:
        leaf = _pinned(leaf, images["digests"])
    return _moved(leaf, images["registries"]) if "registries" in images else leaf


def _pinned(leaf: Sourced[str], digests: Names) -> Sourced[str]:
    """The image with its digest, as `name:tag@sha256:...`; one that has a digest keeps it."""
    digest = digests.get(leaf.value)
    if digest is None or "@" in leaf.value:
        return leaf
    return derive("pinned digest", lambda image, pin: f"{image}@{pin}", leaf, digest)


def _moved(leaf: Sourced[str], registries: Names) -> Sourced[str]:
    """The image behind the longest prefix that the cluster replaces; a prefix ends where a slash stands."""
    full = _qualified(leaf.value)
    prefix = ""
    for other in registries:
        if len(other) > len(prefix) and full.startswith(other.rstrip("/") + "/"):
            prefix = other
    if not prefix:
        return leaf
    rest = full[len(prefix.rstrip("/")) :]
    return derive("registry of the cluster", lambda _, new: new.rstrip("/") + rest, leaf, registries[prefix])


def _qualified(image: str) -> str:
    """The image with the registry that container runtimes read into a short name."""
    first, slash, _ = image.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return image
    return f"docker.io/{image}" if slash else f"docker.io/library/{image}"
