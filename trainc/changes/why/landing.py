"""The other direction: where a line that people wrote lands in the output, or why it does not.

Which piece of a runtime takes a value away that a lower one says; a table of paths that reach no manifest; and the
fields that stand on a line of a rendered file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from trainc.changes.why import Layers, LayerValue, Why, label, of_leaf, runtime_parts
from trainc.compiler.patched import PATCH
from trainc.compiler.resolve.composed import ADDING, RuntimePart
from trainc.model.bundle import Bundle
from trainc.model.document import Document
from trainc.model.finding import Finding
from trainc.model.paths import Step, Steps, keyed, keyed_leaves, matches, shown
from trainc.model.plan import NODE, TRAINER, Plan
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Path, Tree, first_leaf, get, leaves, value
from trainc.text.merge_keys import MERGE_KEYS
from trainc.text.object_keys import TRAINC_PREFIX

_FRAMEWORK = "trainer.kubeflow.org/framework"
_OUTSIDE = "wrong level: labels and annotations of a {kind} stay on it; those of the pods are in its template"
_JOB_LEVEL = (
    "wrong level: labels and annotations of a TrainJob are not copied, except kueue.x-k8s.io/*; write them into "
    "runtimePatches[].trainingRuntimeSpec.template.metadata, or further down for the Jobs and the pods"
)
_TRAINJOB: tuple[tuple[Path, str], ...] = (
    (("spec", "runtimeRef"), "names the runtime that the job starts from"),
    (("spec", "suspend"), "a queue owns `suspend`: only true is written"),
    (("spec", "managedBy"), "names the controller in charge; only MultiKueue's name reaches the JobSet"),
    (
        ("spec", "activeDeadlineSeconds"),
        "not overridable upstream: only the Trainer controller has this timer, and writes it to no object",
    ),
    (
        ("spec", "trainer", "resourcesPerNode", "claims"),
        "not overridable upstream: limits and requests are merged, claims are not (Trainer v2.3.0)",
    ),
)
_OWN = {
    "extends": "names the runtime that this one inherits from",
    "components": "enables a component, or sets one of its parameters",
    "locks": "lists what higher layers cannot change",
    "parameters": "describes a parameter; its value is where it is set",
    "roles": "names the replicated jobs that the component is for",
    "requires": "lists what the component requires",
    "conflictsWith": "lists what the component excludes",
    "after": "lists what the component is applied after",
    "description": "describes the component",
}
_CLUSTER = {
    "components": "enables a component for every job of the cluster",
    "paths": "selects the jobs that the cluster runs",
    "folder": "names the folder of the cluster's dumps",
    "images": "rewrites images with this prefix, or pins images of this name; no image of a job matches",
}
_SETTING = "a setting of the {}: it controls how jobs are compiled, and is not in the manifests"
_EMPTY = "the API drops an empty value, or nothing in the manifests depends on it"
_META = ("name", "namespace", "finalizers")


def reason(
    document: Document, path: Path, content: object, plan: Plan | None, *, counts: bool, held: bool, renamed: bool
) -> str:
    """Why the value at a path of a document is in no manifest, in words that name the cause where it is known.

    The value itself `counts` in a runtime, its document is `held` by one, or somebody above says the same (`renamed`);
    `plan` is that of the first job.
    """
    if len(path) == 1:
        return "identifies this document"
    if path[0] == "metadata":
        if path[-1] == _FRAMEWORK:
            return "names the runtime's framework; if no policy does, it selects the framework"
        if str(path[-1]).startswith(TRAINC_PREFIX):
            return "trainc itself reads it"
        if path[1] == "name":
            return "names this document"
        return _JOB_LEVEL if document.kind == "TrainJob" else _OUTSIDE.format(kind=document.kind)
    if document.kind == "TrainJob":
        return _of_job(path, plan)
    if document.kind == "Project" and "patch" not in path[3:4]:
        if path[1] != "clusters" or len(path) < 4:
            return _SETTING.format("project")
        return _CLUSTER.get(str(path[3]), _SETTING.format("cluster"))
    if path[1] in _OWN and document.kind in ("Runtime", "RuntimeComponent"):
        return _OWN[str(path[1])]
    if not held:
        return "no compiled job uses it"
    if path[-1] == "$patch" or (content is None and counts):
        return "removes what lower layers set" if content != "replace" else "replaces what lower layers set"
    if is_pointer(path):
        return f"points at `{content}`; the name itself was written by a {'higher' if renamed else 'lower'} layer"
    return _EMPTY if counts else "a parameter of the component writes this field"


def _of_job(path: Path, plan: Plan | None) -> str:
    for prefix, text in _TRAINJOB:
        if path[: len(prefix)] == prefix:
            return text
    if len(path) == 2:
        return _EMPTY
    if path[:2] == ("spec", "runtimePatches"):
        if path[3:] == ("manager",):
            return "names the manager of the patch"
        if path[3:] == ("time",):
            return "records when the patch was made"
        if "metadata" in path and path[-1] in _META and path[-2] == "metadata":
            return "not overridable upstream: of a patch's metadata only labels and annotations count"
        if is_pointer(path):
            return "points at the patched object; the runtime sets the name itself"
        return "nothing in the manifests depends on it: an empty value in a patch changes nothing"
    if plan is not None and path[:2] == ("spec", "trainer"):
        return _of_trainer(str(path[2]), plan)
    if path[:2] == ("spec", "initializer"):
        return f"wrong container: the runtime has no `{path[2]}-initializer` job with a container of that name"
    return "nothing in the manifests depends on it"


def _of_trainer(field: str, plan: Plan) -> str:
    trainers = [role for role in plan.roles if role.ancestor == TRAINER]
    if not trainers:
        return "wrong container: no replicated job of the runtime is labeled as the trainer"
    if not any(role.container(NODE) for role in trainers):
        names = ", ".join(f"`{role.name.value}`" for role in trainers)
        return f"wrong container: {names} has no container `{NODE}`, the one that `spec.trainer` reaches"
    if field == "numProcPerNode":
        return f"the framework {plan.framework} counts its processes differently"
    if field == "resourcesPerNode" and plan.policy is None:
        return "not overridable upstream: without an mlPolicy in the runtime the controller ignores resourcesPerNode (Trainer v2.3.0)"
    if field == "numNodes" and get(plan.policy, "mpi") is None:
        return "beaten: the framework counts the nodes"
    return f"the framework {plan.framework} writes this field itself"


def is_pointer(path: Path) -> bool:
    """Whether a path leads to the key of an item of a keyed list."""
    return len(path) > 2 and type(path[-2]) is int and MERGE_KEYS.get(str(path[-3])) == path[-1]


LANDS, BEATEN, REFUSED, NOWHERE = "lands", "beaten", "refused", "nowhere"


class Landing(NamedTuple):
    """What becomes of one value that somebody wrote: `outcome` is lands, beaten, refused or nowhere.

    `fields` are the fields of the output that hold it or, where it is beaten, that hold another value or none;
    `beaten` are such fields beside those in which it lands. `findings` are the errors at its place; `reason` says why
    it lands nowhere.
    """

    path: str
    value: Any
    at: Span
    outcome: str
    fields: tuple[Why, ...] = ()
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    beaten: tuple[Why, ...] = ()


def landings(
    documents: Iterable[Document],
    wanted: int | str,
    bundles: Sequence[Bundle],
    findings: Sequence[Finding],
    explained: Sequence[Why] = (),
) -> Iterator[Landing]:
    """What becomes of every value that `wanted` means, in all of these bundles.

    A number means the values on that line, or below a key that stands there; a text the fields whose path holds it.
    Whoever asks about many lines hands over all `fields` of the bundles, so that they are explained once.
    """
    won: dict[Span, list[Why]] = {}  # fields of the output by the places that their value rests on
    lost: dict[Span, list[Why]] = {}  # and by those that it beat
    for one in explained or fields(bundles):
        for at in one.winner.origin.spans():
            won.setdefault(at, []).append(one)
        for at in dict.fromkeys(at for setter in one.beaten for at in setter.origin.spans()):
            lost.setdefault(at, []).append(one)
    pieces, errors = Pieces(bundles), _Errors(findings)
    plan = next((bundle.plan for bundle in bundles if bundle.plan is not None), None)
    for document in documents:
        for path in on_line(document, wanted) if isinstance(wanted, int) else at_path(document, wanted):
            leaf = _at(document.tree, path)
            if type(leaf) is not Sourced or (place := leaf.origin.at) is None:
                continue
            where, content = shown(keyed(document.tree, path)), leaf.value
            if refusals := errors.at((place, *_key_of_item(document, path))):
                yield Landing(where, content, place, REFUSED, findings=refusals)
                continue
            landed, overruled = won.get(place, []), lost.get(place, [])
            beaten = [one for one in overruled if not is_pointer(path) or one.value != content]
            beaten += pieces.removed_by(place, {(one.cluster, one.object) for one in (*landed, *overruled)})
            if landed:
                yield Landing(where, content, place, LANDS, tuple(landed), beaten=tuple(beaten))
            elif beaten:
                yield Landing(where, content, place, BEATEN, tuple(beaten))
            else:
                counts = pieces.say(place)
                held = counts or (document.kind != "Project" and pieces.hold(document))
                why = reason(document, path, content, plan, counts=counts, held=held, renamed=place in lost)
                yield Landing(where, content, place, NOWHERE, reason=why)


def on_line(document: Document, line: int) -> list[Path]:
    """The paths of all leaves that stand on a line, whose key does, or that lie below a key that does."""
    return [path for path, leaf in leaves(document.tree) if _stands(document, path, leaf, line)]


def at_path(document: Document, wanted: str) -> list[Path]:
    """The paths of all leaves whose path holds `wanted` as a run of whole steps."""
    return [path for path, _ in leaves(document.tree) if matches(keyed(document.tree, path), wanted, path)]


def _stands(document: Document, path: Path, leaf: Tree, line: int) -> bool:
    span = leaf.origin.at if type(leaf) is Sourced else None
    if span is not None and span.line <= line <= span.end_line:
        return True
    keys = (path[:length] for length in range(1, len(path) + 1) if type(path[length - 1]) is str)
    return any(document.span(key, key=True).line == line and _is_key(document, key, line) for key in keys)


def _is_key(document: Document, path: Path, line: int) -> bool:
    """Whether a key owns its line: behind the dash of a list item it stands for itself alone."""
    if len(path) > 1 and type(path[-2]) is int:
        item = document.span(path[:-1])
        return item.line != line or type(_at(document.tree, path)) is Sourced
    return True


def _at(tree: Tree, path: Path) -> Tree:
    for step in path:
        tree = tree[step]
    return tree


def fields(bundles: Sequence[Bundle]) -> Iterator[Why]:
    """Every field of the output of these bundles, explained."""
    for bundle in bundles:
        layers = Layers(bundle)
        for tree in bundle.objects:
            name = label(tree)
            for path, leaf in leaves(tree):
                if type(leaf) is Sourced:
                    yield of_leaf(layers, name, keyed(tree, path), leaf)


def _key_of_item(document: Document, path: Path) -> Iterator[Span]:
    """Where the name of the list item stands that a value belongs to: what is said of the item is said there."""
    if len(path) > 2 and type(path[-2]) is int:
        key = get(document.tree, *path[:-1], MERGE_KEYS.get(str(path[-3]), ""))
        if type(key) is Sourced and key.origin.at is not None:
            yield key.origin.at


class _Errors:
    """Errors by the line and column that they are about: each of many values asks for its own."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._of_line: dict[tuple[str, int], dict[int, list[tuple[int, Finding]]]] = {}
        self._of_lines: list[tuple[int, Finding]] = []
        for number, one in enumerate(findings):
            if one.level != "error" or not one.labels:
                continue
            span = one.labels[0].span
            if span.line == span.end_line:
                columns = self._of_line.setdefault((span.file, span.line), {})
                columns.setdefault(span.column, []).append((number, one))
            else:
                self._of_lines.append((number, one))
        self._columns = {place: sorted(columns) for place, columns in self._of_line.items()}

    def at(self, places: Sequence[Span]) -> tuple[Finding, ...]:
        """The errors about one of these places, in the order of the run."""
        nearest = {number: one for place in places for number, one in self._nearest(place)}
        wide = self._of_lines
        nearest |= {number: one for number, one in wide if any(_holds(one.labels[0].span, at) for at in places)}
        return tuple(nearest[number] for number in sorted(nearest))

    def _nearest(self, at: Span) -> Sequence[tuple[int, Finding]]:
        """The errors that start last on a line before a value, or where it does: at its key, or at itself."""
        columns = self._columns.get((at.file, at.line), [])
        index = bisect_right(columns, at.column)
        return self._of_line[at.file, at.line][columns[index - 1]] if index else ()


