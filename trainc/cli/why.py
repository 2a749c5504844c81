"""`trainc why`: who set a field, and where a line lands."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from trainc.authoring.explain import every_field, leads_somewhere, roots
from trainc.changes.why import Why, explain, explained, landings, rendered_line
from trainc.cli.options import Options
from trainc.cli.output import answer, data, tell
from trainc.cli.run import is_named, must_match
from trainc.cli.session import Session
from trainc.compiler import pipeline
from trainc.compiler.emit import path_of
from trainc.compiler.emit.spool.objects import is_object_file
from trainc.compiler.header import read_header
from trainc.compiler.load.lists import expand
from trainc.compiler.load.walk import contents
from trainc.compiler.lower.tool_marks import object_bundle
from trainc.model.bundle import Bundle
from trainc.model.paths import names
from trainc.model.report import Report
from trainc.model.settings import STDIN
from trainc.model.tree import value
from trainc.report.colours import titled
from trainc.report.why import clusters, landing_json, landing_lines, why_json, why_lines
from trainc.text.counting import few
from trainc.text.files import ordinary_contents
from trainc.text.numbers import whole_number
from trainc.text.object_keys import KUEUE_QUEUE, VOLCANO_QUEUE
from trainc.text.spelling import meant, nearest
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read

_WRITTEN = {"TrainJob", "TrainingRuntime", "ClusterTrainingRuntime"}
_QUEUES = f"a job's queue is the label `{KUEUE_QUEUE}` or the annotation `{VOLCANO_QUEUE}`; neither is set here"
_MAX_FIELDS = 5  # named where a word is in the names of many
_SHORTEST = 3  # letters of a word that is looked for in names
_MAX_ANSWERS = 40  # answers printed in a terminal before the rest is counted


def run(options: Options) -> int:
    """Answer for a field of a job's output, for a line of a rendered file, or for a line that somebody wrote."""
    if not 1 <= len(options.arguments) <= 2:
        raise Trouble("usage: trainc why FILE[:LINE]|JOB [FIELD]")
    file, line = _numbered(options.arguments[0])
    inner, above = _numbered(file)
    if above:  # findings print the column behind the line
        file, line = inner, above
    wanted = options.arguments[1] if len(options.arguments) == 2 else ""
    name = "" if line or not _may_be_name(file) else file
    source = "" if file == "-" or name else _source(file)
    session = _session("." if name else source or file, options)
    bundles = list(pipeline.bundles(session.project, session.selection, session.report))
    if name:
        jobs = [one for one in bundles if one.jobset is not None]
        if not session.report.failed:
            must_match([name], jobs)
        bundles = [one for one in jobs if is_named(one, [name])]
        file = os.path.relpath(os.path.join(session.project.root, bundles[0].document.file)) if bundles else file
    if line and not source:
        return _landings(options, file, line, session, bundles)
    if source and is_object_file(file):
        bundles = list(_single(session)) or bundles
    if line:
        candidates = _rendered(bundles, file)
        answers, is_current = rendered_line(read(ordinary_contents(file), file, Report()), line, candidates)
        if not is_current and candidates:
            tell(f"trainc: {file} is not what {source} compiles to now; the answer is for a new rendering")
    else:
        candidates = _rendered(bundles, file) if source else bundles
        answers = [answer for bundle in candidates for answer in explain(bundle, wanted)]
    json = options.one("report") == "json"
    if not answers and wanted and not source and not session.report.failed:
        return _landings(options, file, wanted, session, bundles)
    if json and (answers or not wanted or session.report.failed):
        data(why_json(answers, session.shown))
    if session.report.failed and not answers:
        _must_be_field(wanted)
        return session.finish()
    if not bundles and not wanted:
        raise Trouble(f"no job in {file} compiles; give a line, as in {file}:12")
    if not answers and line:
        raise Trouble(f"no value on line {line} of {file}")
    if not answers:
        return _nobody(bundles, wanted, f"the output of {source or file} does not have it", session, options)
    if not json:
        _tell(answers, session, options)
    return 0


