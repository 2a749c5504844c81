"""What `spec.trainer` and `spec.initializer` ask for, as patches on the pods they reach."""

from collections.abc import Iterable, Iterator, Mapping

from trainc.apiserver.normalise import canonical
from trainc.model.patch import Patch
from trainc.model.plan import NODE, TRAINER, Role
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import Tree, get, value

INITIALIZERS = {"dataset-initializer": "dataset", "model-initializer": "model"}
_COPIED_FIELDS = ("image", "command", "args")  # what the container takes over as it is
_PAIR = 2  # fields of a variable that has a value: its name and that
_EMPTY = Sourced("", Origin(by="TrainJob env conversion"))
_ZERO = Sourced("0", Origin(by="TrainJob env conversion"))


def overrides(job: Tree, policy: Tree, roles: Iterable[Role]) -> tuple[Patch, ...]:
    """The patches of one job, in the order of the roles they reach; every leaf knows its origin."""
    trainer, initializer = job["spec"].get("trainer"), job["spec"].get("initializer")
    patches: list[Patch] = []
    for role in roles:
        trainer_patch = _trainer(trainer, policy, role) if trainer is not None else None
        if trainer_patch is not None:
            patches.append(trainer_patch)
        if initializer is not None and role.ancestor in INITIALIZERS:
            patches.extend(_initializer(initializer, role))
    return tuple(patches)


def _trainer(trainer: Mapping[str, Tree], policy: Tree, role: Role) -> Patch | None:
    labelled = role.ancestor == TRAINER
    if not labelled and not (role.name.value == NODE and value(policy, "mpi", "runLauncherAsNode") is True):
        return None
    if (node := role.container()) is None:
        return None
    sets = {key: trainer[key] for key in _COPIED_FIELDS if key in trainer} if labelled else {}
    resources = trainer.get("resourcesPerNode")
    # Without any policy the controller does not look at resourcesPerNode (Trainer v2.3.0).
    if resources is not None and policy is not None:
        # Limits and requests, the job's over the runtime's by resource name; claims do not survive (Trainer v2.3.0).
        base = node.get("resources") or {}
        merged = {}
        for part in ("limits", "requests"):
            both = dict(base.get(part) or ())
            if more := resources.get(part):
                for name, amount in more.items():
                    both[name] = canonical(amount)
            if both:
                merged[part] = both
        sets["resources"] = merged
    variables = trainer.get("env")
    env = tuple([convert(entry) for entry in variables]) if variables else ()
    return Patch(role.index, NODE, env=env, sets=sets) if sets or env else None


def _initializer(initializer: Tree, role: Role) -> Iterator[Patch]:
    block = get(initializer, INITIALIZERS[role.ancestor])
    container = role.container(role.ancestor)
    if block is None or container is None:
        return
    env = [convert(entry) for entry in block.get("env") or ()]
    if "storageUri" in block:
        uri = block["storageUri"]  # an explicit STORAGE_URI in env comes later and wins
        env.insert(0, {"name": derive("storageUri", lambda _: "STORAGE_URI", uri), "value": uri})
    sets = {}
    if "secretRef" in block:
        reference = {"secretRef": {"name": block["secretRef"].get("name", _EMPTY)}}
        sets["envFrom"] = [*(container.get("envFrom") or ()), reference]
    if env or sets:
        yield Patch(role.index, role.ancestor, env=tuple(env), sets=sets)


def convert(entry: Mapping[str, Tree]) -> Tree:
    """A job's env entry as the controller copies it: one source, some details dropped (Trainer v2.3.0)."""
    if (source := entry.get("valueFrom")) is not None:
        field, resource = source.get("fieldRef"), source.get("resourceFieldRef")
        converted: dict[str, Tree] = {}
        if field is not None:
            converted["fieldRef"] = {"fieldPath": field["fieldPath"]}
        if resource is not None:
            converted["resourceFieldRef"] = {
                "containerName": resource.get("containerName", _EMPTY),
                "divisor": canonical(resource.get("divisor", _ZERO)),
                "resource": resource["resource"],
            }
        for kind in ("configMapKeyRef", "secretKeyRef"):
            if (reference := source.get(kind)) is not None:
                converted[kind] = {"name": _EMPTY, **reference}
        return {"name": entry["name"], "valueFrom": converted}
    if "value" in entry and len(entry) == _PAIR:
        return entry
    return {"name": entry["name"], "value": entry.get("value", _EMPTY)}
