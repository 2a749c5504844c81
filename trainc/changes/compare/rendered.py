"""A rendering that was committed: what a GitOps tool has applied, read back as bundles."""

import os

from trainc.apiserver.jobset.defaults import KIND
from trainc.apiserver.metadata_decoding import decode
from trainc.apiserver.schema.log import Log
from trainc.apiserver.schema.node import load
from trainc.apiserver.schema.walker import walk
from trainc.compiler.emit import path_of, run_path
from trainc.compiler.header import has_conflict, read_header
from trainc.compiler.load.walk import is_candidate
from trainc.model.bundle import Bundle, runs_pods
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.settings import FILE, Project
from trainc.text.files import is_below, is_inside, ordinary_contents
from trainc.text.trouble import Reaching, Trouble
from trainc.yaml.reader import read


def file_of(bundle: Bundle, project: Project) -> str:
    """The rendered file of a job's run, relative to the project's root."""
    path = path_of(bundle)
    return f"{project.output}/{run_path(path, bundle.name) if project.old_run == 'keep' else path}"


def files_of(bundle: Bundle, project: Project) -> tuple[str, str]:
    """The rendered file of a job's run, and the one that it had while `oldRun` was different."""
    path = path_of(bundle)
    files = f"{project.output}/{path}", f"{project.output}/{run_path(path, bundle.name)}"
    return files[::-1] if project.old_run == "keep" else files


def rendered(
    folder: str,
    project: Project,
    clusters: tuple[str, ...],
    report: Report,
    *,
    path: str = ".",
    sources: tuple[str, ...] = (".",),
) -> list[Bundle]:
    """The bundles that trainc wrote under a path from these sources for these clusters, which are all where none is named."""
    names = {cluster.name for cluster in project.clusters if cluster.name}
    bundles: list[Bundle] = []
    for name in _files(folder, path):
        data = _contents(folder, name)
        first, _, rest = data.partition(b"\n")
        header = read_header((rest.partition(b"\n")[0] if has_conflict(first) else first).decode("utf-8", "replace"))
        source = "" if header is None else header.source
        passing = source in (name, name.removeprefix(f"{project.output}/"))  # what is passed through keeps its name
        cluster = "" if passing else next((part for part in name.split("/")[-3:-2] if part in names), "")
        wanted = passing or not clusters or cluster in clusters
        if not (source and wanted and is_below(source, sources)):
            continue
        documents = [document for document in read(data, name, report) if type(document.tree) is dict]
        jobset = next((document for document in documents if runs_pods(document.tree)), None)
        for document in documents if jobset is not None else ():
            if fault := shape_fault(document):
                raise Trouble(fault)
        if documents:
            # What trainc did not write out in former releases is not a change.
            objects = tuple(load().completed(document.tree) for document in documents)
            made = Document(source, (jobset or documents[0]).tree, {}, 1)
            bundles.append(Bundle(made, objects, cluster=cluster, passing=passing and jobset is None))
    return bundles


def _files(folder: str, path: str) -> list[str]:
    """The files under a path as names relative to the folder, hidden ones left out."""
    top = os.path.join(folder, path)
    paths = [top] if os.path.isfile(top) else []
    for place, below, names in os.walk(top):
        below[:] = [n for n in below if not (n.startswith(".") or os.path.isfile(os.path.join(place, n, FILE)))]
        paths += [os.path.join(place, name) for name in names if is_candidate(name)]
    ordinary = (name for name in paths if os.path.isfile(name) and is_inside(folder, name))
    return sorted(os.path.relpath(name, folder).replace(os.sep, "/") for name in ordinary)


def _contents(folder: str, name: str) -> bytes:
    path = os.path.join(folder, name)
    with Reaching(path):
        return ordinary_contents(path)


def shape_fault(document: Document) -> str:
    """The first place where an object of a rendered file has not the shape that trainc gives it, empty where it has."""
    log = Log()
    root = load().root(KIND)
    if document.kind == "JobSet" and root is not None:
        walk(root, document.tree, log)
    for fault in [*decode(document.tree.get("metadata", {})), *log.schema]:
        span = document.span(fault.path)
        place = f"{span.file}:{span.line}:{span.column}"
        return f"{place}: not what trainc wrote, so it cannot be compared: {fault.message}"
    return ""


def differing(old: str, new: str) -> frozenset[str]:
    """The files, relative to two folders, that are not the same in both."""
    here, there = ({name: _contents(folder, name) for name in _files(folder, ".")} for folder in (old, new))
    return frozenset(name for name in {*here, *there} if here.get(name) != there.get(name))
