"""What a text compiles to, for comparing two texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.compiler.pipeline import bundles
from trainc.model.cluster import Cluster
from trainc.model.report import Report
from trainc.model.settings import Checks, Project, Selection
from trainc.model.tree import plain

if TYPE_CHECKING:
    from trainc.model.bundle import Bundle

LATEST = Project(".")
CLUSTER = "trainc.dev/cluster"


def unplaced(project: Project) -> Project:
    """The project without what its clusters and its delivery add to every job; names and versions still count."""
    clusters = [Cluster(name=one.name, kubernetes=one.kubernetes, jobset=one.jobset) for one in project.clusters]
    return Project(project.root, runtimes=project.runtimes, secrets=project.secrets, clusters=tuple(clusters))


def is_unplaced(project: Project) -> bool:
    """Whether the project's clusters and its delivery add nothing to any job."""
    fields = [field for field in Cluster.__slots__ if field not in {"name", "kubernetes", "jobset", "capacity"}]
    nothing = Cluster()
    plain_clusters = all(getattr(one, key) == getattr(nothing, key) for one in project.clusters for key in fields)
    return plain_clusters and not project.delivery and not project.deadline


def at_clusters_of(project: Project, job: dict[str, Any], file: str) -> Project:
    """The project with those clusters alone that run a job of a file, whatever the file is called."""
    metadata = job.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    annotation = annotations.get(CLUSTER) if isinstance(annotations, dict) else None
    if annotation is not None:
        clusters = project.by_annotation[str(annotation)].clusters
        return (
            project.serving(tuple(clusters))
            if clusters and not project.by_annotation[str(annotation)].unknown
            else project
        )
    if len(project.clusters) == 1 and not project.clusters[0].paths:
        return project
    clusters = project.holders[file]
    return project.serving((clusters[0].but(paths=()),)) if len(clusters) == 1 else project


def made(text: str | bytes, project: Project = LATEST, *, checked: bool = True) -> tuple[list[Bundle], Report]:
    """The bundles of all jobs in a text, and what was found about them; not `checked`: what servers refuse alone."""
    report = Report()
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    lenient = project.checked(Checks(field_validation="warn", admission_only=not checked))
    return list(bundles(lenient, Selection((), stdin=data), report)), report


def objects(compiled: list[Bundle]) -> list[Any]:
    """The objects of bundles as plain values."""
    return [plain(tree) for bundle in compiled for tree in bundle.objects]


def compiled(text: str | bytes, project: Project = LATEST) -> tuple[list[Any], Report]:
    """The objects of all jobs in a text, and what was found about them."""
    bundles, report = made(text, project)
    return objects(bundles), report
