"""One container of a role: its env, its command, what it asks for."""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.verify import shell
from trainc.verify.demand import demand
from trainc.verify.disks import MOUNTS
from trainc.verify.launch import find_launch
from trainc.verify.rules.tokens import BEGINNINGS, SHORTEST, TOKENS
from trainc.verify.texts import WORDS
from trainc.verify.values import (
    COMPLETION_INDEX,
    JOB_INDEX,
    SUBSTITUTED,
    UNKNOWN,
    Varies,
    rows,
    substituted,
    table,
    text,
    texts,
)
from trainc.verify.variables import NAMES, ODD_FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path, Tree
    from trainc.verify.launch import Launch
    from trainc.verify.pods import Role
    from trainc.verify.values import Value

MAIN, INIT, SIDECAR = "container", "init container", "sidecar"

_INDEX_KEYS = {
    "batch.kubernetes.io/job-completion-index": COMPLETION_INDEX,
    "jobset.sigs.k8s.io/job-index": JOB_INDEX,
    "jobset.sigs.k8s.io/job-global-index": "global job index",
    "jobset.sigs.k8s.io/job-group-index": "job index in its group",
}
# The fields of a pod by which it knows its index.
INDEX_FIELDS = frozenset([f"metadata.{part}['{key}']" for part in ("labels", "annotations") for key in _INDEX_KEYS])


class Container:
    """A container of every pod of one role, read once; the trees stay at hand for positions.

    `literals` are the variables whose value is written, `fields` those that a field of the pod gives, `sources` the
    entries that say where a value is from, each with its place in the list; `traits` is what occurs in it besides the
    fields of its own.
    """

    __slots__ = (
        "_commands",
        "_launch",
        "demand",
        "devices",
        "env",
        "fields",
        "index",
        "kind",
        "limits",
        "literals",
        "mounts",
        "name",
        "names",
        "requests",
        "role",
        "script",
        "shell",
        "sources",
        "text",
        "traits",
        "tree",
        "words",
    )

    def __init__(self, role: Role, tree: Tree, index: int, kind: str) -> None:
        self.role = role
        self.tree = tree
        self.index = index
        self.kind = kind
        self.name = text(tree, "name")
        self.traits: set[str] = set()
        self._launch: Launch | bool | None = False
        self._commands: list[shell.Simple] | None = None
        self._read_variables()
        self._read_words()
        resources = table(tree, "resources")
        self.limits = table(resources, "limits")
        self.requests = table(resources, "requests")
        self.demand = demand(self.limits, self.requests)
        self.devices = self.demand.devices
        self.mounts = MOUNTS[tree.get("volumeMounts")]
        if "claims" in resources:
            self.traits.add("claims")
        if self.requests:
            self.traits.add("requests")
        if self.devices:
            self.traits.add("devices")

    def close(self) -> None:
        """Let go of what points back at this container."""
        self._launch = None

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
                if len(entry) == 2:
                    continue
                self.traits.add("odd env")
            if "valueFrom" in entry:
                sources.append((index, entry))
        self.env, self.literals, self.sources = env, literals, sources
        self.names = NAMES[tuple(env)]
        self.fields = self._fields() if sources else {}

    def _fields(self) -> dict[str, str]:
        """The fields of the pod that variables are read from, by variable."""
        found: dict[str, str] = {}
        for _, entry in self.sources:
            source = entry["valueFrom"]
            if source.__class__ is dict and "fieldRef" in source:
                field = text(table(source, "fieldRef"), "fieldPath")
                if field:
                    found[text(entry, "name")] = field
                if ODD_FIELDS[field]:
                    self.traits.add("odd field")
        return found

    def _read_words(self) -> None:
        words: list[str] = []
        self.words = words
        for field in ("command", "args"):
            listed = self.tree.get(field)
            for item in listed if listed.__class__ is list else ():
                if item.__class__ is Sourced and item.value is not None:
                    word = item.value if item.value.__class__ is str else str(item.value)
                    words.append(word)
                    if found := WORDS[word]:
                        self.traits |= found
        if words and " " in words[0] and "command" in self.tree:
            self.traits.add("odd program")
        self.text = " ".join(words)
        self.script, self.shell = shell.script_of(self.words) if "shell" in self.traits else ("", "")
        if self.script:
            self.traits.add("script")

    @property
    def path(self) -> Path:
        """Where the container stands in the JobSet."""
        return (*self.role.pod_path, "containers" if self.kind is MAIN else "initContainers", self.index)

    @property
    def main(self) -> bool:
        """Whether the pod's end waits for this container."""
        return self.kind is MAIN

    @property
    def commands(self) -> list[shell.Simple]:
        """What runs, as simple commands: those of the script, or the command itself as one."""
        if self._commands is None:
            self._commands = shell.simple_commands(self.script) if self.script else [shell.Simple(self.words, {}, "")]
        return self._commands

    @property
    def launch(self) -> Launch | None:
        """The launcher that starts the processes, None where none is seen."""
        if self._launch is False:
            self._launch = find_launch(self)
        return self._launch  # type: ignore[return-value]

    def env_path(self, name: str) -> Path:
        """Where the variable `name` stands in the JobSet."""
        for index, entry in enumerate(rows(self.tree, "env")):
            if text(entry, "name") == name:
                return (*self.path, "env", index)
        return self.path

    def word_path(self, *fragments: str) -> Path:
        """Where the first word of the command stands that holds one of `fragments`."""
        for field in ("command", "args"):
            for index, word in enumerate(texts(self.tree, field)):
                if any(fragment in word for fragment in fragments):
                    return (*self.path, field, index)
        return self.path

    def literal(self, name: str) -> str | None:
        """The text a variable is set to as written, None where it is absent or comes from elsewhere."""
        return self.literals.get(name)

    def value(self, name: str) -> Value | None:
        """What a variable holds in the pod: text, unknown, or differing from pod to pod; None where it is not set."""
        entry = self.env.get(name)
        if entry is None:
            return Varies(COMPLETION_INDEX) if name == "JOB_COMPLETION_INDEX" and self.role.indexed else None
        written = self.literal(name)
        if written is None:
            return self._elsewhere(entry)
        if "$(" in written:
            return self.expand(written, before=name)
        return SUBSTITUTED if "$" in written and substituted(written) else written

    def expand(self, written: str, before: str = "") -> Value:
        """A text with its `$(VAR)` references filled in as the kubelet does; `before` limits them to earlier variables."""
        out: list[str] = []
        rest = written
        while True:
            head, found, rest = rest.partition("$(")
            out.append(head)
            name, closed, tail = rest.partition(")")
            if not found or not closed:
                return "".join(out) + found + rest
            rest = tail
            if head.endswith("$"):
                out.append(f"({name})")
                continue
            value = self._earlier(name, before)
            if value is None:
                out.append(f"$({name})")
            elif type(value) is str:
                out.append(value)
            else:
                return value if out == [""] and not rest else UNKNOWN

    def _earlier(self, name: str, before: str) -> Value | None:
        if before:
            for other in self.env:
                if other == before:
                    return UNKNOWN if rows(self.tree, "envFrom") else None
                if other == name:
                    break
        return self.value(name)

    def _elsewhere(self, entry: Tree) -> Value:
        source = table(entry, "valueFrom")
        if "fieldRef" in source:
            return self.role.field(text(table(source, "fieldRef"), "fieldPath"))
        if entry.get("value") is None and not source:
            return ""
        return UNKNOWN


def index_of(key: str) -> Varies | None:
    """The index that a label or annotation of a pod holds, None for keys that hold none."""
    by = _INDEX_KEYS.get(key)
    return Varies(by) if by else None
