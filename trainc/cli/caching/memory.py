"""One run's memory: what is known before it, and what it leaves to the next one."""

from __future__ import annotations

import sys
from io import StringIO

from trainc.cli.caching.listing import listing
from trainc.cli.caching.manifest import read_manifest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, TextIO

    from trainc.cli.cache import FileCache
    from trainc.cli.caching.listing import Listing, State
    from trainc.cli.caching.manifest import Answer, Head, Manifest
    from trainc.cli.caching.outcomes import Plain
    from trainc.cli.session import Session
    from trainc.compiler.emit.spool import Spool
    from trainc.model.file_results import Known

    States = dict[str, State]


class _Tee(StringIO):
    """A stream that keeps what it passes on."""

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


class Memory:
    """What is known of one command in one project; `shown` tells apart the ways in which its answer can be printed.

    `started` is the moment, in nanoseconds, before which nothing of the project was looked at.
    """

    def __init__(self, cache: FileCache, key: str, shown: str, started: int) -> None:
        self.key = key
        self.known: Known | None = None
        self._cache = cache
        self._shown = shown
        self._started = started
        self._head: Head | None = None
        self._data: BinaryIO | None = None  # what was kept behind the head, not read yet
        self._found: Listing | None = None  # the files before the run
        self._manifest: Manifest | None = None
        self._different: States = {}  # of those of them that are there
        self._rendered = ""
        self._outcomes: Plain | None = None
        self._output: tuple[_Tee, _Tee] | None = None

    def remember(self, head: Head, data: BinaryIO, listed: Listing) -> None:
        """Take what was kept, and the files that are there now."""
        self._head, self._data, self._found = head, data, listed

    def answer(self) -> Answer | None:
        """What the same run said before, where no file has changed since; else what is still known of the files."""
        head, listed = self._head, self._found
        if head is None or listed is None:
            return None
        if head.is_listed(listed) and self._shown in head.answers:
            return head.answers[self._shown]
        manifest = self._manifest = read_manifest(head, self._data) if self._data is not None else None
        if manifest is None:
            return None
        self._different, changed = manifest.changes(listed, head.different(listed), self._started)
        if not changed and self._shown in head.answers:
            manifest.head.keep(self._states(listed), listed.links)  # new states, and the old contents
            self._cache.put(self.key, manifest.packed())
            return head.answers[self._shown]
        if manifest.outcomes is not None:
            from trainc.cli.caching.outcomes import known_of  # noqa: PLC0415 (an answer needs none of it)

            before, now = ({name for name in names if name in changed} for names in (head.names, listed.names))
            self.known = known_of(manifest.outcomes, head.root, before, now, changed)
        return None

    def _states(self, listed: Listing) -> States:
        return {**listed.states(), **self._different}

    def without_knowledge(self) -> Memory:
        """A memory of the same command that knows nothing, for a run of everything."""
        return Memory(self._cache, self.key, self._shown, self._started)

    def begin(self, session: Session, spool: Spool) -> None:
        """Let a run leave out what is known, and keep what becomes of the rest."""
        from trainc.model.file_results import Outcomes  # noqa: PLC0415 (an answer needs none)

        spool.outcomes = Outcomes()
        if self.known is not None:
            session.project.texts.names.update(self.known.walks)
        elif self._head is None or self._head.root != session.project.root:
            self._found = listing(session.project.root)

    def listen(self, session: Session, spool: Spool, folder: str) -> None:
        """Note what became of the jobs, and keep what is printed from now on: it is the answer of the run."""
        from trainc.cli.caching.outcomes import plain_outcomes  # noqa: PLC0415 (an answer needs none of it)
        from trainc.cli.caching.recording import rendered_below  # noqa: PLC0415

        before = self._manifest.outcomes if self._manifest is not None else None
        self._rendered = rendered_below(session.project.root, folder)
        self._outcomes = plain_outcomes(session, spool, self._rendered, self.known, before)
        self._output = (_Tee(sys.stdout), _Tee(sys.stderr))
        sys.stdout, sys.stderr = self._output

    def close(self) -> None:
        """Hear no more, and let go of what was kept."""
        if self._data is not None:
            self._data.close()
        if self._output is not None:
            out, err = self._output
            sys.stdout, sys.stderr = out.stream, err.stream

    def end(self, session: Session, spool: Spool, code: int) -> None:
        """Leave what the run found out to the next one."""
        self.close()
        from trainc.cli.options import PROJECT  # noqa: PLC0415 (an answer needs none of it)

        if self._found is None or self._output is None or session.options.has(PROJECT):
            return
        if self.known is None and _has_additions():
            return  # a run that is left something was found to have none, and its key tells of every package
        if self.known is not None and self._outcomes is None:
            return  # what was known before is worth more
        from trainc.cli.caching.recording import CompletedRun, recorded  # noqa: PLC0415

        out, err = self._output
        about = (self._outcomes, self._started, self._found, self.known, self._manifest, self._states(self._found))
        run = CompletedRun(session.project, session.selection, spool, self._rendered, *about)
        try:
            manifest = recorded(run)
        except OSError:
            return  # a file went away: there is nothing to rely on
        if manifest is not None:
            if spool.is_settled and manifest.is_complete:
                manifest.head.answer(self._shown, (code, out.getvalue(), err.getvalue()))
            self._cache.put(self.key, manifest.packed())


def _has_additions() -> bool:
    """Whether an installed package adds to trainc: its code can change in a place that nothing here looks at."""
    from trainc.text.plugins import has_additions  # noqa: PLC0415 (an answer needs none of it)

    return has_additions()
