"""Files of earlier kinds and spellings as files of today: comments stay, and every change in meaning is named.

Services, ConfigMaps and whatever else stands beside the jobs of a file goes out with them.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from trainc.changes.migrate.chunks import (
    MisshapenError,
    UnreadableError,
    as_bytes,
    dump,
    fresh,
    is_json,
    joined,
    json_text,
    load,
    split,
    values,
    with_line_ends,
)
from trainc.changes.migrate.compared import LATEST, Difference, compiled
from trainc.changes.migrate.jobs import Outcome, Rewritten, TextPlace, errors, rewritten, rewritten_other, with_comments
from trainc.changes.migrate.target import Shared
from trainc.changes.migrate.trainjob import renamed, rewrite
from trainc.kinds.other_operators import (
    ARMADA,
    INPUT_KINDS,
    JOB,
    holds_several,
    is_input_kind,
    is_training,
    selected_job,
)
from trainc.kinds.table import KINDS, kind_of
from trainc.kinds.unsupported import COMPILED, FOREIGN, foreign_kind
from trainc.model.document import Document
from trainc.model.finding import Finding
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Span
from trainc.model.tree import Tree, get, plain, value
from trainc.text.object_keys import FORMER_TRAINER_API, TRAINER_API
from trainc.text.suppress import Suppress
from trainc.yaml.comments import allows
from trainc.yaml.reader import read
from trainc.yaml.rules import SIZE, SYNTAX

# Only a document with one of these may be a job; a submit file of Armada has a list of jobs and no kind.
_WORDS = (
    "kubeflow.org/",
    "mlkube.io/",
    "tensorflow.org/",
    "jobs",
    *sorted({api.partition("/")[0] for api, _ in (*INPUT_KINDS, *FOREIGN)}),
)
_LARGEST = 1024 * 1024  # characters of one document; the parser that keeps comments is slow
_RUNTIMES = ("TrainingRuntime", "ClusterTrainingRuntime")
_OURS = (TRAINER_API, FORMER_TRAINER_API)
Rewriting = Callable[[str, dict[str, Any], TextPlace, Mapping[int, str]], Rewritten]


class MigrationChange(NamedTuple):
    """Something that is written otherwise, or means something else, in one document."""

    document: str  # kind and name before
    message: str


class Obstacle(NamedTuple):
    """Why a document stays as it is, though it is legal."""

    span: Span
    message: str
    is_foreign: bool = False  # whether its kind is one that trainc never compiles


class Migration(NamedTuple):
    """A file's new text, what changed, how the compiled output differs, and what stood in the way."""

    text: str
    changes: tuple[MigrationChange, ...] = ()
    differences: tuple[Difference, ...] = ()
    problems: tuple[Finding | Obstacle, ...] = ()
    outcomes: tuple[Outcome, ...] = ()  # of its older jobs

    @property
    def touched(self) -> bool:
        """Whether the text is another one."""
        return bool(self.changes)

    @property
    def has_failed(self) -> bool:
        """Whether a job could not be migrated that could be compiled, or should be."""
        return any(not isinstance(problem, Obstacle) or not problem.is_foreign for problem in self.problems)


def migrate(text: str, project: Project = LATEST, file: str = "", shared: Shared | None = None) -> Migration:
    """The text with everything of earlier days in today's kinds and spellings; doing it twice changes nothing more.

    Line ends stay what most of them are. The file says which clusters run the jobs that name none; jobs that can
    name the `shared` runtime have none of their own.
    """
    place = TextPlace(project, file, shared)

    def rewrite(unix: str) -> Migration:
        done = []
        line = 0
        objects = FileObjects(split(unix))
        for index, piece in enumerate(objects.pieces):
            done.append(_piece(index, line, objects, place))
            line += piece.count("\n")
        new = joined(objects.changed.get(index, one.text) for index, one in enumerate(done))
        if new != unix and is_json(unix) and (trees := values(new)):
            # Several objects are the one that JSON has room for.
            several = {"apiVersion": "v1", "kind": "List", "items": trees}
            new = json_text(trees[0] if len(trees) == 1 else several, unix)
        parts = zip(*(one[1:] for one in done), strict=True)  # changes, differences, problems, outcomes
        return Migration(new, *(tuple(chain(*part)) for part in parts))

    migrated: Migration = with_line_ends(text, rewrite)
    return migrated


