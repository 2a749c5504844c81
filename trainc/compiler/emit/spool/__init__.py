"""Where text waits for the verdict of the whole run: it is written whole, or not at all."""

from collections.abc import Iterable, Iterator
from typing import IO, Any

from trainc.model.bundle import Bundle
from trainc.model.file_results import CachedResults, FileResults
from trainc.model.references import References
from trainc.model.report import Report
from trainc.text.trouble import Reaching

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    from trainc.compiler.emit import Rendered
    from trainc.compiler.emit.spool.questions import RenderedState

_IN_MEMORY = 8 * 1024 * 1024  # characters kept before text goes to a temporary file


class Spool:
    """Collects renderings in order; `commit` hands them to a sink unless the run failed."""

    streams = False  # whether the text goes to the one stream that people and programs see
    above: "tuple[str, os.stat_result] | None" = None  # where the output folder was made, and the state just before
    is_settled = True  # whether everything is as it was before the run, and as it is to be
    counts = False  # whether it only counts jobs, and needs no text
    keeps_old = False  # whether earlier runs of a job stay
    _file: IO[bytes] | None = None  # `__del__` needs it, also where an interrupt came before the rest was there

    def __init__(self, *, json: bool = False) -> None:
        self.json = json
        self.jobs = 0
        self.objects = 0
        self.paths: dict[str, str] = {}  # output path -> source file, in order
        self.references = References()  # what the jobs name, as far as they are here
        self.outcomes: FileResults | None = None  # of the files, where the next run is to know them
        self.digests: dict[str, bytes] = {}  # of each rendered file as its job says it is to be
        self._texts: list[str] = []
        self._sizes: list[int] = []
        self._held = 0

    def count(self, bundle: Bundle, report: Report) -> None:  # noqa: ARG002 (a tally that looks at renderings asks)
        """Note a bundle of which no text is needed: how many jobs there are, and what they name."""
        self.jobs += bundle.jobset is not None
        if not bundle.passing:
            self.references.add(bundle, bundle.objects)

    def parts(self, bundle: Bundle) -> list[Bundle]:
        """The bundles to keep one by one: where earlier runs stay, what outlives a run stands apart from it."""
        if not self.keeps_old or bundle.jobset is None:
            return [bundle]
        from trainc.compiler.emit.spool.objects import parts_of  # noqa: PLC0415 (few projects keep earlier runs)

        return parts_of(bundle)

    def add(self, rendered: "Rendered", bundle: Bundle, report: Report) -> None:
        """Keep one rendering until the end of the run."""
        self.count(bundle, report)
        self._append(rendered)

    def _append(self, rendered: "Rendered") -> None:
        self.objects += rendered.objects
        self.paths[rendered.path] = rendered.source
        self.hold(rendered.text)

    def hold(self, text: str) -> None:
        """Keep one text until the end of the run, behind those before it."""
        self._texts.append(text)
        self._held += len(text)
        if self._held > _IN_MEMORY:
            self._spill()

    def _spill(self) -> None:
        import tempfile  # noqa: PLC0415 (costs start-up time; few runs need it)

        with Reaching("temporary file"):
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the spool)
            for text in self._texts:
                data = text.encode()
                self._sizes.append(len(data))
                self._file.write(data)
            self._file.flush()
        self._texts.clear()
        self._held = 0

    def __del__(self) -> None:
        """Close what was spilled, on a full disk too: what could not be written has been told."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError:
                self._file = None

    def state(self) -> dict[str, Any]:
        """Everything collected but the texts, so that another process can go on with it."""
        counts = {"jobs": self.jobs, "objects": self.objects, "paths": self.paths}
        return {**counts, "references": self.references, "outcomes": self.outcomes, "digests": self.digests}

    def absorb(self, state: dict[str, Any], texts: Iterable[str]) -> None:
        """Add what another worker has collected behind one's own."""
        self.jobs += state["jobs"]
        self.objects += state["objects"]
        self.references.include(state["references"].files)
        if self.outcomes is not None:
            self.outcomes.absorb(state["outcomes"])
            self.digests |= state["digests"]
        self.paths |= state["paths"]
        for text in texts:
            self.hold(text)

    def know(self, known: CachedResults) -> None:
        """Count the jobs of files that the run leaves alone."""
        self.jobs += known.jobs
        self.objects += known.jobs
        self.paths |= known.paths
        self.references.include(known.references)

    def texts(self) -> Iterator[str]:
        """The text of every rendering, in order."""
        if self._file is not None:
            self._file.seek(0)
            for size in self._sizes:
                yield self._file.read(size).decode()
        yield from self._texts

    def inspect(self, report: Report) -> None:
        """Look at what is there before anything is written; what stands in the way is a finding."""

    def commit(self, *, unless: bool) -> None:
        """Write everything, unless the run failed."""
        if not unless:
            self.write()

    def write(self) -> None:
        """Hand the text on; the plain spool has nobody to hand it to."""


class Tally(Spool):
    """Counts jobs, for a run that writes nothing, and judges each beside its rendered file, where there are any."""

    counts = True

    def __init__(self, rendered: "RenderedState | None" = None) -> None:
        super().__init__()
        self.rendered = rendered

    def count(self, bundle: Bundle, report: Report) -> None:
        """Note a bundle, and look at its rendered file."""
        super().count(bundle, report)
        if self.rendered is not None and bundle.jobset is not None:
            self.rendered.judge(bundle, report)


class StreamSpool(Spool):
    """Writes one YAML stream, or one JSON List, to an open stream."""

    streams = True

    def __init__(self, stream: IO[str], *, json: bool = False) -> None:
        super().__init__(json=json)
        self._stream = stream

    def write(self) -> None:
        """Write the documents, separated, in order; without any, nothing."""
        if not self.objects:
            return
        before, between, after = (
            ('{"apiVersion":"v1","items":[', ",", '],"kind":"List"}\n') if self.json else ("", "---\n", "")
        )
        self._stream.write(before)
        for index, text in enumerate(self.texts()):
            self._stream.write(between + text if index else text)
        self._stream.write(after)
        self._stream.flush()
