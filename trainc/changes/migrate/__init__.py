"""Files of earlier kinds and spellings as files of today: comments stay, and every change in meaning is named.

Services, ConfigMaps and whatever else stands beside the jobs of a file goes out with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
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
    one_object,
    split,
    values,
    with_line_ends,
)
from trainc.changes.migrate.compared import LATEST, Difference, compiled
from trainc.changes.migrate.host_names import followed_files, renamed
from trainc.changes.migrate.older import Older, TextPlace, errors, rewritten, with_comments
from trainc.changes.migrate.other_job import rewritten_other
from trainc.changes.migrate.target import MigrationTarget, Shared
from trainc.changes.migrate.trainjob import rewrite
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


class MigrationChange(NamedTuple):
    """Something that is written otherwise, or means something else, in one document."""

    document: str  # kind and name before
    message: str


class Obstacle(NamedTuple):
    """Why a document stays as it is, though it is legal."""

    span: Span
    message: str
    is_foreign: bool = False  # whether its kind is one that trainc never compiles


class Outcome(NamedTuple):
    """What became of one older job: the policy that wires it now, "" for none, and why."""

    kind: str
    name: str
    is_migrated: bool
    policy: str
    reason: str
    messages: tuple[str, ...] = ()
    want: MigrationTarget | None = None
    differences: tuple[Difference, ...] = ()
    left: tuple[str, ...] = ()  # those of the messages that name what is dropped, or kept as the operator had it


class Migration(NamedTuple):
    """A file's new text, what changed, how the compiled output differs, and what stood in the way."""

    text: str
    changes: tuple[MigrationChange, ...]
    differences: tuple[Difference, ...]
    problems: tuple[Finding | Obstacle, ...]
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
    done: Migration = with_line_ends(text, lambda unix: _migrated(unix, TextPlace(project, file, shared)))
    return done


def _migrated(text: str, place: TextPlace) -> Migration:
    done = []
    line = 0
    file = FileObjects(split(text))
    for index, piece in enumerate(file.pieces):
        done.append(_piece(index, line, file, place))
        line += piece.count("\n")
    new = joined(file.changed.get(index, one.text) for index, one in enumerate(done))
    return Migration(
        json_text(one_object(trees), text) if new != text and is_json(text) and (trees := values(new)) else new,
        tuple(change for one in done for change in one.changes),
        tuple(difference for one in done for difference in one.differences),
        tuple(problem for one in done for problem in one.problems),
        tuple(outcome for one in done for outcome in one.outcomes),
    )


def _piece(index: int, line: int, file: FileObjects, place: TextPlace) -> Migration:
    """One document; `line` is the number of lines above it."""
    piece = file.pieces[index]
    untouched = Migration(piece, (), (), ())
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
        at = Span("", line + 1, 1, line + 1, 1)
        help_ = "no API server stores an object of that size: keep the data elsewhere"
        return untouched._replace(problems=(SIZE.at(at, "this document is too large to be rewritten", help=help_),))
    if is_other_job(documents[0]):
        return _other(index, line, tree, file, place)
    if not isinstance(tree.get("kind"), str):
        return untouched
    if tree["kind"].endswith("List") and (jobs := [*listed_jobs(documents[0].tree), *_former(tree.get("items"))]):
        reason = f"jobs in a {documents[0].kind} are not rewritten: write each as its own document"
        outcomes = tuple(Outcome(kind, name, False, "", reason) for kind, name in jobs)
        return untouched._replace(problems=(Obstacle(Span("", line + 1, 1, line + 1, 1), reason),), outcomes=outcomes)
    api, kind = tree.get("apiVersion"), tree["kind"]
    if kind_of(str(api), kind) is not None:
        return _older(index, line, tree, file, place)
    if api not in _OURS or kind not in ("TrainJob", *_RUNTIMES):
        # A document of no kind of ours: a training kind that trainc does not compile is told.
        document = documents[0]
        if (foreign := foreign_kind(document.api_version, document.kind, document.tree)) is None:
            return untouched
        reason = f"{foreign.message}: {foreign.help}"
        at = document.span(("kind",))
        span = Span("", at.line + line, at.column, at.end_line + line, at.end_column)
        outcome = Outcome(document.kind, document.name, False, "", reason)
        return untouched._replace(problems=(Obstacle(span, reason, is_foreign=True),), outcomes=(outcome,))
    done = _respelled(piece, line, tree, place.project)
    return _with_present_hosts(done, line, tree, file, place.project) if kind == "TrainJob" else done


