"""A runtime's template with a job's patches merged in: what people said about pods, before anything is computed."""

from collections.abc import Iterable, Mapping

from trainc.apiserver.component_uses import names_in
from trainc.apiserver.normalise import PATCH_POINTERS, normalise
from trainc.model.document import Document
from trainc.model.plan import Layer, Step
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree, get, merge, value
from trainc.text.merge_keys import MERGE_KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.compiler.resolve.composed import Held, RuntimePart

RUNTIME = "Runtime"  # the kind that may inherit
COMPONENTS = "trainc.dev/components"  # the annotation that switches components on
VALUES = ".trainc.dev"  # `<component>.trainc.dev/<parameter>`, an annotation of a job
POLICIES = ("torch", "mpi", "jax", "xgboost", "flux")
FRAMEWORK_LABEL = "trainer.kubeflow.org/framework"
# Labels that upstream's own runtimes carry beside a policy or for the SDK alone: they select nothing.
UPSTREAM_LABELS = frozenset({*POLICIES, "deepspeed", "mlx", "torchtune", "plain"})


def gives_values(annotations: Mapping[str, Tree]) -> bool:
    """Whether annotations of a job give values to parameters of components."""
    return any(key.partition("/")[0].endswith(VALUES) for key in annotations)


def names_of(leaf: Tree) -> list[str]:
    """The names in an annotation."""
    return [] if type(leaf) is not Sourced or type(leaf.value) is not str else names_in(leaf.value)


def base_template(spec: Tree) -> Tree:
    """`{metadata, spec}` of a runtime's JobSet template, normalised; only its labels and annotations count."""
    template = _map(get(spec, "template"))
    metadata = _map(template.get("metadata"))
    return {
        "metadata": {key: dict(metadata[key]) for key in ("labels", "annotations") if _map(metadata.get(key))},
        "spec": normalise(_map(template.get("spec"))),
    }


def _map(node: Tree) -> Tree:
    """A map as it is, nothing in place of what is absent or, in a piece of a runtime, null."""
    return node if type(node) is dict else {}


def patched(template: Tree, patches: list[Tree]) -> tuple[Tree, tuple[Step, ...]]:
    """The template under every runtimePatch in turn, and a step of precedence for each.

    Raises:
        UnknownDirectiveError: for a `$patch` that is neither `replace` nor `delete`.
        MissingKeyError: for an item that the merge could not find again.
    """
    if not patches:
        return template, ()
    steps: list[Step] = []
    spec = template["spec"]
    metadata = template["metadata"]
    for patch in patches:
        overlay = get(patch, "trainingRuntimeSpec", "template") or {}
        layer: dict[str, Tree] = {}
        if overlay.get("metadata"):
            layer["metadata"] = {k: v for k, v in overlay["metadata"].items() if k in ("labels", "annotations") and v}
            metadata = {**metadata, **{k: {**metadata.get(k, {}), **v} for k, v in layer["metadata"].items()}}
        if overlay.get("spec"):
            written = layer["spec"] = normalise(overlay["spec"], patch=True)  # as typed structures write it
            spec = merge(spec, written, MERGE_KEYS, exact=True)
            spec = normalise(spec) if _unsettled(written) else spec
        steps.append(("patches", value(patch, "manager") or "", layer, (), None))
    if (jobs := spec.get("replicatedJobs")) and len(jobs) > 1:
        # The controller sorts by the runtime's own order afterwards; a name it does not know counts as the first.
        order = {value(job, "name"): at for at, job in enumerate(template["spec"].get("replicatedJobs") or ())}
        spec = {**spec, "replicatedJobs": sorted(jobs, key=lambda job: order.get(value(job, "name"), 0))}
    return {"metadata": metadata, "spec": spec}, tuple(steps)


def _unsettled(tree: Tree) -> bool:
    """Whether something stands in a patch that can leave what typed structures drop: a directive, an emptied text."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if type(node) is dict:
            if "$patch" in node:
                return True
            if not PATCH_POINTERS.isdisjoint(node) and any(value(node, name) == "" for name in PATCH_POINTERS):
                return True
            todo.extend([part for part in node.values() if type(part) is not Sourced])
        elif type(node) is list:
            todo.extend(node)
    return False


class Prepared:
    """A runtime ready for jobs: policy, gang policy and normalised template, made once and shared."""

    def __init__(
        self, document: Document, tree: Tree, parts: "Iterable[RuntimePart]" = (), locks: "tuple[Held, ...]" = ()
    ) -> None:
        spec = tree.get("spec") or {}
        self.document = document
        self.policy: Tree = spec.get("mlPolicy")
        self.gang: Tree = spec.get("podGroupPolicy")
        self.template = base_template(spec)
        self.framework = framework_of(self.policy, get(tree, "metadata", "labels") or {})
        self._parts = tuple(parts)
        self.locks = locks
        self.scaled = any(lock.steps[0] == "mlPolicy" for lock in locks)  # whether how many there are is locked

    def layers(self) -> tuple[Layer, ...]:
        """What the runtime says, layer by layer, lowest first."""
        if self._parts:
            return tuple(map(_layer, self._parts))
        return (Layer("runtime", self.document.name, self.template, nodes=get(self.policy, "numNodes")),)


def _layer(part: "RuntimePart") -> Layer:
    return Layer(part.name, part.label, base_template(part.tree), nodes=get(part.tree, "mlPolicy", "numNodes"))


def framework_of(policy: Tree, labels: Mapping[str, Tree]) -> str:
    """The framework that a runtime's policy selects, else its label where upstream has no such policy, else plain."""
    for name in POLICIES:
        if get(policy, name) is not None:
            return name
    label = value(labels, FRAMEWORK_LABEL)
    return label if type(label) is str and label and label not in UPSTREAM_LABELS else "plain"
