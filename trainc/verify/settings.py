"""What a project knows that no manifest says; everything has a default that judges nothing."""

from __future__ import annotations


class Settings:
    """`gitops` is `argocd` or `flux` where a controller applies the output; `kubernetes` the target as (major, minor).

    `external` names what exists outside the bundle as (kind, name); None means that nobody listed it. `tainted` says
    that accelerator nodes carry a taint that nothing tolerates by itself.
    """

    __slots__ = ("external", "gitops", "kubernetes", "tainted")

    def __init__(
        self,
        *,
        gitops: str = "",
        kubernetes: tuple[int, int] | None = None,
        external: frozenset[tuple[str, str]] | None = None,
        tainted: bool = False,
    ) -> None:
        self.gitops = gitops
        self.kubernetes = kubernetes
        self.external = external
        self.tainted = tainted


NOTHING_KNOWN = Settings()
