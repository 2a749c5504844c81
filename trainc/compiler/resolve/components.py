"""Components: which are switched on, in which order, and the piece of a runtime that each becomes."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trainc.compiler.resolve.composed import ADDING, Composed, RuntimePart
from trainc.compiler.resolve.parameters import EnabledComponent, filled, typed
from trainc.compiler.resolve.runtimes import shipped
from trainc.compiler.resolve.template import COMPONENTS, VALUES, names_of
from trainc.model.catalog import SHIPPED, Catalog
from trainc.model.document import Document
from trainc.model.finding import ERROR, WARNING, Finding, Label, Rule, place
from trainc.model.plan import ANCESTOR_LABEL, TRAINER
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Origin, Sourced, Span
from trainc.model.tree import Tree, get, merge, value
from trainc.text.merge_keys import MERGE_KEYS
from trainc.text.spelling import meant

UNKNOWN_COMPONENT = Rule("unknown-component", ERROR, admission=True)
NO_TARGET = Rule("component-without-target", ERROR, admission=True)

NOT_ON = Rule("component-not-on", ERROR, admission=True)
NO_RUNTIME = Rule("components-without-runtime", WARNING)

COMPONENT_KEYS = {**MERGE_KEYS, **dict.fromkeys(ADDING, "")}


class Switched(NamedTuple):
    """A component found, with its parameters filled in."""

    use: EnabledComponent
    document: Document
    spec: Tree

    @property
    def name(self) -> str:
        return self.use.name.value

    @property
    def span(self) -> Span:
        """Where it is switched on."""
        return self.use.span

    def listed(self, field: str) -> list[str]:
        """The names under `requires`, `conflictsWith` or `after`."""
        return [leaf.value for leaf in self.spec.get(field) or ()]


def of_runtime(document: Document) -> Iterator[EnabledComponent]:
    """The components that a Runtime switches on."""
    for index, item in enumerate(get(document.tree, "spec", "components") or ()):
        by, owner = f"runtime `{document.name}`", (document, index)
        yield EnabledComponent(item["name"], document.file, by, item.get("with") or {}, owner)


def of_job(document: Document) -> Iterator[EnabledComponent]:
    """The components that a job switches on by its annotation, each at its own place in there."""
    leaf = get(document.tree, "metadata", "annotations", COMPONENTS)
    values, by = values_of(document), f"job `{document.name}`"
    for name in names_of(leaf):
        given = values.pop(name, {})
        keys = _keys(document, name, given)
        yield EnabledComponent(Sourced(name, _part(leaf, name)), document.file, by, given, keys=keys)
    for name, given in values.items():
        keys = _keys(document, name, given)
        own = Sourced(name, Origin(next(iter(keys.values()))))
        yield EnabledComponent(own, document.file, by, given, keys=keys, follows=True)


def values_of(document: Document) -> dict[str, dict[str, Sourced[Any]]]:
    """The values that a job gives parameters of components, by component."""
    values: dict[str, dict[str, Sourced[Any]]] = {}
    annotations = get(document.tree, "metadata", "annotations")
    for key, leaf in annotations.items() if type(annotations) is dict else ():
        prefix, _, parameter = key.partition("/")
        if parameter and prefix.endswith(VALUES) and type(leaf) is Sourced:
            values.setdefault(prefix.removesuffix(VALUES), {})[parameter] = leaf
    return values


def _keys(document: Document, component: str, given: Mapping[str, object]) -> dict[str, Span]:
    """Where the key of each value stands."""
    path = ("metadata", "annotations")
    return {name: document.span((*path, f"{component}{VALUES}/{name}"), key=True) for name in given}


def switches(job: Document, runtime: Document) -> dict[str, Label]:
    """By the files of components in a runtime that a job switches on itself: where it does."""
    spans = {use.name.value: use.span for use in of_job(job)}
    parts = runtime.parts if isinstance(runtime, Composed) and spans else ()
    return {
        part.document.file: Label(spans[part.label], f"`{part.label}` is enabled here")
        for part in parts
        if part.name == "components" and part.label in spans and part.document is not None
    }


def _part(leaf: Sourced[str], name: str) -> Origin:
    """Where one of the names in an annotation stands, which is written on one line, in quotes or not."""
    if (at := leaf.origin.at) is None or at.line != at.end_line:
        return leaf.origin
    quotes = at.end_column - at.column - len(leaf.value)
    if quotes not in (0, 2):
        return leaf.origin
    before = 0
    for piece in leaf.value.replace(",", " ").split(" "):
        if piece == name:
            break
        before += len(piece) + 1
    start = at.column + quotes // 2 + leaf.value.index(name, before)
    return Origin(Span(at.file, at.line, start, at.line, start + len(name)))


def idle(document: Document) -> Finding:
    """The finding for components on a job that starts from no runtime."""
    written = get(document.tree, "metadata", "annotations")
    key = (
        COMPONENTS if COMPONENTS in written else next(one for one in written if one.partition("/")[0].endswith(VALUES))
    )
    return NO_RUNTIME.at(
        document.span(("metadata", "annotations", key)),
        f"a {document.kind} has no runtime, so its components cannot be merged",
        effect="they do not appear in the manifests",
        help="remove the annotation, or write a TrainJob",
    )


def switched(
    use: EnabledComponent, catalog: Catalog, project: Project, report: Report, earlier: Mapping[str, Sourced[Any]]
) -> Switched | None:
    """The component that a use names, None with findings where it cannot be had; `earlier` values hold until it gives others."""
    name = use.name.value
    component = catalog.runtimes.component(name, use.file)
    if component is None:
        known = catalog.runtimes.names("RuntimeComponent", "", use.file)
        help_ = meant(name, known, "add the RuntimeComponent to one of these places, or remove the name")
        notes = [f"looked in {', '.join(catalog.runtimes.places(use.file))}"]
        report.add(UNKNOWN_COMPONENT.at(use.span, f"unknown component `{name}`", help=help_, notes=notes))
        return None
    if component.document is None:
        return None
    if component.source == SHIPPED and not use.file.startswith("trainc:"):
        report.add(shipped(use.span, name, project))
    use = use._replace(given={**earlier, **typed(component.document, use)})
    spec = filled(component.document, use, report)
    return None if spec is None else Switched(use, component.document, spec)


def pieces(component: Switched, base: Tree, report: Report) -> list[RuntimePart] | None:
    """What a component adds to a runtime's spec, None with a finding where it has nothing to apply to."""
    parts = []
    tree = component.spec.get("runtime") or {}
    if tree:
        parts.append(RuntimePart("components", component.name, tree, component.document, below=("spec", "runtime")))
    job = component.spec.get("job")
    if type(job) is dict:
        wanted = component.listed("roles") or [TRAINER]
        roles = [one for one in _jobs(merge(base, tree, COMPONENT_KEYS)) if _is_meant(one, wanted)]
        if not roles:
            names = " or ".join(f"`{name}`" for name in wanted)
            message = f"component `{component.name}` is for {names}, and the runtime has no such replicated job"
            also = [Label(component.document.span(("spec", "roles")), "its roles")]
            help_ = "enable it in a runtime that has one, or name other `roles` in the component"
            report.add(NO_TARGET.at(component.span, message, also=also, help=help_))
            return None
        if _lacking(component, job, roles, report):
            return None
        overlay = {"template": {"spec": {"replicatedJobs": [{"name": one["name"], "template": job} for one in roles]}}}
        parts.append(
            RuntimePart("components", component.name, overlay, component.document, below=("spec", "job"), cut=5)
        )
    return parts


