"""A runtime and all that it inherits from, the oldest first."""

from __future__ import annotations

from trainc.compiler.resolve.runtimes import shipped
from trainc.compiler.resolve.template import FRAMEWORK_LABEL, POLICIES, RUNTIME, UPSTREAM_LABELS
from trainc.model.catalog import SHIPPED
from trainc.model.finding import ERROR, Label, Rule
from trainc.model.sourced import Sourced
from trainc.model.tree import get, value
from trainc.text.spelling import meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.model.catalog import Catalog
    from trainc.model.document import Document
    from trainc.model.finding import Finding
    from trainc.model.report import Report
    from trainc.model.settings import Project
    from trainc.model.sourced import Span

CYCLE = Rule(
    "inheritance-cycle",
    ERROR,
    "a runtime inherits from itself",
    "Following `extends` never ends, so no base runtime exists.",
    admission=True,
)
MISSING_PARENT = Rule(
    "missing-parent",
    ERROR,
    "a runtime extends one that is not defined",
    "What the runtime inherits is unknown, so trainc cannot compile a job with it.",
    admission=True,
)
FRAMEWORK_CHANGED = Rule(
    "framework-changed",
    ERROR,
    "a runtime selects another framework than its parent",
    "The parent's images, commands and variables are for its own framework and do not work with another.",
    admission=True,
)


def lineage(document: Document, catalog: Catalog, project: Project, report: Report) -> tuple[Document, ...] | None:
    """The runtime with its ancestors before it, None with findings where they cannot all be found."""
    chain = [document]
    places = {document.identity: 0}
    while (leaf := _parent(chain[-1])) is not None:
        child = chain[-1]
        parent = catalog.runtimes.parent(leaf.value, child.namespace, child.file)
        if parent is None:
            report.add(_missing(chain, leaf.value, catalog))
            return None
        if parent.document is None:
            return None
        if parent.source == SHIPPED and not child.file.startswith("trainc:"):
            report.add(shipped(child.span(("spec", "extends")), leaf.value, project))
        seen = places.setdefault(parent.document.identity, len(chain))
        if seen < len(chain):
            report.add(_cycle(chain[seen:]))
            return None
        chain.append(parent.document)
    chain.reverse()
    return tuple(chain) if _one_framework(chain, report) else None


def _parent(document: Document) -> Sourced[str] | None:
    """The name of the runtime that it extends; null is no parent, as if the field was not there."""
    leaf = get(document.tree, "spec", "extends") if document.kind == RUNTIME else None
    return leaf if type(leaf) is Sourced and leaf.value is not None else None


def chained(chain: Sequence[Document]) -> str:
    """Names of runtimes as people read inheritance: the child first."""
    return " -> ".join(f"`{document.name}`" for document in chain)


def _missing(chain: Sequence[Document], name: str, catalog: Catalog) -> Finding:
    child = chain[-1]
    kinds = ("Runtime", "ClusterTrainingRuntime")
    known = {one for kind in kinds for one in catalog.runtimes.names(kind, "", child.file)} - {child.name}
    inherits = [f"{chained(chain)} -> `{name}`"] if len(chain) > 1 else []
    return MISSING_PARENT.at(
        child.span(("spec", "extends")),
        f"`{child.name}` extends `{name}`, and there is no runtime of that name",
        help=meant(name, sorted(known), "add the runtime to one of these places, or name one that is there"),
        notes=[*inherits, f"looked in {', '.join(catalog.runtimes.places(child.file))}"],
    )


def _cycle(ring: Sequence[Document]) -> Finding:
    first = min(range(len(ring)), key=lambda index: ring[index].name)
    ordered = [*ring[first:], *ring[:first]]  # one ring, one finding, whichever runtime led into it
    start, *others = ordered
    return CYCLE.at(
        start.span(("spec", "extends")),
        f"`{start.name}` inherits from itself: {chained([*ordered, start])}",
        also=[Label(other.span(("spec", "extends")), f"`{other.name}` goes on here") for other in others],
        help="remove one of these `extends`",
    )


def _one_framework(chain: Sequence[Document], report: Report) -> bool:
    """Whether no child selects another framework than the first ancestor that selects one."""
    first: tuple[str, Document] | None = None
    for document in chain:
        for name in selected(document):
            if first is None:
                first = (name, document)
            elif first[0] != name and first[1] is not document:
                report.add(_changed(chain, first, (name, document)))
                return False
    return True


def selected(document: Document) -> list[str]:
    """The frameworks that a runtime itself selects: its policies, without any the label that stands for one."""
    names = [name for name in POLICIES if type(get(document.tree, "spec", "mlPolicy", name)) is dict]
    label = value(document.tree, "metadata", "labels", FRAMEWORK_LABEL)
    if not names and type(label) is str and label and label not in UPSTREAM_LABELS:
        return [label]
    return names


def _changed(chain: Sequence[Document], first: tuple[str, Document], second: tuple[str, Document]) -> Finding:
    return FRAMEWORK_CHANGED.at(
        _where(*second),
        f"`{second[1].name}` selects the framework {second[0]}, and inherits {first[0]}",
        also=[Label(_where(*first), f"`{first[1].name}` selects {first[0]}")],
        help=f"extend a runtime for {second[0]}, or one that selects no framework",
        notes=[chained(list(reversed(chain)))],
    )


def _where(framework: str, document: Document) -> Span:
    if framework in POLICIES:
        return document.span(("spec", "mlPolicy", framework), key=True)
    return document.span(("metadata", "labels", FRAMEWORK_LABEL))
