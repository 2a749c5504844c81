"""Files of earlier kinds and spellings as files of today: comments stay, and every change in meaning is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from trainc.migrate import runtime, trainjob
from trainc.migrate.chunks import UnreadableError, dump, load, split, with_line_ends
from trainc.migrate.comparison import LATEST, compiled
from trainc.migrate.keys import MisshapenError
from trainc.migrate.older_job import Place, as_bytes, errors, rewritten, with_comments
from trainc.model.legacy_kinds import kind_of
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.model.tree import plain
from trainc.yaml.reader import read
from trainc.yaml.rules import SIZE, SYNTAX

if TYPE_CHECKING:
    from trainc.migrate.compared import Difference
    from trainc.migrate.older_job import Older
    from trainc.migrate.shared import Shared
    from trainc.migrate.wanted import Wanted
    from trainc.model.finding import Finding
    from trainc.model.settings import Project

_WORDS = ("kubeflow.org/", "mlkube.io/", "tensorflow.org/")
_LARGEST = 1024 * 1024  # characters of one document; the parser that keeps comments is slow
_RUNTIMES = ("TrainingRuntime", "ClusterTrainingRuntime")
_OURS = ("trainer.kubeflow.org/v1alpha1", "kubeflow.org/v2alpha1")


class Change(NamedTuple):
    """Something that is written otherwise, or means something else, in one document."""

    document: str  # kind and name before
    message: str


class Problem(NamedTuple):
    """Why a document stays as it is, though it is legal."""

    span: Span
    message: str


class Outcome(NamedTuple):
    """What became of one older job: the policy that wires it now, "" for none, and why."""

    kind: str
    name: str
    is_migrated: bool
    policy: str
    reason: str
    messages: tuple[str, ...] = ()
    want: Wanted | None = None
    differences: tuple[Difference, ...] = ()

    @property
    def is_served(self) -> bool:
        """Whether the job names a runtime that it shares with others."""
        return self.want is not None and bool(self.want.served_by)


class Migration(NamedTuple):
    """A file's new text, what changed, how the compiled output differs, and what stood in the way."""

    text: str
    changes: tuple[Change, ...]
    differences: tuple[Difference, ...]
    problems: tuple[Finding | Problem, ...]
    outcomes: tuple[Outcome, ...] = ()  # of its older jobs

    @property
    def touched(self) -> bool:
        """Whether the text is another one."""
        return bool(self.changes)


def migrate(text: str, project: Project = LATEST, file: str = "", shared: Shared | None = None) -> Migration:
    """The text with everything of earlier days in today's kinds and spellings; doing it twice changes nothing more.

    Line ends stay what most of them are. The file says which clusters run the jobs that name none; jobs that can
    name the `shared` runtime have none of their own.
    """
    done: Migration = with_line_ends(text, lambda unix: _migrated(unix, Place(project, file, shared)))
    return done


def _migrated(text: str, place: Place) -> Migration:
    done = []
    line = 0
    for piece in split(text):
        done.append(_piece(piece, line, place))
        line += piece.count("\n")
    return Migration(
        _joined([one.text for one in done]),
        tuple(change for one in done for change in one.changes),
        tuple(difference for one in done for difference in one.differences),
        tuple(problem for one in done for problem in one.problems),
        tuple(outcome for one in done for outcome in one.outcomes),
    )


def _piece(piece: str, line: int, place: Place) -> Migration:
    """One document; `line` is the number of lines above it."""
    untouched = Migration(piece, (), (), ())
    if not any(word in piece for word in _WORDS):
        return untouched
    heard = Report()
    documents = [plain(document.tree) for document in read(as_bytes(piece), "", heard, duplicates="ignore")]
    if heard.failed:
        placed = Report()
        list(read(_placed(piece, line), "", placed, duplicates="ignore"))
        return untouched._replace(problems=errors(placed))
    if len(piece) > _LARGEST:
        at = Span("", line + 1, 1, line + 1, 1)
        help_ = "no server stores an object of that size: keep the data elsewhere"
        return untouched._replace(problems=(SIZE.at(at, "this document is too large to be rewritten", help=help_),))
    tree = documents[0] if documents else None
    if not isinstance(tree, dict) or not isinstance(tree.get("kind"), str):
        return untouched
    api, kind = tree.get("apiVersion"), tree["kind"]
    if kind_of(str(api), kind) is not None:
        return _older(piece, line, tree, place)
    if api not in _OURS or kind not in ("TrainJob", *_RUNTIMES):
        return untouched
    return _respelled(piece, line, tree, place.project)


def _older(piece: str, line: int, tree: dict[str, Any], place: Place) -> Migration:
    done = rewritten(piece, tree, place)
    if done.want is None:
        # Only what is reported needs the lines above it.
        return Migration(piece, (), (), errors(compiled(_placed(piece, line), place.project)[1]), _outcome(tree, done))
    if done.refused:
        problem = Problem(Span("", line + 1, 1, line + 1, 1), done.refused)
        return Migration(piece, (), (), (problem,), _outcome(tree, done))
    return Migration(
        done.text, _changes(tree, tree["kind"], done.messages), tuple(done.differences), (), _outcome(tree, done)
    )


def _outcome(tree: dict[str, Any], done: Older) -> tuple[Outcome, ...]:
    metadata = tree.get("metadata")
    name = str(metadata.get("name", "")) if isinstance(metadata, dict) else ""
    want = done.want if not done.refused else None
    policy = want.policy.name if want is not None and want.policy is not None else ""
    reason = want.reason if want is not None else done.refused
    if want is None:
        return (Outcome(tree["kind"], name, False, "", reason),)
    return (Outcome(tree["kind"], name, True, policy, reason, tuple(done.messages), want, tuple(done.differences)),)


def _respelled(piece: str, line: int, tree: dict[str, Any], project: Project) -> Migration:
    """A document of the Trainer's kinds in today's spelling."""
    untouched = Migration(piece, (), (), ())
    try:
        root = load(piece)
    except UnreadableError as error:
        return untouched._replace(problems=(_unreadable(error, line),))
    kind = tree["kind"]
    try:
        messages = trainjob.rewrite(root) if kind == "TrainJob" else runtime.rewrite(root)
    except MisshapenError:
        return untouched._replace(problems=errors(compiled(_placed(piece, line), project)[1]))
    if not messages:
        return untouched
    return Migration(with_comments(dump(root, piece), piece), _changes(root, kind, messages), (), ())


def _placed(piece: str, line: int) -> bytes:
    """A piece on the lines where it stands in its file, byte by byte as it was."""
    return b"\n" * line + as_bytes(piece)


def _unreadable(error: UnreadableError, line: int) -> Finding:
    """The finding for what the comment-keeping parser cannot read."""
    at = Span("", line + error.line + 1, error.column + 1, line + error.line + 1, error.column + 2)
    return SYNTAX.at(at, f"{error}, so nothing here can be rewritten", help="write it in plain YAML")


def _changes(root: Any, kind: str, messages: list[str]) -> tuple[Change, ...]:
    metadata = root.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    return tuple(Change(f"{kind} {name}", message) for message in messages)


def _joined(pieces: list[str]) -> str:
    out = ""
    for piece in pieces:
        if out and not piece.startswith("---"):
            out += "---\n"
        out += piece
    return out