def in_place_of(old: Tree, new: Tree, field: str = "") -> Tree:
    """The piece of a component that is applied again: what it had put elsewhere is taken away."""
    if type(old) is dict and type(new) is dict:
        return {key: in_place_of(old[key], node, key) if key in old else node for key, node in new.items()}
    key = COMPONENT_KEYS.get(field, "")
    if not (key and type(old) is list and type(new) is list):
        return new
    kept = {value(item, key) for item in new}
    gone = [
        {key: was[key], "$patch": Sourced("delete", now[key].origin)}
        for was, now in zip(old, new, strict=False)
        if value(was, key) is not None and value(now, key) is not None and value(was, key) not in kept
    ]
    return [*gone, *(in_place_of(was, now) for was, now in zip(old, new, strict=False)), *new[len(old) :]]


def not_on(use: EnabledComponent, known: list[str]) -> Finding:
    """The finding for values of a component that nothing switches on."""
    name = use.name.value
    rest = f"enable it, too: `{COMPONENTS}: {name}`"
    return NOT_ON.at(
        use.span,
        f"component `{name}` has a value, but is not enabled",
        effect="the value has no effect",
        help=meant(name, known, rest),
    )


def _jobs(spec: Tree) -> list[Tree]:
    return [one for one in _maps(get(spec, "template", "spec", "replicatedJobs")) if value(one, "name")]


def _is_meant(job: Tree, wanted: list[str]) -> bool:
    return value(job, "name") in wanted or value(job, "template", "metadata", "labels", ANCESTOR_LABEL) in wanted


def _maps(node: Tree) -> list[Tree]:
    """The maps in a list; a piece of a runtime may hold a null in place of either."""
    return [item for item in node if type(item) is dict] if type(node) is list else []


def _lacking(component: Switched, job: Tree, roles: list[Tree], report: Report) -> bool:
    """Whether the component changes a container that a role does not have; one that it adds brings its image."""
    lacking = False
    pod = ("spec", "template", "spec")
    for field in ("containers", "initContainers"):
        for container in _maps(get(job, *pod, field)):
            name = value(container, "name")
            for role in roles if name is not None and "image" not in container else ():
                there = [value(one, "name") for one in _maps(get(role, "template", *pod, field))]
                if name not in there:
                    owner = f"`{value(role, 'name')}`"
                    message = f"component `{component.name}` changes container `{name}`, which {owner} does not have"
                    at = place(container["name"].origin) or component.document.span()
                    names = ", ".join(f"`{one}`" for one in there) or "none"
                    help_ = f"its containers: {names}; a component that adds a container must set its image"
                    report.add(NO_TARGET.at(component.span, message, also=[Label(at, "changed here")], help=help_))
                    lacking = True
    return lacking
