"""`trainc validate --whole-project`: everything is compiled, and the files given choose what is reported."""

from __future__ import annotations

import os

from trainc import pipeline
from trainc.cli.options import Options
from trainc.cli.session import Session
from trainc.emit.spool import Spool
from trainc.load import RUNTIMES
from trainc.load.walk import contents, ours
from trainc.model.report import Report
from trainc.model.tree import get, value
from trainc.project import FILE, find_root
from trainc.yaml.reader import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.model.finding import Finding


def validate_whole(options: Options) -> int:
    """Validate every project that a file belongs to; the worst exit code.

    What is wrong with one job may show only beside another one, and a runtime is wrong only where a job uses it: a
    tool that passes some files of a commit, in batches, gets the same findings however it cuts them.
    """
    projects: dict[str, list[str]] = {}
    for path in options.arguments or ["."]:
        projects.setdefault(find_root(path)[0], []).append(path)
    return max(_project(root, paths, options) for root, paths in sorted(projects.items()))


def _project(root: str, paths: list[str], options: Options) -> int:
    session = Session(Options([root], options.values))
    spool = Spool()
    pipeline.build(session.project, session.selection, spool, session.report)
    files = {os.path.relpath(os.path.abspath(path), root).replace(os.sep, "/") for path in paths}
    if not any(_is_shared(root, file) for file in files):
        session.report = _about(files, session.report)
    return session.finish(spool)


def _is_shared(root: str, file: str) -> bool:
    """Whether a change of this file reaches jobs in other files."""
    path = os.path.join(root, file)
    if os.path.isdir(path) or file == FILE:
        return True
    if not os.path.isfile(path):
        return False
    data = contents(root, file)
    if ours(data):
        return any(word in data for word in RUNTIMES)
    return any(file.startswith(f"{folder}/") for folder in _cluster_folders(root))


def _cluster_folders(root: str) -> Iterable[str]:
    path = os.path.join(root, FILE)
    if not os.path.isfile(path):
        return
    for document in read(contents(root, FILE), FILE, Report()):
        clusters = get(document.tree, "spec", "clusters")
        for cluster in clusters.values() if type(clusters) is dict else ():
            folder = value(cluster, "folder")
            if type(folder) is str:
                yield os.path.normpath(folder).replace(os.sep, "/")


def _about(files: set[str], report: Report) -> Report:
    """The findings that have to do with one of the files."""
    kept = Report()
    for finding in report.findings:
        if _concerns(finding, files):
            kept.add(finding)
    kept.reached, kept.unknown = report.reached, report.unknown
    return kept


def _concerns(finding: Finding, files: set[str]) -> bool:
    return any(label.span.file in files for label in finding.labels)
