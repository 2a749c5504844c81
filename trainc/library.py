"""trainc from Python: compile and validate models, files and folders without a command line."""

import os
from typing import TYPE_CHECKING, Any

from trainc.apiserver.expressions.budget import begin_run
from trainc.apiserver.models import Resource
from trainc.compiler import pipeline
from trainc.compiler.emit.spool import Spool
from trainc.compiler.project import open_project
from trainc.compiler.project.assignments import assigned
from trainc.model.finding import ERROR, WARNING
from trainc.model.report import Report
from trainc.model.settings import Checks, Selection
from trainc.model.tree import plain
from trainc.text.trouble import Trouble

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trainc.compiler.emit import Rendered
    from trainc.model.bundle import Bundle
    from trainc.model.finding import Finding
    from trainc.model.settings import Project

    Given = str | os.PathLike[str] | Resource


class Compilation:
    """What a set of specs compiles to.

    `objects` are the manifests as plain dicts, in the order in which they are applied; empty where a finding is an error,
    because half of a set of manifests is worse than none. `findings` are sorted by file, line and column; a place in a
    model that was handed over is a line of `source`, under the file name `<stdin>`. `jobs` is how many jobs were compiled.
    """

    __slots__ = ("_text", "findings", "jobs", "objects", "source")

    def __init__(
        self, objects: "Sequence[Mapping[str, Any]]", findings: "Iterable[Finding]", jobs: int, source: str, text: str
    ) -> None:
        self.objects = tuple(objects)
        self.findings = tuple(findings)
        self.jobs = jobs
        self.source = source
        self._text = text

    @property
    def ok(self) -> bool:
        """Whether nothing that was found is an error."""
        return not self._count(ERROR)

    def to_yaml(self) -> str:
        """The objects as one YAML stream, byte for byte what `trainc build` prints; empty where there are errors."""
        return self._text

    def _count(self, level: str) -> int:
        return sum(finding.level == level for finding in self.findings)

    def __repr__(self) -> str:
        counts = {"object": len(self.objects), "error": self._count(ERROR), "warning": self._count(WARNING)}
        parts = [f"{count} {name}" if count == 1 else f"{count} {name}s" for name, count in counts.items()]
        return f"<Compilation: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: objects, findings and the manifests, every text of them escaped."""
        from trainc.report.notebook import page  # noqa: PLC0415 (a program asks for none)

        return page(repr(self).strip("<>"), self.objects, self.findings, self._text)

    def _repr_markdown_(self) -> str:
        """The same for viewers without HTML."""
        from trainc.report.notebook import markdown  # noqa: PLC0415 (as above)

        return markdown(repr(self).strip("<>"), self.objects, self.findings)


def compile(  # noqa: A001 (what the program does)
    *sources: "Given",
    root: str | os.PathLike[str] | None = None,
    cluster: str = "",
    settings: "Mapping[str, str] | None" = None,
    admission_only: bool = False,
) -> Compilation:
    """Compile jobs into the manifests that `trainc build` would print.

    `sources` are models (TrainJob, runtimes, JobSet and so on), files and folders; without any, the folder `root`.
    `root` is a folder of the project whose trainc.yaml and runtimes count, the current folder where it is left out.
    `cluster` names the cluster to compile for, which a project of several needs; `settings` are what `--set` takes, such as
    `{"scheduler": "kueue"}`. With `admission_only` only what a server would refuse is found.

    Raises:
        Trouble: a path, a cluster or a setting does not exist, or the sources belong to different projects.
    """
    return _run(sources, root, cluster, settings, admission_only=admission_only)


def validate(
    *sources: "Given",
    root: str | os.PathLike[str] | None = None,
    cluster: str = "",
    settings: "Mapping[str, str] | None" = None,
    admission_only: bool = False,
) -> "tuple[Finding, ...]":
    """The findings of `compile`, sorted by file, line and column; empty where nothing is worth saying.

    Raises:
        Trouble: as `compile` does.
    """
    return _run(sources, root, cluster, settings, admission_only=admission_only, one_stream=False).findings


class _Collected(Spool):
    """Keeps the objects of every job beside their text."""

    def __init__(self) -> None:
        super().__init__()
        self.trees: list[dict[str, Any]] = []
        self.complete = False

    def add(self, rendered: "Rendered", bundle: "Bundle", report: Report) -> None:
        """Keep one rendering and the objects that it spells."""
        super().add(rendered, bundle, report)
        self.trees += [plain(tree) for tree in bundle.objects]

    def write(self) -> None:
        """The run has no error: what was collected counts."""
        self.complete = True


def _run(
    sources: "Sequence[Given]",
    root: str | os.PathLike[str] | None,
    cluster: str,
    settings: "Mapping[str, str] | None",
    *,
    admission_only: bool,
    one_stream: bool = True,
) -> Compilation:
    text = "---\n".join(source.to_yaml() for source in sources if isinstance(source, Resource))
    paths = tuple(os.fspath(source) for source in sources if not isinstance(source, Resource))
    folder = os.fspath(root) if root is not None else "."
    if not sources:
        paths = (folder,)
    for path in (*paths, folder):
        if not os.path.lexists(path):
            raise Trouble(f"{path}: no such file or directory")
    begin_run()
    opening = Report()
    pairs = [f"{name}={value}" for name, value in (settings or {}).items()]
    project = open_project(paths or (folder,), opening, assigned(pairs))
    project = project.checked(Checks(admission_only=admission_only))
    report = Report(admission_only=admission_only, level_of=project.level_of)
    report.add_all(opening.findings)
    selection = Selection(
        tuple(os.path.relpath(os.path.abspath(path), project.root).replace(os.sep, "/") for path in paths),
        stdin=text.encode() if text else None,
        clusters=_clusters(cluster, project, one_stream=one_stream),
    )
    spool = _Collected()
    pipeline.build(project, selection, spool, report)
    trees, texts = (spool.trees, "---\n".join(spool.texts())) if spool.complete else ([], "")
    return Compilation(trees, report.findings, spool.jobs, text, texts)


def _clusters(name: str, project: "Project", *, one_stream: bool) -> tuple[str, ...]:
    known = [cluster.name for cluster in project.clusters if cluster.name]
    if name and name not in known:
        raise Trouble(f"unknown cluster `{name}`; clusters of this project: {', '.join(known) or 'none'}")
    if one_stream and not name and len(known) > 1:
        raise Trouble(f"one result would mix the clusters {', '.join(known)}; name one with cluster=")
    return (name,) if name else ()
