"""What the strategic merge makes of keys that start with a dollar, in maps where a user may write any key.

Source: k8s.io/apimachinery/pkg/util/strategicpatch 0.36. All but `$patch` want a list, which no map of texts can hold.
"""

from __future__ import annotations

from trainc.model.finding import ERROR, Rule, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.finding import Finding
    from trainc.model.sourced import Span
    from trainc.model.tree import Tree, UnknownDirectiveError

_DELETION = "$deleteFromPrimitiveList"

UNKNOWN_WORD = Rule(
    "unknown-merge-directive",
    ERROR,
    "a `$patch` that the strategic merge of runtimes and TrainJobPatches does not know",
    "The merge knows `replace` and `delete`.",
    admission=True,
)


def unknown_word(error: UnknownDirectiveError, otherwise: Span) -> Finding:
    """The finding for a directive at which a merge stopped."""
    return UNKNOWN_WORD.at(
        place(error.leaf.origin) or otherwise,
        f"`$patch: {error.leaf.value}` is not a directive of the strategic merge",
        help="write `replace` or `delete`, or remove the key",
    )


def undone(base: Tree, patch: dict[str, Tree]) -> dict[str, Tree]:
    """The patch with what its other directives amount to.

    Raises:
        UnknownDirectiveError: for one that needs a list.
    """
    from trainc.model.tree import UnknownDirectiveError  # noqa: PLC0415 (that module asks this one)

    out = {}
    for key, node in patch.items():
        word, mark, target = key.partition("/")
        deletes = key.startswith(_DELETION)
        if key == "$retainKeys" or key.startswith("$setElementOrder") or (deletes and (word, mark) != (_DELETION, "/")):
            raise UnknownDirectiveError(node, key)
        if not deletes:
            out[key] = node
        elif target in base:
            # A text is not a list to delete from: it takes the place of the text that is there.
            out[target] = node
    return out
