"""What is worth a look among the variables of a container: by their names alone, and by what they are set to."""

from __future__ import annotations

from trainc.frameworks.vocabularies import EVERY
from trainc.model.masking import named_secret
from trainc.model.remembered import Remembered
from trainc.verify.data.variables import LOCKED
from trainc.verify.rules.environment import VERBOSE, misspelling, reader
from trainc.verify.rules.networks import TCPX, TCPXO
from trainc.verify.rules.tokens import is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    Need = tuple[str, str]  # kind and name of an object

INTERFACE = "NCCL_SOCKET_IFNAME"
# Where a variable takes a part of another object and where all of them are taken, and of which kind that object is.
KEYS = {"secretKeyRef": "Secret", "configMapKeyRef": "ConfigMap"}
WHOLE = {"secretRef": "Secret", "configMapRef": "ConfigMap"}
_SET = frozenset((INTERFACE, *LOCKED, *VERBOSE))


class Names:
    """The names of a container's variables: their `traits`, themselves and their families among them.

    `ranked` and `addressed` give a rank or an address; what those in `telling` are set to matters; `readers` are the
    kinds of accelerators on which alone some of them are read.
    """

    __slots__ = ("addressed", "ranked", "readers", "telling", "traits")

    def __init__(self, names: tuple[str, ...]) -> None:
        traits: set[str] = set()
        self.traits = traits.union(*[_ALONE[name] for name in names])
        self.ranked = tuple([name for name in names if name in EVERY.ranks])
        self.addressed = tuple([name for name in names if name in EVERY.addresses])
        self.telling = tuple([name for name in names if "telling" in _ALONE[name]])
        self.readers = frozenset([kind for name in names if (kind := reader(name))])


def _alone(name: str) -> frozenset[str]:
    """The traits of a single name."""
    traits = {name, name.partition("_")[0]}
    traits.update(prefix for prefix in (TCPX, TCPXO) if name.startswith(prefix))
    if misspelling(name, EVERY):
        traits.add("misspelt")
    if name in EVERY.sizes:
        traits.add("world size")
    if name in _SET or named_secret(name):
        traits.add("telling")
    return frozenset(traits)


def _told(setting: tuple[str, str | None]) -> str:
    """The trait of a variable with this value, None where it is not known here; empty for one without."""
    name, value = setting
    known = value if value is not None and "$" not in value else None
    if name == INTERFACE:
        return "odd interface" if known is None or "lo" in known or "docker0" in known else ""
    if name in LOCKED:
        return "odd lock" if known is None or known.rstrip("/") != LOCKED[name] else ""
    if name in VERBOSE:
        return "verbose" if known is None or known.upper() in VERBOSE[name] else ""
    return "secret" if value is not None and is_secret(name, value) else ""


_ALONE = Remembered(_alone)
NAMES, TOLD = Remembered(Names), Remembered(_told)  # by the names in order; by name and value
