"""Runtimes that no job reaches, each as the smallest TrainJob that it admits gets it.

What every job would still bring (its name, an image, a command, a number of nodes) is a placeholder: it is unknown,
and never wrong.
"""

from collections.abc import Iterator
from typing import Any

from trainc.compiler.resolve import planned, roles_of
from trainc.compiler.resolve.runtimes import GROUP
from trainc.compiler.resolve.template import RUNTIME, Prepared
from trainc.frameworks import framework
from trainc.model.catalog import Catalog, Entry
from trainc.model.document import Document, Identity
from trainc.model.finding import ERROR
from trainc.model.plan import TRAINER, Plan
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Origin, Sourced, Span, derive
from trainc.model.tree import Path, Tree, get, leaves, value
from trainc.text.placeholders import is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.compiler.resolve.compose import Bases

KINDS = (RUNTIME, "ClusterTrainingRuntime", "TrainingRuntime")
NAME, NAMESPACE, IMAGE, COMMAND, NODES = (
    f"${{TRAINJOB_{word}}}" for word in ("NAME", "NAMESPACE", "IMAGE", "COMMAND", "NODES")
)
PLACE = Span("trainc:job", 1, 1, 1, 1)  # of all that stands in no file
BROUGHT = "depends on the job"
NOT_WHOLE = "depends on the runtimes that extend it"


def unreached(catalog: Catalog, project: Project, report: Report) -> Iterator[Plan]:
    """A plan for each selected runtime that neither a job nor a selected child reaches, with a job that says nothing."""
    from trainc.compiler.resolve.relations import lineage  # noqa: PLC0415 (most runs leave no runtime unreached)

    waiting = [document for document in catalog.runtimes.given.values() if _is_here(document, project, report)]
    # Each runtime with its ancestors before it; those that have not all of theirs are reported, and left out.
    chains: dict[int, tuple[Document, ...]] = {}
    orphans: set[Identity] = set()
    for document in waiting:
        chain: tuple[Document, ...] | None = (document,)
        if catalog.runtimes.admitted(document) is not None:
            chain = lineage(document, catalog, project, report, orphans)
        if chain is not None:
            chains[id(document)] = chain
        else:
            report.alone.add(document.identity)
    bases: Bases = {}
    reached: set[Identity] = set()
    whole = [document for document in waiting if id(document) in chains]
    for document in sorted(whole, key=lambda document: -len(chains[id(document)])):
        if document.identity in reached:
            continue
        report.alone.add(document.identity)
        if (plan := _plan(document, catalog, project, report, bases)) is not None:
            reached.update(one.identity for one in chains[id(document)])
            yield plan


def _is_here(document: Document, project: Project, report: Report) -> bool:
    """Whether a document is a runtime that no job reached, of the present cluster or of none in particular."""
    if document.kind not in KINDS or not document.name or document.identity in report.reached_runtimes:
        return False  # a name may be missing where the version is none that a schema is known of
    holders = project.holders[document.file] if len(project.clusters) > 1 else ()
    return not holders or project.cluster in holders


def _plan(document: Document, catalog: Catalog, project: Project, report: Report, bases: "Bases") -> Plan | None:
    if (stored := catalog.runtimes.admitted(document)) is None:
        return None
    runtime: Prepared | None = Prepared(stored, stored.tree)
    if document.kind == RUNTIME or project.cluster.components or project.cluster.patch is not None:
        runtime = _composed(stored, catalog, project, report, bases)
    if runtime is None:
        return None
    return planned(Entry(_smallest_job(stored, runtime, project)), runtime, project, report)


