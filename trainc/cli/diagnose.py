"""`trainc diagnose`: where each job of a cluster stands, and the line in Git that its first cause leads to."""

import os
import re
from typing import Any

from trainc.cli.options import Options
from trainc.cli.output import answer, data
from trainc.cli.session import Session, dump_contents, source_name
from trainc.cluster.diagnose.cause import DONE, RUNS, Cause, Diagnosis
from trainc.cluster.diagnose.cluster import DumpedCluster
from trainc.cluster.diagnose.judge import diagnoses, not_judged
from trainc.cluster.diagnose.reading import Reading
from trainc.compiler import pipeline
from trainc.compiler.emit import path_of
from trainc.compiler.project import find_root
from trainc.model.bundle import Bundle
from trainc.model.paths import located, shown
from trainc.model.sourced import Span
from trainc.model.tree import stamp, value
from trainc.report.diagnose import diagnosis_lines
from trainc.report.dumps import dumps, inline
from trainc.text.trouble import Trouble

_RUN = re.compile(r"-r[1-9]\d{0,3}\Z")


def run(options: Options) -> int:
    """Print where each job stands; exit with 1 where one stands, failed, or cannot be judged."""
    reading = Reading()
    for path in options.arguments or ["-"]:
        reading.add(dump_contents(path), source_name(path))
    cluster = DumpedCluster(reading.objects)
    diagnosed = diagnoses(cluster)
    if not diagnosed and not cluster.kinds.keys() & {"JobSet", "Job", "Pod", "TrainJob"}:
        listed = ", ".join(sorted(cluster.kinds)[:8]) or "nothing"
        raise Trouble(f"no job or pod in the input ({listed}); see trainc diagnose --help for the command")
    in_trouble = any(one.cause is not None for one in diagnosed)
    git = CompiledJobs(options) if in_trouble else None
    rows = [_row(one, git) for one in diagnosed]
    if options.one("report") == "json":
        answers = {"date": cluster.date, "jobs": rows, "notRead": reading.faults, "notJudged": not_judged(cluster)}
        data(dumps(answers, sort_keys=False))
    else:
        answer(*diagnosis_lines(rows, reading.faults, not_judged(cluster), cluster.date))
    return int(bool(reading.faults) or any(one.status not in (RUNS, DONE) for one in diagnosed))


def _row(diagnosis: Diagnosis, git: "CompiledJobs | None") -> dict[str, Any]:
    row: dict[str, Any] = {
        "job": f"{diagnosis.namespace}/{diagnosis.name}",
        "kind": diagnosis.kind,
        "status": diagnosis.status,
        "summary": diagnosis.summary,
    }
    if diagnosis.cause is not None:
        row["cause"] = _cause(diagnosis.cause)
        row["others"] = [{**_cause(other), "result": other.is_result} for other in diagnosis.others]
        row["git"] = git.place(diagnosis) if git is not None else {}
    rest = {"notes": diagnosis.notes, "unknown": diagnosis.unknown, "appliedBy": diagnosis.source}
    return {**row, **{key: listed for key, listed in rest.items() if listed}}


def _cause(cause: Cause) -> dict[str, Any]:
    row = {"name": cause.name, "headline": cause.headline, "since": cause.since, "help": cause.help}
    shown_ = {key: text for key, text in row.items() if text}
    return {**shown_, "messages": list(cause.quotes), "pods": list(cause.pods)}


class CompiledJobs:
    """The jobs of the repository at hand, compiled, by the name that they have in the cluster."""

    def __init__(self, options: Options) -> None:
        self._bundles: dict[tuple[str, str], list[Bundle]] = {}
        self._session: Session | None = None
        self.missing = ""
        root, is_project = find_root(".")
        folder = options.one("repository")
        if not folder and not is_project:
            self.missing = "no trainc.yaml here; use --repository to show the line in Git"
            return
        session = Session(Options([folder or os.path.relpath(root)], {"cluster": options.all("cluster")}))
        for bundle in pipeline.bundles(session.project, session.selection, session.report):
            if bundle.jobset is not None:
                space = value(bundle.jobset, "metadata", "namespace") or ""
                for name in {bundle.name, _RUN.sub("", bundle.name)}:
                    self._bundles.setdefault((space, name), []).append(bundle)
        self._session = session

    def place(self, diagnosis: Diagnosis) -> dict[str, Any]:
        """The line that the cause leads to, or why there is none."""
        if self._session is None:
            return {"notes": [self.missing]}
        # Those of that name and namespace, else those that name no namespace; an older or newer run counts.
        names = dict.fromkeys((diagnosis.name, _RUN.sub("", diagnosis.name)))
        keys = [(space, name) for name in names for space in (diagnosis.namespace, "")]
        if not (listed := next((self._bundles[key] for key in keys if key in self._bundles), [])):
            more = "; some jobs here do not compile, see trainc validate" if self._session.report.failed else ""
            return {"notes": [f"no job here compiles to {diagnosis.kind} {diagnosis.namespace}/{diagnosis.name}{more}"]}
        bundle, project = listed[0], self._session.project
        place = _place(bundle, diagnosis, self._session)
        notes = [*place.get("notes", ())]
        if bundle.name != diagnosis.name:
            notes.append(f"the job is at run `{bundle.name}`; `{diagnosis.name}` is another run of it")
        rendered = os.path.join(project.root, project.output, path_of(bundle))
        if os.path.isfile(rendered):
            notes.append(f"rendered as {os.path.relpath(rendered)}".replace(os.sep, "/"))
        if clusters := sorted({other.cluster for other in listed} - {bundle.cluster}):
            notes.append(f"compiled for `{bundle.cluster}`; `--cluster` names {' or '.join(clusters)} instead")
        return {**place, "notes": notes} if notes else place


def _place(bundle: Bundle, diagnosis: Diagnosis, session: Session) -> dict[str, Any]:
    """File, line and column of the first field that the JobSet has; without one, those of the job's name."""
    fields = diagnosis.cause.fields if diagnosis.cause else ()
    for steps in fields:
        if (path := located(bundle.jobset, steps)) is not None:
            place = _span(session, bundle.span(bundle.jobset, path), shown(steps))
            if (held := value(bundle.jobset, *path)) is None:
                return place
            there = stamp(diagnosis.tree, "cluster")
            other = located(there, steps)
            stored = value(there, *other) if other is not None else None
            place["value"] = inline(held)
            if stored is not None and str(stored) != str(held):
                place["notes"] = [f"the cluster has {inline(stored)} there, so it runs another version"]
            return place
    place = _span(session, bundle.document.span(("metadata", "name")), "metadata.name")
    return {**place, "notes": [f"it does not set {shown(fields[0])}"]} if fields else place


def _span(session: Session, span: Span, field: str) -> dict[str, Any]:
    return {"file": session.shown(span.file), "line": span.line, "column": span.column, "field": field}
