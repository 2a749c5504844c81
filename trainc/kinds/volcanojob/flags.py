"""The flags of Volcano's plugins, read as Go's package flag reads them: what follows a mistake is not read at all."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Flag = str | int | bool

# By plugin, each flag with what it is when absent; the type of that says what it holds.
PLUGINS: Mapping[str, Mapping[str, Flag]] = {
    "env": {},
    "svc": {"publish-not-ready-addresses": False, "disable-network-policy": False, "inject-hosts-env": True},
    "ssh": {"ssh-key-file-path": "/root/.ssh", "ssh-private-key": "", "ssh-public-key": "", "ssh-port": 22},
    "pytorch": {
        "master": "master",
        "worker": "worker",
        "port": 23456,
        "wait-master-enabled": False,
        "wait-master-timeout": 300,
        "wait-master-image": "busybox:1.36.1",
    },
    "tensorflow": {"ps": "ps", "worker": "worker", "chief": "chief", "evaluator": "evaluator", "port": 2222},
    "mpi": {"master": "master", "worker": "worker", "port": 22},
    "ray": {
        "head": "head",
        "headContainer": "head",
        "worker": "worker",
        "workerContainer": "worker",
        "port": 6379,
        "dashboardPort": 8265,
        "clientPort": 10001,
    },
    "hcclrank": {"master": "master", "worker": "worker"},
}
_TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_FALSE = frozenset(("0", "f", "F", "FALSE", "false", "False"))
_NUMBER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|[1-9][0-9]*|0)")


class Flags:
    """The flags of one plugin: what each says, and which argument stopped the reading (-1 for none)."""

    __slots__ = ("problem", "stopped", "values")

    def __init__(self, plugin: str, arguments: Sequence[str]) -> None:
        self.values: dict[str, Flag] = dict(PLUGINS[plugin])
        self.problem = ""
        self.stopped = -1
        self._read(arguments)

    def _read(self, arguments: Sequence[str]) -> None:
        index = 0
        while index < len(arguments):
            argument = arguments[index]
            taken = self._flag(argument, arguments[index + 1 : index + 2])
            if self.problem or not taken:
                self.stopped = index
                return
            index += taken

    def _flag(self, argument: str, following: Sequence[str]) -> int:
        """How many arguments one flag takes, 0 where the flags end."""
        if len(argument) < 2 or argument[0] != "-" or argument == "--":
            return 0
        name, equals, text = argument[2 if argument[1] == "-" else 1 :].partition("=")
        if not name or name[0] == "-":
            self.problem = f"bad flag syntax: {argument}"
        elif name not in self.values:
            self.problem = f"flag provided but not defined: -{name}"
        elif type(self.values[name]) is bool:
            self._set(name, text if equals else "true")
        elif equals:
            self._set(name, text)
        elif following:
            self._set(name, following[0])
            return 2
        else:
            self.problem = f"flag needs an argument: -{name}"
        return 1

    def _set(self, name: str, text: str) -> None:
        """Set a flag; one that cannot be read becomes Go's zero, as `flag.IntVar` leaves it."""
        kind = type(self.values[name])
        if kind is str:
            self.values[name] = text
            return
        known = text in _TRUE or text in _FALSE if kind is bool else _NUMBER.fullmatch(text) is not None
        if not known:
            self.problem = f'invalid value "{text}" for flag -{name}'
        if kind is bool:
            self.values[name] = text in _TRUE
        else:
            self.values[name] = _number(text) if known else 0

    def text(self, name: str) -> str:
        """A flag that holds text."""
        return str(self.values[name])

    def number(self, name: str) -> int:
        """A flag that holds a number."""
        return int(self.values[name])

    def is_on(self, name: str) -> bool:
        """A flag that is a switch."""
        return self.values[name] is True


def _number(text: str) -> int:
    digits = text.lstrip("+-")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    number = int(digits, 8) if octal else int(digits, 0)
    return -number if text[0] == "-" else number