def _piece(index: int, line: int, file: "FileObjects", place: TextPlace) -> Migration:
    """One document; `line` is the number of lines above it."""
    piece = file.pieces[index]
    untouched, start = Migration(piece), _at(line)
    words = piece.replace("\0", "") if "\0" in piece[:4] else piece  # UTF-16: unreadable, and not to be passed over
    if not any(word in words for word in _WORDS):
        return untouched
    own_report = Report()
    documents = list(read(as_bytes(piece), "", own_report, duplicates="ignore"))
    if own_report.failed:
        placed = Report()
        list(read(_placed(piece, line), "", placed, duplicates="ignore"))
        return untouched._replace(problems=errors(placed))
    tree = plain(documents[0].tree) if documents else None
    if not isinstance(tree, dict):
        return untouched
    if len(piece) > _LARGEST:
        help_ = "no API server stores an object of that size: keep the data elsewhere"
        return untouched._replace(problems=(SIZE.at(start, "this document is too large to be rewritten", help=help_),))
    if is_input_kind(documents[0]) or holds_several(documents[0]):
        return _rewritten(rewritten_other, index, line, tree, file, place)
    if not isinstance(tree.get("kind"), str):
        return untouched
    if tree["kind"].endswith("List") and (jobs := _listed_jobs(documents[0].tree, tree.get("items"))):
        reason = f"jobs in a {documents[0].kind} are not rewritten: write each as its own document"
        outcomes = tuple(Outcome(piece, refused=reason, kind=kind, name=name) for kind, name in jobs)
        return untouched._replace(problems=(Obstacle(start, reason),), outcomes=outcomes)
    api, kind = tree.get("apiVersion"), tree["kind"]
    if kind_of(str(api), kind) is not None:
        return _rewritten(rewritten, index, line, tree, file, place)
    if api not in _OURS or kind not in ("TrainJob", *_RUNTIMES):
        # A document of no kind of ours: a training kind that trainc does not compile is told.
        document = documents[0]
        if (foreign := foreign_kind(document.api_version, document.kind, document.tree)) is None:
            return untouched
        reason = f"{foreign.message}: {foreign.help}"
        at = document.span(("kind",))
        span = Span("", at.line + line, at.column, at.end_line + line, at.end_column)
        outcome = Outcome(piece, refused=reason, kind=document.kind, name=document.name)
        return untouched._replace(problems=(Obstacle(span, reason, is_foreign=True),), outcomes=(outcome,))
    done = _respelled(piece, line, tree, place.project)
    if kind != "TrainJob" or done.problems:
        return done
    # With the names that its pods have now, where it or a ConfigMap beside it has those of an operator.
    runtimes = [*file.of_kind(*_RUNTIMES).values()]
    new, around, messages, problems = renamed(done.text, file.of_kind("ConfigMap"), runtimes, place.project)
    file.put(around)
    changes = (*done.changes, *_changes(tree, "TrainJob", messages))
    return done._replace(text=new, changes=changes, problems=tuple(Obstacle(start, problem) for problem in problems))


