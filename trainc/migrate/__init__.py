"""Files of earlier kinds and spellings as files of today: comments stay, and every change in meaning is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from trainc.migrate import older, runtime, trainjob
from trainc.migrate.chunks import comments, dump, load, split
from trainc.migrate.compared import Difference, differences
from trainc.migrate.compiled import LATEST, compiled
from trainc.model.finding import ERROR
from trainc.model.older import kind_of
from trainc.yaml.reader import read

if TYPE_CHECKING:
    from trainc.migrate.wanted import Wanted
    from trainc.model.finding import Finding
    from trainc.model.settings import Project

_WORDS = ("kubeflow.org/", "mlkube.io/", "tensorflow.org/")
_RUNTIMES = ("TrainingRuntime", "ClusterTrainingRuntime")
_OURS = ("trainer.kubeflow.org/v1alpha1", "kubeflow.org/v2alpha1")


class Change(NamedTuple):
    """Something that is written otherwise, or means something else, in one document."""

    document: str  # kind and name before
    message: str


class Migration(NamedTuple):
    """A file's new text, what changed, how the compiled output differs, and what stood in the way."""

    text: str
    changes: tuple[Change, ...]
    differences: tuple[Difference, ...]
    problems: tuple[Finding, ...]

    @property
    def touched(self) -> bool:
        """Whether the text is another one."""
        return bool(self.changes)


def migrate(text: str, project: Project = LATEST) -> Migration:
    """The text with everything of earlier days in today's kinds and spellings; doing it twice changes nothing more."""
    pieces: list[str] = []
    changes: list[Change] = []
    found: list[Difference] = []
    problems: list[Finding] = []
    for piece in split(text):
        done = _piece(piece, project)
        pieces.append(done.text)
        changes += done.changes
        found += done.differences
        problems += done.problems
    return Migration(_joined(pieces), tuple(changes), tuple(found), tuple(problems))


def _piece(piece: str, project: Project) -> Migration:
    untouched = Migration(piece, (), (), ())
    if not any(word in piece for word in _WORDS):
        return untouched
    root = load(piece)
    if not isinstance(root, dict) or not isinstance(root.get("kind"), str):
        return untouched
    api, kind = root.get("apiVersion"), root["kind"]
    if kind_of(str(api), kind) is not None:
        return _older(piece, root, project)
    if api not in _OURS or kind not in ("TrainJob", *_RUNTIMES):
        return untouched
    said = comments(root)
    messages = trainjob.rewrite(root) if kind == "TrainJob" else runtime.rewrite(root)
    if not messages:
        return untouched
    return Migration(_kept(dump(root, piece), said), _changes(root, kind, messages), (), ())


def _older(piece: str, root: Any, project: Project) -> Migration:
    before, report = compiled(piece, project)
    if not any(tree["kind"] == "JobSet" for tree in before):
        return Migration(piece, (), (), tuple(f for f in report.findings if f.level == ERROR))
    kind, said = root["kind"], comments(root)
    plain = _plain(piece)
    documents, want = older.rewrite(root, plain, before)
    text = "---\n".join(_text(document, piece) for document in documents)
    text = _kept(text, said)
    after, _ = compiled(text, project)
    found = differences(before, after, want.roles, want.containers)
    return Migration(text, _changes(root, kind, _older_messages(kind, want)), tuple(found), ())


def _plain(piece: str) -> dict[str, Any]:
    from trainc.model.report import Report  # noqa: PLC0415
    from trainc.model.tree import plain  # noqa: PLC0415

    (document,) = read(piece, "", Report())
    found: dict[str, Any] = plain(document.tree)
    return found


def _older_messages(kind: str, want: Wanted) -> list[str]:
    name = want.job["metadata"]["name"]
    messages = [f"the {kind} is a TrainJob, its pods are the TrainingRuntime `{name}` in the same file"]
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
    name = (root.get("metadata") or {}).get("name", "")
    return tuple(Change(f"{kind} {name}", message) for message in messages)


def _text(document: Any, like: str) -> str:
    return dump(document, like).removeprefix("---\n")


def _kept(text: str, said: list[str]) -> str:
    """The text with the comments that lost their place at its top."""
    left = list(said)
    for piece in split(text):
        for comment in comments(load(piece)):
            if comment in left:
                left.remove(comment)
    start, mark, rest = text.partition("---\n") if text.startswith("---\n") else ("", "", text)
    return start + mark + "".join(f"{comment}\n" for comment in left) + rest


def _joined(pieces: list[str]) -> str:
    out = ""
    for piece in pieces:
        if out and not piece.startswith("---"):
            out += "---\n"
        out += piece
    return out
