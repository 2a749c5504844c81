"""What runtimes were put together from: which of these pieces takes a value away that a lower one says."""

from __future__ import annotations

from trainc.changes.why import LayerValue, Why, label
from trainc.compiler.patched import PATCH
from trainc.compiler.resolve.composed import ADDING, Composed, RuntimePart
from trainc.model.paths import keyed_leaves, shown
from trainc.model.sourced import Sourced
from trainc.model.tree import first_leaf, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Any

    from trainc.model.bundle import Bundle
    from trainc.model.document import Document
    from trainc.model.paths import Step, Steps
    from trainc.model.sourced import Span
    from trainc.model.tree import Tree

_WORD = "$patch"


class Pieces:
    """The pieces of all runtimes that some jobs start from, each read once."""

    def __init__(self, bundles: Sequence[Bundle]) -> None:
        self._bundles = [(bundle, tuple(_pieces(bundle))) for bundle in bundles if bundle.plan is not None]
        self._places: dict[int, dict[Span, tuple[Steps, object]]] = {}

    def hold(self, document: Document) -> bool:
        """Whether a runtime of theirs was made with a document."""
        same = (document.file, document.kind, document.name)
        documents = (part.document for _, parts in self._bundles for part in parts)
        return any(one is not None and (one.file, one.kind, one.name) == same for one in documents)

    def say(self, at: Span) -> bool:
        """Whether a piece holds the value that is written there."""
        return any(at in self._read(part) for _, parts in self._bundles for part in parts)

    def taken(self, at: Span, known: Collection[tuple[str, str]]) -> Iterator[Why]:
        """For each job, but for those already told of (cluster, object): what took away the value written there."""
        for bundle, parts in self._bundles:
            name = label(bundle.jobset)
            below = next((index for index, part in enumerate(parts) if at in self._read(part)), None)
            if below is None or (bundle.cluster, name) in known:
                continue
            steps, overruled = self._read(parts[below])[at]
            for part in reversed(parts[below + 1 :]):
                leaf = _over(part, steps, overruled)
                if leaf is not None:
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


def _pieces(bundle: Bundle) -> Iterator[RuntimePart]:
    """All pieces of a job's runtime, the job's own patches last."""
    plan = bundle.plan
    if plan is None or plan.runtime is None:
        return
    runtime = plan.runtime
    if isinstance(runtime, Composed):
        yield from runtime.parts
    else:
        yield RuntimePart("runtime", runtime.name, runtime.tree.get("spec") or {}, runtime)
    for layer in plan.layers:
        if layer.name in ("patches", PATCH) and layer.tree is not None:
            yield RuntimePart(layer.name, layer.label, {"template": layer.tree})


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
