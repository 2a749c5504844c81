"""The marks by which Flux creates an object once and leaves its text alone, and who carries them."""

from trainc.model.tree import Tree, value

SSA = "kustomize.toolkit.fluxcd.io/ssa"
SUBSTITUTE = "kustomize.toolkit.fluxcd.io/substitute"
IF_NOT_PRESENT = "IfNotPresent"


def is_created_once(tree: Tree) -> bool:
    """Whether Flux leaves an object alone that is there already (kustomize-controller 1.9)."""
    return bool(value(tree, "metadata", "annotations", SSA) == IF_NOT_PRESENT)
