"""The name somebody probably meant."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(name: str, names: Iterable[str], *, cutoff: float = 0.6) -> str:
    """The most similar of `names`, empty where none is similar."""
    from trainc.model.similar import closest  # noqa: PLC0415 (needed only once something is wrong)

    return closest(name, tuple(names), cutoff)


def meant(name: str, names: Iterable[str], otherwise: str = "") -> str:
    """The help for a name that nobody knows: the one that was probably meant, else `otherwise`."""
    near = nearest(name, names)
    return f"did you mean `{near}`?" if near else otherwise
