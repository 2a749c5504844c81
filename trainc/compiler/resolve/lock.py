"""One lock: the field of a runtime that has to stay as it is, and what is said of whoever changes it."""

from __future__ import annotations

from trainc.apiserver.normalise import normalise
from trainc.model.finding import ERROR, Label, Rule
from trainc.model.paths import at_path
from trainc.model.tree import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.finding import Finding
    from trainc.model.paths import Steps
    from trainc.model.sourced import Span
    from trainc.model.tree import Tree


LOCKED = Rule(
    "locked-field",
    ERROR,
    "a later layer changes a field that a runtime locks",
    "The platform team locks the field for a stated reason; no later layer may change it, add to it or remove it.",
    admission=True,
)


class Held:
    """A lock that holds: the field, what has to stay there, why, where it was locked, and by which runtime."""

    __slots__ = ("node", "owner", "path", "reason", "span", "steps")

    def __init__(self, path: str, steps: Steps, node: Tree, reason: str, owner: str, span: Span) -> None:
        self.path = path
        self.steps = steps
        self.node = node
        self.reason = reason
        self.owner = owner
        self.span = span

    def keeps(self, node: Tree, inner: Steps = ()) -> bool:
        """Whether a node says what the lock holds, at a place in the locked field and in whatever spelling."""
        whole = (*self.steps, *inner)
        return bool(_spelled(node, whole) == _spelled(at_path(self.node, inner), whole))

    def broken(self, span: Span, who: str) -> Finding:
        """The finding for something at `span` that changes the field."""
        return LOCKED.at(
            span,
            f"{who} changes `{self.path}`, which runtime `{self.owner}` has locked",
            label="changed here",
            also=[Label(self.span, f"locked here: {self.reason}")],
            help="leave the field alone, or ask the owners of the runtime to remove the lock",
        )


def _spelled(node: Tree, steps: Steps) -> object:
    """The values of a field as the API writes them: amounts in one spelling, nothing for a null."""
    if node is None or len(steps) < 2:
        return plain(node)
    *_, above, last = steps
    if type(last) is str:
        field = above if type(above) is str else f"{steps[-3]}[]"
        return plain(normalise({last: node}, field).get(last))
    return plain(normalise([node], str(above))[0])
