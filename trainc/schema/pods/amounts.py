"""What is wrong with the names of resources that a container asks for."""

from __future__ import annotations

from trainc.model.quantity import NANO, Quantity, QuantityError
from trainc.schema.names import qualified
from trainc.schema.pods.said import fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.tree import Path
    from trainc.schema.pods.said import Said

CONTAINER = frozenset(("cpu", "memory", "ephemeral-storage"))
_STANDARD = frozenset(
    (
        *CONTAINER,
        *(f"{side}.{name}" for side in ("requests", "limits") for name in CONTAINER),
        "configmaps",
        "persistentvolumeclaims",
        "pods",
        "requests.storage",
        "resourcequotas",
        "replicationcontrollers",
        "secrets",
        "services",
        "services.loadbalancers",
        "services.nodeports",
        "storage",
    )
)
_COUNTED = (
    _STANDARD
    - {"storage", "requests.storage", *CONTAINER}
    - frozenset(f"{side}.{name}" for side in ("requests", "limits") for name in CONTAINER)
)
PAGES = "hugepages-"


def is_device(name: str) -> bool:
    """Whether a name is that of an extended resource, which comes in whole numbers."""
    own = "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")
    return own and not qualified(f"requests.{name}")


def strange(name: str) -> tuple[str, ...]:
    """Why a name without a vendor is none that a container asks for, empty where it is one."""
    if name in CONTAINER or name.startswith(PAGES):
        return ()
    alone = ("must be a standard resource for containers",)
    if name in _STANDARD or qualified(name):
        return alone
    return ("must be a standard resource type or fully qualified", *alone)


def resources(tree: Any, path: Path, said: Said) -> None:
    """The names of resources, and what only comes as a whole."""
    held = fields(tree)
    for side in ("limits", "requests"):
        for name, amount in fields(held.get(side)).items():
            at: Path = (*path, side, f"[{name}]")
            place: Path = (*path, side, name)
            _name(name, at, place, said)
            if name in _COUNTED and _nanos(amount) % NANO:
                said.invalid(at, str(amount), "must be an integer", at=place)
            if name.startswith(PAGES):
                _pages(name, amount, at, place, said)
    asked = [*fields(held.get("limits")), *fields(held.get("requests"))]
    if any(name.startswith(PAGES) for name in asked) and not {"cpu", "memory"}.intersection(asked):
        said.forbidden(path, "HugePages require cpu or memory")


def _name(name: str, path: Path, at: Path, said: Said) -> None:
    reasons = qualified(name)
    said.invalid(path, name, *reasons, at=at)
    if "/" not in name:
        said.invalid(path, name, *strange(name), at=at)
    elif "kubernetes.io/" not in name and not is_device(name):
        said.invalid(path, name, "doesn't follow extended resource name standard", at=at)


def _pages(name: str, amount: Any, path: Path, at: Path, said: Said) -> None:
    size = _nanos(name.removeprefix(PAGES))
    if size <= 0 or _nanos(amount) % size:
        text = f"{amount} is not positive integer multiple of {name}"
        said.invalid(path, str(amount), text, at=at)


def _nanos(amount: Any) -> int:
    try:
        return Quantity.parse(amount).nanos
    except QuantityError:
        return 0
