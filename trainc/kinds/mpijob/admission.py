"""What the two MPI operators refuse, in their controllers: MPIJob v1 says the first mistake, v2beta1 says all."""

from trainc.kinds.shared.refusals import (
    Validator,
    containers,
    empty_manager,
    image,
    invalid,
    label_errors,
    not_supported,
    odd_case,
    required,
)
from trainc.model.finding import WARNING, Rule
from trainc.model.tree import Path, Tree, get, value
from trainc.text.object_keys import MULTIKUEUE

ROLES = ("Launcher", "Worker")
CLEAN = ("All", "None", "Running")
MANAGERS = ("kubeflow.org/mpi-operator", MULTIKUEUE)
IMPLEMENTATIONS = ("Intel", "MPICH", "OpenMPI")

IGNORED_ROLE = Rule("ignored-role", WARNING)


def refuse_v1(r: Validator) -> None:
    """Report the first thing that MPIJob v1's controller would complain about."""
    field: Path = ("spec", "mpiReplicaSpecs")
    if get(r.spec, "mpiReplicaSpecs") is None:
        r.say(field, "MPIReplicaSpecs is not valid", "`spec.mpiReplicaSpecs` is missing")
        return
    for key in r.roles:
        if _refuses_v1(r, (*field, key), key, r.replicas.get(key)):
            return
    if not any(r.kind.role(key) == "Launcher" for key in r.roles):
        text = "MPIReplicaSpec is not valid: Master ReplicaSpec must be present"
        help_ = "the operator's message names the Master, but means the Launcher"
        r.say(field, text, "the job has no Launcher", help=help_)


def _refuses_v1(r: Validator, path: Path, key: str, replica: Tree) -> bool:
    listed = containers(replica)
    inside = (*path, "template", "spec", "containers")
    role = r.kind.role(key)
    valid = "MPIReplicaSpec is not valid"
    if not listed:
        text = f"MPIReplicaSpecs is not valid: containers definition expected in {key}"
        r.say(inside, text, f"the role `{key}` has no containers")
    elif not role:
        message = f"MPIReplicaType is {key} but must be one of [Launcher Worker]"
        r.say(path, message, f"MPIJob has no role `{key}`", key=True)
    elif any(not image(c) or not value(c, "name") for c in listed):
        index = next(i for i, c in enumerate(listed) if not image(c) or not value(c, "name"))
        what, lacks = ("ImageName", "name") if image(listed[index]) else ("Image", "image")
        text = f"{valid}: {what} is undefined in the container of {key}"
        r.say((*inside, index), text, f"a container of `{key}` has no {lacks}")
    elif role == "Launcher" and _known(replica, "replicas") not in {None, 1}:
        count = (*path, "replicas")
        message = f"{valid}: There must be only 1 launcher replica"
        r.say(count, message, "more than one Launcher is requested", fix=r.document.edits(count, 1))
    else:
        if key != role:
            odd_case(r, key, role)
        return False
    return True


def refuse_ssh(r: Validator) -> None:
    """Report everything that the mpi-operator's controller would refuse, after its defaults."""
    workers = _known(r.replicas.get("Worker"), "replicas") or 0
    longest = f"{r.document.name}-worker-{max(workers, 1) - 1}"
    if errors := label_errors(longest):
        path: Path = ("metadata", "name")
        detail = f'will not able to create pod and service with invalid DNS label "{longest}": {", ".join(errors)}'
        r.say(path, invalid(path, r.document.name, detail), f"the host name `{longest}` is not a valid DNS-1035 label")
    policy = ("ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit")
    paths: list[Path] = [("spec", "slotsPerWorker"), *(("spec", "runPolicy", name) for name in policy)]
    for path in paths:
        if (number := _known(r.document.tree, *path)) is not None and number < 0:
            r.say(path, invalid(path, number, "must be greater than or equal to 0"), f"`{path[-1]}` is negative")
    known: tuple[tuple[Path, tuple[str, ...]], ...] = (
        (("spec", "runPolicy", "cleanPodPolicy"), CLEAN),
        (("spec", "runPolicy", "managedBy"), MANAGERS),
        (("spec", "mpiImplementation"), IMPLEMENTATIONS),
    )
    for path, names in known:
        chosen = value(r.document.tree, *path)
        if chosen == "" and path[-1] == "managedBy":
            empty_manager(r)
        elif chosen not in {None, *names}:
            message = f"`{chosen}` is not a valid `{path[-1]}`"
            r.say(path, not_supported(path, chosen, names), message, help=f"one of {', '.join(names)}")
    field: Path = ("spec", "mpiReplicaSpecs")
    if get(r.spec, "mpiReplicaSpecs") is None:
        r.say(field, required(field, "must have replica specs"), "`spec.mpiReplicaSpecs` is missing")
        return
    if "Launcher" not in r.replicas:
        path = (*field, "Launcher")
        r.say(path, required(path, "must have Launcher replica spec"), "the job has no Launcher")
    for key in r.replicas:
        if key not in ROLES:
            message = f"the mpi-operator has no role `{key}` and creates no pods for it"
            span = r.document.span((*field, key), key=True)
            r.report.add(IGNORED_ROLE.at(span, message, help="write `Launcher` or `Worker`"))
    for role in ROLES:
        if role not in r.replicas:
            continue
        replica, at = r.replicas[role], (*field, role, "replicas")
        count = _known(replica, "replicas")
        if role == "Launcher" and count not in {None, 1}:
            message = "more than one Launcher is requested"
            r.say(at, invalid(at, count, "must be 1"), message, help="write `replicas: 1`", fix=r.document.edits(at, 1))
        if role == "Worker" and (count or 0) < 1 and type(value(replica, "replicas")) is not str:
            text = invalid(at, count or 0, "must be greater than or equal to 1")
            r.say(at, text, "the Worker role has no replicas", help="write `replicas: 1` or more: the default is 0")
        policy = value(replica, "restartPolicy")
        if policy not in {None, "", "Never", "OnFailure"}:
            at = (*field, role, "restartPolicy")
            text = not_supported(at, policy, ("Never", "OnFailure"))
            r.say(at, text, f"`{policy}` is not a restart policy of an MPIJob")
        if not containers(replica):
            at = (*field, role, "template", "spec", "containers")
            r.say(at, required(at, "must define at least one container"), f"the role `{role}` has no containers")


def _known(tree: Tree, *path: str | int) -> int | None:
    """The number at a path; None where there is none, or a text that another tool makes one of."""
    number = value(tree, *path)
    return number if type(number) is int else None
