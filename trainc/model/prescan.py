"""What a run found out about its files before their turn came."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ROOM = 16 * 1024 * 1024  # bytes


class Texts:
    """The names of files by the paths they were looked for under, and what is known of those that were looked into.

    Bytes wait for the turn of their file as long as there is room: a tree of any size never lies in memory whole.
    `unsaved` are the texts that an editor holds, or a run tries, by file: each counts in the place of what is on the disk.
    """

    __slots__ = ("_held", "_waiting", "names", "unsaved", "without_objects")

    def __init__(self, unsaved: Mapping[str, bytes] | None = None) -> None:
        self.unsaved: Mapping[str, bytes] = unsaved or {}
        self.names: dict[tuple[str, ...], list[str]] = {}
        self.without_objects: set[str] = set()  # files that name no kind of objects which jobs name
        self._waiting: dict[str, bytes] = {}
        self._held = 0

    def hold(self, file: str, data: bytes) -> None:
        """Keep the bytes of a file until its turn."""
        if self._held < ROOM and file not in self._waiting:
            self._held += len(data)
            self._waiting[file] = data

    def held(self, file: str) -> bytes | None:
        """The bytes of a file that an editor holds, or that wait for its turn; None where there are none."""
        return self.unsaved[file] if file in self.unsaved else self._waiting.get(file)

    def replace(self, file: str, data: bytes) -> None:
        """Take these bytes for those of a file from now on."""
        self.drop(file)
        self.unsaved = {**self.unsaved, file: data}

    def drop(self, file: str) -> None:
        """Forget the bytes of a file: it has no turn, or it has come."""
        data = self._waiting.pop(file, None)
        if data is not None:
            self._held -= len(data)
