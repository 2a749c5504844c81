"""Reading a Git repository: plumbing commands alone, no hooks, no file system monitor, nothing of the caller's GIT_*."""

from __future__ import annotations

import os
import subprocess
from typing import NamedTuple

from trainc.model.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never")


class IndexEntry(NamedTuple):
    """One file of the index: its path relative to the top, mode and object; `stage` is 0 but for a merge conflict."""

    path: str
    mode: str
    object: str
    stage: int


class Repository:
    """The Git work tree that holds a folder; reads objects, never changes one.

    Raises:
        Trouble: where there is no Git, or the folder is in no work tree.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.top = os.path.realpath(self._text("rev-parse", "--show-toplevel"))
        self._index_file = os.environ.get("GIT_INDEX_FILE", "")  # of `git commit FILE` and `git commit -a`

    def prefix(self, folder: str) -> str:
        """What stands before the paths of a folder of the work tree: its own path with a slash, empty for the top."""
        below = os.path.relpath(os.path.realpath(folder), self.top).replace(os.sep, "/")
        return "" if below == "." else f"{below}/"

    def commit(self, revision: str) -> str:
        """The commit that a revision names.

        Raises:
            Trouble: where it names none.
        """
        return self._text(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", about=revision
        )

    def files(self, commit: str, below: str = "") -> Iterator[tuple[str, str]]:
        """Path (relative to the top) and object of every ordinary file of a commit, optionally below a folder."""
        words = ["ls-tree", "-r", "-z", "--full-tree", commit]
        for entry in (
            self._bytes(*words, *(["--", below] if below else [])).decode("utf-8", "surrogateescape").split("\0")
        ):
            about, tab, path = entry.partition("\t")
            if tab and about.startswith("100"):
                yield path, about.split()[2]

    def contents(self, objects: list[str]) -> Iterator[bytes]:
        """The bytes of each object, in order."""
        if not objects:
            return
        data = self._bytes("cat-file", "--batch", feed="".join(f"{name}\n" for name in objects).encode())
        at = 0
        for _ in objects:
            end = data.index(b"\n", at)
            size = int(data[at:end].split()[2])
            yield data[end + 1 : end + 1 + size]
            at = end + 1 + size + 1

    @property
    def git_folder(self) -> str:
        """The absolute path of the folder in which Git keeps this work tree's state."""
        return self._text("rev-parse", "--absolute-git-dir")

    def index(self) -> Iterator[IndexEntry]:
        """Every file of the index that a hook was given, else of the work tree's own; `git add -N` adds none."""
        promised = {*self._paths("diff-files", "--name-only", "-z", "--diff-filter=A", index=True)}
        for line in self._paths("ls-files", "--stage", "-z", "--full-name", "--", ":/", index=True):
            about, _, path = line.partition("\t")
            mode, name, stage = about.split()
            if path not in promised:
                yield IndexEntry(path, mode, name, int(stage))

    def staged(self) -> tuple[set[str], dict[str, str]]:
        """Paths (relative to the top) that the next commit adds or changes, and what it deletes with its object."""
        try:
            commit = self.commit("HEAD")
        except Trouble:  # before the first commit
            return {entry.path for entry in self.index()}, {}
        words = ("diff-index", "--cached", "--raw", "--no-abbrev", "--no-renames", "-z", commit, "--")
        answer = self._paths(*words, index=True)
        entries = dict(zip(answer[1::2], answer[::2], strict=True))
        gone = {path: entry.split()[2] for path, entry in entries.items() if entry.endswith(" D")}
        return entries.keys() - gone.keys(), gone

    def changed(self, commit: str) -> set[str]:
        """Paths (relative to the top) that differ between a commit and the work tree, new ones included."""
        tracked = self._bytes("diff-index", "--raw", "--no-abbrev", "-z", "--no-renames", commit, "--")
        fresh = self._bytes("ls-files", "--others", "--exclude-standard", "-z", "--full-name", ":/")
        words = tracked.decode("utf-8", "surrogateescape").split("\0")
        entries = dict(zip(words[1::2], words[::2], strict=False))
        names = {*entries, *fresh.decode("utf-8", "surrogateescape").split("\0")} - {""}
        return names - self._touched(entries)

    def _touched(self, entries: Mapping[str, str]) -> set[str]:
        """Those of the entries of a raw difference that were only saved again: the index knows times, not contents."""
        saved = {}
        for path, entry in entries.items():
            before, after, old, _, status = entry.split()
            if status == "M" and before[1:] == after and after.startswith("100") and "\n" not in path:
                saved[path] = old
        here = os.path.realpath(self._folder)
        feed = "".join(f"{os.path.relpath(os.path.join(self.top, path), here)}\n" for path in saved)
        hashes = (
            self._bytes("hash-object", "--stdin-paths", feed=feed.encode("utf-8", "surrogateescape")) if saved else b""
        )
        return {path for (path, old), now in zip(saved.items(), hashes.decode().split(), strict=True) if now == old}

    def _paths(self, *words: str, index: bool = False) -> list[str]:
        """The entries of an answer that a NUL byte ends."""
        return [
            name for name in self._bytes(*words, index=index).decode("utf-8", "surrogateescape").split("\0") if name
        ]

    def _text(self, *words: str, about: str = "") -> str:
        return self._bytes(*words, about=about).decode("utf-8", "surrogateescape").strip()

    def _bytes(self, *words: str, feed: bytes | None = None, about: str = "", index: bool = False) -> bytes:
        environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
        if index and self._index_file:
            environment["GIT_INDEX_FILE"] = os.path.join(self.top, self._index_file)
        environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        try:
            done = subprocess.run(  # noqa: S603 (fixed words; revisions stand behind --end-of-options)
                ["git", *_SAFE, "-C", self._folder, *words],  # noqa: S607 (the Git of the caller's path)
                check=False,
                capture_output=True,
                env=environment,
                input=feed or b"",
            )
        except OSError as error:
            raise Trouble(f"git cannot be run: {error.strerror}") from error
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            if said and "not a git repository" in said[-1]:
                raise Trouble(f"{os.path.abspath(self._folder)} lies in no Git repository")
            if about == "HEAD":
                raise Trouble("there is no commit yet, so nothing to compare with")
            raise Trouble(
                f"Git knows no revision `{about}`" if about else f"git {words[0]}: {said[-1] if said else 'failed'}"
            )
        return done.stdout
