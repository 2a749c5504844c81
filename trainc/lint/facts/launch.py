"""Launchers: which one starts the processes, with which of its own flags, and what it starts."""

from typing import NamedTuple, Protocol

from trainc.lint.facts.shell import Simple, with_certainty
from trainc.lint.facts.values import SUBSTITUTED, UNKNOWN, Unknown, Value
from trainc.model.vocabulary import Launcher, Vocabulary
from trainc.text.numbers import parsed_int

PYTHON = Launcher("python")  # where a program is started by itself
NOTHING = Launcher("")  # where neither a launcher nor Python is seen
_ALIASES = {"n": "np", "c": "np", "N": "npernode"}
_ONE_OF_SEVERAL = "$"  # what a script assigns here and there is not known: no shell reads this as a variable
_TWO = frozenset(("mca", "gmca", "prtemca", "pmixmca", "omca"))


class Process(Protocol):
    """What a launcher is looked for in: a container, as far as its command and its variables go."""

    script: str
    text: str

    @property
    def commands(self) -> list[Simple]: ...
    def value(self, name: str) -> Value | None: ...
    def expand(self, written: str) -> Value: ...


class Launch(NamedTuple):
    """A call of a launcher, or of `PYTHON`: `flags` are its own (dashes as underscores), `program` the words it starts."""

    process: Process
    launcher: Launcher
    flags: dict[str, str]
    program: list[str]
    exported: dict[str, str]

    @property
    def name(self) -> str:
        return self.launcher.name

    @property
    def by_launcher(self) -> bool:
        """Whether a launcher starts the processes."""
        return self.launcher is not PYTHON and self.launcher is not NOTHING

    def value(self, flag: str) -> Value | None:
        """What a flag of the launcher says once the shell and the kubelet have expanded it, None where it is absent."""
        written = self.flags.get(flag)
        return None if written is None else expanded(written, self.process, self.exported)

    def number(self, flag: str) -> int | Unknown | None:
        """The number a flag says: None where absent, unknown where it is not a number here."""
        if (value := self.value(flag)) is None:
            return None
        number = parsed_int(value)
        return UNKNOWN if number is None else number


def expanded(written: str, process: Process, exported: dict[str, str]) -> Value:
    """A word of a command after `$(VAR)` and, inside a script, `$VAR`, `${VAR}` and `${VAR:-default}`."""
    value: Value = process.expand(written) if "$(" in written else written
    if type(value) is str and "`" in value and process.script:
        return SUBSTITUTED  # what a command prints
    if type(value) is not str or "$" not in value:
        return value
    if not process.script:
        return SUBSTITUTED
    out, references = pieces(value)
    for name, default, behind in references:
        held = _held(name, default, process, exported)
        if type(held) is not str:
            return held if not out and not behind and len(references) == 1 else SUBSTITUTED
        out += held + behind
    return out


def _held(name: str, default: str | None, process: Process, exported: dict[str, str]) -> Value:
    """What a shell puts in the place of a variable; what a script assigns may refer to others."""
    if name in exported:
        return expanded(exported[name], process, {key: text for key, text in exported.items() if key != name})
    held = process.value(name) if name else SUBSTITUTED
    if held is None:
        return SUBSTITUTED if not default or "$" in default else default
    return held


def pieces(word: str) -> tuple[str, list[tuple[str, str | None, str]]]:
    """A word of a script as a shell reads it: its beginning, then each variable with its default and the text behind.

    The name is "" for what is no plain reference, as `$(COMMAND)` and `${NAME%%.*}`; the default None where there is none.
    """
    head, *parts = word.split("$")
    references: list[tuple[str, str | None, str]] = []
    for part in parts:
        inner, _, behind = part[1:].partition("}") if part.startswith("{") and "}" in part else ("", "", part)
        if inner:
            name, given, default = inner.partition(":-")
            references.append((name if name.isidentifier() else "", default if given else None, behind))
            continue
        length = next((at for at, char in enumerate(part) if not (char.isalnum() or char == "_")), len(part))
        name = part[:length]
        references.append((name if name.isidentifier() else "", None, part[length:]))
    return head, references


