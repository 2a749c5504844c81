"""What a file of CustomResourceDefinitions says, kept by the content of the file: reading one takes a second."""

from __future__ import annotations

from trainc import __version__
from trainc.model.cluster import Definitions
from trainc.model.sourced import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.cluster import Cache

KIND = "CustomResourceDefinition"

_FORM = 3  # counts up whenever a file's text comes to mean something else, or is kept in another way


def recall(data: bytes, file: str, cache: Cache | None) -> Definitions | None:
    """What was kept of a file that holds definitions and nothing else, None where nothing was."""
    if cache is None or KIND.encode() not in data:
        return None
    kept = cache.get(_key(data))
    if kept is None:
        return None
    from json import loads  # noqa: PLC0415 (few clusters bring definitions)

    try:
        table, *remarks = loads(kept)
        faults, notes = [tuple((Span(file, *place), text) for *place, text in rows) for rows in remarks]
        return Definitions({key: table[key] for key in ("kinds", "nodes", "whole")}, faults, notes)
    except (ValueError, TypeError, KeyError):
        return None  # somebody else's file


def keep(data: bytes, definitions: Definitions, cache: Cache | None) -> None:
    """Keep what a file says that holds definitions and nothing else."""
    if cache is None:
        return
    from json import dumps  # noqa: PLC0415

    remarks = [[[*at[1:], text] for at, text in rows] for rows in (definitions.faults, definitions.notes)]
    cache.put(_key(data), dumps([definitions.table, *remarks]).encode())


def _key(data: bytes) -> str:
    from hashlib import sha256  # noqa: PLC0415

    return sha256(f"{_FORM} {__version__} ".encode() + data).hexdigest()
