"""What a container says, whatever pod it is in: its variables, its command, what it asks for."""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.verify import shell
from trainc.verify.demand import RESOURCES
from trainc.verify.disks import MOUNTS
from trainc.verify.rules.tokens import BEGINNINGS, SHORTEST, TOKENS
from trainc.verify.texts import IMAGES, ODD_NAMES, ODD_PORTS, WORDS
from trainc.verify.values import rows, text
from trainc.verify.variables import NAMES, SOURCES, TOLD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree
    from trainc.verify.demand import Demand
    from trainc.verify.disks import Mounts
    from trainc.verify.variables import Names

    Variables = tuple[dict[str, Tree], dict[str, str], list[tuple[int, Tree]]]
    Outline = tuple[tuple[str, ...], Names, Mounts, Demand]


class Contents:
    """A container read once, or once for all jobs of a runtime where they leave it alone.

    `literals` are the variables whose value is written, `fields` those that a field of the pod gives, `sources` the
    entries that say where a value is from, each with its place in the list. `outline` is what jobs may have in common:
    fields, names of variables, mounts, amounts; `traits` is what single texts of it show.
    """

    __slots__ = (
        "demand",
        "devices",
        "env",
        "fields",
        "limits",
        "literals",
        "mounts",
        "name",
        "names",
        "outline",
        "requests",
        "script",
        "shell",
        "sources",
        "text",
        "traits",
        "tree",
        "words",
    )

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.name = text(tree, "name")
        self.traits: set[str] = set()
        self._read_variables()
        self._read_words()
        resources = RESOURCES[tree.get("resources")]
        self.limits, self.requests, self.demand = resources.limits, resources.requests, resources.demand
        self.devices = self.demand.devices
        self.mounts = MOUNTS[tree.get("volumeMounts")]
        if resources.claims:
            self.traits.add("claims")
        self._read_names()
        self.outline: Outline = tuple(tree), self.names, self.mounts, self.demand

    def _read_variables(self) -> None:
        listed = self.tree.get("env")
        entries = listed if listed.__class__ is list else []
        read = _ordinary(entries)
        self.env, self.literals, self.sources = _any(entries, self.traits) if read is None else read
        self.names = NAMES[tuple(self.env)]
        for value in self.literals.values():
            if "$" in value:
                self.traits.add("$")
            if len(value) >= SHORTEST and value[0] in BEGINNINGS and value.startswith(TOKENS):
                self.traits.add("secret")
        self.fields: dict[str, str] = {}
        for _, entry in self.sources:
            source = SOURCES[entry["valueFrom"]]
            if source.field:
                self.fields[text(entry, "name")] = source.field
            if source.traits:
                self.traits |= source.traits
        for name in self.names.telling:
            if trait := TOLD[name, self.literals.get(name)]:
                self.traits.add(trait)

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


def _ordinary(entries: list[Tree]) -> Variables | None:
    """The variables of a list in which each is a name of its own with a text or a source; None for another list."""
    try:
        env = {entry["name"].value: entry for entry in entries}
        literals = {name: entry["value"].value for name, entry in env.items() if "value" in entry}
        "".join(env) + "".join(literals.values())
    except (AttributeError, KeyError, TypeError):
        return None
    sources = [(index, entry) for index, entry in enumerate(entries) if "valueFrom" in entry]
    told = len(literals) + len(sources) == len(env) == len(entries)
    return (env, literals, sources) if told and _TWO.issuperset(map(len, entries)) else None


_TWO = frozenset((2,))


def _any(entries: list[Tree], traits: set[str]) -> Variables:
    """The variables of any list; of two with one name the last one counts."""
    env: dict[str, Tree] = {}
    literals: dict[str, str] = {}
    sources: list[tuple[int, Tree]] = []
    for index, entry in enumerate(entries):
        if entry.__class__ is not dict:
            env[""] = {}
            continue
        name, leaf = text(entry, "name"), entry.get("value")
        env[name] = entry
        if leaf.__class__ is Sourced and leaf.value.__class__ is str:
            literals[name] = leaf.value
            if "$" in leaf.value:
                traits.add("$")
            if len(entry) != 2:
                traits.add("odd env")
        if "valueFrom" in entry:
            sources.append((index, entry))
    return env, literals, sources


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
