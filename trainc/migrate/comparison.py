"""What a text compiles to, for comparing two texts."""

from __future__ import annotations

from typing import Any

from trainc.model.cluster import Cluster
from trainc.model.report import Report
from trainc.model.settings import Project, Selection
from trainc.model.tree import plain
from trainc.pipeline import bundles

LATEST = Project(".")


def unplaced(project: Project) -> Project:
    """The project without what its clusters and its delivery add to every job; versions still decide about layouts."""
    there = project.cluster
    cluster = Cluster(kubernetes=there.kubernetes, jobset=there.jobset)
    return Project(project.root, runtimes=project.runtimes, secrets=project.secrets, clusters=(cluster,))


def compiled(text: str | bytes, project: Project = LATEST) -> tuple[list[Any], Report]:
    """The objects of all jobs in a text, and what was found about them."""
    report = Report()
    selection = Selection(
        (), stdin=text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"), field_validation="warn"
    )
    objects = [plain(tree) for bundle in bundles(project, selection, report) for tree in bundle.objects]
    return objects, report
