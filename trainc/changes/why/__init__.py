"""Who set a field of the output: the layer that won, where it is written, and what it beat."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Any, NamedTuple

from trainc.compiler.patched import PATCH, Patched
from trainc.compiler.resolve.composed import Composed, RuntimePart
from trainc.compiler.resolve.locks import overlay
from trainc.model.bundle import Bundle
from trainc.model.patch import Patch
from trainc.model.paths import Step, Steps, keyed, keyed_leaves, matches, shown
from trainc.model.plan import TRAINER, Layer, Plan
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Tree, leaves, value

_COMPUTED = "computed"  # in the place of a layer


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
    path: str
    value: Any
    winner: LayerValue
    beaten: tuple[LayerValue, ...]
    cluster: str  # whose object it is; empty in a project without clusters


def explain(bundle: Bundle, wanted: str) -> Iterator[Why]:
    """Every leaf of the bundle whose path holds `wanted` as a run of whole steps, explained."""
    layers = Layers(bundle)
    for tree in bundle.objects:
        for path, leaf in leaves(tree):
            steps = keyed(tree, path)
            if matches(steps, wanted, path):
                yield of_leaf(layers, label(tree), steps, leaf)


def label(tree: Tree) -> str:
    """What answers call an object: its kind and its name."""
    return f"{value(tree, 'kind')}/{value(tree, 'metadata', 'name')}"


def of_leaf(layers: Layers, object_name: str, steps: Steps, leaf: Sourced[Any]) -> Why:
    """One leaf of the object of that label, explained by the layers of its job."""
    overruled = layers.values_at(steps) if object_name.startswith("JobSet/") else []
    won = [index for index, one in enumerate(overruled) if one.value == leaf.value and _rests(leaf.origin, one.origin)]
    if not won:
        # No layer holds the value itself: code computed it, and says from what.
        computed = LayerValue(_COMPUTED, "", leaf.value, leaf.origin)
        return Why(object_name, shown(steps), leaf.value, computed, tuple(reversed(overruled)), layers.cluster)
    # A layer that repeats what stands at one place, as a component does with the name of a role, has not set it.
    # The layer of a TrainJobPatch has its own values alone, also where the job's layer holds them merged.
    last = overruled[won[-1]]
    repeats = last.layer != PATCH and last.origin.at is not None
    first = next(index for index in won if index == won[-1] or (repeats and overruled[index].origin == last.origin))
    winner = overruled[first]
    beaten = tuple(one for one in reversed(overruled[:first]) if one.origin != winner.origin)
    return Why(object_name, shown(steps), leaf.value, winner, beaten, layers.cluster)


def _rests(origin: Origin, on: Origin) -> bool:
    return origin == on or (
        origin.at is None and origin.by != on.by and set(on.spans()) == set(origin.spans()) != set()
    )


_COUNTS = ("parallelism", "completions")


class Layers:
    """All layers of a job, read once, so that many fields can be asked for."""

    def __init__(self, bundle: Bundle) -> None:
        self.cluster = bundle.cluster
        self._values: dict[Steps, list[tuple[int, LayerValue]]] = {}  # each with the number of its layer
        self._nodes: list[tuple[int, LayerValue]] = []
        self._trained: set[str] = set()  # the roles whose pods `numNodes` counts
        if bundle.plan is not None:
            self._trained = {role.name.value for role in bundle.plan.roles if role.ancestor == TRAINER}
            parts = runtime_parts(bundle.plan)
            for number, layer in enumerate(bundle.plan.layers):
                known_here = list(_trees(bundle.plan, layer))
                if number < len(parts):
                    known_here.append(_left_out(parts[number], known_here))
                for known in known_here:
                    for steps, leaf in known.items():
                        if layer.name == PATCH and not _is_patched(bundle.plan, leaf):
                            continue
                        self._values.setdefault(steps, []).append((number, _value_of(layer, leaf)))
                if type(layer.nodes) is Sourced and (layer.name != PATCH or _is_patched(bundle.plan, layer.nodes)):
                    self._nodes.append((number, _value_of(layer, layer.nodes)))

    def values_at(self, steps: Steps) -> list[LayerValue]:
        """What each layer says about a field of the JobSet, lowest layer first."""
        values = self._values.get(steps, [])
        if len(steps) == 6 and steps[5] in _COUNTS and self._is_trained(steps[2]):
            values = sorted([*values, *self._nodes], key=itemgetter(0))
        return [one for _, one in values]

    def _is_trained(self, step: Step) -> bool:
        return type(step) is tuple and str(step[1]) in self._trained


def _is_patched(plan: Plan, leaf: Sourced[Any]) -> bool:
    """Whether a value is that of a job's patch: the rest of the layer is the job itself."""
    document = plan.document
    return isinstance(document, Patched) and any(map(document.patch.holds, leaf.origin.spans()))


def _value_of(layer: Layer, leaf: Sourced[Any]) -> LayerValue:
    return LayerValue(layer.name, layer.label, leaf.value, leaf.origin)


def _trees(plan: Plan, layer: Layer) -> Iterator[dict[Steps, Sourced[Any]]]:
    """What a layer, or each of its patches, sets: leaves by their place in the JobSet."""
    if layer.tree is not None:
        yield _by_steps(layer.tree)
        return
    for patch in layer.patches:
        name = plan.roles[patch.role].name  # only says whose pods are patched
        known = _by_steps(overlay(plan.roles, patch))
        lower = _of_lower_layers(plan, patch) if layer.name == "overrides" else frozenset()
        yield {steps: leaf for steps, leaf in known.items() if leaf is not name and id(leaf) not in lower}


def _of_lower_layers(plan: Plan, patch: Patch) -> frozenset[int]:
    """The leaves of a job's patch that the job does not hold: amounts and `envFrom` are merged with the container's own."""
    merged = [patch.sets[field] for field in ("resources", "envFrom") if field in patch.sets]
    found = (leaf for tree in merged for _, leaf in leaves(tree))
    # A value that a component's choice implies rests on the job's annotation, too, and is written in the component.
    return frozenset([id(leaf) for leaf in found if not any(map(plan.document.holds, leaf.origin.spans()[:1]))])


def runtime_parts(plan: Plan) -> tuple[RuntimePart, ...]:
    """The pieces of the runtime of a job, lowest first: those of its first layers."""
    if (runtime := plan.runtime) is None:
        return ()
    if isinstance(runtime, Composed):
        return runtime.parts
    return (RuntimePart("runtime", runtime.name, runtime.tree.get("spec") or {}, runtime),)


def _left_out(part: RuntimePart, known: list[dict[Steps, Sourced[Any]]]) -> dict[Steps, Sourced[Any]]:
    """The zeros of a piece that a server leaves out of its objects: they replace what lower layers say all the same."""
    written = _by_steps(part.tree.get("template") or {})
    empty = {steps: leaf for steps, leaf in written.items() if not leaf.value and leaf.value is not None}
    return {steps: leaf for steps, leaf in empty.items() if not any(steps in one for one in known)}


def _by_steps(tree: Tree) -> dict[Steps, Sourced[Any]]:
    out: dict[Steps, Sourced[Any]] = {}
    for steps, leaf in keyed_leaves(tree):
        if type(leaf) is Sourced:
            out.setdefault(steps, leaf)
    return out
