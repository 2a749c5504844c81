"""What pod validation says about containers once the child Job is made (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.lint.facts.values import text
from trainc.lint.refusal import Explanation, Words
from trainc.model.finding import ERROR, Label, Rule
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.refusal import ServerComplaint


NO_CONTAINERS = Rule("no-containers", ERROR)
CONTAINER_NAME = Rule("bad-container-name", ERROR)
MISSING_IMAGE = Rule("missing-image", ERROR)
IMAGE_SPACE = Rule("image-with-space", ERROR)
ENV_NAME = Rule("bad-env-name", ERROR)
ENV_TWICE_SET = Rule("env-value-and-source", ERROR)
FIELD_PATH = Rule("bad-field-path", ERROR)
ENV_SOURCE = Rule("bad-env-source", ERROR)
PULL_POLICY = Rule("bad-pull-policy", ERROR)
PORT = Rule("bad-port", ERROR)
PROBE = Rule("bad-probe", ERROR)


def _no_containers(refused: ServerComplaint) -> Words:
    role, job = refused.role, refused.job
    name = role.name if role is not None else ""
    others = [other.name for other in job.roles if other is not role]
    by_patch = bool(others) and job.bundle.document.kind == "TrainJob"
    help_ = f"a patch finds replicatedJobs by name: did you mean `{others[0]}`?" if by_patch else ""
    return Words(f"the pods of `{name}` have no containers", help_ or "write at least one container with an image")


def _container(refused: ServerComplaint) -> str:
    return refused.container.name if refused.container is not None else ""


def _name(refused: ServerComplaint) -> Words:
    help_ = "use lower-case letters, digits and `-`, at most 63 of them"
    return Words(f"`{refused.fault.value}` cannot be the name of a container", help_)


def _same_name(refused: ServerComplaint) -> Words:
    return Words(f"two containers are called `{refused.fault.value}`", "give each container a name of its own")


def _image(refused: ServerComplaint) -> Words:
    return Words(f"container `{_container(refused)}` has no image", _meant(refused))


def _meant(refused: ServerComplaint) -> str:
    """What to write where a patch of a TrainJob makes a container because no container has that name."""
    role, job = refused.role, refused.job
    if job.bundle.document.kind != "TrainJob" or role is None:
        return "write `image:` with a registry, a repository and a tag"
    others = [container.name for container in role.main if text(container.tree, "image")]
    if others:
        return f"a patch finds containers by name: did you mean `{others[0]}`? Else give it an image"
    roles = [other.name for other in job.roles if other is not role]
    if roles and len(role.main) == 1 and "replicas" not in role.tree:
        return f"a patch finds replicatedJobs by name: did you mean `{roles[0]}` instead of `{role.name}`?"
    return "write `spec.trainer.image` in the job, or an image in the runtime"


def _space(refused: ServerComplaint) -> Words:
    image = str(refused.fault.value)
    return Words(f"the image of `{_container(refused)}` starts or ends with white space", f"write `{image.strip()}`")


def _env_name(refused: ServerComplaint) -> Words:
    name = str(refused.fault.value)
    help_ = "write the name and the value apart: `- name: A` and `value: B`" if "=" in name else ""
    return Words(f"`{name}` cannot be the name of a variable", help_)


def _two_values(refused: ServerComplaint) -> Words:
    name = value(refused.job.tree, *refused.above(1, "name"))
    also = (Label(refused.job.at(refused.above(1, "value")), "the value"),)
    return Words(f"`{name}` has both a value and a source", "keep one of `value` and `valueFrom`", also=also, key=True)


def _field(refused: ServerComplaint) -> Words:
    at = refused.path if refused.path[-1] == "fieldPath" else (*refused.path, "fieldPath")
    return Words(
        f"`{value(refused.job.tree, *at)}` is not a field that a pod can read about itself",
        "the index of a pod is `metadata.annotations['batch.kubernetes.io/job-completion-index']`",
    )


_OBJECTS = {
    "secretKeyRef": "Secret",
    "configMapKeyRef": "ConfigMap",
    "secretRef": "Secret",
    "configMapRef": "ConfigMap",
}


def _no_object(refused: ServerComplaint) -> Words:
    source, field = str(refused.path[-2]), str(refused.path[-1])
    variable = value(refused.job.tree, *refused.above(3, "name")) if source.endswith("KeyRef") else None
    of_variable = f" of `{variable}`" if variable else ""
    what = _OBJECTS[source] if field == "name" else "key"
    return Words(f"`{source}`{of_variable} names no {what}", f"write its `{field}`", key=True)


def _pull(refused: ServerComplaint) -> Words:
    return Words(f"`{refused.fault.value}` is not a pull policy", "use `IfNotPresent` or `Always`")


def _number(refused: ServerComplaint) -> Words:
    return Words(f"{refused.fault.value} is not a port", "ports go from 1 to 65535")


def _port_twice(refused: ServerComplaint) -> Words:
    name, ports = refused.fault.value, refused.above(2)
    number = next(n for n in range(100_000) if value(refused.job.tree, *ports, n, "name") == name)
    also = (Label(refused.job.at((*ports, number, "name")), "first used here"),)
    return Words(f"two ports are called `{name}`", also=also)


def _early_probe(refused: ServerComplaint) -> Words:
    name = _container(refused)
    return Words(f"`{name}` runs to its end before the others start: no probe can be set", key=True)


_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")

EXPLANATIONS = (
    Explanation(NO_CONTAINERS, "spec.containers", _no_containers),
    Explanation(CONTAINER_NAME, "containers.#.name", Words("a container has no name"), "Required value"),
    Explanation(CONTAINER_NAME, "containers.#.name", _same_name, "Duplicate value"),
    Explanation(CONTAINER_NAME, "containers.#.name", _name),
    Explanation(IMAGE_SPACE, "containers.#.image", _space, "whitespace"),
    Explanation(MISSING_IMAGE, "containers.#.image", _image),
    Explanation(ENV_NAME, "env.#.name", Words("a variable has no name"), "Required value"),
    Explanation(ENV_NAME, "env.#.name", _env_name),
    Explanation(ENV_TWICE_SET, "env.#.valueFrom", _two_values, "when `value` is not empty"),
    Explanation(FIELD_PATH, ("valueFrom.fieldRef", "valueFrom.fieldRef.fieldPath"), _field, ": "),
    *(
        Explanation(ENV_SOURCE, f"{source}.{field}", _no_object, says)
        for source in _OBJECTS
        for field, says in (("name", 'Invalid value: ""'), ("name", "Required value"), ("key", "Required value"))
    ),
    Explanation(PULL_POLICY, "containers.#.imagePullPolicy", _pull),
    Explanation(PORT, "ports.#.containerPort", Words("a port has no number"), "Required value"),
    Explanation(PORT, ("ports.#.containerPort", "ports.#.hostPort"), _number, "must be between"),
    Explanation(PORT, "ports.#.name", _port_twice, "Duplicate value"),
    *(Explanation(PROBE, f"containers.#.{probe}", _early_probe, "init containers") for probe in _PROBES),
    *(
        Explanation(PROBE, f"containers.#.{probe}", Words(f"the `{probe}` says nothing to try", key=True), "handler")
        for probe in _PROBES
    ),
    *(
        Explanation(PROBE, f"{probe}.*", Words(f"the `{probe}` tries two things", key=True), "more than 1 handler")
        for probe in _PROBES
    ),
)