def _holds(span: Span, at: Span) -> bool:
    return span.file == at.file and span.line <= at.line <= span.end_line and span.column <= at.column


_WORD = "$patch"


class Pieces:
    """The pieces of all runtimes that some jobs start from, each read once."""

    def __init__(self, bundles: Sequence[Bundle]) -> None:
        self._bundles = [(bundle, _pieces(bundle.plan)) for bundle in bundles if bundle.plan is not None]
        self._places: dict[int, dict[Span, tuple[Steps, object]]] = {}

    def hold(self, document: Document) -> bool:
        """Whether a runtime of theirs was made with a document."""
        same = (document.file, document.kind, document.name)
        documents = (part.document for _, parts in self._bundles for part in parts)
        return any(one is not None and (one.file, one.kind, one.name) == same for one in documents)

    def say(self, at: Span) -> bool:
        """Whether a piece holds the value that is written there."""
        return any(at in self._read(part) for _, parts in self._bundles for part in parts)

    def removed_by(self, at: Span, known: Collection[tuple[str, str]]) -> Iterator[Why]:
        """For each job, but for those already told of (cluster, object): what took away the value written there."""
        for bundle, parts in self._bundles:
            name = label(bundle.jobset)
            below = next((index for index, part in enumerate(parts) if at in self._read(part)), None)
            if below is None or (bundle.cluster, name) in known:
                continue
            steps, overruled = self._read(parts[below])[at]
            for part in reversed(parts[below + 1 :]):
                if (leaf := _over(part, steps, overruled)) is not None:
                    who = LayerValue(part.name, part.label, leaf.value, leaf.origin)
                    yield Why(name, shown(steps[steps[0] == "template" :]), leaf.value, who, (), bundle.cluster)
                    break

    def _read(self, part: RuntimePart) -> dict[Span, tuple[Steps, object]]:
        key = id(part.tree)
        if key not in self._places:
            by_span = ((steps, leaf) for steps, leaf in keyed_leaves(part.tree) if type(leaf) is Sourced)
            self._places[key] = {
                one.origin.at: (steps, one.value) for steps, one in by_span if one.origin.at is not None
            }
        return self._places[key]


