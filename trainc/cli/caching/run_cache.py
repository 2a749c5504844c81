"""Runs of `build` and `validate` over folders by way of the cache: hit, run of what changed, or run of everything."""

import os
import sys
from collections.abc import Callable
from io import StringIO
from time import time_ns
from typing import BinaryIO, TextIO

import trainc
from trainc import __version__
from trainc.cli.cache import FileCache, opened
from trainc.cli.caching.listing import Listing, State, listing
from trainc.cli.caching.manifest import Answer, Head, Manifest, read_head, read_manifest
from trainc.cli.options import BASELINE, PROJECT, Options
from trainc.cli.output import data, data_beside, terminal
from trainc.compiler.project import find_root
from trainc.text.files import digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cli.caching.outcomes import CompletedRun, Plain
    from trainc.cli.session import Session
    from trainc.compiler.emit.spool import Spool
    from trainc.model.file_results import CachedResults
States = dict[str, State]
Run = Callable[[Options, "RunCache | None"], int]

_FORM = 7  # counts up whenever what is kept comes to mean something else
# These runs read more than files.
_OFF = ("against", "changed_since", "format", "include_other", "rerender", "staged", "write_baseline")
# These options change what is printed, not what is found.
_SHOWN = ("all", "color", "jobs", "min_level", "notes", "quiet", "statistics", "verbose")
_ROWS = 125  # files that are written down in the time of half a job
_FEW = 6  # a project with few files is written down at any change: then a run without another change is a hit
_PACKAGES = ("site-packages", "dist-packages")


def run_cached(name: str, run: Run, options: Options) -> int:
    """Run a command, or print again what the same run printed where nothing has changed since."""
    if (run_cache := _run_cache(name, options)) is None:
        return run(options, None)
    try:
        if (hit := run_cache.hit()) is None:
            return _run(run, options, run_cache)
    finally:
        run_cache.close()
    code, out, err = hit
    data(out)
    data_beside(err)
    return code


def _run(run: Run, options: Options, run_cache: "RunCache") -> int:
    """Run a command on what is not known, or on everything where it turns out that this does not suffice."""
    from trainc.model.file_results import CacheMissError  # noqa: PLC0415 (a hit needs none of it)

    try:
        return run(options, run_cache)
    except CacheMissError:
        again = run_cache.without_results()
        try:
            return run(options, again)
        finally:
            again.close()


def _run_cache(name: str, options: Options) -> "RunCache | None":
    """What is known of a command, None for one that nothing is kept of."""
    if os.name != "posix" or any(options.has(word) for word in _OFF) or "-" in options.arguments:
        return None
    if (cache := opened()) is None or not (build := _build()):
        return None
    started = time_ns()
    given = sorted((word, values) for word, values in options.values.items() if word not in _SHOWN)
    here, paths = os.getcwd(), options.arguments
    files: list[str] = []
    if options.has("whole_project"):
        # The files choose what is printed of a run over their project.
        roots = {find_root(path)[0] for path in options.arguments or ["."]}
        if len(roots) > 1:
            return None
        paths, files = sorted(roots), options.arguments
    key = (_FORM, name, given, paths, here, _marks(here, paths), build, _interpreter(here))
    shown = sorted((word, values) for word, values in options.values.items() if word in _SHOWN)
    terminals = terminal(sys.stderr), terminal(sys.stdout)
    histories = [_history(mark) for mark in key[5] if os.path.basename(mark) == ".git"]
    return RunCache(cache, digest_of(repr(key).encode()).hex(), repr((shown, terminals, histories, files)), started)


def _marks(here: str, arguments: list[str]) -> list[str]:
    """What decides where the projects of the paths start: each trainc.yaml and repository above them.

    Where a checkout is sparse, what it leaves out decides as well.
    """
    marks = []
    folders = {os.path.join(here, path) for path in arguments or ["."]}
    while folders:
        for folder in folders:
            if os.path.isfile(path := os.path.join(folder, BASELINE)):
                marks.append(f"{path} {os.stat(path).st_mtime_ns}")
            marks += [path for mark in ("trainc.yaml", ".git") if os.path.exists(path := os.path.join(folder, mark))]
        folders = {os.path.dirname(folder) for folder in folders} - folders
    sparse = [os.path.join(path, "info", "sparse-checkout") for path in marks]
    changed = [f"{path} {os.stat(path).st_mtime_ns}" for path in sparse if os.path.isfile(path)]
    return sorted({*marks, *changed, os.path.realpath(here)})


