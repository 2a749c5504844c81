"""A runtime as jobs get it: its ancestors, the components, and what the cluster lays over it, merged once."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trainc.compiler.patched import unknown_word
from trainc.compiler.resolve.components import (
    COMPONENT_KEYS,
    Switched,
    in_place_of,
    not_on,
    of_job,
    of_runtime,
    pieces,
    switched,
)
from trainc.compiler.resolve.composed import API_VERSION, KIND, Composed, Held, RuntimePart
from trainc.compiler.resolve.locks import changed, held, touching
from trainc.compiler.resolve.own_values import changed_since, component_values, replaced, without
from trainc.compiler.resolve.parameters import EnabledComponent
from trainc.compiler.resolve.relations import check, lineage, ordered
from trainc.compiler.resolve.template import COMPONENTS, RUNTIME, Prepared, names_of
from trainc.model.catalog import Catalog
from trainc.model.document import Document
from trainc.model.paths import Steps, located
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Origin, Sourced, Span
from trainc.model.tree import Tree, UnknownDirectiveError, get, merge
from trainc.text.merge_keys import MERGE_KEYS
from trainc.text.spelling import meant
from trainc.text.trouble import Trouble

Applied = tuple[Switched, list[RuntimePart]]
Labels = dict[str, Sourced[Any]]
Reached = tuple[Tree, Labels, tuple[RuntimePart, ...], tuple[Held, ...], tuple[Applied, ...], tuple[str, ...]]
Bases = dict[tuple[int, ...], Reached]  # by chain what a composition holds once all of it is laid over

PIECES = ("mlPolicy", "podGroupPolicy", "template")


def composed(
    document: Document, job: Document | None, catalog: Catalog, project: Project, report: Report, bases: Bases
) -> Prepared | None:
    """The runtime as this job gets it (without a job: as every job does), None with findings where it cannot be had."""
    if (composition := compose(document, job, catalog, project, report, bases)) is None:
        return None
    if (stored := catalog.runtimes.legal(composition.document(), report)) is None:
        return None
    return Prepared(stored, stored.tree, composition.parts, tuple(composition.locks))


def compose(
    document: Document,
    job: Document | None,
    catalog: Catalog,
    project: Project,
    report: Report,
    bases: Bases | None = None,
) -> "Composition | None":
    """All pieces of a runtime merged, before anybody has judged the result; None with findings.

    `bases` holds what compositions for the same cluster had come to, from which those with the same ancestors go on.
    """
    if (chain := lineage(document, catalog, project, report)) is None:
        return None
    out = Composition(document, catalog, project, report)
    try:
        out.climb(chain, {} if bases is None else bases)
        cluster = project.cluster
        values, by = cluster.component_values, f"cluster `{cluster.name}`"
        out.switch(
            [EnabledComponent(leaf, project.file, by, values.get(leaf.value, {})) for leaf in cluster.components]
        )
        if job is not None:
            out.switch(list(of_job(job)))
        if cluster.patch is not None:
            below = ("spec", "clusters", cluster.name, "patch")
            out.add(RuntimePart("cluster", cluster.name, cluster.patch, cluster.document, below=below))
    except UnknownDirectiveError as error:
        out.is_broken = True
        report.add(unknown_word(error, document.span()))
    if out.is_broken:
        return None
    check(out.on, out.brought, catalog, report)
    return out


class Composition:
    """A runtime while it is put together: the spec so far, its parts, the components that are on, the locks that hold."""

    def __init__(self, leaf: Document, catalog: Catalog, project: Project, report: Report) -> None:
        self.spec: Tree = {}
        self.labels: dict[str, Sourced[Any]] = {}
        self.parts: list[RuntimePart] = []
        self.locks: list[Held] = []
        self._leaf = leaf
        self._catalog = catalog
        self._project = project
        self._report = report
        self.on: list[Applied] = []
        self.brought: list[str] = []  # names that a flattened parent says it holds
        self.is_broken = False

    def climb(self, chain: Sequence[Document], bases: Bases) -> None:
        """Lay the runtimes of a chain over one another, those left out that another composition began with as well."""
        done = max((height for height in range(len(chain) + 1) if _key(chain[:height]) in bases), default=0)
        if done:
            spec, labels, parts, locks, on, brought = bases[_key(chain[:done])]
            self.spec, self.labels = spec, dict(labels)
            self.parts, self.locks, self.on, self.brought = list(parts), list(locks), list(on), list(brought)
        for height, document in enumerate(chain[done:], done + 1):
            self.level(document)
            if not self.is_broken and not self._report.findings:
                lists = (tuple(self.parts), tuple(self.locks), tuple(self.on), tuple(self.brought))
                bases[_key(chain[:height])] = (self.spec, dict(self.labels), *lists)

    def level(self, document: Document) -> None:
        """Lay one runtime of the chain over what is there, then its components, then its locks."""
        spec = get(document.tree, "spec") or {}
        self.labels |= get(document.tree, "metadata", "labels") or {}
        own = {key: spec[key] for key in PIECES if key in spec}
        if document.kind != RUNTIME:
            self.brought += names_of(get(document.tree, "metadata", "annotations", COMPONENTS))
        if document.kind == RUNTIME or self.parts:
            self.add(RuntimePart("runtime", document.name, own, document))
        else:
            self.spec = own  # as the server stores it; nothing to merge
            self.parts.append(RuntimePart("runtime", document.name, own, document))
        if document.kind == RUNTIME:
            index = len(self.parts) - 1
            self.switch(list(of_runtime(document)))
            if len(self.parts) > index + 1 and not self.is_broken:
                self._restore(index, document)
            self.locks += held(document, self.spec, self._report, whole=not self.is_broken)

    def _restore(self, index: int, document: Document) -> None:
        """Lay what the runtime at `index` says itself over what its own components made of it."""
        own = self.parts[index]
        if part := replaced(own.tree, self.spec):
            for finding in component_values(part, self.spec, document):
                self._report.add(finding)
            self.parts[index] = own._replace(tree=without(own.tree, part))
            self.add(RuntimePart("runtime", document.name, part))

    def switch(self, uses: Iterable[EnabledComponent]) -> None:
        """Apply components in the order named; one that is on already is applied again only with values of its own."""
        active = {one.name for one, _ in self.on} | set(self.brought)
        by_name: dict[str, Switched] = {}
        for use in uses:
            name = use.name.value
            if (name in active or name in by_name) and not use.given:
                continue
            if use.follows and name not in active and name not in by_name:
                self._report.add(not_on(use, sorted({*active, *by_name})))
                self.is_broken = True
                continue
            earlier: Mapping[str, Sourced[Any]] = next(
                (one.use.given for one, _ in reversed(self.on) if one.name == name), {}
            )
            component = switched(use, self._catalog, self._project, self._report, earlier)
            if component is None:
                self.is_broken = True
            else:
                by_name[name] = component
        in_order = ordered(list(by_name.values()), self._report)
        self.is_broken |= in_order is None
        for component in in_order or ():
            parts = pieces(component, self.spec, self._report)
            self.is_broken |= parts is None
            before: list[RuntimePart] = next(
                (known for one, known in reversed(self.on) if one.name == component.name), []
            )
            parts = parts or []
            for index, (part, was) in enumerate(zip(parts, before, strict=False)):
                parts[index] = part._replace(tree=in_place_of(was.tree, part.tree))
            for index, part in enumerate(parts):
                again = index < len(before)
                tree = changed_since(before[index].tree, part.tree) if again else part.tree
                new = part._replace(tree=tree, document=None) if again else part
                self.add(new, keys=COMPONENT_KEYS, who=f"component `{component.name}`")
            self.on.append((component, parts))

    def add(self, part: RuntimePart, *, keys: dict[str, str] = MERGE_KEYS, who: str = "") -> None:
        """Merge one part over the spec; what it changes in a locked field is a finding."""
        after = merge(self.spec, part.tree, keys)
        for lock in self.locks:
            if changed(lock, self.spec, after):
                spot = touching(part.tree, lock.steps, self.spec) or self._nearest(part, lock.steps)
                self._report.add(lock.broken(spot, who or f"{part.name} `{part.label}`"))
        self.spec = after
        self.parts.append(part)

    def _nearest(self, part: RuntimePart, steps: Steps) -> Span:
        """Where a part says something of a field, if only by an empty map or list: at it, or at what lies above it."""
        for length in range(len(steps), 0, -1):
            path = located(part.tree, steps[:length])
            spot = part.span(path, key=True) if path is not None else None
            if spot is not None:
                return spot
        return self._leaf.span(("metadata", "name"))

    @property
    def components(self) -> list[str]:
        """The names of all components that are on, in the order in which they came."""
        return list(dict.fromkeys([*self.brought, *(one.name for one, _ in self.on)]))

    def document(self) -> Composed:
        """The composition as a ClusterTrainingRuntime, named like the runtime that jobs name."""
        metadata: Tree = {"name": self._leaf.tree["metadata"]["name"]}
        if self.labels:
            metadata["labels"] = self.labels
        if self.components:
            origin = Origin(by="components of the runtime", of=tuple(one.use.name.origin for one, _ in self.on))
            metadata["annotations"] = {COMPONENTS: Sourced(",".join(self.components), origin)}
        tree = {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": self.spec}
        return Composed(self._leaf, tree, tuple(self.parts))


def _key(chain: Sequence[Document]) -> tuple[int, ...]:
    """A chain of runtimes by identity: what is known of it holds their documents, in its parts."""
    return tuple(map(id, chain))


class Flattened(Composed):
    """A composition judged as if it stood in a file of its own: nothing is trainc's own any more."""

    __slots__ = ()
    composed = False


def flattened(name: str, catalog: Catalog, project: Project, report: Report) -> Document | None:
    """The ClusterTrainingRuntime that a runtime amounts to, without what jobs add; a Trouble where there is none."""
    parent = catalog.runtimes.parent(name, "", "")
    if parent is None and not report.failed:
        known = {one for kind in (RUNTIME, KIND.value) for one in catalog.runtimes.names(kind, "", "")}
        component = f"`{name}` is a component; name a runtime that enables it"
        hint = (
            component
            if catalog.runtimes.component(name, "")
            else meant(name, sorted(known), "see trainc runtimes list")
        )
        raise Trouble(f"no runtime `{name}` here or among those that trainc ships; {hint}")
    if parent is None or parent.document is None:
        return None
    if (composition := compose(parent.document, None, catalog, project, report)) is None:
        return None
    whole = composition.document()
    flat = Flattened(whole.leaf, whole.tree, whole.parts)
    return flat if catalog.runtimes.legal(flat, report) is not None else None
