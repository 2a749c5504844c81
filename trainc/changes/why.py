"""Who set a field of the output, and the other direction: where a line that people wrote lands in it, or why it does not."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from trainc.compiler.patched import PATCH, Patched
from trainc.compiler.resolve.composed import ADDING, Composed, RuntimePart
from trainc.compiler.resolve.locks import overlay
from trainc.model.bundle import Bundle
from trainc.model.document import Document
from trainc.model.finding import ERROR, Finding
from trainc.model.paths import Step, Steps, keyed, keyed_leaves, matches, shown
from trainc.model.plan import NODE, TRAINER, Layer, Plan
from trainc.model.sourced import Origin, Sourced, Span
from trainc.model.tree import Path, Tree, first_leaf, get, leaves, value
from trainc.text.merge_keys import MERGE_KEYS
from trainc.text.object_keys import TRAINC_PREFIX

_COMPUTED = "computed"  # in the place of a layer
_COUNTS = ("parallelism", "completions")
_FRAMEWORK = "trainer.kubeflow.org/framework"
_OUTSIDE = "wrong level: labels and annotations of a {kind} stay on it; those of the pods are in its template"
_JOB_LEVEL = (
    "wrong level: labels and annotations of a TrainJob are not copied, except kueue.x-k8s.io/*; write them into "
    "runtimePatches[].trainingRuntimeSpec.template.metadata, or further down for the Jobs and the pods"
)
_TRAINJOB = {
    "spec.runtimeRef": "names the runtime that the job starts from",
    "spec.suspend": "a queue owns `suspend`: only true is written",
    "spec.managedBy": "names the controller in charge; only MultiKueue's name reaches the JobSet",
    "spec.activeDeadlineSeconds": "not overridable upstream: only the Trainer controller has this timer, and writes it to no object",
    "spec.trainer.resourcesPerNode.claims": "not overridable upstream: limits and requests are merged, claims are not (Trainer v2.3.0)",
}
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
LANDS, BEATEN, REFUSED, NOWHERE = "lands", "beaten", "refused", "nowhere"
_WORD = "$patch"


class LayerValue(NamedTuple):
    """What one layer says about a field."""

    layer: str  # a name of the precedence order
    who: str  # a runtime's name, a manager, a framework
    value: Any
    origin: Origin

    @property
    def computed(self) -> bool:
        """Whether no layer holds the value: code made it, or carried it over from another field."""
        return self.layer == _COMPUTED


class Why(NamedTuple):
    """One field of the output: its value, who set it, and what each lower layer had said."""

    object: str  # <Kind>/<name>
    steps: Steps
    value: Any
    winner: LayerValue
    beaten: tuple[LayerValue, ...]
    cluster: str  # whose object it is; empty in a project without clusters

    @property
    def path(self) -> str:
        """The path as people write it."""
        return shown(self.steps)


def explain(bundle: Bundle, wanted: str) -> Iterator[Why]:
    """Every leaf of the bundle whose path holds `wanted` as a run of whole steps, explained."""
    return explained(bundle, lambda _, steps, path: matches(steps, wanted, path))


def explained(bundle: Bundle, is_wanted: Callable[[str, Steps, Path], bool]) -> Iterator[Why]:
    """Every leaf of the bundle that is wanted, by the label of its object, its keyed path and its own, explained."""
    layers = Layers(bundle)
    for tree in bundle.objects:
        name = label(tree)
        for path, leaf in leaves(tree):
            if type(leaf) is Sourced and is_wanted(name, steps := keyed(tree, path), path):
                yield of_leaf(layers, name, steps, leaf)


def label(tree: Tree) -> str:
    """What answers call an object: its kind and its name."""
    return f"{value(tree, 'kind')}/{value(tree, 'metadata', 'name')}"


def of_leaf(layers: "Layers", object_name: str, steps: Steps, leaf: Sourced[Any]) -> Why:
    """One leaf of the object of that label, explained by the layers of its job."""
    overruled = layers.values_at(steps) if object_name.startswith("JobSet/") else []
    won = [index for index, one in enumerate(overruled) if one.value == leaf.value and _rests(leaf.origin, one.origin)]
    if not won:
        # No layer holds the value itself: code computed it, and says from what.
        computed = LayerValue(_COMPUTED, "", leaf.value, leaf.origin)
        return Why(object_name, steps, leaf.value, computed, tuple(reversed(overruled)), layers.cluster)
    # A layer that repeats what stands at one place, as a component does with the name of a role, has not set it.
    # The layer of a TrainJobPatch has its own values alone, also where the job's layer holds them merged.
    last = overruled[won[-1]]
    repeats = last.layer != PATCH and last.origin.at is not None
    first = next(index for index in won if index == won[-1] or (repeats and overruled[index].origin == last.origin))
    winner = overruled[first]
    beaten = tuple(one for one in reversed(overruled[:first]) if one.origin != winner.origin)
    return Why(object_name, steps, leaf.value, winner, beaten, layers.cluster)


def _rests(one: Origin, on: Origin) -> bool:
    return one == on or (one.at is None and one.by != on.by and set(on.spans()) == set(one.spans()) != set())


class Layers:
    """All layers of a job, read once, so that many fields can be asked for."""

    def __init__(self, bundle: Bundle) -> None:
        self.cluster = bundle.cluster
        self._values: dict[Steps, list[tuple[int, LayerValue]]] = {}  # each with the number of its layer
        self._nodes: list[tuple[int, LayerValue]] = []
        self._trained: set[str] = set()  # the roles whose pods `numNodes` counts
        if (plan := bundle.plan) is None:
            return
        self._trained = {role.name.value for role in plan.roles if role.ancestor == TRAINER}
        parts = runtime_parts(plan)
        patch = plan.document.patch if isinstance(plan.document, Patched) else None
        for number, layer in enumerate(plan.layers):
            here = list(_trees(plan, layer))
            if number < len(parts):
                # The zeros of a piece that a server leaves out of its objects: they replace what lower layers say all
                # the same.
                written = _by_steps(parts[number].tree.get("template") or {})
                empty = {steps: leaf for steps, leaf in written.items() if not leaf.value and leaf.value is not None}
                here.append({steps: leaf for steps, leaf in empty.items() if not any(steps in one for one in here)})
            nodes = [(None, layer.nodes)] if type(layer.nodes) is Sourced else []
            for steps, leaf in [*(pair for known in here for pair in known.items()), *nodes]:
                # The rest of the layer of a job's patch is the job itself.
                if layer.name == PATCH and not (patch is not None and any(map(patch.holds, leaf.origin.spans()))):
                    continue
                values = self._nodes if steps is None else self._values.setdefault(steps, [])
                values.append((number, LayerValue(layer.name, layer.label, leaf.value, leaf.origin)))

    def values_at(self, steps: Steps) -> list[LayerValue]:
        """What each layer says about a field of the JobSet, lowest layer first."""
        values = self._values.get(steps, [])
        if len(steps) == 6 and steps[5] in _COUNTS and type(steps[2]) is tuple and str(steps[2][1]) in self._trained:
            values = sorted([*values, *self._nodes], key=itemgetter(0))
        return [one for _, one in values]


def _trees(plan: Plan, layer: Layer) -> Iterator[dict[Steps, Sourced[Any]]]:
    """What a layer, or each of its patches, sets: leaves by their place in the JobSet."""
    if layer.tree is not None:
        yield _by_steps(layer.tree)
        return
    for patch in layer.patches:
        left = [plan.roles[patch.role].name]  # only says whose pods are patched
        # The job does not hold all leaves of its patch: amounts and `envFrom` are merged with the container's own.
        for field in ("resources", "envFrom") if layer.name == "overrides" else ():
            for _, leaf in leaves(patch.sets[field]) if field in patch.sets else ():
                # What a component's choice implies rests on the job's annotation, too, and is written in the component.
                if not any(map(plan.document.holds, leaf.origin.spans()[:1])):
                    left.append(leaf)
        known, gone = _by_steps(overlay(plan.roles, patch)), {id(leaf) for leaf in left}
        yield {steps: leaf for steps, leaf in known.items() if id(leaf) not in gone}


def runtime_parts(plan: Plan) -> tuple[RuntimePart, ...]:
    """The pieces of the runtime of a job, lowest first: those of its first layers."""
    if (runtime := plan.runtime) is None:
        return ()
    if isinstance(runtime, Composed):
        return runtime.parts
    return (RuntimePart("runtime", runtime.name, runtime.tree.get("spec") or {}, runtime),)


def _by_steps(tree: Tree) -> dict[Steps, Sourced[Any]]:
    out: dict[Steps, Sourced[Any]] = {}
    for steps, leaf in keyed_leaves(tree):
        if type(leaf) is Sourced:
            out.setdefault(steps, leaf)
    return out


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
    for prefix, text in _TRAINJOB.items():
        steps = tuple(prefix.split("."))
        if path[: len(steps)] == steps:
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
    if path[:2] == ("spec", "initializer"):
        return f"wrong container: the runtime has no `{path[2]}-initializer` job with a container of that name"
    if plan is None or path[:2] != ("spec", "trainer"):
        return "nothing in the manifests depends on it"
    field = path[2]
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
) -> Iterator[Landing]:
    """What becomes of every value that `wanted` means, in all of these bundles.

    A number means the values on that line, or below a key that stands there; a text the fields whose path holds it.
    """
    won: dict[Span, list[Why]] = {}  # fields of the output by the places that their value rests on
    lost: dict[Span, list[Why]] = {}  # and by those that it beat
    for one in (field for bundle in bundles for field in explain(bundle, "")):
        for at in one.winner.origin.spans():
            won.setdefault(at, []).append(one)
        for at in dict.fromkeys(at for setter in one.beaten for at in setter.origin.spans()):
            lost.setdefault(at, []).append(one)
    pieces = Pieces(bundles)
    plan = next((bundle.plan for bundle in bundles if bundle.plan is not None), None)
    for document in documents:
        of_file = [one for one in findings if one.level == ERROR and one.labels and one.span.file == document.file]
        errors = _Errors(of_file)
        if isinstance(wanted, int):
            paths = on_line(document, wanted)
        else:
            every = (path for path, _ in leaves(document.tree))
            paths = [path for path in every if matches(keyed(document.tree, path), wanted, path)]
        for path in paths:
            leaf = get(document.tree, *path)
            if type(leaf) is not Sourced or (place := leaf.origin.at) is None:
                continue
            where, content = shown(keyed(document.tree, path)), leaf.value
            spots = [place]
            if len(path) > 2 and type(path[-2]) is int:
                # What is said of a list item is said where its name stands.
                key = get(document.tree, *path[:-1], MERGE_KEYS.get(str(path[-3]), ""))
                spots += [key.origin.at] if type(key) is Sourced and key.origin.at is not None else []
            if refusals := errors.at(spots):
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


def _stands(document: Document, path: Path, leaf: Tree, line: int) -> bool:
    span = leaf.origin.at if type(leaf) is Sourced else None
    if span is not None and span.line <= line <= span.end_line:
        return True
    for key in (path[:length] for length in range(1, len(path) + 1) if type(path[length - 1]) is str):
        # A key owns its line; behind the dash of a list item it stands for itself alone.
        is_behind_dash = len(key) > 1 and type(key[-2]) is int and document.span(key[:-1]).line == line
        is_own = not is_behind_dash or type(get(document.tree, *key)) is Sourced
        if is_own and document.span(key, key=True).line == line:
            return True
    return False


class _Errors:
    """Errors by the line and column that they are about: each of many values asks for its own."""

    def __init__(self, errors: Iterable[Finding]) -> None:
        self._of_line: dict[tuple[str, int], dict[int, list[tuple[int, Finding]]]] = {}
        self._of_lines: list[tuple[int, Finding]] = []
        for number, one in enumerate(errors):
            span = one.labels[0].span
            if span.line == span.end_line:
                columns = self._of_line.setdefault((span.file, span.line), {})
                columns.setdefault(span.column, []).append((number, one))
            else:
                self._of_lines.append((number, one))
        self._columns = {place: sorted(columns) for place, columns in self._of_line.items()}

    def at(self, places: Iterable[Span]) -> tuple[Finding, ...]:
        """The errors about one of these places, in their order."""
        found: dict[int, Finding] = {}
        for at in places:
            # Those that start last on a line before a value, or where it does: at its key, or at itself.
            columns = self._columns.get((at.file, at.line), [])
            if index := bisect_right(columns, at.column):
                found.update(self._of_line[at.file, at.line][columns[index - 1]])
            spans = [(number, one, one.labels[0].span) for number, one in self._of_lines]
            found |= {
                number: one
                for number, one, span in spans
                if span.file == at.file and span.line <= at.line <= span.end_line and span.column <= at.column
            }
        return tuple(found[number] for number in sorted(found))


class Pieces:
    """The pieces of all runtimes that some jobs start from, each read once."""

    def __init__(self, bundles: Sequence[Bundle]) -> None:
        self._bundles: list[tuple[Bundle, tuple[RuntimePart, ...]]] = []
        for bundle, plan in [(one, one.plan) for one in bundles if one.plan is not None]:
            patches = [one for one in plan.layers if plan.runtime is not None and one.name in ("patches", PATCH)]
            own = [RuntimePart(one.name, one.label, {"template": one.tree}) for one in patches if one.tree is not None]
            self._bundles.append((bundle, (*runtime_parts(plan), *own)))
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
                    yield Why(name, steps[steps[0] == "template" :], leaf.value, who, (), bundle.cluster)
                    break

    def _read(self, part: RuntimePart) -> dict[Span, tuple[Steps, object]]:
        key = id(part.tree)
        if key not in self._places:
            self._places[key] = {
                leaf.origin.at: (steps, leaf.value)
                for steps, leaf in keyed_leaves(part.tree)
                if type(leaf) is Sourced and leaf.origin.at is not None
            }
        return self._places[key]


def _over(part: RuntimePart, steps: Steps, leaf: object) -> Sourced[Any] | None:
    """What a later piece says at a place or above it that leaves nothing of what was said there, None where all stays."""
    if part.name == "components" and not ADDING.isdisjoint(steps):
        return None  # lists that components add to
    tree: Tree = part.tree
    for step in steps:
        if type(tree) not in (dict, list):
            break
        child = _child(tree, step)
        # A directive of the map, or one in the list, takes away what stood there; or a shorter list begins in its place.
        word: Sourced[Any] | None = tree.get(_WORD) if type(tree) is dict else None
        if type(tree) is list and child is None:
            words = [item[_WORD] for item in tree if type(item) is dict and value(item, _WORD) == "replace"]
            word = words[0] if words else first_leaf(tree) if type(step) is int else None
        if word is not None and (child is None or word.value == "delete"):
            return word
        tree = child
    return tree if type(tree) is Sourced and (tree.value != leaf or type(tree.value) is not type(leaf)) else None


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
    written: dict[str, dict[str, object]] = {}  # by the label of the object
    for document in documents:
        for path in on_line(document, line):
            where = shown(keyed(document.tree, path))
            written.setdefault(label(document.tree), {})[where] = value(document.tree, *path)
    of_bundles = [explained(one, lambda name, steps, _: shown(steps) in written.get(name, ())) for one in bundles]
    answers = sorted(chain(*of_bundles), key=lambda one: [*written].index(one.object))
    held: dict[str, dict[str, object]] = {}
    for one in answers:
        held.setdefault(one.object, {})[one.path] = one.value
    return answers, held == written
