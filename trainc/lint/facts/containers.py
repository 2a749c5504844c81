"""One container of a role: what its variables hold in the pod, and how it is started."""

from __future__ import annotations

from trainc.lint.facts import shell
from trainc.lint.facts.demand import devices
from trainc.lint.facts.launch import find_launch, options
from trainc.lint.facts.values import (
    COMPLETION_INDEX,
    JOB_INDEX,
    LONGEST,
    MOST_TEXT,
    SUBSTITUTED,
    TOO_LONG,
    UNKNOWN,
    Varies,
    rows,
    table,
    templated,
    text,
    texts,
)
from trainc.model.sourced import Sourced
from trainc.text.object_keys import POD_INDEX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.lint.facts.launch import Launch
    from trainc.lint.facts.pods import ExpandedRole
    from trainc.lint.facts.values import Value
    from trainc.model.tree import Path, Tree

MAIN, INIT, SIDECAR = "container", "init container", "sidecar"

_INDEX_KEYS = {
    POD_INDEX: COMPLETION_INDEX,
    "jobset.sigs.k8s.io/job-index": JOB_INDEX,
    "jobset.sigs.k8s.io/job-global-index": "global job index",
    "jobset.sigs.k8s.io/job-group-index": "job index in its group",
}


class Container:
    """A container of every pod of one role; the trees stay at hand for positions.

    `kind` is MAIN, INIT or SIDECAR; `env` are the entries of its variables by name, `literals` the values that are
    written, and `has_references` says whether one of these refers to another variable; `words` are its command and
    arguments, `text` the same in one line; `devices` are its accelerators.
    """

    __slots__ = (
        "_commands",
        "_launch",
        "_options",
        "_references",
        "devices",
        "env",
        "has_references",
        "index",
        "kind",
        "limits",
        "literals",
        "name",
        "requests",
        "role",
        "script",
        "shell",
        "text",
        "tree",
        "words",
    )

    def __init__(self, role: ExpandedRole, tree: Tree, index: int, kind: str = MAIN) -> None:
        self.role = role
        self.tree = tree
        self.index = index
        self.kind = kind
        self.name = text(tree, "name")
        self.env: dict[str, Tree] = {}
        self.literals: dict[str, str] = {}
        self.has_references = False
        for entry in rows(tree, "env"):
            name, written = text(entry, "name"), entry.get("value")
            self.env[name] = entry
            if type(written) is Sourced and type(written.value) is str:
                self.literals[name] = written.value
                self.has_references = self.has_references or "$(" in written.value
        self.words = [*texts(tree, "command"), *texts(tree, "args")]
        self.text = " ".join(self.words)
        self.script, self.shell = shell.script_of(self.words)
        resources = table(tree, "resources")
        self.limits = table(resources, "limits")
        self.requests = table(resources, "requests")
        self.devices = devices(self.limits, self.requests)
        self._launch: Launch | bool | None = False
        self._commands: list[shell.Simple] | None = None
        self._options: dict[str, str] | None = None
        self._references: dict[str, Value] | None = None

    def close(self) -> None:
        """Let go of what points back at this container."""
        self._launch = None

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
    def options(self) -> dict[str, str]:
        """The settings that its commands give their programs, dashes as underscores."""
        if self._options is None:
            self._options = options([word for simple in self.commands for word in simple.words])
        return self._options

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

    def amount_path(self, resource: str) -> Path:
        """Where the amount of a resource stands in the JobSet, the limit rather than the request."""
        return (*self.path, "resources", "limits" if resource in self.limits else "requests", resource)

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
            return self._with_references()[name]
        return SUBSTITUTED if "$" in written and templated(written) else written

    def expand(self, written: str) -> Value:
        """A text of the command with its `$(VAR)` references filled in as the kubelet does."""
        return _filled(written, self.value)

    def _with_references(self) -> dict[str, Value]:
        """Each variable that refers to others, filled in with those that stand before it."""
        if self._references is None:
            self._references = {}
            absent = UNKNOWN if rows(self.tree, "envFrom") else None
            earlier: dict[str, Value | None] = {}
            left = MOST_TEXT
            for name in self.env:
                written = self.literal(name)
                if written is None or "$(" not in written:
                    earlier[name] = self.value(name)
                    continue
                value = _filled(written, lambda other: earlier.get(other, absent)) if left > 0 else TOO_LONG
                left -= len(value) if type(value) is str else 0
                earlier[name] = self._references[name] = value
        return self._references

    def _elsewhere(self, entry: Tree) -> Value:
        source = table(entry, "valueFrom")
        if "fieldRef" in source:
            return self.role.field(text(table(source, "fieldRef"), "fieldPath"))
        if entry.get("value") is None and not source:
            return ""
        return UNKNOWN


def _filled(written: str, value_of: Callable[[str], Value | None]) -> Value:
    """A text with its references filled in; where one is not known, neither is the text."""
    out: list[str] = []
    left = LONGEST
    rest = written
    while left >= 0:
        head, reference, rest = rest.partition("$(")
        out.append(head)
        name, closed, tail = rest.partition(")")
        if not reference or not closed:
            return "".join(out) + reference + rest
        rest = tail
        if head.endswith("$"):
            out.append(f"({name})")
            continue
        value = value_of(name)
        if value is not None and type(value) is not str:
            return value if out == [""] and not rest else UNKNOWN
        out.append(f"$({name})" if value is None else value)
        left -= len(out[-1])
    return TOO_LONG


def index_of(key: str) -> Varies | None:
    """The index that a label or annotation of a pod holds, None for keys that hold none."""
    by = _INDEX_KEYS.get(key)
    return Varies(by) if by else None
