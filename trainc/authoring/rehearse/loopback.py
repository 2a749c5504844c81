"""Pods' addresses as this machine knows them: one host, so what listens on equal ports there needs different ones here."""

from __future__ import annotations

import re
import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HERE = "127.0.0.1"


class Loopback:
    """Rewrites the addresses of a job's pods: the host becomes loopback, a port that is taken a free one.

    `moved` holds the ports of the job on which something listens here already.
    """

    def __init__(self, addresses: Sequence[str], ports: Iterable[int]) -> None:
        self._addresses = frozenset(addresses)
        # Longer names first: `run-node-0-1` is the beginning of `run-node-0-10`.
        ordered = sorted(self._addresses, key=len, reverse=True)
        self._pattern = re.compile(rf"(?<![\w.-])({'|'.join(map(re.escape, ordered))})(?![\w-])(?::(\d+))?")
        self._ports: dict[tuple[str, str], str] = {}
        self.moved = {str(port): free_port() for port in sorted(set(ports)) if not is_free(port)}

    def named_in(self, written: str) -> Iterator[str]:
        """The addresses that a text holds, with their ports."""
        if self._addresses:
            yield from (match[0] for match in self._pattern.finditer(written))

    def mapped(self, written: str) -> str:
        """The text with every address replaced."""
        return self._pattern.sub(self._here, written) if self._addresses else written

    def variable(self, name: str, value: str) -> str:
        """A variable's value here: addresses replaced, and a port of its own that has moved."""
        return self.moved[value] if name.endswith("PORT") and value in self.moved else self.mapped(value)

    def _here(self, match: re.Match[str]) -> str:
        return f"{HERE}:{self._port(match[1], match[2])}" if match[2] else HERE

    def _port(self, address: str, port: str) -> str:
        key = (address, port)
        if key not in self._ports:
            here = self.moved.get(port, port)
            self._ports[key] = free_port() if here in self._ports.values() else here
        return self._ports[key]


def is_free(port: int) -> bool:
    """Whether a process could listen on a port now."""
    with socket.socket() as probe:
        try:
            probe.bind((HERE, port))
        except OSError:
            return False
    return True


def free_port() -> str:
    """A port on which nobody listens now."""
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        return str(probe.getsockname()[1])
