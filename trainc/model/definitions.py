"""What a cluster's CustomResourceDefinitions say, ready to be asked, and where it is kept from run to run."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from trainc.model.sourced import Span

    Remark = tuple[Span, str]
    Opening = Callable[[], "Cache | None"]  # of a cache, which few runs need

    class Cache(Protocol):
        """Keeps data by key from run to run; it may forget everything at any time."""

        def get(self, key: str) -> bytes | None:
            """What was put under a key, None where it is not known."""

        def put(self, key: str, data: bytes) -> None:
            """Keep data under a key, where that can be done."""


class Definitions:
    """The compiled table of the kinds that one file defines, and remarks on it.

    `faults` say why a schema is not structural: a server would not have taken it, and it is left out of the table.
    `notes` name what cannot be checked. `lasting` says that another run would read the same of the file.
    """

    __slots__ = ("faults", "lasting", "notes", "table")

    def __init__(
        self,
        table: Mapping[str, Any],
        faults: tuple[Remark, ...] = (),
        notes: tuple[Remark, ...] = (),
        *,
        lasting: bool = True,
    ) -> None:
        self.table = table
        self.faults = faults
        self.notes = notes
        self.lasting = lasting