def _pieces(plan: Plan) -> tuple[RuntimePart, ...]:
    patches = [layer for layer in plan.layers if plan.runtime is not None and layer.name in ("patches", PATCH)]
    trees = [(layer, layer.tree) for layer in patches if layer.tree is not None]
    return (*runtime_parts(plan), *(RuntimePart(one.name, one.label, {"template": tree}) for one, tree in trees))


def _over(part: RuntimePart, steps: Steps, leaf: object) -> Sourced[Any] | None:
    """What a later piece says at a place or above it that leaves nothing of what was said there, None where all stays."""
    if part.name == "components" and not ADDING.isdisjoint(steps):
        return None  # lists that components add to
    tree: Tree = part.tree
    for step in steps:
        if type(tree) is dict:
            word = _of_map(tree, step)
        elif type(tree) is list:
            word = _of_list(tree, step)
        else:
            break
        if word is not None:
            return word
        tree = _child(tree, step)
    return tree if type(tree) is Sourced and (tree.value != leaf or type(tree.value) is not type(leaf)) else None


def _of_map(node: dict[str, Tree], step: Step) -> Sourced[Any] | None:
    """The directive of a map that takes away what stood at a step."""
    word: Sourced[Any] | None = node.get(_WORD)
    return word if word is not None and (word.value == "delete" or _child(node, step) is None) else None