def _composed(
    document: Document, catalog: Catalog, project: Project, report: Report, bases: "Bases"
) -> Prepared | None:
    """The runtime with all that it inherits; one that its children have to complete is counted."""
    from trainc.compiler.resolve.compose import compose  # noqa: PLC0415 (as for `lineage`)
    from trainc.compiler.resolve.relations import REQUIRED  # noqa: PLC0415

    own_report = Report()
    composition = compose(document, None, catalog, project, own_report, bases)
    for finding in own_report.findings:
        if finding.rule is REQUIRED:
            report.skip(BROUGHT)  # a job may switch it on
        else:
            report.add(finding)
    if composition is None:
        return None
    own_report = Report()
    stored = catalog.runtimes.legal(composition.document(), own_report)
    if stored is None or not get(stored.tree, "spec", "template", "spec", "replicatedJobs"):
        report.skip(NOT_WHOLE)
        return None
    report.add_all(own_report.findings)
    return Prepared(stored, stored.tree, composition.parts, tuple(composition.locks))


class SmallestJob(Document):
    """A TrainJob that stands in no file: it says what its runtime leaves open, and every place in it is `PLACE`."""

    __slots__ = ()

    def span(self, path: Path = (), *, key: bool = False) -> Span:  # noqa: ARG002 (as every document answers)
        """The place of all that is in no file."""
        return PLACE


def _smallest_job(document: Document, runtime: Prepared, project: Project) -> Document:
    """The smallest job of a runtime; without a `trainer` the controller would connect no processes."""
    metadata: Tree = {"name": _leaf(NAME)}
    if document.kind == "TrainingRuntime" and document.namespace:
        metadata["namespace"] = document.tree["metadata"]["namespace"]
    elif project.cluster.namespace is None:
        metadata["namespace"] = _leaf(NAMESPACE)
    kind = "TrainingRuntime" if document.kind == "TrainingRuntime" else "ClusterTrainingRuntime"
    reference = {"apiGroup": _leaf(GROUP), "kind": _leaf(kind), "name": document.tree["metadata"]["name"]}
    # What the job says because its runtime does not: which image, which command; and how many nodes, for those who ask.
    trainer: Tree = {}
    parts = [role for role in roles_of(None, runtime, runtime.template) if role.ancestor == TRAINER]
    if (nodes := _nodes(runtime, len(parts))) is not None:
        trainer["numNodes"] = nodes
    for role in parts:
        if (node := role.container()) is None:
            continue
        if not value(node, "image"):
            trainer["image"] = _leaf(IMAGE)
        if not node.get("command") and not node.get("args"):
            trainer["command"] = [_leaf(COMMAND)]
    tree: Tree = {
        "apiVersion": _leaf(f"{GROUP}/v1alpha1"),
        "kind": _leaf("TrainJob"),
        "metadata": metadata,
        "spec": {"runtimeRef": reference, "trainer": trainer},
    }
    return SmallestJob(document.file, tree, {}, document.start)


def _nodes(runtime: Prepared, least: int) -> Tree:
    """The number of nodes that a job has to say, None where it can leave that to its runtime."""
    if runtime.policy is None:
        return None
    if (written := get(runtime.policy, "numNodes")) is None:
        return _leaf(NODES)
    if type(written.value) is int and written.value < least:
        return derive("a node for each part of the trainer", lambda _: least, written)
    known = framework(runtime.framework)
    return written if known is not None and "numNodes" in known.asks else None


def _leaf(text: str) -> Sourced[Any]:
    return Sourced(text, Origin(PLACE))


def tell(own_report: Report, plan: Plan, report: Report) -> None:
    """Report what was found in a plan of `unreached`, each finding at a place in the runtime.

    What has its place in the job is about what real jobs bring: counted, unless the job cannot help it.
    """
    if (runtime := plan.runtime) is None:
        raise ValueError("a plan without a runtime")
    home = runtime.span(("metadata", "name"))
    for finding in own_report.findings:
        if finding.span != PLACE or finding.level == ERROR:
            report.add(finding.placed(PLACE, home))
        else:
            report.skip(BROUGHT)
    is_open = any(type(leaf) is Sourced and is_placeholder(leaf.value) for _, leaf in leaves(plan.template))
    for reason, count in own_report.unknown.items():
        for _ in range(count):
            report.skip(reason if is_open else BROUGHT)
