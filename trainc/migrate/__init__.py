"""Files of earlier kinds and spellings as files of today: comments stay, and every change in meaning is named."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from trainc.migrate import older, runtime, trainjob
from trainc.migrate.chunks import UnreadableError, dump, is_same_amount, load, split, with_line_ends, without_comments
from trainc.migrate.compared import UNEXPLAINED, Difference, differences
from trainc.migrate.comparison import LATEST, compiled, unplaced
from trainc.migrate.keys import MisshapenError
from trainc.model.finding import ERROR
from trainc.model.legacy_kinds import kind_of
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.model.tree import plain
from trainc.yaml.comments import comments
from trainc.yaml.reader import read
from trainc.yaml.rules import SIZE, SYNTAX

if TYPE_CHECKING:
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


class Migration(NamedTuple):
    """A file's new text, what changed, how the compiled output differs, and what stood in the way."""

    text: str
    changes: tuple[Change, ...]
    differences: tuple[Difference, ...]
    problems: tuple[Finding | Problem, ...]

    @property
    def touched(self) -> bool:
        """Whether the text is another one."""
        return bool(self.changes)


def migrate(text: str, project: Project = LATEST) -> Migration:
    """The text with everything of earlier days in today's kinds and spellings; doing it twice changes nothing more.

    Line ends stay what most of them are.
    """
    done: Migration = with_line_ends(text, lambda unix: _migrated(unix, project))
    return done


def _migrated(text: str, project: Project) -> Migration:
    pieces: list[str] = []
    changes: list[Change] = []
    found: list[Difference] = []
    problems: list[Finding | Problem] = []
    line = 0
    for piece in split(text):
        done = _piece(piece, line, project)
        line += piece.count("\n")
        pieces.append(done.text)
        changes += done.changes
        found += done.differences
        problems += done.problems
    return Migration(_joined(pieces), tuple(changes), tuple(found), tuple(problems))


def _piece(piece: str, line: int, project: Project) -> Migration:
    """One document; `line` is the number of lines above it."""
    untouched = Migration(piece, (), (), ())
    if not any(word in piece for word in _WORDS):
        return untouched
    heard = Report()
    list(read(_bytes(piece), "", heard, duplicates="ignore"))
    if heard.failed:
        placed = Report()
        list(read(_placed(piece, line), "", placed, duplicates="ignore"))
        return untouched._replace(problems=_errors(placed))
    if len(piece) > _LARGEST:
        at = Span("", line + 1, 1, line + 1, 1)
        help_ = "no server stores an object of that size: keep the data elsewhere"
        return untouched._replace(problems=(SIZE.at(at, "this document is too large to be rewritten", help=help_),))
    try:
        root = load(piece)
    except UnreadableError as error:
        return untouched._replace(problems=(_unreadable(error, line),))
    if not isinstance(root, dict) or not isinstance(root.get("kind"), str):
        return untouched
    api, kind = root.get("apiVersion"), root["kind"]
    if kind_of(str(api), kind) is not None:
        return _older(piece, line, root, project)
    if api not in _OURS or kind not in ("TrainJob", *_RUNTIMES):
        return untouched
    try:
        messages = trainjob.rewrite(root) if kind == "TrainJob" else runtime.rewrite(root)
    except MisshapenError:
        return untouched._replace(problems=_errors(compiled(_placed(piece, line), project)[1]))
    if not messages:
        return untouched
    return Migration(_commented(dump(root, piece), piece), _changes(root, kind, messages), (), ())


def _placed(piece: str, line: int) -> bytes:
    """A piece on the lines where it stands in its file, byte by byte as it was."""
    return b"\n" * line + _bytes(piece)


def _bytes(piece: str) -> bytes:
    return piece.encode("utf-8", "surrogateescape")


def _errors(report: Report) -> tuple[Finding, ...]:
    return tuple(finding for finding in report.findings if finding.level == ERROR)


def _unreadable(error: UnreadableError, line: int) -> Finding:
    """The finding for what the comment-keeping parser cannot read."""
    at = Span("", line + error.line + 1, error.column + 1, line + error.line + 1, error.column + 2)
    return SYNTAX.at(at, f"{error}, so nothing here can be rewritten", help="write it in plain YAML")


