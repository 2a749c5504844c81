"""What pod validation says about containers once the child Job is made (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.model.finding import ERROR, Label, Rule
from trainc.model.sourced import Sourced
from trainc.model.tree import plain
from trainc.schema.fault import quoted
from trainc.schema.names import label, qualified
from trainc.schema.pods.containers import port_name
from trainc.verify.refusal import refuse, unsupported
from trainc.verify.values import rows, substituted, table, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.verify.containers import Container
    from trainc.verify.job import Job

_WHY = "JobSet does not look into pod templates: the mistake shows only as events of a Job that cannot make pods."

NO_CONTAINERS = Rule("no-containers", ERROR, "a pod template has no containers", _WHY)
CONTAINER_NAME = Rule("bad-container-name", ERROR, "a container's name is no DNS label", _WHY)
MISSING_IMAGE = Rule("missing-image", ERROR, "a container has no image", _WHY)
IMAGE_SPACE = Rule("image-with-space", ERROR, "an image reference starts or ends with white space", _WHY)
ENV_NAME = Rule("bad-env-name", ERROR, "a variable's name is empty or holds characters no environment takes", _WHY)
ENV_TWICE_SET = Rule("env-value-and-source", ERROR, "a variable has both a value and a source", _WHY)
FIELD_PATH = Rule("bad-field-path", ERROR, "a variable reads a field that the downward API does not give", _WHY)
PULL_POLICY = Rule("bad-pull-policy", ERROR, "an image pull policy that Kubernetes does not know", _WHY)
PORT = Rule("bad-port", ERROR, "a container port is missing, out of range, or named twice", _WHY)
PROBE = Rule("bad-probe", ERROR, "a probe has no action, several, or one on a container that cannot have it", _WHY)

_FIELDS = frozenset(
    (
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "spec.host",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    )
)
_ACTIONS = ("exec", "httpGet", "tcpSocket", "grpc")


def no_containers(job: Job) -> None:
    for role in job.roles:
        if not role.main and role.pod:
            path = (*role.pod_path, "containers")
            refuse(job, NO_CONTAINERS, path, "Required value", f"the pods of `{role.name}` have no containers")


def bad_container_name(job: Job) -> None:
    for container in job.containers:
        name = container.name
        if name.isascii() and name.isalpha() and name.islower() and len(name) < 64:
            continue
        path = (*container.path, "name")
        if not name:
            refuse(job, CONTAINER_NAME, path, "Required value", "a container has no name")
        faults = label(name) if name and not substituted(name) else ()
        if faults:
            refuse(
                job,
                CONTAINER_NAME,
                path,
                tuple(f'Invalid value: "{name}": {fault}' for fault in faults),
                f"`{name}` cannot be the name of a container",
                help="use lower-case letters, digits and `-`, at most 63 of them",
            )


def missing_image(job: Job) -> None:
    for container in job.containers:
        if not text(container.tree, "image"):
            path = (*container.path, "image")
            refuse(job, MISSING_IMAGE, path, "Required value", f"container `{container.name}` has no image")


def image_with_space(job: Job) -> None:
    for container in job.containers:
        image = text(container.tree, "image")
        if image and (image[0].isspace() or image[-1].isspace()):
            reason = f'Invalid value: "{image}": must not have leading or trailing whitespace'
            path = (*container.path, "image")
            job.report.add(
                IMAGE_SPACE.at(
                    job.at(path),
                    f"the image of `{container.name}` starts or ends with white space",
                    effect=f"each pod is refused when it is made: {reason}",
                    help=f"write `{image.strip()}`",
                )
            )


def bad_env_name(job: Job) -> None:
    names = job.names
    if all(name.isascii() and name.isidentifier() for name in names):
        return
    rule = "a valid environment variable name must consist only of printable ASCII characters other than '='"
    for container in job.containers:
        for index, entry in enumerate(rows(container.tree, "env")):
            name = text(entry, "name")
            path = (*container.path, "env", index, "name")
            if not name:
                refuse(job, ENV_NAME, path, "Required value", "a variable has no name")
            elif "=" in name or not name.isascii() or not name.isprintable():
                refuse(
                    job,
                    ENV_NAME,
                    path,
                    f"Invalid value: {quoted(name)}: {rule}",
                    f"`{name}` cannot be the name of a variable",
                    help="write the name and the value apart: `- name: A` and `value: B`" if "=" in name else "",
                )


def env_value_and_source(job: Job) -> None:
    for container in job.containers:
        for index, entry in enumerate(rows(container.tree, "env")):
            if len(entry) > 2 and table(entry, "valueFrom") and text(entry, "value"):
                path = (*container.path, "env", index)
                name = text(entry, "name")
                refuse(
                    job,
                    ENV_TWICE_SET,
                    (*path, "valueFrom"),
                    'Invalid value: "": may not be specified when `value` is not empty',
                    f"`{name}` has both a value and a source",
                    key=True,
                    also=[Label(job.at((*path, "value")), "the value")],
                    help="keep one of `value` and `valueFrom`",
                )


def bad_field_path(job: Job) -> None:
    for container in job.containers:
        for index, entry in container.sources:
            field = text(table(table(entry, "valueFrom"), "fieldRef"), "fieldPath")
            if field and not readable(field):
                from trainc.schema.pods.said import Said  # noqa: PLC0415 (only where something is wrong)
                from trainc.schema.pods.variables import field as field_reference  # noqa: PLC0415

                path = (*container.path, "env", index, "valueFrom", "fieldRef")
                said = Said()
                field_reference(plain(entry["valueFrom"]["fieldRef"]), path, said)
                if not said.faults:
                    continue  # a part of it is still to be filled in
                refuse(
                    job,
                    FIELD_PATH,
                    (*path, "fieldPath"),
                    tuple(fault.message.partition(": ")[2] for fault in said.faults),
                    f"`{field}` is no field that a pod can read about itself",
                    help="the index of a pod is `metadata.annotations['batch.kubernetes.io/job-completion-index']`",
                    shown=said.faults[0].path,
                )


def readable(field: str) -> bool:
    """Whether the downward API gives this field of a pod."""
    if field in _FIELDS:
        return True
    name, subscript, key = field.partition("['")
    if not subscript or not field.endswith("']") or name not in ("metadata.annotations", "metadata.labels"):
        return False
    return not qualified(key[:-2].lower() if name == "metadata.annotations" else key[:-2])


def bad_pull_policy(job: Job) -> None:
    for container in job.containers:
        policy = text(container.tree, "imagePullPolicy")
        if policy and policy not in ("Always", "IfNotPresent", "Never"):
            path = (*container.path, "imagePullPolicy")
            reason = unsupported(policy, ("Always", "IfNotPresent", "Never"))
            refuse(
                job, PULL_POLICY, path, reason, f"`{policy}` is no pull policy", help="use `IfNotPresent` or `Always`"
            )


def bad_port(job: Job) -> None:
    for container in job.containers:
        if "ports" in container.tree:
            _ports(job, container)


def _ports(job: Job, container: Container) -> None:
    named: dict[str, int] = {}
    for index, port in enumerate(rows(container.tree, "ports")):
        path = (*container.path, "ports", index)
        for field in ("containerPort", "hostPort"):
            leaf = port.get(field)
            number = leaf.value if type(leaf) is Sourced else None
            if field == "containerPort" and number in (None, 0):
                refuse(job, PORT, (*path, field), "Required value", "a port has no number")
            elif type(number) is int and number != 0 and not 0 < number < 65536:
                reason = f"Invalid value: {number}: must be between 1 and 65535, inclusive"
                refuse(job, PORT, (*path, field), reason, f"{number} is no port", help="ports go from 1 to 65535")
        name = text(port, "name")
        if name and name in named:
            first = Label(job.at((*container.path, "ports", named[name], "name")), "first used here")
            reason = f'Duplicate value: "{name}"'
            refuse(job, PORT, (*path, "name"), reason, f"two ports are called `{name}`", also=[first])
        elif not port_name(name):
            named[name] = index


def bad_probe(job: Job) -> None:
    for container in job.containers:
        for field in ("livenessProbe", "readinessProbe", "startupProbe"):
            if field not in container.tree:
                continue
            path = (*container.path, field)
            if container.kind == "init container":
                reason = "Forbidden: may not be set for init containers without restartPolicy=Always"
                refuse(
                    job,
                    PROBE,
                    path,
                    reason,
                    f"`{container.name}` runs to its end before the others start: no probe can be set",
                    key=True,
                )
                continue
            probe = table(container.tree, field)
            actions = [action for action in _ACTIONS if action in probe]
            if not actions:
                refuse(
                    job,
                    PROBE,
                    path,
                    "Required value: must specify a handler type",
                    f"the `{field}` says nothing to try",
                    key=True,
                )
            for action in actions[1:]:
                reason = "Forbidden: may not specify more than 1 handler type"
                refuse(job, PROBE, (*path, action), reason, f"the `{field}` tries two things", key=True)