def names_in(word: str) -> list[str]:
    """The variables that a word of a script refers to and gives no default."""
    return [name for name, default, _ in pieces(word)[1] if name and default is None]


def find_launch(process: Process, vocabulary: Vocabulary) -> Launch:
    """The last launcher that a container runs, else its first Python; of `NOTHING` where it runs none that is known here."""
    last = Launch(process, NOTHING, {}, [], {})
    if any(word in process.text for launcher in (PYTHON, *vocabulary.launchers) for word in launcher.words):
        exported: dict[str, str] = {}
        for simple, is_sure in with_certainty(process.commands):
            for name, text in simple.assigned.items():
                exported[name] = text if is_sure and exported.get(name, text) == text else _ONE_OF_SEVERAL
            launch = _launch(process, vocabulary, simple, exported)
            if launch is not None and (launch.by_launcher or last.launcher is NOTHING):
                last = launch
    return last


def _launch(process: Process, vocabulary: Vocabulary, simple: Simple, exported: dict[str, str]) -> Launch | None:
    words = simple.words if simple.program != "ray" else []  # what it submits runs elsewhere
    for index, word in enumerate(words[:24]):
        base = word.rpartition("/")[2]
        module = vocabulary.modules.get(word) if index and words[index - 1] == "-m" else None
        launcher = vocabulary.programs.get(base) or module
        if launcher is None and base.startswith("python"):
            following = words[index + 2] if words[index + 1 : index + 2] == ["-m"] and len(words) > index + 2 else ""
            if following in vocabulary.modules or (base != "python" and not base[6:].replace(".", "").isdigit()):
                continue
            return Launch(process, PYTHON, {}, words[index + 1 :], dict(exported))
        if launcher is not None:
            start = index + 1
            if base == "accelerate":
                if words[start : start + 1] != ["launch"]:
                    return None
                start += 1
            flags, program = _split(words[start:], launcher)
            return Launch(process, launcher, flags, program, dict(exported))
    return None


def _split(words: list[str], launcher: Launcher) -> tuple[dict[str, str], list[str]]:
    flags: dict[str, str] = {}
    index = 0
    while index < len(words):
        word = words[index]
        if not word.startswith("-") or word == "--":
            break
        key, equals, content = word.lstrip("-").partition("=")
        key = _ALIASES.get(key, key.replace("-", "_"))
        index += 1
        if equals:
            flags[key] = content
        elif key in _TWO:
            index += 2
        elif _is_switch(key, launcher, words[index] if index < len(words) else "-"):
            flags[key] = ""
            if key in ("m", "module"):
                break
        else:
            flags[key] = words[index] if index < len(words) else ""
            index += 1
    return flags, words[index:]


def _is_switch(key: str, launcher: Launcher, following: str) -> bool:
    if launcher.switches is not None:
        return key in launcher.switches
    is_known = key in ("m", "module", "multi_gpu", "use_fsdp", "use_deepspeed", "no_python", "force_multi")
    return is_known or following.startswith("-") or following.endswith((".py", ".sh"))


def options(words: list[str]) -> dict[str, str]:
    """The `--key value`, `--key=value` and `key=value` settings of a program, dashes as underscores."""
    by_name: dict[str, str] = {}
    for index, word in enumerate(words):
        key, equals, content = word.partition("=")
        if word.startswith("--"):
            following = words[index + 1] if index + 1 < len(words) else "-"
            by_name[key[2:].replace("-", "_")] = content if equals else "" if following[:1] == "-" else following
        elif equals and not word.startswith("-") and key.replace(".", "_").replace("+", "").isidentifier():
            by_name[key.lstrip("+")] = content
    return by_name
