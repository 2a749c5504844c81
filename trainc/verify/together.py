"""What only shows across jobs: two objects of one name, two JobSets behind one Service."""

from __future__ import annotations

from trainc.model.finding import ERROR, Label, Rule
from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.bundle import Bundle
    from trainc.model.finding import Finding
    from trainc.model.report import Report
    from trainc.model.sourced import Span
    from trainc.model.tree import Tree

SAME_NAME = Rule(
    "same-name",
    ERROR,
    "two jobs compile to objects of one kind, namespace and name",
    "Whichever is applied last overwrites the other, and a JobSet cannot be changed into another one.",
)
SHARED_SUBDOMAIN = Rule(
    "shared-subdomain",
    ERROR,
    "two JobSets of one namespace use the same network subdomain",
    "The Service of that name selects the pods of one JobSet; the pods of the other get no DNS names.",
)


class Together:
    """Remembers the names of every bundle; small enough for ten thousand of them."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, ...], tuple[str, Span]] = {}

    def add(self, bundle: Bundle, report: Report) -> None:
        """Compare the names of one bundle with all before it."""
        here = bundle.name, bundle.document.span(("metadata", "name"))
        for tree in bundle.objects:
            metadata = tree.get("metadata") if type(tree) is dict else None
            key = bundle.cluster, _of(tree, "kind"), _of(metadata, "namespace") or "default", _of(metadata, "name")
            if self._seen.setdefault(key, here) is not here:
                self._compare(key, here, report)

    def absorb(self, other: Together, report: Report) -> None:
        """Compare the names that another worker met with all before them."""
        for key, there in other._seen.items():
            self._seen.setdefault(key, there)
            self._compare(key, there, report)

    def _compare(self, key: tuple[str, ...], here: tuple[str, Span], report: Report) -> None:
        first = self._seen[key]
        if first[1] != here[1]:
            report.add(_clash(key[1], key[3], here[0], first, here[1]))


def _of(tree: Tree, field: str) -> Tree:
    """The scalar at a field, None where there is none, as in objects that nobody can apply."""
    leaf = tree.get(field) if type(tree) is dict else None
    return leaf.value if type(leaf) is Sourced else None


def _clash(kind: str, name: str, job: str, first: tuple[str, Span], place: Span) -> Finding:
    other, before = first
    if kind == "Service" and other != job:
        return SHARED_SUBDOMAIN.at(
            place,
            f"jobs `{other}` and `{job}` share the subdomain `{name}`",
            also=[Label(before, "the other job")],
            effect=f"the Service `{name}` selects the pods of one of them: the other's pods find no peers",
            help="leave `network.subdomain` out, or give each job its own",
        )
    return SAME_NAME.at(
        place,
        f"{kind} `{name}` comes out of two jobs",
        label="and here",
        also=[Label(before, "once here")],
        effect="the one that is applied last overwrites the other",
        help="rename one of the jobs, or put it into another namespace",
    )
