"""Whether the job of a rendered file is gone: only a source that can be read, and does not nearly hold it, says so."""

import os
from collections.abc import Collection

from trainc.compiler.load.lists import expand
from trainc.compiler.load.walk import contents, known_contents, known_files
from trainc.compiler.lost_sources import SOURCE_LOST, blankness, source_lost
from trainc.kinds.unsupported import near_miss
from trainc.model.finding import ERROR
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Span
from trainc.text.files import ordinary_contents
from trainc.yaml.reader import read


def is_gone(root: str, source: str, rendered: str, name: str, report: Report, absent: Collection[str]) -> bool:
    """Whether a source, relative to the root, holds the job of a rendered file no more; a finding where it may.

    Sources that are `absent`, because a sparse checkout leaves them out, are not gone.
    """
    if source in absent:
        return False
    if not os.path.isfile(os.path.join(root, source)):
        return True
    if (trouble := _trouble(contents(root, source), source, name)) is None:
        return True
    span, message, help_ = trouble
    report.add(source_lost(span, message, help_, rendered))
    return False


def is_held(root: str, source: str, rendered: str) -> bool:
    """Whether a source, relative to the root, holds what stands in the rendered file of an object."""
    if not os.path.isfile(os.path.join(root, source)):
        return False
    there = {(one.kind, one.name) for one in expand(read(contents(root, source), source, Report()), Report())}
    return any((one.kind, one.name) in there for one in read(ordinary_contents(rendered), rendered, Report()))


def lost_sources(project: Project, paths: tuple[str, ...], report: Report) -> None:
    """A finding for each file under the paths, the output aside, that holds nothing where a job may have been."""
    for file in known_files(project, paths):
        if file.startswith(f"{project.output}/"):
            continue
        if not known_contents(project, file).replace(b"---", b"").strip(b"\xef\xbb\xbf \t\r\n"):
            effect = "a job in it would be missing, and the GitOps tool would delete that job"
            help_ = "restore it; if it has no job, delete it, or write a comment in it"
            report.add(SOURCE_LOST.at(Span(file, 1, 1, 1, 1), "this file is empty", effect=effect, help=help_))


def _trouble(data: bytes, source: str, name: str) -> tuple[Span, str, str] | None:
    start = Span(source, 1, 1, 1, 1)
    if message := blankness(data):
        return start, message, "restore it"
    if any(line.startswith(b"<<<<<<< ") for line in data.splitlines()):
        return start, "this file contains merge conflict markers", "resolve the conflict"
    own_report = Report()
    documents = [one for one in expand(read(data, source, own_report), own_report) if type(one.tree) is dict]
    if own_report.failed:
        first = next(finding for finding in own_report.findings if finding.level == ERROR)
        return first.span, first.message, first.help or "correct it"
    for document in documents:
        kind, api = document.kind, document.api_version
        near = near_miss(api, kind)
        # A document of that very name whose kind is nearly one of ours.
        if document.name == name and (near is not None or not kind or not api):
            written = f"{kind or 'no kind'} of `{api}`" if api else "no `apiVersion`"
            meant = f"write `{near[0]}`, `{near[1]}`" if near is not None else "write its `apiVersion` and `kind`"
            return document.span(("kind",)), f"`{name}` is here as {written}", meant
    return None