def _may_be_name(file: str) -> bool:
    """Whether an argument is the name of a job: there is no such file, and it is not spelled as one."""
    return (
        file != "-"
        and not (set("/:\\") & set(file))
        and not file.endswith((".yaml", ".yml", ".json"))
        and not os.path.lexists(file)
    )


def _tell(answers: Sequence[Why], session: Session, options: Options) -> None:
    if options.one("report") == "json":
        data(why_json(answers, session.shown))
        return
    several = clusters(answers)
    _print([why_lines(one, session.shown, several=several) for one in answers], "fields; name one to see it", options)


def _session(path: str, options: Options) -> Session:
    """A run over a path, in which what the options say of colours holds for findings as well."""
    return Session(Options([path], {name: given for name, given in options.values.items() if name == "color"}))


def _print(answers: Sequence[list[str]], rest: str, options: Options) -> None:
    answer(*(line for lines in answers[:_MAX_ANSWERS] for line in titled(lines)), color=options.one("color", "auto"))
    if len(answers) > _MAX_ANSWERS:
        answer(f"and {len(answers) - _MAX_ANSWERS} more {rest}")


def _numbered(argument: str) -> tuple[str, int]:
    file, colon, number = argument.rpartition(":")
    line = whole_number(number)
    if colon and line is not None and not os.path.exists(argument):
        return file, line
    return argument, 0


def _source(file: str) -> str:
    """The job that a rendered file was made from, or what holds it now; empty for a file that trainc did not write."""
    try:
        first = ordinary_contents(file, 4096).partition(b"\n")[0].decode("utf-8", "replace")
    except OSError as error:
        shipped = "; `trainc runtimes show NAME` prints a runtime that trainc ships" * file.startswith("trainc:")
        raise Trouble(f"{file}: {error.strerror}{shipped}") from error
    if (header := read_header(first)) is None:
        return ""
    source = header.source
    folder = os.path.dirname(os.path.abspath(file))
    while not os.path.exists(os.path.join(folder, source)):
        parent = os.path.dirname(folder)
        if parent == folder:
            return _moved(file, source)
        folder = parent
    return os.path.relpath(os.path.join(folder, source))


def _moved(file: str, source: str) -> str:
    """The file that now holds the job of a rendered file, whose first line names one that is not there."""
    session = Session(Options([os.path.dirname(file) or "."], {}))
    session = Session(Options([os.path.relpath(session.project.root)], {}))
    path = os.path.abspath(file).replace(os.sep, "/")
    for bundle in pipeline.bundles(session.project, session.selection, session.report):
        if bundle.jobset is not None and path.endswith(f"/{path_of(bundle)}"):
            tell(f"trainc: {file} was made from {source}; its job is in {session.shown(bundle.document.file)} now")
            return session.shown(bundle.document.file)
    raise Trouble(
        f"{file} is left over: {source} is gone, and no other job renders to it; `trainc build -w` removes it"
    )


def _landings(options: Options, file: str, wanted: int | str, session: Session, bundles: Sequence[Bundle]) -> int:
    """Where the values on a line, or of a field of the file, land; a file without jobs is followed through all jobs of its project."""
    text = session.stdin
    if not bundles and not session.report.failed:
        session = _session(os.path.relpath(session.project.root), options)
        bundles = list(pipeline.bundles(session.project, session.selection, session.report))
    name = os.path.relpath(os.path.abspath(file), session.project.root).replace(os.sep, "/")
    read_from = (ordinary_contents(file), name) if text is None else (text, STDIN)
    documents = list(expand(read(*read_from, Report()), Report()))
    places = list(landings(documents, wanted, bundles, session.report.findings))
    if not places and not isinstance(wanted, int):
        # A runtime may set what reaches no manifest, such as a zero.
        plans = [bundle.plan for bundle in bundles if bundle.plan is not None]
        sources = [source for plan in plans if plan.runtime is not None for source in plan.runtime.sources]
        once = list({source.identity: source for source in sources}.values())
        places = list(landings(once, wanted, bundles, session.report.findings))
    json = options.one("report") == "json"
    if not places and not isinstance(wanted, int):
        input_name = "standard input" if file == "-" else file
        return _nobody(bundles, wanted, f"neither the output nor {input_name} has it", session, options)
    if json:
        data(landing_json(places, session.shown))
    if not places:
        raise Trouble(f"no value on line {wanted} of {file}")
    if json:
        return 0
    shown = [landing_lines(one, session.shown, most=_MAX_ANSWERS) for one in places]
    _print(shown, "values; give the line of one", options)
    if not bundles and session.report.failed:
        return session.finish()
    return 0


