"""The frameworks of older kinds by name; each module is loaded only when a job selects it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.patches import Framework

NAMES = ("jaxjob", "pytorchjob", "tfjob", "xgboostjob", "paddlejob", "mpijob", "mpijob-ssh")


def framework(name: str) -> Framework:
    """The framework of that name."""
    module = __import__(f"trainc.frameworks.older.{name.replace('-', '_')}", fromlist=["FRAMEWORK"])
    found: Framework = module.FRAMEWORK
    return found
