"""What a run said whose files differ little from those of the manifest, which stays as it is.

To keep the manifest after every change would cost more than the change. What is kept beside it is small: the digest of
what differs, and the answers that were given to it. Changes are counted from the manifest, until there are many.
"""

from __future__ import annotations

import marshal

from trainc.incremental.listing import are_settled, is_settled
from trainc.incremental.manifest import add_answer
from trainc.model.digests import DIGEST, digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Protocol

    from trainc.incremental.listing import Listing
    from trainc.incremental.manifest import Answer, Head

    class AnswerCache(Protocol):
        """Data by key."""

        def get(self, key: str) -> bytes | None:
            """What was put under a key, None for nothing."""

        def put(self, key: str, data: bytes) -> None:
            """Keep data under a key."""


MAX_DIFFERENT = 32  # files; with more of them, a manifest of all is worth its price


def is_recent(head: Head, listed: Listing, different: Collection[str], started: int) -> bool:
    """Whether a listing before a run says all about it: nothing that the run read can have changed and still be listed so.

    `different` are the files that differ from the manifest's, `started` is the moment of the listing in nanoseconds.

    Raises:
        OSError: where a folder went away meanwhile.
    """
    states = listed.states_of(different).values()
    are_files_settled = not listed.lost and all(is_settled(state, started) for state in states)
    return are_files_settled and are_settled(head.root, listed.folders, started)


def recent_answers(
    cache: AnswerCache, key: str, head: Head, listed: Listing, different: Collection[str]
) -> dict[str, Answer]:
    """The answers that were given to exactly these files, by the ways in which they were printed."""
    data = cache.get(_key(key))
    if data is None or digest_of(data[DIGEST:]) != data[:DIGEST]:
        return {}
    files, answers = marshal.loads(data[DIGEST:])  # noqa: S302 (its digest says that we wrote it)
    return answers if files == _digest(head, listed, different) else {}


def keep_recent(
    cache: AnswerCache,
    key: str,
    head: Head,
    listed: Listing,
    different: Collection[str],
    shown: str,
    answer: Answer,
) -> None:
    """Keep the answer to these files in the place of answers to others."""
    answers = recent_answers(cache, key, head, listed, different)
    add_answer(answers, shown, answer)
    payload = marshal.dumps((_digest(head, listed, different), answers))
    cache.put(_key(key), digest_of(payload) + payload)


def _key(key: str) -> str:
    return digest_of(f"recent {key}".encode()).hex()


def _digest(head: Head, listed: Listing, different: Collection[str]) -> bytes:
    """The digest of a listing: the manifest's head, and the states of the files that are different."""
    states = listed.states_of(different)
    rows = [(name, states.get(name)) for name in sorted(different)]
    return digest_of(repr((head.digest, listed.links, rows)).encode())
