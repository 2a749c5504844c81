"""Applications of GitOps tools in the same repository: what they apply, trainc must not compile as well."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

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
    sources = [one for file, data in applications for each in read(data, file, Report()) for one in _sources(each)]
    below = prefix(root)
    _report_applied_twice(sources, jobs, below, report)
    _report_rendered_twice(sources, renderings, below, report)
    inner = os.path.relpath(os.path.abspath(folder), root).replace(os.sep, "/")
    for above in sorted({os.path.dirname(job) for job in jobs} - {""}):
        if _holds(above, f"{inner}/x", deep=True):
            report.add(
                APPLIED_TWICE.at(
                    Span(project.file or inner, 1, 1, 1, 1),
                    f"the output folder `{inner}` is in `{above}`, among the jobs",
                    effect="a tool that applies one folder applies both: each job trains twice",
                    help="choose an output folder outside, such as `rendered`",
                )
            )


class _Source(NamedTuple):
    """A folder that an application applies: where that is written, and how. Paths start where the repository does."""

    document: Document
    path: Path
    folder: str
    deep: bool  # whether folders below it count
    plugin: str | None = None  # the one that compiles it, "" for one without a name
    target: str | None = None  # the cluster that an application of Argo CD deploys to


def _report_applied_twice(sources: Iterable[_Source], jobs: Sequence[str], below: str, report: Report) -> None:
    """A finding for each Application or Kustomization whose path holds one of the files of jobs."""
    for one in sources:
        if inside := [job for job in jobs if one.plugin is None and _holds(one.folder, below + job, deep=one.deep)]:
            count = f"`{inside[0]}`" if len(inside) == 1 else f"{len(inside)} files of jobs"
            report.add(
                APPLIED_TWICE.at(
                    one.document.span(one.path),
                    f"{one.document.kind} `{one.document.name}` applies {count} directly",
                    effect="each of these jobs trains twice: as written and as rendered",
                    help="let it apply the folder of rendered files, or name the plugin `trainc-v1`",
                )
            )


def _report_rendered_twice(
    sources: Iterable[_Source], renderings: Sequence[tuple[str, str]], below: str, report: Report
) -> None:
    """A finding for each Application that has the plugin compile jobs whose rendered files another one applies.

    `renderings` are the rendered files of the project, each with the file of its job.
    """
    known = [one for one in sources if one.target is not None and "{{" not in one.target]
    for one in [one for one in known if one.plugin is not None and one.plugin.startswith("trainc")]:
        theirs = [file for file, job in renderings if _holds(one.folder, below + job, deep=True)]
        for other in [other for other in known if other.plugin is None and other.target == one.target]:
            inside = [file for file in theirs if _holds(other.folder, below + file, deep=other.deep)]
            if not inside:
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


def _sources(document: Document) -> Iterator[_Source]:
    group, kind = document.api_version.partition("/")[0], document.kind
    if (group, kind) == ("kustomize.toolkit.fluxcd.io", "Kustomization"):
        yield _Source(document, ("spec", "path"), _text(get(document.tree, "spec"), "path") or ".", deep=True)
    if group != "argoproj.io" or kind not in ("Application", "ApplicationSet"):
        return
    above: Path = ("spec",) if kind == "Application" else ("spec", "template", "spec")
    spec = get(document.tree, *above)
    target = _text(get(spec, "destination"), "server") or _text(get(spec, "destination"), "name")
    several = get(spec, "sources")
    listed: list[tuple[Path, Tree]] = []
    if type(several) is list:
        listed = [(("sources", index), one) for index, one in enumerate(several)]
    for path, source in (*listed, (("source",), get(spec, "source"))):
        if (folder := _text(source, "path")) and "{{" not in folder:
            plugin = get(source, "plugin")
            deep = value(source, "directory", "recurse") is True
            name = None if plugin is None else _text(plugin, "name")
            yield _Source(document, (*above, *path, "path"), folder, deep, name, target)


def _holds(folder: str, file: str, *, deep: bool) -> bool:
    top = os.path.normpath(folder.lstrip("/") or ".").replace(os.sep, "/")
    where = os.path.dirname(file) or "."
    return where == top or (deep and (top == "." or where.startswith(f"{top}/")))


def _text(tree: Tree, key: str) -> str:
    text = value(tree, key)
    return text if type(text) is str else ""
