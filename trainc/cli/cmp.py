"""`trainc cmp`: a config management plugin of Argo CD.

The plugin server runs it in the application's folder of an unpacked repository, takes what it prints for the whole
truth when it exits with 0, and shows standard error to people when it does not. Everything printed is complete, or
nothing is printed at all.
"""

from __future__ import annotations

import os
import sys

from trainc import pipeline
from trainc.cli.build import Nothing
from trainc.cli.options import Options
from trainc.cli.output import data, tell
from trainc.cli.parameters import parameters
from trainc.cli.session import Session, user_cache
from trainc.emit.spool import StreamSpool
from trainc.load.projects import nested_projects
from trainc.model.finding import ERROR
from trainc.model.report import Report
from trainc.model.sourced import Origin, Sourced
from trainc.model.trouble import Trouble
from trainc.project import find_root, open_project
from trainc.report.dumps import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.model.settings import Project

_MOST = 20  # findings that are shown: all of standard error becomes one message in the UI
_LARGEST = 100  # MiB that one answer of the plugin server may have (ARGOCD_GRPC_MAX_SIZE_MB)


def cmp(options: Options) -> int:
    """Compile the application, or announce the parameters that it takes."""
    if options.arguments == ["generate"]:
        return _generate(os.environ)
    if options.arguments == ["parameters"]:
        data(dumps(_announcements(), sort_keys=False))
        return 0
    raise Trouble("usage: trainc cmp generate|parameters")


def _generate(environment: Mapping[str, str]) -> int:
    given = parameters(environment.get("ARGOCD_APP_PARAMETERS", ""))
    _inside_repository(environment.get("ARGOCD_APP_SOURCE_PATH", ""))
    values = {"include_other": [""], "quiet": [""]}
    if given.cluster:
        values["cluster"] = [given.cluster]
    paths = list(given.paths) or ["."]
    _one_project(paths)
    session = Session(Options(paths, values))
    session.project = _placed(session.project, environment.get("ARGOCD_APP_NAMESPACE", ""))
    _one_cluster(session)
    spool = _Answer(sys.stdout, _limit(environment))
    pipeline.build(session.project, session.selection, spool, session.report)
    _say(session)
    if session.report.failed:
        return 1
    if not spool.objects:
        raise Nothing(session)
    return 0


def _one_project(paths: list[str]) -> None:
    """Raise Trouble where an application would leave out the jobs of projects below its folder."""
    nested = [folder for path in paths for folder in nested_projects(path)]
    if nested:
        names = ", ".join(os.path.relpath(folder) for folder in nested)
        raise Trouble(
            f"{names}: a trainc.yaml of its own makes this another project; give it an Application of its own"
        )


def _one_cluster(session: Session) -> None:
    """Raise Trouble where an application would get the objects of several clusters."""
    names = [cluster.name for cluster in session.project.clusters]
    if len(names) > 1 and not session.selection.clusters:
        raise Trouble(
            f"this project has several clusters; say with the parameter `cluster` which of them this application "
            f"is for: {', '.join(names)}"
        )


class _Answer(StreamSpool):
    """A stream of manifests that the plugin server can carry, or none."""

    def __init__(self, stream: object, limit: int) -> None:
        super().__init__(stream)  # type: ignore[arg-type] # a text stream
        self._limit = limit

    def write(self) -> None:
        """Write all documents, unless they are more than one answer may hold."""
        size = sum(len(text.encode()) + 4 for text in self.texts())
        if size > self._limit:
            raise Trouble(
                f"the manifests have {size >> 20} MiB, and the plugin server carries {self._limit >> 20} MiB; "
                "give each application a part of the jobs with the parameter `paths`"
            )
        if self.objects:
            super().write()


def _limit(environment: Mapping[str, str]) -> int:
    written = environment.get("ARGOCD_GRPC_MAX_SIZE_MB", "")
    return (int(written) if written.isdigit() and len(written) < 6 else _LARGEST) << 20


def _inside_repository(source_path: str) -> None:
    """Raise Trouble where the project would start above the unpacked repository."""
    here = os.path.realpath(".")
    inner = os.path.normpath(source_path) if source_path else "."
    if inner == ".":
        top = here
    elif here.endswith(os.sep + inner):
        top = here[: -len(inner) - 1]
    else:
        return
    root, marked = find_root(here)
    if marked and not (os.path.realpath(root) + os.sep).startswith(top + os.sep):
        raise Trouble(
            f"the trainc.yaml in {os.path.relpath(root, here)} lies outside the repository; "
            "ARGOCD_APP_SOURCE_PATH, as Argo CD sets it, says which of its folders this is"
        )


def _placed(project: Project, namespace: str) -> Project:
    """The project with the application's namespace for jobs that name none."""
    if not namespace:
        return project
    leaf = Sourced(namespace, Origin(by="the application's namespace"))
    clusters = [one if one.namespace is not None else one.but(namespace=leaf) for one in project.clusters]
    return project.serving(tuple(clusters))


def _say(session: Session) -> None:
    """Findings on standard error, one line each, errors first."""
    findings = sorted(session.report.findings, key=lambda finding: finding.level != ERROR)
    if session.report.failed:
        findings = [finding for finding in findings if finding.level == ERROR]
    for finding in findings[:_MOST]:
        span = finding.span
        place = f"{session.shown(span.file)}:{span.line}:{span.column}"
        tell(f"{place}: {finding.level}[{finding.rule.name}] {finding.message}")
        if finding.help and finding.level == ERROR:
            tell(f"  help: {finding.help}")
    if len(findings) > _MOST:
        tell(f"and {len(findings) - _MOST} more")


def _announcements() -> list[dict[str, object]]:
    """The parameters as the UI's form shows them, with the clusters of the project in this folder."""
    project = open_project((".",), Report(), cache=user_cache)
    names = [cluster.name for cluster in project.clusters if cluster.name]
    known = f" One of: {', '.join(names)}." if names else ""
    return [
        {
            "name": "cluster",
            "title": "Cluster",
            "tooltip": f"The cluster of trainc.yaml that the jobs are compiled for.{known}",
            "required": len(names) > 1,
            "itemType": "string",
            "collectionType": "string",
            "string": names[0] if len(names) == 1 else "",
        },
        {
            "name": "paths",
            "title": "Paths",
            "tooltip": "Files and folders of jobs, relative to the application's folder; all of it where empty.",
            "required": False,
            "itemType": "string",
            "collectionType": "array",
            "array": [],
        },
    ]
