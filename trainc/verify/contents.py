"""What a container says, whatever pod it is in: its variables, its command, what it asks for."""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.verify import shell
from trainc.verify.demand import Resources
from trainc.verify.disks import MOUNTS
from trainc.verify.rules.tokens import BEGINNINGS, SHORTEST, TOKENS
from trainc.verify.texts import IMAGES, ODD_NAMES, ODD_PORTS, WORDS
from trainc.verify.values import rows, table, text, texts
from trainc.verify.variables import NAMES, TOLD, WHOLE, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.shared import Shared
    from trainc.model.tree import Tree
    from trainc.verify.demand import Demand
    from trainc.verify.disks import Mounts
    from trainc.verify.variables import Names, Need

    Variables = tuple[dict[str, Tree], dict[str, str], list[tuple[int, Tree]]]
    Outline = tuple[tuple[str, ...], Names, Mounts, Demand]


class Contents:
    """A container read once, or once for all jobs of a runtime where they leave it alone.

    `literals` are the variables whose value is written, `fields` those that a field of the pod gives, `sources` the
    entries that say where a value is from, each with its place in the list, `needs` the objects that hold variables,
    by kind and name. `outline` is what jobs may have in common: fields, names of variables, mounts, amounts;
    `traits` is what single texts of it show.
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
        "needs",
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

    def __init__(self, tree: Tree, shared: Shared | None = None) -> None:
        self.tree = tree
        self.name = text(tree, "name")
        self.traits: set[str] = set()
        self._read_variables(shared)
        self._read_words()
        asked = tree.get("resources")
        resources = Resources(asked) if shared is None else shared.once(asked, Resources)
        self.limits, self.requests, self.demand = resources.limits, resources.requests, resources.demand
        self.devices = self.demand.devices
        self.mounts = MOUNTS[tree.get("volumeMounts")]
        if resources.claims:
            self.traits.add("claims")
        if "envFrom" in tree:
            self.needs += self._needs_whole()
        self._read_names()
        self.outline: Outline = tuple(tree), self.names, self.mounts, self.demand

    def _needs_whole(self) -> list[Need]:
        """The objects all of which become variables."""
        return [
            (kind, text(table(entry, field), "name"))
            for entry in rows(self.tree, "envFrom")
            for field, kind in WHOLE.items()
            if field in entry
        ]

    def _read_variables(self, shared: Shared | None) -> None:
        traits = self.traits
        listed = self.tree.get("env")
        entries = listed if listed.__class__ is list else []
        self.env, self.literals, self.sources = _plain(entries) or _any(entries, traits)
        self.names = names = NAMES[tuple(self.env)]
        for value in [value for value in self.literals.values() if len(value) >= SHORTEST]:
            if value[0] in BEGINNINGS and value.startswith(TOKENS):
                traits.add("secret")
        if "$" in "".join(self.literals.values()):
            traits.add("$")
        for name in names.telling:
            if trait := TOLD[name, self.literals.get(name)]:
                traits.add(trait)
        self.fields: dict[str, str] = {}
        self.needs: list[Need] = []
        if self.sources:
            self._read_sources(shared)

    def _read_sources(self, shared: Shared | None) -> None:
        for _, entry in self.sources:
            tree = entry["valueFrom"]
            source = Source(tree) if shared is None else shared.once(tree, Source)
            if source.field:
                self.fields[text(entry, "name")] = source.field
            self.needs += source.needs
            if source.traits:
                self.traits |= source.traits

    def _read_words(self) -> None:
        traits = self.traits
        words, self.text = _words(self.tree)
        self.words = words
        traits.update(*map(WORDS.__getitem__, words))
        if words and " " in words[0] and "command" in self.tree:
            traits.add("odd program")
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


_TWO = frozenset((2,))
_COMMAND = ("command", "args")


def _plain(entries: list[Tree]) -> Variables | None:
    """The variables of a list in which each is a name of its own with a text or a source; None for another list."""
    try:
        env = {entry["name"].value: entry for entry in entries}
        literals = {name: entry["value"].value for name, entry in env.items() if "value" in entry}
        "".join([*env, *literals.values()])
    except (AttributeError, KeyError, TypeError):
        return None
    sources = [(index, entry) for index, entry in enumerate(entries) if "valueFrom" in entry]
    told = len(literals) + len(sources) == len(env) == len(entries)
    return (env, literals, sources) if told and _TWO.issuperset(map(len, entries)) else None


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


def _words(tree: Tree) -> tuple[list[str], str]:
    """The words of a container's command, other scalars as they read, and all of them in one text."""
    try:
        words = [item.value for field in _COMMAND for item in tree.get(field, ())]
        return words, " ".join(words)
    except (AttributeError, TypeError):
        words = [word for field in _COMMAND for word in texts(tree, field)]
        return words, " ".join(words)


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
