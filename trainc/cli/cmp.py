"""`trainc cmp`: a config management plugin of Argo CD.

The plugin server runs it in the application's folder of an unpacked repository, takes what it prints for the whole
truth when it exits with 0, and shows standard error to people when it does not. Everything printed is complete, or
nothing is printed at all.
"""

import os
import sys
from dataclasses import replace

from trainc.changes.compare.committed import FOREIGN_OUTPUT, Committed
from trainc.changes.compare.removal import lost_sources
from trainc.changes.git.base import Base
from trainc.cli.compiling import Nothing
from trainc.cli.options import Options
from trainc.cli.output import data, tell
from trainc.cli.session import Session
from trainc.compiler import pipeline
from trainc.compiler.emit.spool.committed import CommittedSpool
from trainc.compiler.load.walk import nested_projects
from trainc.integrations.argocd import is_complete, parameters, paths_of, upload
from trainc.lint.across_jobs import SharedNames
from trainc.model.finding import ERROR
from trainc.model.settings import ARGOCD_GAP
from trainc.model.sourced import Origin, Sourced, Span
from trainc.report.dumps import dumps
from trainc.text.numbers import whole_number
from trainc.text.trouble import Trouble

_MAX_FINDINGS = 20  # findings that are shown: all of standard error becomes one message in the UI
_LARGEST = 100  # MiB that one answer of the plugin server may have (ARGOCD_GRPC_MAX_SIZE_MB)


def run(options: Options) -> int:
    """Compile the application, announce the parameters that it takes, or say what has to be sent for one."""
    command, *rest = options.arguments or [""]
    if command == "generate" and not rest:
        return _generate()
    if command == "parameters" and not rest:
        # Print the parameters as JSON, unless those that the application has are wrong.
        session = _session()
        if session.report.failed:
            _say(session)
            return 1
        names = [cluster.name for cluster in session.project.clusters if cluster.name]
        data(dumps(_announcements(names), sort_keys=False))
        return 0
    if command == "paths" and len(rest) < 2:
        data(f"{paths_of(rest[0] if rest else '.')}\n")
        return 0
    raise Trouble("usage: trainc cmp generate|parameters|paths [FOLDER]")


def _generate() -> int:
    session = _session()
    names = [cluster.name for cluster in session.project.clusters]
    if len(names) > 1 and not session.selection.clusters:
        raise Trouble(
            f"this project has several clusters; set the parameter `cluster` of this application "
            f"to one of them: {', '.join(names)}"
        )
    project = session.project
    if project.old_run == "keep" and not os.path.isdir(os.path.join(project.root, project.output)):
        raise Trouble(
            f"`oldRun: keep` needs the rendered files of earlier runs, and there is no folder `{project.output}`: "
            "commit what `trainc build -w` writes, or set `oldRun: prune`"
        )
    base = Base(project.root, is_commit=True)
    spool = _Answer(
        sys.stdout,
        project.root,
        project.output,
        settle=Committed(project, session.selection, has_rerender=False, base=base).settle,
        base=base.at(os.path.join(project.root, project.output)),
        keep_old=project.old_run == "keep",
        namespace=os.environ.get("ARGOCD_APP_NAMESPACE", ""),
    )
    together = SharedNames()
    pipeline.fill(project, session.selection, spool, session.report, together)
    lost_sources(project, session.selection.paths, session.report)
    for file in spool.unproven:
        name = os.path.relpath(file, project.root)
        unproven = FOREIGN_OUTPUT.at(
            Span(name, 1, 1, 1, 1),
            f"`{name}` is an earlier run, and no base proves it: {base.missing}",
            effect="the state of its run is unknown, and a running job might be replaced",
            help="let Argo CD send the history (`.git`), or delete the file if its run has ended",
        )
        session.report.add(unproven)
    pipeline.finish(project, session.selection, spool, session.report, together)
    _say(session)
    if session.report.failed:
        return 1
    if not spool.objects:
        raise Nothing(session)
    return 0


def _session() -> Session:
    """A run over the application, with what it asks for; its project ends where the unpacked repository does."""
    given = parameters(os.environ.get("ARGOCD_APP_PARAMETERS", ""))
    values = {"quiet": [""]}
    if given.cluster:
        values["cluster"] = [given.cluster]
    sent = upload(os.environ.get("ARGOCD_APP_SOURCE_PATH", ""))
    paths = list(given.paths) or ["."]
    # Raise Trouble where an application would leave out the jobs of projects below its folder.
    if nested := [folder for path in paths for folder in nested_projects(path)]:
        names = ", ".join(os.path.relpath(folder) for folder in nested)
        raise Trouble(f"{names}: a trainc.yaml there makes it a separate project; create a separate Application for it")
    session = Session(Options(paths, values), sent.top)
    project = session.project if is_complete(session.project, sent) else replace(session.project, gap=ARGOCD_GAP)
    # Argo CD applies it, with the application's namespace for jobs that name none.
    namespace = os.environ.get("ARGOCD_APP_NAMESPACE", "")
    leaf = Sourced(namespace, Origin(by="the application's namespace")) if namespace else None
    clusters = [
        replace(one, delivery="argocd", namespace=leaf if one.namespace is None else one.namespace)
        for one in project.clusters
    ]
    session.project = project.serving(tuple(clusters))
    return session


class _Answer(CommittedSpool):
    """A stream of manifests that the plugin server can carry, or none."""

    def write(self) -> None:
        """Write all documents, unless they are more than one answer may hold."""
        number = whole_number(os.environ.get("ARGOCD_GRPC_MAX_SIZE_MB"), most=99_999)
        limit = _LARGEST if number is None else number
        size = sum(len(text.encode()) + 4 for text in self.texts())
        if size > limit << 20:
            raise Trouble(
                f"the manifests are {size >> 20} MiB, and the plugin server accepts {limit} MiB; "
                "split the jobs across applications with the parameter `paths`"
            )
        if self.objects:
            super().write()


def _say(session: Session) -> None:
    """Findings on standard error, one line each, errors first."""
    session.is_told = True
    findings = sorted(session.report.findings, key=lambda finding: finding.level != ERROR)
    if session.report.failed:
        findings = [finding for finding in findings if finding.level == ERROR]
    for finding in findings[:_MAX_FINDINGS]:
        span = finding.span
        place = f"{session.shown(span.file)}:{span.line}:{span.column}"
        tell(f"{place}: {finding.level}[{finding.rule.name}] {finding.message}")
        if finding.help and finding.level == ERROR:
            tell(f"  help: {finding.help}")
    if len(findings) > _MAX_FINDINGS:
        tell(f"and {len(findings) - _MAX_FINDINGS} more")


def _announcements(names: list[str]) -> list[dict[str, object]]:
    """The parameters as the UI's form shows them, with the clusters of the project in this folder."""
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
            "tooltip": "Files and folders of jobs, relative to the application's folder; all of it if empty.",
            "required": False,
            "itemType": "string",
            "collectionType": "array",
            "array": [],
        },
    ]