def _of_list(node: list[Tree], step: Step) -> Sourced[Any] | None:
    """The directive in a list that takes away what stood at a step, or what begins a shorter list in its place."""
    if _child(node, step) is not None:
        return None
    words = [item[_WORD] for item in node if type(item) is dict and value(item, _WORD) == "replace"]
    return words[0] if words else first_leaf(node) if type(step) is int else None


def _child(node: Tree, step: Step) -> Tree:
    if type(node) is dict:
        return node.get(step)
    if type(step) is tuple:
        return next((item for item in node if value(item, str(step[0])) == step[1]), None)
    return node[step] if type(step) is int and step < len(node) else None


def rendered_line(documents: Iterable[Document], line: int, bundles: Sequence[Bundle]) -> tuple[list[Why], bool]:
    """The fields on a line, or below a key that stands there, explained; and whether the file still says what they are.

    A run keeps its rendering when a runtime changes: a field is looked up by its object and path, never by its line.
    """
    answers: list[Why] = []
    current = True
    layers = [Layers(bundle) for bundle in bundles]
    for document in documents:
        tree, name = document.tree, label(document.tree)
        written = {shown(keyed(tree, path)): value(tree, *path) for path in on_line(document, line)}
        of_object = [
            of_leaf(known, name, steps, leaf)
            for bundle, known in zip(bundles, layers, strict=True)
            for made in bundle.objects
            if written and label(made) == name
            for path, leaf in leaves(made)
            if shown(steps := keyed(made, path)) in written
        ]
        current = current and written == {answer.path: answer.value for answer in of_object}
        answers += of_object
    return answers, current
