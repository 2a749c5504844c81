"""Locks: fields of a runtime that whoever comes after it must leave as they are."""

from collections.abc import Iterator, Sequence
from typing import Any

from trainc.compiler.patched import PATCH
from trainc.compiler.resolve.composed import Held, _spelled
from trainc.compiler.resolve.template import Prepared
from trainc.compiler.resolve.trainer_block import INITIALIZERS
from trainc.model.document import Document
from trainc.model.finding import ERROR, Finding, Label, Rule, place
from trainc.model.patch import CONTAINER, METADATA, POD, Patch
from trainc.model.paths import Steps, at_path, keyed_leaves, parsed
from trainc.model.plan import Plan, Role
from trainc.model.report import Report
from trainc.model.sourced import Origin, Sourced, Span
from trainc.model.tree import Tree, first_leaf, get, plain

UNKNOWN_LOCK = Rule("unknown-lock-path", ERROR, admission=True)

_JOB_FIELDS = {"resources": "resourcesPerNode", "envFrom": "secretRef"}  # fields of a container, as a job calls them
_POINTER = Origin(by="name of the patched container")


def held(document: Document, spec: Tree, report: Report, *, whole: bool) -> Iterator[Held]:
    """The locks of one runtime, over its composed spec; a path that leads nowhere in a `whole` one is a finding."""
    for index, lock in enumerate(get(document.tree, "spec", "locks") or ()):
        path = lock["path"].value
        span = document.span(("spec", "locks", index, "path"))
        if steps := parsed(path, spec):
            yield Held(path, steps, at_path(spec, steps), lock["reason"].value, document.name, span)
        elif whole:
            message = f"`{document.name}` locks `{path}`, but does not have this field"
            also = [Label(document.span(("metadata", "name")), "nothing in this runtime or its parents sets it")]
            help_ = "write the path as `trainc why` prints it, without the leading `spec.` of the runtime: `mlPolicy.numNodes`"
            report.add(UNKNOWN_LOCK.at(span, message, label=_longest(path, spec), also=also, help=help_))


def _longest(path: str, spec: Tree) -> str:
    """How far a path leads, in words."""
    text = path
    while text:
        text = (text.rpartition("[")[0] if text.endswith("]") else text.rpartition(".")[0]).rstrip(".")
        if text and parsed(text, spec):
            return f"only `{text}` exists"
    return ""


def changed(lock: Held, before: Tree, after: Tree) -> bool:
    """Whether a locked field is no longer what it was, nor what it has to be."""
    was, now = at_path(before, lock.steps), at_path(after, lock.steps)
    return was is not now and _spelled(was, lock.steps) != _spelled(now, lock.steps) and not lock.keeps(now)


def touching(tree: Tree, steps: Steps, before: Tree) -> Span | None:
    """Where a tree says something new about a field of `before`: in it, in what removes it, or the nearest above."""
    spots = (place(leaf.origin) for leaf in _changed_values(tree, steps, before))
    return next((spot for spot in spots if spot is not None), None)


def _changed_values(tree: Tree, steps: Steps, before: Tree) -> Iterator[Sourced[Any]]:
    """The leaves of a tree that may be what changes a field, the likeliest first."""
    above = [at_path(tree, steps[:length]) for length in range(len(steps), -1, -1)]
    for inner, leaf in _leaves(tree, steps):
        old = at_path(before, inner)
        if type(old) is not Sourced or old.value != leaf.value:
            yield leaf
    for node in above:
        for one in (node, *node) if type(node) is list else (node,):
            directive = one.get("$patch") if type(one) is dict else one
            if type(directive) is Sourced:
                yield directive
    for node in above:
        first = first_leaf(node) if node is not None else None
        if first is not None:
            yield first


def check_job(plan: Plan, runtime: Prepared, report: Report) -> None:
    """Findings for what a job's patches, `spec.trainer` and `spec.initializer` change in locked fields."""
    # The job's patches that touch a locked field of its pods, each with all that it replaces.
    overriding: list[tuple[Patch, tuple[Steps, ...]]] = []
    inner = [lock.steps[1:] for lock in runtime.locks if lock.steps[0] == "template"]
    for patch in plan.overrides if inner else ():
        role = plan.roles[patch.role]
        containers = "containers" if role.container(patch.container) is not None else "initContainers"
        units = patch.touches(role.name.value, containers)
        if any(_touched(steps, units) for steps in inner):
            overriding.append((patch, units))
    if not overriding and plan.template is runtime.template and not runtime.scaled:
        return
    for lock in runtime.locks:
        if lock.steps[0] == "template":
            if plan.template is not runtime.template:
                report.add_all(_patched(lock, runtime.template, plan))
            for patch, units in overriding:
                if touched := _touched(lock.steps[1:], units):
                    report.add_all(_overruled(lock, plan, patch, touched))
        elif lock.steps[0] == "mlPolicy":
            report.add_all(_scaled(lock, plan.document, runtime.policy))


