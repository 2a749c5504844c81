"""The cluster's images: one step after all merging rewrites registries and pins digests."""

from __future__ import annotations

from trainc.model.patch import Patch
from trainc.model.sourced import Sourced, known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trainc.model.plan import Role

    Names = Mapping[str, Sourced[str]]
    Steps = tuple[tuple[str, str, Sourced[str]], ...]


def image_patches(roles: Iterable[Role], images: Mapping[str, Names]) -> tuple[Patch, ...]:
    """A patch for each container of some roles whose image the cluster wants otherwise."""
    patches = []
    for role in roles:
        for field in ("containers", "initContainers"):
            for container in role.pod.get(field) or ():
                leaf = container.get("image")
                if type(leaf) is Sourced and _steps(leaf.value, images):
                    name = container["name"].value
                    patches.append(Patch(role.index, name, sets={"image": wished(leaf, images)}))
    return tuple(patches)


def wished(leaf: Sourced[str], images: Mapping[str, Names]) -> Sourced[str]:
    """The image with its digest pinned and its registry replaced, itself where the cluster wants neither."""
    for by, text, image in _steps(leaf.value, images):
        leaf = known(text, by, (leaf, image))
    return leaf


def _steps(image: str, images: Mapping[str, Names]) -> Steps:
    """What happens to an image of that name: who does it, what comes out, and the setting that asks for it."""
    steps = []
    digest = images["digests"].get(image) if "digests" in images else None
    if digest is not None and "@" not in image:  # one that has a digest keeps it
        image = f"{image}@{digest.value}"
        steps.append(("pinned digest", image, digest))
    registries = images.get("registries", {})
    full, prefix = _qualified(image), _prefix(_qualified(image), registries)
    if prefix:
        new = registries[prefix]
        image = new.value.rstrip("/") + full[len(prefix.rstrip("/")) :]
        steps.append(("registry of the cluster", image, new))
    return tuple(steps)


def _prefix(image: str, registries: Names) -> str:
    """The longest prefix that the cluster replaces; a prefix ends where a slash stands."""
    longest = ""
    for other in registries:
        if len(other) > len(longest) and image.startswith(other.rstrip("/") + "/"):
            longest = other
    return longest


def _qualified(image: str) -> str:
    """The image with the registry that container runtimes read into a short name."""
    first, slash, _ = image.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return image
    return f"docker.io/{image}" if slash else f"docker.io/library/{image}"
