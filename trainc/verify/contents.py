"""What a container says, whatever pod it is in: its variables, its command, what it asks for."""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.verify import shell
from trainc.verify.demand import demand
from trainc.verify.disks import MOUNTS
from trainc.verify.rules.tokens import BEGINNINGS, SHORTEST, TOKENS
from trainc.verify.texts import IMAGES, WORDS
from trainc.verify.values import rows, table, text
from trainc.verify.variables import KEYS, NAMES, TOLD, WHOLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree
    from trainc.verify.demand import Demand
    from trainc.verify.disks import Mounts
    from trainc.verify.variables import Names, Need

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
        resources = table(tree, "resources")
        self.limits = table(resources, "limits")
        self.requests = table(resources, "requests")
        self.demand = demand(self.limits, self.requests)
        self.devices = self.demand.devices
        self.mounts = MOUNTS[tree.get("volumeMounts")]
        self._read_rest()
        self.outline: Outline = tuple(tree), self.names, self.mounts, self.demand

    @property
    def needs(self) -> list[Need]:
        """The objects that hold its variables, one each or all of them: kind and name."""
        parts = [entry["valueFrom"] for _, entry in self.sources if type(entry["valueFrom"]) is dict]
        found = [(KEYS[key], text(table(part, key), "name")) for part in parts for key in part if key in KEYS]
        for whole in rows(self.tree, "envFrom") if "envFrom" in self.tree else ():
            found += [(WHOLE[key], text(table(whole, key), "name")) for key in whole if key in WHOLE]
        return found

    def _read_variables(self) -> None:
        env: dict[str, Tree] = {}
        literals: dict[str, str] = {}
        sources: list[tuple[int, Tree]] = []
        listed = self.tree.get("env")
        for index, entry in enumerate(listed if listed.__class__ is list else ()):
            if entry.__class__ is not dict:
                env[""] = {}
                continue
            leaf = entry.get("name")
            name = leaf.value if leaf.__class__ is Sourced and leaf.value.__class__ is str else ""
            env[name] = entry
            leaf = entry.get("value")
            if leaf.__class__ is Sourced and leaf.value.__class__ is str:
                value = literals[name] = leaf.value
                if "$" in value:
                    self.traits.add("$")
                if len(value) >= SHORTEST and value[0] in BEGINNINGS and value.startswith(TOKENS):
                    self.traits.add("secret")
            if "valueFrom" in entry:
                sources.append((index, entry))
        self.env, self.literals, self.sources = env, literals, sources
        self.names = NAMES[tuple(env)]
        self.fields = self._fields() if sources else {}
        for name in self.names.telling:
            if trait := TOLD[name, literals.get(name)]:
                self.traits.add(trait)

    def _fields(self) -> dict[str, str]:
        """The fields of the pod that variables are read from, by variable."""
        found: dict[str, str] = {}
        for _, entry in self.sources:
            source = entry["valueFrom"]
            if source.__class__ is dict and "fieldRef" in source:
                field = text(table(source, "fieldRef"), "fieldPath")
                if field:
                    found[text(entry, "name")] = field
        return found

    def _read_words(self) -> None:
        self.words: list[str] = []
        for field in ("command", "args"):
            listed = self.tree.get(field)
            for item in listed if listed.__class__ is list else ():
                if item.__class__ is Sourced and item.value is not None:
                    word = item.value if item.value.__class__ is str else str(item.value)
                    self.words.append(word)
                    if found := WORDS[word]:
                        self.traits |= found
        if self.words and " " in self.words[0] and "command" in self.tree:
            self.traits.add("odd program")
        self.text = " ".join(self.words)
        self.script, self.shell = shell.script_of(self.words) if "shell" in self.traits else ("", "")
        if self.script:
            self.traits.add("script")

    def _read_rest(self) -> None:
        if found := IMAGES[text(self.tree, "image")]:
            self.traits |= found
        if self.devices:
            self.traits.add("devices")
