"""What is known of a project from the run before: a file of the cache that is right, or as good as not there."""

import marshal
import os
from typing import Any, BinaryIO, NamedTuple

from trainc.cli.caching.listing import UNSETTLED, Listing, State, is_settled
from trainc.text.files import DIGEST, digest_of, ordinary_contents

Answer = tuple[int, str, str]  # exit code, standard output, standard error

_LENGTH = 8  # bytes of a number
MAX_ANSWERS = 8  # one command is asked for in a few ways: quietly, in colour


class Head(NamedTuple):
    """What an unchanged project needs: its files, where to look for them, and the answers that were given."""

    root: str
    whole: tuple[str, ...]
    outside: tuple[str, ...]
    files: dict[str, State]
    links: list[str]
    answers: dict[str, Answer]

    def answer(self, shown: str, answer: Answer) -> None:
        """Keep what a run said, printed in one of a few ways."""
        self.answers.pop(shown, None)
        for name in list(self.answers)[: len(self.answers) - MAX_ANSWERS + 1]:
            del self.answers[name]
        self.answers[shown] = answer


class Manifest(NamedTuple):
    """The head, and what only a run with changes needs: digests of contents, and what became of files of jobs."""

    head: Head
    digests: dict[str, bytes]  # of each file that has one
    outcomes: dict[str, Any] | None  # None where a change of one file may change what is said of another

    @property
    def is_complete(self) -> bool:
        """Whether each file can be told from every other content of its: by its state, or by its digest."""
        return all(name in self.digests for name, state in self.head.files.items() if state == UNSETTLED)

    def changes(self, listed: Listing, started: int) -> tuple[dict[str, State], set[str]]:
        """The states of files that are there and not as they were, and the names of those with other contents, new or gone.

        A file whose numbers differ but whose content is the same is unchanged; its state is the new one from now on.
        """
        names = {*listed.lost, *[name for name, _ in self.head.files.items() ^ listed.files.items()]}
        now = {name: listed.files[name] for name in names if name in listed.files}
        changed = names - now.keys()
        if listed.links != self.head.links:
            changed |= {*listed.links, *self.head.links} & listed.files.keys()
        for name, state in now.items():
            if name in self.digests and self.digests[name] == digest(os.path.join(self.head.root, name)):
                now[name] = state if is_settled(state, started) else UNSETTLED
            else:
                changed.add(name)
        return now, changed

    def packed(self) -> bytes:
        """Everything as bytes."""
        first = marshal.dumps(tuple(self.head))
        digests = {name: self.digests[name] for name in self.head.files if self.digests.get(name)}
        second = marshal.dumps((digests, self.outcomes))
        return b"".join((digest_of(first), len(first).to_bytes(_LENGTH), first, digest_of(second), second))


def digest(path: str) -> bytes:
    """The digest of a file's content, empty where it cannot be read."""
    try:
        return digest_of(ordinary_contents(path))
    except OSError:
        return b""


def read_head(stream: BinaryIO) -> Head | None:
    """The head of what is kept, None where anything is wrong with it; OSError where it cannot be read."""
    content, size = stream.read(DIGEST), int.from_bytes(stream.read(_LENGTH))
    first = stream.read(min(size, os.fstat(stream.fileno()).st_size))
    if len(first) != size or not size or digest_of(first) != content:
        return None
    return Head(*marshal.loads(first))  # noqa: S302 (its digest says that we wrote it)


def read_manifest(head: Head, stream: BinaryIO) -> Manifest | None:
    """The whole of what is kept, of which the head has been read; None where anything is wrong with the rest."""
    try:
        content, second = stream.read(DIGEST), stream.read()
    except OSError:
        return None
    if not second or digest_of(second) != content:
        return None
    return Manifest(head, *marshal.loads(second))  # noqa: S302 (its digest says that we wrote it)