def _older(piece: str, line: int, root: Any, project: Project) -> Migration:
    bare, _ = compiled(piece, unplaced(project))
    if not any(tree.get("kind") == "JobSet" for tree in bare):
        # Only what is reported needs the lines above it.
        return Migration(piece, (), (), _errors(compiled(_placed(piece, line), unplaced(project))[1]))
    kind = root["kind"]
    plain = _plain(piece)
    documents, want = older.rewrite(root, plain, bare, _namespaces(project))
    messages = [*_older_messages(kind, want), *older.left_behind(plain, bare)]
    text = _written(documents, piece)
    if _misread(text, want):
        text = _written([without_comments(document) for document in documents], piece)
    before, _ = compiled(piece, project)
    after, heard = compiled(text, project)
    found = differences(before, after, want.roles, want.containers)
    wrong = _misread(text, want) or _unlike(found, heard)
    if wrong:
        return Migration(piece, (), (), (Problem(Span("", line + 1, 1, line + 1, 1), wrong),))
    return Migration(text, _changes(root, kind, messages), tuple(found), ())


def _written(documents: list[Any], piece: str) -> str:
    text = "---\n".join(dump(document, piece).removeprefix("---\n") for document in documents)
    return _commented(text, piece)


def _misread(text: str, want: Wanted) -> str:
    """Why a new text does not say what it should, as when a comment would become part of a script; "" where it does."""
    meant = [want.job, want.runtime, *want.extras]
    said = [plain(document.tree) for document in read(_bytes(text), "", Report(), duplicates="ignore")]
    if _alike(said, meant):
        return ""
    return "the new text would not say what it should: a comment stands where it would become part of a value"


def _alike(said: Any, meant: Any) -> bool:
    """Whether two trees say the same; an amount may be spelled in another way, as a number or in quotes."""
    if isinstance(meant, dict) and isinstance(said, dict):
        return meant.keys() == said.keys() and all(_alike(said[key], meant[key]) for key in meant)
    if isinstance(meant, list) and isinstance(said, list):
        return len(meant) == len(said) and all(map(_alike, said, meant))
    if type(said) is bool or type(meant) is bool:
        return said is meant
    return str(said) == str(meant) or is_same_amount(said, meant)


def _unlike(found: list[Difference], heard: Report) -> str:
    """Why what a new text compiles to is not what it should be, "" where it is."""
    unexplained = [one for one in found if one.reason == UNEXPLAINED]
    if not unexplained:
        return ""
    refused = [finding.message for finding in _errors(heard)][:1]
    return refused[0] if refused else f"what it compiles to would change: {unexplained[0].path}"


def _namespaces(project: Project) -> frozenset[str]:
    """The namespaces that clusters give a job without one; "" where one gives none and another does."""
    given = {str(one.namespace.value) if one.namespace is not None else "" for one in project.clusters}
    return frozenset() if given == {""} else frozenset(given)


def _plain(piece: str) -> dict[str, Any]:
    (document,) = read(piece, "", Report(), duplicates="ignore")
    found: dict[str, Any] = plain(document.tree)
    return found


def _older_messages(kind: str, want: Wanted) -> list[str]:
    name = want.job["metadata"]["name"]
    messages = [f"the {kind} is a TrainJob, its pods are the {want.runtime['kind']} `{name}` in the same file"]
    if want.frozen:
        messages.append(
            "no policy of the Trainer wires such a job: the runtime holds every address, `numNodes` cannot scale it"
        )
    else:
        messages.append(
            "variables of the operator that programs may read are in `trainer.env`, written out for this number of nodes"
        )
    if want.extras:
        kinds = ", ".join(f"{tree['kind']} `{tree['metadata']['name']}`" for tree in want.extras)
        messages.append(f"what the operator made beside the job is in the file: {kinds}")
    return messages


def _changes(root: Any, kind: str, messages: list[str]) -> tuple[Change, ...]:
    metadata = root.get("metadata")
    name = metadata.get("name", "") if isinstance(metadata, dict) else ""
    return tuple(Change(f"{kind} {name}", message) for message in messages)


def _commented(text: str, former: str) -> str:
    """The text with the comments that it lost since it was `former` at its top."""
    lost = Counter(comments(_bytes(former))) - Counter(comments(_bytes(text)))
    if not lost:
        return text
    start, mark, rest = text.partition("---\n") if text.startswith("---\n") else ("", "", text)
    return start + mark + "".join(f"{comment}\n" for comment in lost.elements()) + rest


def _joined(pieces: list[str]) -> str:
    out = ""
    for piece in pieces:
        if out and not piece.startswith("---"):
            out += "---\n"
        out += piece
    return out