def _listed_jobs(tree: Tree, items: Any) -> list[tuple[str, str]]:
    """Kind and name of each item of a List that could be migrated if it were a document of its own."""
    jobs = []
    for one in get(tree, "items") if isinstance(items, list) else ():
        key = str(value(one, "apiVersion")), str(value(one, "kind"))
        if key in KINDS or (key in INPUT_KINDS and (key != JOB or is_training(one))):
            jobs.append((key[1], str(value(one, "metadata", "name") or "")))
    for item in items if isinstance(items, list) else ():  # those in an earlier spelling of the Trainer's kinds
        if isinstance(item, dict) and item.get("apiVersion") in _OURS and item.get("kind") in ("TrainJob", *_RUNTIMES):
            with Suppress(MisshapenError):
                if any([*rewrite(fresh(item), item["kind"])]):
                    jobs.append((item["kind"], _name(item)))
    return jobs


def _rewritten(
    rewrite: Rewriting, index: int, line: int, tree: dict[str, Any], file: "FileObjects", place: TextPlace
) -> Migration:
    """A job of another operator, with the objects of the file that go out with it."""
    piece = file.pieces[index]
    done = rewrite(piece, tree, place, file.around(index))
    if not done.jobs:
        # Only what is reported needs the lines above it.
        text = "\n" * line + joined([piece, *done.around.values()])
        findings = errors(compiled(as_bytes(text), place.project)[1]) or done.findings
        return Migration(piece, problems=findings, outcomes=_outcomes(tree, Outcome(piece)))
    outcomes = _outcomes(tree, *done.jobs)
    if refused := next((job.refused for job in done.jobs if job.refused), ""):
        return Migration(piece, problems=(Obstacle(_at(line), refused),), outcomes=outcomes)
    file.put(done.around)
    changes = tuple(MigrationChange(f"{one.kind} {one.name}", text) for one in outcomes for text in one.messages)
    return Migration(done.text, changes, tuple(one for job in outcomes for one in job.differences), (), outcomes)


def _outcomes(tree: dict[str, Any], *jobs: Outcome) -> tuple[Outcome, ...]:
    # A submit file of Armada names no kind, and plain Jobs and Volcano's have one name.
    prefix = "Volcano " if str(tree.get("apiVersion")).startswith("batch.volcano.sh/") else ""
    kind = f"{prefix}{tree.get('kind') or ARMADA[1]}"
    outcomes = []
    for done in jobs:
        name = _name(done.want.job if done.want is not None else tree)
        outcome = Outcome(done.text, refused=done.refused) if done.refused else done
        outcomes.append(outcome._replace(kind=kind, name=name))
    return tuple(outcomes)


def _respelled(piece: str, line: int, tree: dict[str, Any], project: Project) -> Migration:
    try:
        root = load(piece)
        messages = [*rewrite(root, tree["kind"])]
        new = dump(root, piece) if messages else piece
    except MisshapenError:
        return Migration(piece, problems=errors(compiled(_placed(piece, line), project)[1]))
    except UnreadableError as error:
        at = Span("", line + error.line + 1, error.column + 1, line + error.line + 1, error.column + 2)
        why = f"{error}, so nothing here can be rewritten"
        return Migration(piece, problems=(SYNTAX.at(at, why, help="write it in plain YAML"),))
    if len(allows(as_bytes(new), "")) < len(allows(as_bytes(piece), "")):
        why = "a trainc comment is inside braces and would lose its place: write the braces as lines"
        return Migration(piece, problems=(Obstacle(_at(line), why),))
    return Migration(with_comments(new, piece) if messages else piece, _changes(root, tree["kind"], messages))


def _placed(piece: str, line: int) -> bytes:
    """A piece on the lines where it stands in its file, byte by byte as it was."""
    return b"\n" * line + as_bytes(piece)


def _at(line: int) -> Span:
    """The start of a document with so many lines above it."""
    return Span("", line + 1, 1, line + 1, 1)


def _name(tree: Any) -> str:
    metadata = tree.get("metadata")
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""


def _changes(root: Any, kind: str, messages: Iterable[str]) -> tuple[MigrationChange, ...]:
    return tuple(MigrationChange(f"{kind} {_name(root)}", message) for message in messages)


