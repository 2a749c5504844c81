"""The public repository behind the reference of an image."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.cluster import Cluster


def repository(image: str, cluster: Cluster) -> tuple[str, str]:
    """The whole name of an image's repository and its tag, a cluster's mirror undone; empty where it is filled in later."""
    for public, own in cluster.images.get("registries", {}).items():
        if image.startswith(own.value.rstrip("/") + "/"):
            image = public.rstrip("/") + image[len(own.value.rstrip("/")) :]
    if "$" in image:
        return "", ""
    name, _, tag = image.partition("@")[0].partition(":")
    first, slash, _ = name.partition("/")
    if not slash:
        name = f"docker.io/library/{name}"
    elif "." not in first:
        name = f"docker.io/{name}"
    return name, tag
