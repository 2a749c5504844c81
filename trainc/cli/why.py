"""`trainc why`: who set a field."""

from __future__ import annotations

import os

from trainc import pipeline
from trainc.cli.options import Options
from trainc.cli.session import Session
from trainc.emit.spool import Spool
from trainc.model.header import read_header
from trainc.model.paths import keyed
from trainc.model.tree import get, value
from trainc.model.trouble import Trouble
from trainc.report.why import why_json, why_text
from trainc.why import Why, explain, of_leaf
from trainc.yaml.writer import lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.bundle import Bundle

_MOST = 40  # answers printed in a terminal before the rest is counted


def why(options: Options) -> int:
    """Answer for a field of a job's output, or for one line of a rendered file."""
    if not 1 <= len(options.arguments) <= 2:
        raise Trouble("usage: trainc why FILE[:LINE] [FIELD]")
    file, line = _place(options.arguments[0])
    wanted = options.arguments[1] if len(options.arguments) == 2 else ""
    source = _source(file)
    session = Session(Options([source or file], {}))
    bundles = list(pipeline.bundles(session.project, session.selection, session.report))
    if source:
        answers = list(_at_line(bundles, file, line))
    else:
        answers = [answer for bundle in bundles for answer in _of_job(bundle, wanted, line)]
    if session.report.failed and not answers:
        return session.finish(Spool())
    if not answers:
        raise Trouble(f"no field of the output matches {wanted or options.arguments[0]}")
    if options.one("report") == "json":
        print(why_json(answers, session.shown))
        return 0
    print("\n".join(why_text(answer, session.shown) for answer in answers[:_MOST]))
    if len(answers) > _MOST:
        print(f"and {len(answers) - _MOST} more fields; name one to see it")
    return 0


def _place(argument: str) -> tuple[str, int]:
    file, colon, number = argument.rpartition(":")
    if colon and number.isdigit() and not os.path.exists(argument):
        return file, int(number)
    return argument, 0


def _source(file: str) -> str:
    """The job that a rendered file was made from, empty for a file that trainc did not write."""
    try:
        with open(file, encoding="utf-8") as stream:
            first = stream.readline(4096)
    except OSError as error:
        raise Trouble(f"{file}: {error.strerror}") from error
    header = read_header(first)
    if header is None:
        return ""
    named = header.source
    folder = os.path.dirname(os.path.abspath(file))
    while not os.path.exists(os.path.join(folder, named)):
        parent = os.path.dirname(folder)
        if parent == folder:
            raise Trouble(f"{file} was made from {named}, which is not there any more")
        folder = parent
    return os.path.relpath(os.path.join(folder, named))


def _of_job(bundle: Bundle, wanted: str, line: int) -> Iterator[Why]:
    """The fields that match, or with a line the fields that rest on that line of the job."""
    for answer in explain(bundle, wanted):
        spans = answer.winner.origin.spans()
        if not line or any(s.file == bundle.document.file and s.line <= line <= s.end_line for s in spans):
            yield answer


def _at_line(bundles: list[Bundle], file: str, line: int) -> Iterator[Why]:
    if not line:
        raise Trouble(f"{file} is a rendered file: name the line, as in {file}:57")
    at = 1  # the header
    for bundle in bundles:
        for index, tree in enumerate(bundle.objects):
            at += 1 if index else 0
            paths = lines(tree)
            if at < line <= at + len(paths):
                path = paths[line - at - 1]
                label = f"{value(tree, 'kind')}/{value(tree, 'metadata', 'name')}"
                yield of_leaf(bundle, label, keyed(tree, path), get(tree, *path))
            at += len(paths)