def summary(files: Sequence[tuple[str, Migration]], ended: Sequence[tuple[str, str, str]] = ()) -> dict[str, Any]:
    """The answer of `trainc migrate` as plain data.

    `ended` are the jobs whose rendered run cannot become what they are now: the file, the name, and the rendered file.
    """
    jobs = [(file, outcome) for file, done in files for outcome in done.outcomes]
    older = {f"{outcome.kind} {outcome.name}" for _, outcome in jobs}
    by_kind: dict[str, list[Outcome]] = {}
    for _, outcome in jobs:
        by_kind.setdefault(outcome.kind, []).append(outcome)
    return {
        "files": sum(done.touched for _, done in files),
        "kinds": [
            {
                "kind": kind,
                "jobs": len(counted),
                "migrated": sum(one.want is not None for one in counted),
                "policies": dict(sorted(Counter(one.policy for one in counted if one.policy).items())),
            }
            for kind, counted in sorted(by_kind.items())
        ],
        "jobs": [
            {
                "file": file,
                "kind": outcome.kind,
                "name": outcome.name,
                "migrated": outcome.want is not None,
                "policy": outcome.policy or None,
                "reason": outcome.reason or None,
                "changes": list(outcome.messages),
                "left": list(outcome.left),
                "compiledOtherwise": [str(one) for one in outcome.differences],
                "reasons": sorted({one.reason for one in outcome.differences}),
            }
            for file, outcome in jobs
        ],
        "problems": [
            {"file": file, "line": one.span.line, "column": one.span.column, "message": one.message}
            for file, done in files
            for one in done.problems
        ],
        "respelled": [
            {"file": file, "document": change.document, "message": change.message}
            for file, done in files
            for change in done.changes
            if change.document not in older
        ],
        "newRuns": [{"file": file, "job": name, "rendering": rendering} for file, name, rendering in ended],
    }


class FileObjects:
    """The documents of a file, as texts; `changed` are those that follow a job which is a TrainJob now."""

    def __init__(self, pieces: list[str]) -> None:
        self.pieces = pieces
        self.changed: dict[int, str] = {}

    @cached_property
    def documents(self) -> list[Document | None]:
        """What each piece is, None where it cannot be read."""
        known: list[Document | None] = []
        for piece in self.pieces:
            report = Report()
            documents = list(read(as_bytes(piece), "", report, duplicates="ignore"))
            is_object = bool(documents) and not report.failed and type(documents[0].tree) is dict
            known.append(documents[0] if is_object else None)
        return known

    def around(self, index: int) -> dict[int, str]:
        """The objects that go out with the job at a place: its own Services, and with the first job all that no job owns."""
        known = {place: one for place, one in enumerate(self.documents) if one is not None}
        jobs = [place for place, one in known.items() if _is_job(one)]
        names = {known[place].name: place for place in jobs if (known[place].api_version, known[place].kind) == JOB}
        by_line = {}
        for place, one in known.items():
            if place in jobs or one.kind in _RUNTIMES or not (one.api_version and one.kind):
                continue
            owner = names.get(selected_job(one.tree)) if len(jobs) > 1 else None
            if index == (jobs[0] if owner is None else owner):
                by_line[place] = self.changed.get(place, self.pieces[place])
        return by_line

    def of_kind(self, *kinds: str) -> dict[int, str]:
        """The objects of these kinds, as they are now."""
        return {
            place: self.changed.get(place, self.pieces[place])
            for place, one in enumerate(self.documents)
            if one is not None and one.kind in kinds
        }

    def put(self, around: Mapping[int, str]) -> None:
        """Take over objects as they are now."""
        self.changed |= {place: text for place, text in around.items() if text != self.pieces[place]}


def _is_job(document: Document) -> bool:
    key: Any = (document.api_version, document.kind)
    is_job = is_input_kind(document) or holds_several(document) or key in KINDS
    return document.kind not in _RUNTIMES and (is_job or COMPILED.get(document.kind) == document.api_version)
