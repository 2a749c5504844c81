"""The flags of Volcano's plugins, read as Go's package flag reads them: what follows a mistake is not read at all."""

from __future__ import annotations

import re

from trainc.text.numbers import brief

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
_LARGEST = 2**63 - 1  # of Go's int; one number further down is a number too, and no port
_LONGEST = 19  # its digits
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
        """Set a flag; one that cannot be read becomes zero, one that is too large the largest, as `flag.IntVar` leaves it."""
        kind = type(self.values[name])
        if kind is str:
            self.values[name] = text
            return
        if kind is bool:
            known, self.values[name] = text in _TRUE or text in _FALSE, text in _TRUE
        else:
            number = _number(text) if _NUMBER.fullmatch(text) else None
            known = number is not None and -_LARGEST <= number <= _LARGEST
            self.values[name] = max(-_LARGEST, min(number or 0, _LARGEST))
        if not known:
            self.problem = f'invalid value "{brief(text)}" for flag -{name}'

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
    """A whole number of any size."""
    digits = text.lstrip("+-")
    if digits[0] != "0":
        number = int(digits) if len(digits) <= _LONGEST else _LARGEST + 1
    else:
        number = int(digits, 8 if digits[1:2].isdigit() else 0)
    return -number if text[0] == "-" else number