def _history(mark: str) -> list[object]:
    """What decides which commit is the base: HEAD, branches, an unfinished merge, and where the history ends."""
    folder = mark
    if os.path.isfile(mark):  # of a worktree or a submodule
        with open(mark, encoding="utf-8", errors="replace") as stream:
            folder = os.path.join(os.path.dirname(mark), stream.read().removeprefix("gitdir:").strip())
    common = folder
    if os.path.isfile(path := os.path.join(folder, "commondir")):
        with open(path, encoding="utf-8", errors="replace") as stream:
            common = os.path.join(folder, stream.read().strip())
    names = [os.path.join(folder, "HEAD"), os.path.join(folder, "MERGE_HEAD")]
    names += [os.path.join(common, "packed-refs"), os.path.join(common, "shallow")]
    for place, _, files in os.walk(os.path.join(common, "refs")):
        names += [os.path.join(place, name) for name in files]
    states = [(name, os.stat(name)) for name in sorted(names) if os.path.isfile(name)]
    return [(name, state.st_mtime_ns, state.st_size, state.st_ino) for name, state in states]


def _interpreter(here: str) -> list[object]:
    """The Python that runs trainc and the places of its packages, which change with every package put there."""
    places = [place for place in sys.path if place and place != here and os.path.exists(place)]
    states = [(place, os.stat(place)) for place in places]
    return [sys.version, *[(place, status.st_mtime_ns, status.st_ino) for place, status in states]]


def _build() -> str:
    """Which trainc this is; empty where nobody can tell. One that is not installed is told by its files."""
    package = os.path.dirname(os.path.abspath(trainc.__file__))
    above = os.path.dirname(package)
    if os.path.basename(above) in _PACKAGES:
        return f"{__version__} {package}"
    if not os.path.isdir(package):
        return ""
    sources = [_sources(package), _sources(os.path.join(above, "runtimes"))]
    return f"{__version__} {package} {digest_of(repr(sources).encode()).hex()}"


def _sources(folder: str) -> list[tuple[str, int, int]]:
    sources: list[tuple[str, int, int]] = []
    if not os.path.isdir(folder):
        return sources
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                sources += _sources(entry.path) if entry.name != "__pycache__" else []
            else:
                state = entry.stat()
                sources.append((entry.path, state.st_mtime_ns, state.st_size))
    return sorted(sources)


