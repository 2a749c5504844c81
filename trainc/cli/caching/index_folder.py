"""The files of Git's index in a folder of the cache: from one commit to the next, only what changed is written."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from marshal import dumps, loads

from trainc.changes.git.repository import GitRepository
from trainc.changes.git.scratch import drop, link, make_folders, unpack
from trainc.changes.git.staged import StagedFiles, scratch_folder
from trainc.cli.cache import FileCache, is_trusted, opened
from trainc.cli.caching.listing import FINE, State, state_of
from trainc.text.files import DIGEST, digest_of

_PREFIX = "trainc-index-"  # of the folders' names
_DAY = 24 * 3600  # seconds
_UNUSED = 30 * _DAY  # after which the folder of a repository goes
Written = dict[str, tuple[str, State]]  # by path: what it was written from, and its state since


@contextmanager
def index_folder(repository: GitRepository) -> Iterator[tuple[str, bool]]:
    """A folder that holds the specs of the index, and whether it stays for the next run.

    It stays where the cache has a place for it that no other run uses, and the index has no submodule.
    """
    staged = StagedFiles(repository)
    cache = opened()
    folder = _kept(cache, repository.top) if cache is not None and not staged.modules else None
    if cache is None or folder is None:
        with scratch_folder(staged) as scratch:
            yield scratch, False
        return
    place, lock = folder
    try:
        _update(place, staged, cache)
        yield place, True
    finally:
        os.close(lock)  # which gives it back


def _kept(cache: FileCache, top: str) -> tuple[str, int] | None:
    """The folder of a repository and the lock on it, None where there is none to be had."""
    try:
        import fcntl  # noqa: PLC0415 (not on every system)
    except ImportError:
        return None
    place = os.path.join(cache.folder, f"{_PREFIX}{digest_of(os.fsencode(top)).hex()[:32]}")
    try:
        if not os.path.isdir(place):
            _forget(cache.folder)
        os.makedirs(place, mode=0o700, exist_ok=True)
        lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(lock)
        if is_trusted(status) and is_trusted(os.stat(cache.folder)):
            if status.st_mtime < time.time() - _DAY:  # not each time: what changed just now cannot be relied on
                os.utime(place)
            return place, lock
    except OSError:  # another run has it, or the disk is read-only
        pass
    os.close(lock)
    return None


def _forget(folder: str) -> None:
    """Remove the folders of repositories in which nothing was committed for long."""
    with suppress(OSError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if name.startswith(_PREFIX) and os.stat(path).st_mtime < time.time() - _UNUSED:
                shutil.rmtree(path, ignore_errors=True)


def _update(place: str, staged: StagedFiles, cache: FileCache) -> None:
    """Make a folder hold the staged files; a file that is not as it was written is written again."""
    key = digest_of(os.fsencode(place)).hex()
    written = _record(cache.get(key))
    present, folders = _walked(place)
    wanted = staged.objects()
    kept = {path for path, state in present.items() if written.get(path) == (wanted.get(path, ""), state)}
    if stale := present.keys() - kept:
        drop(place, stale)
    for path in sorted(folders - staged.folders, reverse=True):
        with suppress(OSError):  # not empty
            os.rmdir(os.path.join(place, path))
    missing = wanted.keys() - kept
    if stale or missing:
        cache.put(key, b"")  # an interrupted run leaves no record
        unpack(place, staged.texts(missing))
        link(place, staged.links(missing))
    make_folders(place, staged.folders)
    if stale or missing:
        states = {path: state_of(os.lstat(os.path.join(place, path))) for path in missing}
        now: Written = {path: (name, states.get(path) or present[path]) for path, name in wanted.items()}
        data = dumps(now)
        cache.put(key, digest_of(data) + data)
        time.sleep(2 * FINE / 1e9)  # a file that was just written can change again without a trace


def _record(data: bytes | None) -> Written:
    if not data or digest_of(data[DIGEST:]) != data[:DIGEST]:
        return {}
    written: Written = loads(data[DIGEST:])  # noqa: S302 (its digest says that we wrote it)
    return written


def _walked(place: str) -> tuple[dict[str, State], set[str]]:
    """Each file below a folder with its state, and the folders."""
    files: dict[str, State] = {}
    folders: set[str] = set()
    left = [""]
    while left:
        prefix = left.pop()
        with os.scandir(os.path.join(place, prefix)) as entries:
            for entry in entries:
                path = f"{prefix}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    folders.add(path)
                    left.append(f"{path}/")
                else:
                    files[path] = state_of(entry.stat(follow_symlinks=False))
    return files, folders
