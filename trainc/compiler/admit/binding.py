"""Which cluster runs a job: by the cluster's paths, or by the job's own annotation."""

from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import ERROR, Label, Rule, place
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.tree import value
from trainc.text.spelling import meant

ANNOTATION = "trainc.dev/cluster"
_MAX_CLUSTERS_NAMED = 20  # clusters that are named one by one

UNBOUND_JOB = Rule("unbound-job", ERROR, admission=True)
TWO_CLUSTERS = Rule("two-clusters", ERROR, admission=True)
UNKNOWN_CLUSTER = Rule("unknown-cluster", ERROR, admission=True)


def bound(document: Document, project: Project, report: Report) -> list[Cluster]:
    """The clusters that run a job, none with a finding where that cannot be told."""
    clusters = project.clusters
    metadata = document.tree.get("metadata")
    annotated = type(metadata) is dict and "annotations" in metadata
    annotation = value(metadata, "annotations", ANNOTATION) if annotated else None
    if annotation is not None:
        chosen = project.by_annotation[str(annotation)]
        span, known = document.span(("metadata", "annotations", ANNOTATION)), [one.name for one in clusters if one.name]
        for name in chosen.unknown:
            hint = meant(name, known, f"clusters of this project: {_few(known) or 'none'}")
            report.add(UNKNOWN_CLUSTER.at(span, f"unknown cluster `{name}`", help=hint))
        if not (chosen.clusters or chosen.unknown):
            hint = f"name one of {_few(known)}, or remove the annotation" if known else "remove the annotation"
            message = f"`{document.name}` does not name a cluster of this project"
            report.add(UNBOUND_JOB.at(span, message, effect="no cluster would ever run it", help=hint))
        return chosen.clusters
    if len(clusters) == 1 and not clusters[0].paths:
        return [project.cluster]
    holders = project.holders[document.file]
    if not holders:
        message = f"`{document.name}` belongs to none of the clusters {_few([cluster.name for cluster in clusters])}"
        notes = [f"`{one.name}` runs {_paths(one)}" for one in clusters[:_MAX_CLUSTERS_NAMED] if one.name]
        hint = f"move the file to the `paths` of a cluster, or annotate the job with `{ANNOTATION}: NAME`"
        at, effect = document.span(("metadata", "name")), "no cluster would ever run it"
        report.add(UNBOUND_JOB.at(at, message, notes=notes, effect=effect, help=hint))
    elif len(holders) > 1:
        _twice(document, holders, report)
        return []
    return holders


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _MAX_CLUSTERS_NAMED} more" if len(names) > _MAX_CLUSTERS_NAMED else ""
    return ", ".join(names[:_MAX_CLUSTERS_NAMED]) + more


def _paths(cluster: Cluster) -> str:
    return ", ".join(path.value for path in cluster.paths) or "what names it, having no `paths`"


def _twice(document: Document, clusters: list[Cluster], report: Report) -> None:
    from trainc.text.globs import holds  # noqa: PLC0415 (a mistake is rare)

    globs = [glob for cluster in clusters for glob in cluster.paths if holds(glob.value, document.file)]
    spans = [span for glob in globs if (span := place(glob.origin)) is not None]
    names = ",".join(cluster.name for cluster in clusters)
    report.add(
        TWO_CLUSTERS.at(
            document.span(("metadata", "name")),
            f"`{document.name}` is in the paths of {' and '.join(cluster.name for cluster in clusters)}",
            also=[Label(span, "this path contains it") for span in spans],
            effect="it would train twice",
            help=f"narrow one of the paths; to train it on both, annotate it with `{ANNOTATION}: {names}`",
        )
    )