def _touched(inner: Steps, units: tuple[Steps, ...]) -> list[Steps]:
    """The units that lie at a locked field, above it or below it."""
    length = len(inner)
    return [unit for unit in units if unit[:length] == inner[: len(unit)]]


def _patched(lock: Held, before: Tree, plan: Plan) -> Iterator[Finding]:
    """What the runtimePatches change: the last one that says something about the field."""
    inner = lock.steps[1:]
    now = at_path(plan.template, inner)
    if plain(at_path(before, inner)) == plain(now) or lock.keeps(now):
        return
    layers = [layer for layer in plan.layers if layer.name in ("patches", PATCH) and layer.tree is not None]
    spots = [(spot, layer) for layer in layers if (spot := touching(layer.tree, inner, before)) is not None]
    if spots:
        spot, layer = spots[-1]
        yield lock.broken(spot, f"the patch of `{layer.label}`")


def _scaled(lock: Held, job: Document, policy: Tree) -> Iterator[Finding]:
    """`numNodes` and `numProcPerNode` of the job stand for those of the policy."""
    steps = lock.steps[1:]
    for field in ("numNodes", "numProcPerNode"):
        job_value = get(job.tree, "spec", "trainer", field)
        own = _own(policy, field)
        if job_value is None or own is None or (own[: len(steps)] != steps and steps[: len(own)] != own):
            continue
        if job_value.value != plain(get(policy, *own)) and not lock.keeps(job_value, own[len(steps) :]):
            yield lock.broken(job.span(("spec", "trainer", field)), f"`spec.trainer.{field}`")


def _own(policy: Tree, field: str) -> tuple[str, ...] | None:
    if field == "numNodes":
        return ("numNodes",)
    return next(((name, field) for name in ("mpi", "flux") if get(policy, name) is not None), None)


def _overruled(lock: Held, plan: Plan, patch: Patch, units: list[Steps]) -> Iterator[Finding]:
    inner = lock.steps[1:]
    tree = overlay(plan.roles, patch)
    for unit in units:
        deeper = max(unit, inner, key=len)
        new = at_path(tree, deeper)
        if plain(new) != plain(at_path(plan.template, deeper)) and not lock.keeps(new, deeper[len(inner) :]):
            part = INITIALIZERS.get(plan.roles[patch.role].ancestor)
            block = ("trainer",) if part is None else ("initializer", part)
            yield lock.broken(_written(plan, tree, unit, deeper, block), "the job")


def _written(plan: Plan, tree: Tree, unit: Steps, steps: Steps, block: tuple[str, ...]) -> Span:
    """Where a job changes a field: at its first value that is new, or at what takes the values away."""
    job = plan.document
    leaves = [(inner, leaf) for inner, leaf in _leaves(tree, steps) if _is_in(job, leaf)]
    changed_leaves = [leaf for inner, leaf in leaves if plain(at_path(plan.template, inner)) != leaf.value]
    for leaf in changed_leaves or [leaf for _, leaf in _leaves(tree, unit) if _is_in(job, leaf)]:
        if (spot := place(leaf.origin)) is not None:
            return spot
    path = ("spec", *block)
    names = [_JOB_FIELDS.get(step, step) for step in reversed(unit) if type(step) is str]
    return job.span(next(((*path, name) for name in names if get(job.tree, *path, name) is not None), path))


def _leaves(tree: Tree, steps: Steps) -> Iterator[tuple[Steps, Sourced[Any]]]:
    """The leaves at a path and below it, with their paths."""
    node = at_path(tree, steps)
    field = next((step for step in reversed(steps) if type(step) is str), "")
    return keyed_leaves(node, steps, field) if node is not None else iter(())


def _is_in(job: Document, leaf: Tree) -> bool:
    """Whether a leaf is written in a job's document, beside which its runtime may stand in the same file."""
    spot = place(leaf.origin) if type(leaf) is Sourced else None
    return spot is not None and job.holds(spot)


def overlay(roles: Sequence[Role], patch: Patch) -> Tree:
    """`{spec: {replicatedJobs: [...]}}` with what the patch sets and nothing else."""
    role = roles[patch.role]
    owners: dict[str, dict[str, Tree]] = {METADATA: {}, POD: {}, CONTAINER: {}}
    for field, content in patch.contents():
        node = list(content) if field.list_key else dict(content)
        owners[field.owner] |= {field.target: node} if field.target else node
    metadata, pod, container = owners.values()
    if patch.container:
        field_name = "containers" if role.container(patch.container) is not None else "initContainers"
        patch_item = {"name": Sourced(patch.container, _POINTER), **container}
        pod[field_name] = [*pod.get(field_name, []), patch_item]
    job = {"name": role.name, "template": {"spec": {"template": {"metadata": metadata, "spec": pod}}}}
    return {"spec": {"replicatedJobs": [job]}}
