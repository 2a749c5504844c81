"""Applications of GitOps tools in the same repository: what they apply, trainc must not compile as well."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from trainc.compiler.header import is_rendered, read_header
from trainc.compiler.load.runtimes import may_hold_runtimes
from trainc.compiler.load.walk import known_contents, known_files, ours
from trainc.model.document import Document
from trainc.model.finding import ERROR, Label, Rule
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Span
from trainc.model.tree import Path, Tree, get, value
from trainc.text.files import work_tree
from trainc.text.record import NamedTuple
from trainc.yaml.reader import read

APPLIED_TWICE = Rule("applied-twice", ERROR)
MARKS = (b"argoproj.io/", b"kustomize.toolkit.fluxcd.io/")


def prefix(root: str) -> str:
    """What applications put before the paths of a project: its own path in the repository with a slash, or nothing."""
    inner = os.path.relpath(root, work_tree(root) or root).replace(os.sep, "/")
    return "" if inner == "." else f"{inner}/"


def report_applications(project: Project, paths: tuple[str, ...], report: Report, folder: str) -> None:
    """Look for applications of the repository that apply jobs as they are, besides what they compile to.

    `folder` is the one of rendered files. A few files are compiled without reading all others.
    """
    if not any(os.path.isdir(os.path.join(project.root, path)) for path in paths):
        return
    root, texts = project.root, project.texts
    jobs: list[str] = []
    renderings: list[tuple[str, str]] = []
    applications: list[tuple[str, bytes]] = []
    selected = set(known_files(project, paths))
    for file in known_files(project, (".",)):
        data = known_contents(project, file)
        if any(mark in data for mark in MARKS):
            applications.append((file, data))
        if is_rendered(data) and (header := read_header(data.partition(b"\n")[0].decode("utf-8", "replace"))):
            renderings.append((file, header.source))
        if file not in selected or not ours(data):
            continue
        texts.hold(file, data)
        if b"kind: TrainJob" in data or not may_hold_runtimes(data):
            jobs.append(file)
    applied_twice(applications, jobs, report, below=prefix(root))
    rendered_twice(applications, renderings, report, below=prefix(root))
    inner = os.path.relpath(os.path.abspath(folder), root).replace(os.sep, "/")
    output_among_jobs(project.file, inner, jobs, report)


def applied_twice(texts: Iterable[tuple[str, bytes]], jobs: Sequence[str], report: Report, *, below: str = "") -> None:
    """A finding for each Application or Kustomization among `texts` whose path holds one of the files `jobs`.

    The paths of applications start where the repository does, and the project `below` that.
    """
    for file, data in texts:
        for document in read(data, file, Report()):
            for path, folder, deep in _folders(document):
                if inside := [job for job in jobs if _holds(folder, below + job, deep=deep)]:
                    count = f"`{inside[0]}`" if len(inside) == 1 else f"{len(inside)} files of jobs"
                    report.add(
                        APPLIED_TWICE.at(
                            document.span(path),
                            f"{document.kind} `{document.name}` applies {count} directly",
                            effect="each of these jobs trains twice: as written and as rendered",
                            help="let it apply the folder of rendered files, or name the plugin `trainc-v1`",
                        )
                    )


class _Source(NamedTuple):
    """A source of an Application of Argo CD: where its path is written, the folder, and whether the plugin compiles it."""

    document: Document
    path: Path
    folder: str
    deep: bool  # whether folders below it count
    compiles: bool
    target: str  # the cluster that the application deploys to


def rendered_twice(
    texts: Iterable[tuple[str, bytes]], renderings: Sequence[tuple[str, str]], report: Report, *, below: str = ""
) -> None:
    """A finding for each Application that has the plugin compile jobs whose rendered files another one applies.

    `renderings` are the rendered files of the project, each with the file of its job.
    """
    sources = [one for file, data in texts for document in read(data, file, Report()) for one in _of_argocd(document)]
    for one in sources if renderings else ():
        theirs = [file for file, job in renderings if one.compiles and _holds(one.folder, below + job, deep=True)]
        for other in sources if theirs else ():
            inside = [file for file in theirs if _holds(other.folder, below + file, deep=other.deep)]
            if other.compiles or not inside or other.target != one.target:
                continue
            count = f"`{inside[0]}`" if len(inside) == 1 else f"{len(inside)} rendered files of these jobs"
            report.add(
                APPLIED_TWICE.at(
                    one.document.span(one.path),
                    f"Application `{other.document.name}` applies {count}, too",
                    also=[Label(other.document.span(other.path), "the rendered files")],
                    effect="two applications own each job: one that is deleted, or lacks the job, prunes it while it runs",
                    help="keep either the plugin or the rendered files for these jobs",
                )
            )
            break


def _of_argocd(document: Document) -> Iterator[_Source]:
    group, kind = document.api_version.partition("/")[0], document.kind
    if group != "argoproj.io" or kind not in ("Application", "ApplicationSet"):
        return
    above: Path = ("spec",) if kind == "Application" else ("spec", "template", "spec")
    spec = get(document.tree, *above)
    destination = get(spec, "destination")
    target = _text(destination, "server") or _text(destination, "name")
    for path, source in _each_source(spec):
        plugin, folder = get(source, "plugin"), _text(source, "path")
        if not folder or "{{" in folder + target or (plugin and not _text(plugin, "name").startswith("trainc")):
            continue
        deep = value(source, "directory", "recurse") is True
        yield _Source(document, (*above, *path, "path"), folder, deep, plugin is not None, target)


def output_among_jobs(project: str, output: str, jobs: Iterable[str], report: Report) -> None:
    """A finding where the output folder lies in a folder of jobs: who applies one applies both."""
    above = {os.path.dirname(job) for job in jobs} - {""}
    for folder in sorted(above):
        if _holds(folder, f"{output}/x", deep=True):
            report.add(
                APPLIED_TWICE.at(
                    Span(project or f"{output}", 1, 1, 1, 1),
                    f"the output folder `{output}` is in `{folder}`, among the jobs",
                    effect="a tool that applies one folder applies both: each job trains twice",
                    help="choose an output folder outside, such as `rendered`",
                )
            )


def _folders(document: Document) -> Iterator[tuple[Path, str, bool]]:
    """Each folder that an application applies: where that is written, its name, and whether folders below it count."""
    group, kind, spec = document.api_version.partition("/")[0], document.kind, get(document.tree, "spec")
    if (group, kind) == ("kustomize.toolkit.fluxcd.io", "Kustomization"):
        yield ("spec", "path"), _text(spec, "path") or ".", True
    elif (group, kind) == ("argoproj.io", "Application"):
        yield from _sources(spec, ("spec",))
    elif (group, kind) == ("argoproj.io", "ApplicationSet"):
        yield from _sources(get(spec, "template", "spec"), ("spec", "template", "spec"))


def _sources(spec: Tree, above: Path) -> Iterator[tuple[Path, str, bool]]:
    for path, source in _each_source(spec):
        if (folder := _text(source, "path")) and "{{" not in folder and get(source, "plugin") is None:
            yield (*above, *path, "path"), folder, value(source, "directory", "recurse") is True


def _each_source(spec: Tree) -> list[tuple[Path, Tree]]:
    """The sources of an application, and where each stands below its spec."""
    several = get(spec, "sources")
    sources: list[tuple[Path, Tree]] = []
    if type(several) is list:
        sources = [(("sources", index), each) for index, each in enumerate(several)]
    return [*sources, (("source",), get(spec, "source"))]


def _holds(folder: str, file: str, *, deep: bool) -> bool:
    top = os.path.normpath(folder.lstrip("/") or ".").replace(os.sep, "/")
    where = os.path.dirname(file) or "."
    return where == top or (deep and (top == "." or where.startswith(f"{top}/")))


def _text(tree: Tree, key: str) -> str:
    text = value(tree, key)
    return text if type(text) is str else ""
