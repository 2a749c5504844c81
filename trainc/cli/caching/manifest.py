"""What is known of a project from the run before: a file of the cache that is right, or as good as not there."""

from __future__ import annotations

import marshal
import os
from collections.abc import Collection, Mapping
from struct import pack

from trainc.cli.caching.listing import UNSETTLED, Listing, State, different, is_settled, unpacked
from trainc.text.files import DIGEST, digest_of, ordinary_contents
from trainc.text.record import Any, BinaryIO

Answer = tuple[int, str, str]  # exit code, standard output, standard error

_UNKNOWN = bytes(DIGEST)  # the digest of a file that has none
_LENGTH = 8  # bytes of a number
MAX_ANSWERS = 8  # one command is asked for in a few ways: quietly, in colour


class Head:
    """What an unchanged project needs: its files, where to look for them, and the answers that were given."""

    def __init__(self, root: str, whole: tuple[str, ...], outside: tuple[str, ...]) -> None:
        self.root = root
        self.whole = whole
        self.outside = outside
        self.names: list[str] = []
        self.numbers = b""
        self.links: list[str] = []
        self.digest = b""  # of all this as it was kept
        self.answers: dict[str, Answer] = {}

    def answer(self, shown: str, answer: Answer) -> None:
        """Keep what a run said, printed in one of a few ways."""
        self.answers.pop(shown, None)
        for name in list(self.answers)[: len(self.answers) - MAX_ANSWERS + 1]:
            del self.answers[name]
        self.answers[shown] = answer

    def keep(self, states: Mapping[str, State], links: list[str]) -> None:
        """Take these files for those of the project."""
        self.names, self.links = list(states), links
        self.numbers = pack(f"{4 * len(states)}q", *[number for state in states.values() for number in state])

    def is_listed(self, files: Listing) -> bool:
        """Whether a listing is exactly the one that is kept, which the order of a file system may prevent."""
        return files.names == self.names and files.packed() == self.numbers and files.links == self.links

    def different(self, files: Listing) -> set[str]:
        """The names of files of which a listing does not say the same."""
        return different((self.names, self.numbers), (files.names, files.packed()))

    def states(self) -> dict[str, State]:
        """The state of each file by its name."""
        return unpacked(self.names, self.numbers)


class Manifest:
    """The head, and what only a run with changes needs: digests of contents, and what became of files of jobs.

    `outcomes` is None where a change of one file may change what is said of another.
    """

    def __init__(
        self, head: Head, digests: dict[str, bytes] | None, outcomes: dict[str, Any] | None, rows: bytes = b""
    ) -> None:
        self.head = head
        self.outcomes = outcomes
        self._digests = digests
        self._names, self._rows = head.names, rows  # what the digests are made of, where there are none yet

    @property
    def digests(self) -> dict[str, bytes]:
        """The digest of each file that has one."""
        if self._digests is None:
            self._digests = self._digests_of({*self._names})
        return self._digests

    def _digests_of(self, names: Collection[str]) -> dict[str, bytes]:
        """The digests of some files."""
        if self._digests is not None:
            return self._digests
        rows = {
            name: self._rows[DIGEST * at : DIGEST * (at + 1)] for at, name in enumerate(self._names) if name in names
        }
        return {name: row for name, row in rows.items() if row != _UNKNOWN}

    @property
    def is_complete(self) -> bool:
        """Whether each file can be told from every other content of its: by its state, or by its digest."""
        return all(name in self.digests for name, state in self.head.states().items() if state == UNSETTLED)

    def changes(self, files: Listing, different: set[str], started: int) -> tuple[dict[str, State], set[str]]:
        """The states of files that are there and not as they were, and the names of those with other contents, new or gone.

        `different` are the names of files of which the listing does not say the same as the head. A file whose numbers differ but whose content is the same is unchanged; its state is the new one from now on.
        """
        names = different.union(files.lost)
        now = files.states_of(names)
        changed = names - now.keys()
        if files.links != self.head.links:
            changed |= {*files.links, *self.head.links} & {*files.names}
        digests = self._digests_of(now)
        for name, state in now.items():
            if name in digests and digests[name] == digest(os.path.join(self.head.root, name)):
                now[name] = state if is_settled(state, started) else UNSETTLED
            else:
                changed.add(name)
        return now, changed

    def packed(self) -> bytes:
        """Everything as bytes."""
        head = self.head
        places = (head.root, head.whole, head.outside)
        first = marshal.dumps((places, "\0".join(head.names), head.numbers, head.links, head.answers))
        digests = self.digests
        rows = b"".join([digests.get(name) or _UNKNOWN for name in head.names])
        second = marshal.dumps((rows, self.outcomes))
        return b"".join((digest_of(first), len(first).to_bytes(_LENGTH), first, digest_of(second), second))


def digest(path: str) -> bytes:
    """The digest of a file's content, empty where it cannot be read."""
    try:
        return digest_of(ordinary_contents(path))
    except OSError:
        return b""


def read_head(stream: BinaryIO) -> Head | None:
    """The head of what is kept, None where anything is wrong with it.

    Raises:
        OSError: where it cannot be read.
    """
    content, size = stream.read(DIGEST), int.from_bytes(stream.read(_LENGTH))
    first = stream.read(min(size, os.fstat(stream.fileno()).st_size))
    if len(first) != size or not size or digest_of(first) != content:
        return None
    places, names, numbers, links, answers = marshal.loads(first)  # noqa: S302 (its digest says that we wrote it)
    head = Head(*places)
    head.names = names.split("\0") if names else []
    head.numbers, head.links, head.answers, head.digest = numbers, links, answers, content
    return head


def read_manifest(head: Head, stream: BinaryIO) -> Manifest | None:
    """The whole of what is kept, of which the head has been read; None where anything is wrong with the rest."""
    try:
        content, second = stream.read(DIGEST), stream.read()
    except OSError:
        return None
    if not second or digest_of(second) != content:
        return None
    rows, outcomes = marshal.loads(second)  # noqa: S302 (its digest says that we wrote it)
    return Manifest(head, None, outcomes, rows)