def _former(items: Any) -> list[tuple[str, str]]:
    """Kind and name of each item of a List that is written in an earlier spelling of the Trainer's kinds."""
    former = []
    for item in items if isinstance(items, list) else []:
        if not isinstance(item, dict) or item.get("apiVersion") not in _OURS:
            continue
        kind, metadata = item.get("kind"), item.get("metadata")
        with Suppress(MisshapenError):
            if kind in ("TrainJob", *_RUNTIMES) and any([*rewrite(fresh(item), kind)]):
                former.append((str(kind), str(metadata.get("name", "")) if isinstance(metadata, dict) else ""))
    return former


def _other(index: int, line: int, tree: dict[str, Any], file: FileObjects, place: TextPlace) -> Migration:
    """A job of another operator, with the objects of the file that go out with it."""
    piece = file.pieces[index]
    done = rewritten_other(piece, tree, place, file.around(index))
    if not done.jobs:
        text = "\n" * line + joined([piece, *done.around.values()])
        findings = errors(compiled(as_bytes(text), place.project)[1]) or done.findings
        return Migration(piece, (), (), findings, _outcomes(tree, Older(piece, None, [], [], "")))
    outcomes = _outcomes(tree, *done.jobs)
    if refused := next((job.refused for job in done.jobs if job.refused), ""):
        at = Span("", line + 1, 1, line + 1, 1)
        return Migration(piece, (), (), (Obstacle(at, refused),), outcomes)
    file.put(done.around)
    pairs = zip(outcomes, done.jobs, strict=True)
    changes = tuple(
        MigrationChange(f"{one.kind} {one.name}", message) for one, job in pairs for message in job.messages
    )
    return Migration(done.text, changes, tuple(one for job in done.jobs for one in job.differences), (), outcomes)


def _older(index: int, line: int, tree: dict[str, Any], file: FileObjects, place: TextPlace) -> Migration:
    piece = file.pieces[index]
    done = rewritten(piece, tree, place)
    if done.want is None:
        # Only what is reported needs the lines above it.
        found = errors(compiled(_placed(piece, line), place.project)[1])
        return Migration(piece, (), (), found, _outcomes(tree, done))
    if done.refused:
        problem = Obstacle(Span("", line + 1, 1, line + 1, 1), done.refused)
        return Migration(piece, (), (), (problem,), _outcomes(tree, done))
    config_maps = {at: text for at, text in file.around(index).items() if "ConfigMap" in text}
    file.put(followed_files(piece, config_maps, done.want, place.project))
    changes = _changes(tree, tree["kind"], done.messages)
    return Migration(done.text, changes, tuple(done.differences), (), _outcomes(tree, done))


def _outcomes(tree: dict[str, Any], *jobs: Older) -> tuple[Outcome, ...]:
    # A submit file of Armada names no kind, and plain Jobs and Volcano's have one name.
    prefix = "Volcano " if str(tree.get("apiVersion")).startswith("batch.volcano.sh/") else ""
    kind = f"{prefix}{tree.get('kind') or ARMADA[1]}"
    outcomes = []
    for done in jobs:
        metadata = done.want.job.get("metadata") if done.want is not None else tree.get("metadata")
        name = str(metadata.get("name", "")) if isinstance(metadata, dict) else ""
        if (want := done.want) is None or done.refused:
            outcomes.append(Outcome(kind, name, False, "", done.refused))
            continue
        policy = want.policy.name if want.policy is not None else ""
        about = (tuple(done.messages), want, tuple(done.differences), done.left)
        outcomes.append(Outcome(kind, name, True, policy, want.reason, *about))
    return tuple(outcomes)


