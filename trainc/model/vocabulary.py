"""The names that the processes of a framework go by: variables, launchers, ports."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

Setting = tuple[str, str]  # an option of a launcher, dashes as underscores, and the variable that stands for it

_NONE: Mapping[str, str] = {}


class Launcher(NamedTuple):
    """A program that starts a framework's processes in a pod."""

    name: str
    programs: tuple[str, ...] = ()  # what it is called
    modules: tuple[str, ...] = ()  # what `python -m` calls it
    nodes: Setting = ("", "")  # the option and the variable that tell it how many there are
    processes: Setting = ("", "")  # of one node
    rank: Setting = ("", "")  # of the node
    addresses: Mapping[str, str] = _NONE  # its options for the host of rank 0, each with the option for the port
    numbers: tuple[str, ...] = ()  # its other options that take a number
    sets: tuple[str, ...] = ()  # the variables that it sets in every process
    passes_on: Mapping[str, str] = _NONE  # those that it reads, each with the one that it sets to the same
    switches: frozenset[str] | None = None  # the options that take no value, None where they are not known

    @property
    def words(self) -> tuple[str, ...]:
        """What a command holds that calls this launcher."""
        return (*self.called, *self.modules)

    @property
    def called(self) -> tuple[str, ...]:
        """The programs by which it is called: its name where none is given."""
        return self.programs or (self.name,)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it reads, and those that it sets."""
        settings = [variable for _, variable in (self.nodes, self.processes, self.rank)]
        return (*settings, *self.sets, *self.passes_on, *self.passes_on.values())


class Vocabulary:
    """What the processes of one framework, or of several, go by."""

    def __init__(
        self,
        *,
        reserved: tuple[str, ...] = (),  # variables that the framework sets and a job leaves alone
        # Variables for the host of rank 0, each with that for the port, or "" where the port is a part of the address.
        addresses: Mapping[str, str] | None = None,
        ranks: Iterable[str] = (),  # that give a process its rank
        sizes: Iterable[str] = (),  # that say how many processes there are
        launchers: tuple[Launcher, ...] = (),
        ports: tuple[int, ...] = (),  # where rank 0 listens
        others: Iterable[str] = (),  # that processes read, and that say nothing of the above
        prefixes: tuple[str, ...] = (),  # what starts with one and is not among all of these is read by nobody
    ) -> None:
        self.reserved = reserved
        self.addresses: Mapping[str, str] = addresses or {}
        self.ranks = frozenset(ranks)
        self.sizes = frozenset(sizes)
        self.launchers = launchers
        self.ports = ports
        self.programs = {program: launcher for launcher in launchers for program in launcher.called}
        self.modules = {module: launcher for launcher in launchers for module in launcher.modules}
        self.options = {option: port for launcher in launchers for option, port in launcher.addresses.items()}
        self.prefixes = prefixes
        self.variables = frozenset(
            (
                *reserved,
                *self.addresses,
                *self.addresses.values(),
                *self.ranks,
                *self.sizes,
                *others,
                *(name for launcher in launchers for name in launcher.variables),
            )
        ) - {""}


def joined(vocabularies: Iterable[Vocabulary]) -> Vocabulary:
    """One vocabulary with the names of several."""
    each = tuple(vocabularies)
    return Vocabulary(
        reserved=tuple(dict.fromkeys(name for one in each for name in one.reserved)),
        addresses={name: port for one in each for name, port in one.addresses.items()},
        ranks=[name for one in each for name in one.ranks],
        sizes=[name for one in each for name in one.sizes],
        launchers=tuple(launcher for one in each for launcher in one.launchers),
        ports=tuple(dict.fromkeys(port for one in each for port in one.ports)),
        others=[name for one in each for name in one.variables],
        prefixes=tuple(dict.fromkeys(prefix for one in each for prefix in one.prefixes)),
    )
