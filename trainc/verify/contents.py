"""What a container says, whatever pod it is in: its variables, its command, what it asks for."""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.verify import shell
from trainc.verify.demand import Resources
from trainc.verify.disks import MOUNTS
from trainc.verify.texts import IMAGES, ODD_NAMES, ODD_PORTS, WORDS
from trainc.verify.values import rows, table, text
from trainc.verify.variables import NAMES, WHOLE, Variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.shared import Shared
    from trainc.model.tree import Tree
    from trainc.verify.demand import Demand
    from trainc.verify.disks import Mounts
    from trainc.verify.variables import Names, Need

    Outline = tuple[tuple[str, ...], Names, Mounts, Demand]


class Contents:
    """A container read once, or once for all jobs of a runtime where they leave it alone.

    `literals` are the values that are written, by variable. `outline` is what jobs may have in common: fields, names of
    variables, mounts, amounts; `traits` is what single texts of it show.
    """

    __slots__ = (
        "_env",
        "demand",
        "devices",
        "limits",
        "literals",
        "mounts",
        "name",
        "names",
        "outline",
        "requests",
        "script",
        "shell",
        "text",
        "traits",
        "tree",
        "variables",
        "words",
    )

    def __init__(self, tree: Tree, shared: Shared | None = None) -> None:
        self.tree = tree
        self.name = text(tree, "name")
        self.traits: set[str] = set()
        self._env: dict[str, Tree] | None = None
        self._read_variables(shared)
        self._read_words()
        asked = tree.get("resources")
        resources = Resources(asked) if shared is None else shared.once(asked, Resources)
        self.limits, self.requests, self.demand = resources.limits, resources.requests, resources.demand
        self.devices = self.demand.devices
        self.mounts = MOUNTS[tree.get("volumeMounts")]
        if resources.claims:
            self.traits.add("claims")
        self._read_names()
        self.outline: Outline = tuple(tree), self.names, self.mounts, self.demand

    @property
    def env(self) -> dict[str, Tree]:
        """The variables by name; of two with one name the last one counts."""
        if self._env is None:
            self._env = {variable.name: variable.entry for variable in self.variables}
        return self._env

    @property
    def fields(self) -> dict[str, str]:
        """The fields of the pod that variables are read from, by variable."""
        return {variable.name: variable.field for variable in self.variables if variable.field}

    @property
    def sources(self) -> list[tuple[int, Tree]]:
        """The entries that say where a value is from, each with its place in the list."""
        entries = [variable.entry for variable in self.variables]
        return [(index, entry) for index, entry in enumerate(entries) if "valueFrom" in entry]

    @property
    def needs(self) -> list[Need]:
        """The objects that its variables are taken from: kind and name."""
        found = [need for variable in self.variables if variable.needs for need in variable.needs]
        for entry in rows(self.tree, "envFrom") if "envFrom" in self.tree else ():
            found += [(kind, text(table(entry, field), "name")) for field, kind in WHOLE.items() if field in entry]
        return found

    def _read_variables(self, shared: Shared | None) -> None:
        listed = self.tree.get("env")
        entries = listed if listed.__class__ is list else []
        self.variables = variables = shared.each(entries, Variable) if shared is not None else [*map(Variable, entries)]
        self.names = NAMES[tuple(dict.fromkeys([variable.name for variable in variables]))]
        self.literals = {variable.name: variable.literal for variable in variables if variable.literal is not None}
        for variable in variables:
            if variable.traits:
                self.traits |= variable.traits

    def _read_words(self) -> None:
        tree, traits = self.tree, self.traits
        self.words = words = _words(tree.get("command")) + _words(tree.get("args"))
        for word in words:
            if found := WORDS[word]:
                traits |= found
        if words and " " in words[0] and "command" in tree:
            traits.add("odd program")
        self.text = " ".join(words)
        self.script, self.shell = shell.script_of(words) if "shell" in traits else ("", "")
        if self.script:
            traits.add("script")

    def _read_names(self) -> None:
        tree, traits = self.tree, self.traits
        if found := IMAGES[text(tree, "image")]:
            traits |= found
        if ODD_NAMES[self.name]:
            traits.add("odd container name")
        if "ports" in tree and _odd_ports(rows(tree, "ports")):
            traits.add("odd port")


def _words(listed: Tree) -> list[str]:
    """The words of a list; other scalars as they read."""
    if listed.__class__ is not list:
        return []
    written = [item.value for item in listed if item.__class__ is Sourced]
    return [word if word.__class__ is str else str(word) for word in written if word is not None]


def _odd_ports(ports: list[dict[str, Tree]]) -> bool:
    for port in ports:
        leaf = port.get("containerPort")
        if type(leaf) is not Sourced or type(leaf.value) is not int or not 0 < leaf.value < 65536 or "hostPort" in port:
            return True
        if "name" in port and ODD_PORTS[text(port, "name")]:
            return True
        if "protocol" in port and text(port, "protocol") not in ("TCP", "UDP", "SCTP"):
            return True
    return len(ports) > 1 and len({text(port, "name") for port in ports}) < len(ports)