def _respelled(piece: str, line: int, tree: dict[str, Any], project: Project) -> Migration:
    untouched = Migration(piece, (), (), ())
    try:
        root = load(piece)
    except UnreadableError as error:
        return untouched._replace(problems=(_unreadable(error, line),))
    kind = tree["kind"]
    try:
        messages = [*rewrite(root, kind)]
    except MisshapenError:
        return untouched._replace(problems=errors(compiled(_placed(piece, line), project)[1]))
    if not messages:
        return untouched
    try:
        new = dump(root, piece)
    except UnreadableError as error:
        return untouched._replace(problems=(_unreadable(error, line),))
    if len(allows(as_bytes(new), "")) < len(allows(as_bytes(piece), "")):
        why = "a trainc comment is inside braces and would lose its place: write the braces as lines"
        return untouched._replace(problems=(Obstacle(Span("", line + 1, 1, line + 1, 1), why),))
    return Migration(with_comments(new, piece), _changes(root, kind, messages), (), ())


def _with_present_hosts(
    done: Migration, line: int, tree: dict[str, Any], file: FileObjects, project: Project
) -> Migration:
    """A TrainJob with the names that its pods have now, where it or a ConfigMap beside it has those of an operator."""
    if done.problems:
        return done
    new = renamed(done.text, file.of_kind("ConfigMap"), [*file.of_kind(*_RUNTIMES).values()], project)
    file.put(new.around)
    at = Span("", line + 1, 1, line + 1, 1)
    return done._replace(
        text=new.text,
        changes=(*done.changes, *_changes(tree, "TrainJob", list(new.messages))),
        problems=tuple(Obstacle(at, problem) for problem in new.problems),
    )


def _placed(piece: str, line: int) -> bytes:
    """A piece on the lines where it stands in its file, byte by byte as it was."""
    return b"\n" * line + as_bytes(piece)


def _unreadable(error: UnreadableError, line: int) -> Finding:
    at = Span("", line + error.line + 1, error.column + 1, line + error.line + 1, error.column + 2)
    return SYNTAX.at(at, f"{error}, so nothing here can be rewritten", help="write it in plain YAML")


def _changes(root: Any, kind: str, messages: list[str]) -> tuple[MigrationChange, ...]:
    metadata = root.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    return tuple(MigrationChange(f"{kind} {name}", message) for message in messages)


def is_other_job(document: Document) -> bool:
    """Whether a document is a job of another operator that trainc compiles, or holds several."""
    return is_input_kind(document) or holds_several(document)


def listed_jobs(tree: Tree) -> list[tuple[str, str]]:
    """Kind and name of each job in a List that could be migrated if it were a document of its own."""
    jobs = []
    items = get(tree, "items")
    for item in items if type(items) is list else ():
        key = str(value(item, "apiVersion")), str(value(item, "kind"))
        if key in KINDS or (key in INPUT_KINDS and (key != JOB or is_training(item))):
            jobs.append((key[1], str(value(item, "metadata", "name") or "")))
    return jobs


class FileObjects:
    """The documents of a file, as texts; `changed` are those that follow a job which is a TrainJob now."""

    def __init__(self, pieces: list[str]) -> None:
        self.pieces = pieces
        self.changed: dict[int, str] = {}

    @cached_property
    def documents(self) -> list[Document | None]:
        """What each piece is, None where it cannot be read."""
        return [_document(piece) for piece in self.pieces]

    def around(self, index: int) -> dict[int, str]:
        """The objects that go out with the job at a place: its own Services, and with the first job all that no job owns."""
        documents = self.documents
        jobs = [place for place, one in enumerate(documents) if one is not None and _is_job(one)]
        names = {
            one.name: place
            for place in jobs
            if (one := documents[place]) is not None and (one.api_version, one.kind) == JOB
        }
        by_line = {}
        for place, one in enumerate(documents):
            if one is None or place in jobs or one.kind in _RUNTIMES or not (one.api_version and one.kind):
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


def _document(piece: str) -> Document | None:
    own_report = Report()
    documents = list(read(as_bytes(piece), "", own_report, duplicates="ignore"))
    return documents[0] if documents and not own_report.failed and type(documents[0].tree) is dict else None


def _is_job(document: Document) -> bool:
    key: Any = (document.api_version, document.kind)
    if document.kind in _RUNTIMES:
        return False
    return is_other_job(document) or key in KINDS or COMPILED.get(document.kind) == document.api_version
