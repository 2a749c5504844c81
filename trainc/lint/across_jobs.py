"""What only shows across jobs: two objects of one name, two JobSets behind one Service."""

from collections.abc import Iterable
from typing import Self

from trainc.model.bundle import Bundle
from trainc.model.document import Document
from trainc.model.file_results import CachedResults
from trainc.model.finding import ERROR, Finding, Label, Rule
from trainc.model.references import KINDS, Reference
from trainc.model.report import Report
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Tree, get, value

_Key = tuple[str, ...]  # cluster, kind, namespace, name
_Job = tuple[str, Span]  # its name, "" for an object of a file without jobs, and where that stands

SAME_NAME = Rule("same-name", ERROR)
SHARED_SUBDOMAIN = Rule("shared-subdomain", ERROR)


class SharedNames:
    """Remembers the names of every bundle; small enough for ten thousand of them.

    `known` tells of files that the run leaves alone; `has_met_cached` says that a bundle has a name of one of theirs.
    """

    def __init__(self, known: CachedResults | None = None) -> None:
        self._seen: dict[_Key, _Job] = {}
        self._known = known
        self.has_met_cached = False

    def add(self, bundle: Bundle, report: Report) -> None:
        """Compare the names of one bundle with all before it."""
        if bundle.jobset is not None:
            self.add_names(names_of(bundle), (bundle.name, _place(bundle.document)), report)
            return
        for tree in bundle.objects:
            self.add_names((_key(bundle, tree),), ("", bundle.span(tree, ("metadata", "name"))), report)

    def add_names(self, names: Iterable[_Key], here: _Job, report: Report) -> None:
        """Compare the names of a job's objects with all before them."""
        clashes: list[tuple[_Key, _Job, _Job]] = []
        for key in names:
            first = self._seen.setdefault(key, here)
            if self._known is not None and self._known.has(key):
                self.has_met_cached = True
            if first is not here:
                clashes.append((key, first, here))
        if clashes:
            _tell(clashes, report)

    def has(self, reference: Reference) -> bool:
        """Whether a bundle holds what a job names; an object that names no namespace answers to every job."""
        cluster, namespace, kind, name = reference
        return any(self._is_taken((cluster, kind, place, name)) for place in (namespace, "default"))

    def producer(self, reference: Reference) -> _Job | None:
        """The job of this run that holds what a job names; of one that is cached nothing more is known than the name."""
        cluster, namespace, kind, name = reference
        keys = [(cluster, kind, place, name) for place in (namespace, "default")]
        found = next((self._seen[key] for key in keys if key in self._seen), None)
        if found is None and self._known is not None and any(self._known.has(key) for key in keys):
            self.has_met_cached = True
        return found

    def has_all(self, bundle: Bundle) -> bool:
        """Whether bundles before this one hold objects of all its names."""
        return all(self._is_taken(_key(bundle, tree)) for tree in bundle.objects)

    def _is_taken(self, key: _Key) -> bool:
        return key in self._seen or (self._known is not None and self._known.has(key))

    def names(self) -> dict[_Key, str]:
        """Each name, and the file of the first job that has it."""
        return {key: span.file for key, (_, span) in self._seen.items()}

    def absorb(self, other: Self, report: Report) -> None:
        """Compare the names that another worker met with all before them."""
        _tell([(key, self._seen.setdefault(key, there), there) for key, there in other._seen.items()], report)


def names_of(bundle: Bundle) -> list[_Key]:
    """Cluster, kind, namespace and name of each object of a bundle."""
    return [_key(bundle, tree) for tree in bundle.objects]


def _tell(met: Iterable[tuple[_Key, _Job, _Job]], report: Report) -> None:
    """Findings for names that two jobs have; two jobs of one name are one mistake, whatever else has the same name."""
    clashes: dict[tuple[Span, Span], dict[_Key, tuple[_Job, _Job]]] = {}
    for key, first, job in met:
        if first[1] != job[1]:
            clashes.setdefault((first[1], job[1]), {})[key] = (first, job)
    for pair in clashes.values():
        for key in [key for key in pair if key[1] == "JobSet"] or pair:
            report.add(_clash(key, *pair[key]))


def _place(document: Document) -> Span:
    """Where the name of a document is written: every job is asked, and nearly every one has a leaf that knows."""
    metadata = document.written.get("metadata") if type(document.written) is dict else None
    leaf = metadata.get("name") if type(metadata) is dict else None
    place = leaf.origin.at if type(leaf) is Sourced else None
    return document.span(("metadata", "name")) if place is None else place


def _key(bundle: Bundle, tree: Tree) -> _Key:
    metadata = get(tree, "metadata")
    return bundle.cluster, value(tree, "kind"), value(metadata, "namespace") or "default", value(metadata, "name")


def _clash(key: _Key, first: _Job, job: _Job) -> Finding:
    _, kind, _, name = key
    if kind == "Service" and first[0] != job[0] and first[0] and job[0]:
        message = f"jobs `{first[0]}` and `{job[0]}` share the subdomain `{name}`"
        effect = f"the Service `{name}` selects the pods of one of them: the pods of the other find no peers"
        help_ = "remove `network.subdomain`, or give each job its own"
        return SHARED_SUBDOMAIN.at(job[1], message, also=[Label(first[1], "the other job")], effect=effect, help=help_)
    if bool(first[0]) != bool(job[0]):
        producer, place = (first, job[1]) if first[0] else (job, first[1])
        return produced_too(kind, str(name), place, producer)
    if kind in KINDS and not first[0]:
        message = f"{kind} `{name}` exists twice, and a job refers to it"
        also = [Label(first[1], "first definition")]
        effect = "the one applied last overwrites the other, so the job may get either"
        help_ = (
            'remove one, or annotate the one that is not for a cluster with `config.kubernetes.io/local-config: "true"`'
        )
        return SAME_NAME.at(job[1], message, label="second definition", also=also, effect=effect, help=help_)
    return _twins(f"two jobs produce {kind} `{name}`", first[1], job[1])


def produced_too(kind: str, name: str, place: Span, producer: _Job) -> Finding:
    """The finding for an object of a file without jobs, of which a job produces another one."""
    message = f"{kind} `{name}` has the name of one that job `{producer[0]}` produces"
    effect = "the one applied last overwrites the other"
    help_ = f"rename this {kind}, or the job"
    return SAME_NAME.at(place, message, also=[Label(producer[1], "the job")], effect=effect, help=help_)


def shared_service(place: Span, service: str, earlier: str) -> Finding:
    """The finding for a run that has the same Service as an earlier one of its job that stays."""
    message = f"this run and the earlier run `{earlier}`, which is kept, share the Service `{service}`"
    effect = "the Service selects only the pods of one of them: the pods of the other find no peers"
    help_ = "remove `network.subdomain`, give each run its own, or prune earlier runs: `oldRun: prune`"
    return SHARED_SUBDOMAIN.at(place, message, effect=effect, help=help_)


def twins(document: Document, other: Document) -> Finding:
    """The finding for a job of which another file, outside the selection, holds one of the same name."""
    name = ("metadata", "name")
    return _twins(
        f"{document.kind} `{document.name}` is also defined in `{other.file}`", other.span(name), document.span(name)
    )


def _twins(message: str, before: Span, place: Span) -> Finding:
    effect = "the one applied last overwrites the other"
    help_ = "rename one of the jobs, or move it to another namespace"
    return SAME_NAME.at(
        place, message, label="second definition", also=[Label(before, "first definition")], effect=effect, help=help_
    )