def _must_be_field(wanted: str) -> None:
    """Raise Trouble where a job that does not compile is asked for a misspelled field, whose name does not depend on the job."""
    words = _steps(wanted)
    fields = {field.path[-1] for root in roots({"JobSet", *_WRITTEN}) for field in every_field(root) if field.path}
    if words and words[-1] not in fields and (near := nearest(words[-1], fields, cutoff=0.8)):
        raise Trouble(f"no field of this job matches `{wanted}`; did you mean `{near}`?")


def _steps(wanted: str) -> list[str]:
    return [word for word in re.split(r"[.\[\]*]+", wanted) if word]


def _nobody(bundles: Sequence[Bundle], wanted: str, where: str, session: Session, options: Options) -> int:
    """The answer for a field of no whole name: the only field that holds the word; or nobody sets it, where a kind has it.

    Else Trouble says what was probably meant.
    """
    json = options.one("report") == "json"
    words = _steps(wanted)
    kinds = {str(value(tree, "kind")) for bundle in bundles for tree in bundle.objects} | _WRITTEN
    fields = [field for root in roots(kinds) for field in every_field(root)]
    known = {field.path[-1] for field in fields if field.path}
    if any(leads_somewhere(field, words) for field in fields):
        near = nearest(words[-1], known, cutoff=0.8) if words and words[-1] not in known else ""
        if json:
            data(why_json([], session.shown))
        else:
            answer(f"{wanted} is not set: {where}{f'; did you mean `{near}`?' if near else ''}")
        return 0
    holding = _holding(bundles, wanted)
    if len({name for _, name in holding}) == 1:  # of limits and requests, say
        _tell([one for answers in holding.values() for one in answers], session, options)
        return 0
    help_ = f"fields that contain it: {few((f'`{above}.{name}`' for above, name in holding), _MAX_FIELDS)}"
    if not holding:
        unknown = next((word for word in words if word not in known), words[-1] if words else wanted)
        otherwise = _QUEUES if unknown.lower() in ("queue", "queues") else "see trainc explain"
        help_ = meant(unknown, known, otherwise)
    if json:
        data(why_json([], session.shown))
    raise Trouble(f"no field of this job matches `{wanted}`; {help_}")


def _holding(bundles: Iterable[Bundle], wanted: str) -> dict[tuple[str, str], list[Why]]:
    """The fields of the output whose own name holds a word, or its plural, below what: each with its values explained."""
    word = wanted.lower().removesuffix("s")
    if len(word) < _SHORTEST or not word.replace("-", "").isalnum():
        return {}
    fields: dict[tuple[str, str], list[Why]] = {}
    for bundle in bundles:
        for one in explained(bundle, lambda _, steps, __: any(word in name.lower() for name in names(steps)[1:])):
            for above, name in pairwise(names(one.steps)):
                if word in name.lower():
                    fields.setdefault((above, name), []).append(one)
    return fields


def _single(session: Session) -> Iterator[Bundle]:
    """A bundle for each object of the selected files, as it is rendered on its own."""
    project = session.project
    for file in session.selection.paths:
        for document in expand(read(contents(project.root, file), file, Report()), Report()):
            if document.name:
                yield from (object_bundle(document, project.at(cluster)) for cluster in project.clusters)


def _rendered(bundles: list[Bundle], file: str) -> list[Bundle]:
    """The bundle that a rendered file holds, all where no name fits."""
    path = os.path.abspath(file).replace(os.sep, "/")
    fitting = [bundle for bundle in bundles if not bundle.passing and path.endswith(f"/{path_of(bundle)}")]
    return sorted(fitting, key=lambda bundle: -len(path_of(bundle)))[:1] or bundles