class RunCache:
    """What is known of one command in one project."""

    def __init__(self, cache: FileCache, key: str, shown: str, started: int) -> None:
        self.known: CachedResults | None = None
        self._cache = cache
        self._key = key
        self._shown = shown  # tells apart the ways in which its answer can be printed
        self._started = started  # the moment, in nanoseconds, before which nothing of the project was looked at
        self._head: Head | None = None
        self._data: BinaryIO | None = None  # what was kept behind the head, not read yet
        self._found: Listing | None = None  # the files before the run
        self._manifest: Manifest | None = None
        self._different: States = {}  # of those of them that are there
        self._run: CompletedRun | None = None
        self._outcomes: Plain | None = None
        self._output: tuple[_Tee, _Tee] | None = None

    def hit(self) -> Answer | None:
        """What the same run said before, where no file has changed since; else what is still known of the files."""
        if (kept := self._cache.open(self._key)) is None:
            return None
        self._data = kept
        try:
            if (head := read_head(kept)) is None:
                return None
            listed = listing(head.root, head.whole, head.outside)
        except OSError:
            return None  # a folder is gone, or nobody may read it: the run says so
        self._head, self._found = head, listed
        if (head.files, head.links) == (listed.files, listed.links) and self._shown in head.answers:
            return head.answers[self._shown]
        if (manifest := read_manifest(head, kept)) is None:
            return None
        self._manifest = manifest
        self._different, changed = manifest.changes(listed, self._started)
        if not changed and self._shown in head.answers:
            now = head._replace(files={**listed.files, **self._different}, links=listed.links)  # with the old contents
            self._cache.put(self._key, manifest._replace(head=now).packed())
            return head.answers[self._shown]
        if manifest.outcomes is not None:
            from trainc.cli.caching.outcomes import known_of  # noqa: PLC0415 (a hit needs none of it)

            self.known = known_of(manifest.outcomes, head.root, head.files.keys(), listed.files.keys(), changed)
        return None

    def without_results(self) -> "RunCache":
        """A cache of the same command that knows nothing, for a run of everything."""
        return RunCache(self._cache, self._key, self._shown, self._started)

    def begin(self, session: "Session", spool: "Spool") -> None:
        """Let a run leave out what is known, and keep what becomes of the rest."""
        from trainc.model.file_results import FileResults  # noqa: PLC0415 (a hit needs none)

        spool.outcomes = FileResults()
        if self.known is not None:
            session.project.texts.names.update(self.known.walks)
        elif self._head is None or self._head.root != session.project.root:
            self._found = listing(session.project.root)

    def listen(self, session: "Session", spool: "Spool", folder: str) -> None:
        """Note what became of the jobs, and keep what is printed from now on: it is the answer of the run."""
        from trainc.cli.caching.outcomes import CompletedRun, plain_outcomes, rendered_below  # noqa: PLC0415 (a hit needs none)

        assert self._found is not None  # `begin` lists them
        rendered = rendered_below(session.project.root, folder)
        before = self._manifest, self._different
        self._run = CompletedRun(session, spool, rendered, self._started, self._found, self.known, *before, {})
        if self.known is None or not self._is_postponed(self.known):
            self._outcomes = plain_outcomes(self._run)
        self._output = (_Tee(sys.stdout), _Tee(sys.stderr))
        sys.stdout, sys.stderr = self._output

    def _is_postponed(self, known: "CachedResults") -> bool:
        """Whether the next runs may compile again what this one did, which takes less than to write down all files anew.

        With a changed file a run that adds up to the jobs of a triangle: the best moment is when these have cost as much.
        """
        few = len(known.again | self._different.keys())  # a file that merely looks different is read again each time
        files = len(self._found.files) if self._found is not None else 0
        return bool(known.again) and (few + _FEW) ** 2 * _ROWS < files

    def close(self) -> None:
        """Hear no more, and let go of what was kept."""
        if self._data is not None:
            self._data.close()
        if self._output is not None:
            out, err = self._output
            sys.stdout, sys.stderr = out.stream, err.stream

    def end(self, session: "Session", spool: "Spool", code: int) -> None:
        """Leave what the run found out to the next one."""
        self.close()
        if self._run is None or self._output is None or session.options.has(PROJECT) or session.report.broke:
            return
        from trainc.text.plugins import has_additions  # noqa: PLC0415 (a hit needs none of it)

        if self.known is None and has_additions():
            return  # the code of an installed package can change in a place that nothing here looks at
        if self.known is not None and self._outcomes is None:
            return  # what was known before is worth more
        from trainc.cli.caching.outcomes import recorded  # noqa: PLC0415

        try:
            manifest = recorded(self._run, self._outcomes)
        except OSError:
            return  # a file went away: there is nothing to rely on
        if manifest is not None:
            if spool.is_settled and manifest.is_complete:
                out, err = self._output
                manifest.head.answer(self._shown, (code, out.getvalue(), err.getvalue()))
            self._cache.put(self._key, manifest.packed())


class _Tee(StringIO):
    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self.stream = stream

    def write(self, text: str) -> int:
        super().write(text)
        return self.stream.write(text)

    def flush(self) -> None:
        self.stream.flush()

    def isatty(self) -> bool:
        return self.stream.isatty()
