"""What the API server refuses of child Jobs and pods, in a person's words (Kubernetes 1.36)."""

from collections.abc import Callable
from typing import Any, NamedTuple

from trainc.apiserver.fault import Fault
from trainc.apiserver.pods.sources import SOURCES
from trainc.lint.facts.amounts import ONE, STANDARD, amount, canonical
from trainc.lint.facts.job import ExpandedRole, Job
from trainc.lint.facts.values import rows, table, text, texts
from trainc.lint.tables.machines import DEVICES
from trainc.model.finding import ERROR, Label, Rule
from trainc.model.tree import Path, get, plain, value
from trainc.text.spelling import meant, nearest

CLAIM_UNKNOWN = Rule("claim-unknown", ERROR)
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
NEGATIVE = Rule("negative-quantity", ERROR)
FRACTION = Rule("fractional-device", ERROR)
OVER_LIMIT = Rule("request-over-limit", ERROR)
NOT_LIMIT = Rule("request-not-limit", ERROR)
UNKNOWN = Rule("unknown-resource", ERROR)
HUGEPAGES = Rule("hugepages-alone", ERROR)
VOLUME_NAME = Rule("bad-volume-name", ERROR)
VOLUME_SOURCE = Rule("bad-volume-source", ERROR)
NO_VOLUME = Rule("mount-without-volume", ERROR)
MOUNT = Rule("bad-mount", ERROR)
WORD = Rule("unknown-pod-setting", ERROR)
POD_FIELD = Rule("bad-pod-name-field", ERROR)
LABEL = Rule("bad-label", ERROR)
DEADLINE = Rule("bad-pod-deadline", ERROR)
ALIAS = Rule("bad-host-alias", ERROR)
AFFINITY = Rule("empty-topology-key", ERROR)
TOLERATION = Rule("bad-toleration", ERROR)
POD_NAME = Rule("pod-name-too-long", ERROR)
PLACEMENT = Rule("placement-label-too-long", ERROR)
ALWAYS = Rule("restart-policy-always", ERROR)
NO_COMPLETIONS = Rule("completions-missing", ERROR)
MODE = Rule("unknown-completion-mode", ERROR)
COUNT = Rule("negative-job-setting", ERROR)
SELECTOR = Rule("job-selector", ERROR)
PER_INDEX = Rule("per-index-limit-without-index", ERROR)
OWN_SUCCESS = Rule("bad-job-success-policy", ERROR)
NEEDS_NEVER = Rule("failure-policy-needs-never", ERROR)
FAILURE_RULE = Rule("bad-pod-failure-rule", ERROR)
NO_CONTAINER = Rule("exit-code-container-unknown", ERROR)

_LISTS = ("containers", "initContainers", "ephemeralContainers")
_MAX_NAME = 63
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_OBJECTS = {
    "secretKeyRef": "Secret",
    "configMapKeyRef": "ConfigMap",
    "secretRef": "Secret",
    "configMapRef": "ConfigMap",
}
_CALLED = {"priorityClassName": "priority class", "schedulingGates": "scheduling gate"}
_COUNTS = (
    "parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished",
    "backoffLimitPerIndex", "maxFailedIndexes",
)  # fmt: skip
_AMOUNTS = ("resources.limits.*", "resources.requests.*")
_PAGES = tuple(f"requests.hugepages-{size}" for size in ("64Ki", "2Mi", "32Mi", "512Mi", "1Gi", "16Gi"))
_SUB_PATHS = ("volumeMounts.#.subPath", "volumeMounts.#.subPathExpr")
_NO_TOPOLOGY = ("an affinity term has no topology key", "set the node label to group by, such as `kubernetes.io/hostname`")  # fmt: skip


class ServerComplaint:
    """One complaint of the API server about a job: the fault, and what stands around it.

    `path` is where the mistake stands in the JobSet, `field` its last step, `written` what is written there; `reason`
    are the server's words without the path, `value` the value that it quotes. `role_name` and `container_name` are
    empty where the mistake is elsewhere.
    """

    def __init__(self, job: Job, fault: Fault) -> None:
        self.job = job
        self.fault = fault
        self.path = path = fault.path
        self.field = str(path[-1]) if path else ""
        self.reason = fault.message.partition(": ")[2]
        self.value = "" if fault.value is None else str(fault.value)
        self.written: Any = value(job.tree, *path)
        index = path[2] if path[1:2] == ("replicatedJobs",) else None
        self.role: ExpandedRole | None = job.roles[index] if type(index) is int and index < len(job.roles) else None
        self.role_name = "" if self.role is None else self.role.name
        containers = [] if self.role is None else self.role.containers
        self.container_name = next((one.name for one in containers if path[: len(one.path)] == one.path), "")

    def above(self, steps: int, *more: str | int) -> Path:
        """A place that stands so many steps above, and below that."""
        return (*self.path[: len(self.path) - steps], *more)


class Words(NamedTuple):
    """What a finding says of a refusal.

    `key` points at the key of the place, `place` is another one than the server's, `group` is what one finding is about: several complaints of a group are
    lines of one refusal.
    """

    message: str
    help: str = ""
    also: tuple[Label, ...] = ()
    key: bool = False
    group: object = None
    place: Path = ()


class Explanation(NamedTuple):
    """The rule for complaints at certain places: `places` end in these fields, with `*` for what varies.

    `says` is a part of the server's words. `message` and `help` are those of the finding, with `{value}`, `{field}`,
    `{written}`, `{container}` and `{role}` filled in; or `message` is a function that gives both.
    """

    rule: Rule
    places: str | tuple[str, ...]
    says: str
    message: str | Callable[[ServerComplaint], Words]
    help: str = ""
    key: bool = False

    def explains(self, steps: list[str], reason: str) -> bool:
        """Whether this is about a complaint at a place, spelled as steps."""
        if self.says not in reason:
            return False
        places = [place.split(".") for place in ((self.places,) if isinstance(self.places, str) else self.places)]
        return any(
            len(steps) >= len(place)
            and all(want in ("*", step) for want, step in zip(reversed(place), reversed(steps), strict=False))
            for place in places
        )

    def words_for(self, refused: ServerComplaint) -> Words:
        """The words for one complaint."""
        if not isinstance(self.message, str):
            return self.message(refused)
        facts = {**vars(refused), "container": refused.container_name, "role": refused.role_name}
        return Words(self.message.format_map(facts), self.help.format_map(facts), key=self.key)


def steps_of(path: Path) -> list[str]:
    """A path as explanations spell it: numbers as `#`, all lists of containers as `containers`."""
    return ["#" if type(step) is int else "containers" if step in _LISTS else str(step) for step in path]


def _no_containers(refused: ServerComplaint) -> Words:
    job = refused.job
    others = [other.name for other in job.roles if other is not refused.role]
    by_patch = bool(others) and job.bundle.document.kind == "TrainJob"
    help_ = f"patches match replicatedJobs by name: did you mean `{others[0]}`?" if by_patch else ""
    message = f"the pods of `{refused.role_name}` have no containers"
    return Words(message, help_ or "add at least one container with an image")


def _image_meant(refused: ServerComplaint) -> str:
    """What to write where a patch of a TrainJob makes a container because no container has that name."""
    role, job = refused.role, refused.job
    if job.bundle.document.kind != "TrainJob" or role is None:
        return "set `image:` with a registry, a repository and a tag"
    if others := [container.name for container in role.main if text(container.tree, "image")]:
        return f"patches match containers by name: did you mean `{others[0]}`? If not, set an image"
    roles = [other.name for other in job.roles if other is not role]
    if roles and len(role.main) == 1 and "replicas" not in role.tree:
        return f"patches match replicatedJobs by name: did you mean `{roles[0]}` instead of `{role.name}`?"
    return "set `spec.trainer.image` in the job, or an image in the runtime"


def _two_values(refused: ServerComplaint) -> Words:
    name = value(refused.job.tree, *refused.above(1, "name"))
    also = (Label(refused.job.at(refused.above(1, "value")), "the value"),)
    return Words(f"`{name}` has both a value and a source", "keep one of `value` and `valueFrom`", also=also, key=True)


def _field(refused: ServerComplaint) -> Words:
    at = refused.path if refused.path[-1] == "fieldPath" else (*refused.path, "fieldPath")
    help_ = "the index of a pod is `metadata.annotations['batch.kubernetes.io/job-completion-index']`"
    return Words(f"`{value(refused.job.tree, *at)}` is not a field of the downward API", help_)


def _no_object(refused: ServerComplaint) -> Words:
    source, field = str(refused.path[-2]), str(refused.path[-1])
    variable = value(refused.job.tree, *refused.above(3, "name")) if source.endswith("KeyRef") else None
    of_variable = f" of `{variable}`" if variable else ""
    what = _OBJECTS[source] if field == "name" else "key"
    return Words(f"`{source}`{of_variable} sets no {what}", f"set its `{field}`", key=True)


def _fraction(refused: ServerComplaint) -> Words:
    resource, written = refused.field, refused.written
    whole = f"{resource}: {-(-(amount(written) or 0) // ONE)}"
    help_ = f"request whole devices, such as `{whole}`, or a slice by the resource name of its device plugin"
    return Words(f"`{resource}: {written}` requests a part of a device", help_)


def _no_resource(refused: ServerComplaint) -> Words:
    name = refused.field.lower()
    devices = [device for device in DEVICES if device.rpartition("/")[2].lower() == name.removesuffix("s")]
    near = nearest(name, STANDARD)
    help_ = f"write the full name: {' or '.join(f'`{one}`' for one in devices or ['nvidia.com/gpu'])}"
    if near and not devices:
        help_ = f"did you mean `{near}`?"
    # One name to mend, under limits and requests.
    group = (refused.above(2), refused.field)
    return Words(f"Kubernetes has no resource `{refused.field}`", help_, key=True, group=group)


def _differs(refused: ServerComplaint) -> Words:
    limit = refused.job.at(refused.above(2, "limits", refused.field))
    request = refused.job.at(refused.path)
    if request.file == limit.file:
        return _unlike(refused, "set only the limit: the request of a device defaults to it")
    if request.file == refused.job.bundle.document.file:
        return _unlike(refused, f"remove this request, or {_changed(refused, limit.file, 'limit')}")
    return _unlike(refused, f"remove this limit, or {_changed(refused, request.file, 'request')}")


def _changed(refused: ServerComplaint, file: str, side: str) -> str:
    """What to do about a limit or a request that another file sets: a component, by one of its parameters."""
    plan = refused.job.bundle.plan
    sources = plan.runtime.sources if plan is not None and plan.runtime is not None else ()
    for source in sources:
        if source.file == file and source.kind == "RuntimeComponent":
            for parameter in rows(table(source.tree, "spec"), "parameters"):
                if any(path.endswith(f".{side}s[{refused.field}]") for path in texts(parameter, "sets")):
                    return f"set `{text(parameter, 'name')}` of component `{source.name}`"
            return f"change the {side} in component `{source.name}`"
    return f"change the {side} in {file}"


def _unlike(refused: ServerComplaint, help_: str) -> Words:
    limit = refused.above(2, "limits", refused.field)
    most = value(refused.job.tree, *limit)
    message = f"`{refused.container_name}` requests `{refused.field}: {refused.written}`, but its limit is {most}"
    # The requests of a component that a job switches on for a machine of another size are one mistake.
    if (by := refused.job.report.switched_on.get(refused.job.at(refused.path).file)) is not None:
        group = (refused.container_name, by.span)
        return Words(message, help_, also=(Label(refused.job.at(limit), "the limit"),), group=group)
    own, at, request = refused.job.bundle.document.file, refused.job.at(limit), refused.job.at(refused.path)
    if at.file == own != request.file:
        message = f"`{refused.container_name}` has the limit `{refused.field}: {most}`, but requests {refused.written}"
        return Words(message, help_, also=(Label(request, "the request"),), place=limit)
    return Words(message, help_, also=(Label(at, "the limit"),))


def _second_source(refused: ServerComplaint) -> Words:
    path = refused.above(1)
    volume = get(refused.job.tree, *path)
    first = next(source for source in SOURCES if source in volume)
    also = (Label(refused.job.at((*path, first), key=True), "the other source"),)
    return Words(f"volume `{text(volume, 'name')}` has more than one source", also=also, key=True)


def _no_volume(refused: ServerComplaint) -> Words:
    name, owner = refused.value, refused.container_name
    if not refused.written:
        return Words(f"a volume mount of `{owner}` has no name")
    known = [*(refused.role.volumes if refused.role is not None else ()), *refused.job.claimed]
    help_ = meant(name, known, f"add a volume named `{name}` to the pod")
    return Words(f"`{owner}` mounts `{name}`, but the pod has no volume of that name", help_)


def _first_use(refused: ServerComplaint, words: str) -> tuple[Label, ...]:
    """Where an earlier item of the list has the same value."""
    items, field, job = refused.above(2), refused.field, refused.job
    index = next(n for n in range(100_000) if value(job.tree, *items, n, field) == refused.fault.value)
    return (Label(job.at((*items, index, field)), words),)


def _path_twice(refused: ServerComplaint) -> Words:
    if not refused.fault.value:
        return Words(f"a volume mount of `{refused.container_name}` has no `mountPath`")
    return Words(f"two volumes are mounted at `{refused.value}`", also=_first_use(refused, "first mounted here"))


def _word(refused: ServerComplaint) -> Words:
    words = refused.reason.partition("supported values: ")[2].replace('"', "`")
    return Words(f"`{refused.value}` is not a valid `{refused.field}`", f"use one of {words}")


def _pod_field(refused: ServerComplaint) -> Words:
    field = refused.field if refused.field != "name" else str(refused.path[-3])
    return Words(
        f"`{refused.value}` is not a valid {_CALLED.get(field, field)}", "use lower-case letters, digits and `-`"
    )


def _label(refused: ServerComplaint) -> Words:
    key = refused.path[-1]
    if refused.fault.value == key:
        return Words(f"`{key}` is not a valid key", key=True, group=(*refused.path, "key"))
    return Words(f"`{refused.value}` is not a valid value for `{key}`")


def _pod_name(refused: ServerComplaint) -> Words:
    host = refused.reason.rpartition(": ")[2]
    role = refused.job.roles[int(refused.fault.message.partition("[")[2].partition("]")[0])]
    message = f"the name of the last pod, `{host}`, has {len(host)} characters"
    help_ = f"shorten the name of the job or the role by {len(host) - _MAX_NAME}"
    if len(host) <= _MAX_NAME:
        message = f"the name of the last pod, `{host}`, is not a valid host name"
        help_ = "use lower-case letters, digits and `-` in the names of the job and the role"
    return Words(message, help_, also=(Label(role.at("name"), "the role's name is part of it"),))


def _completions(refused: ServerComplaint) -> Words:
    if (role := refused.role) is None or "parallelism" not in role.spec:
        return Words("an Indexed Job has no `completions`", "add `completions`", key=True)
    width = role.width
    help_ = f"add `completions: {width}`" if type(width) is int else "add `completions` of the same value"
    return Words(f"`{role.name}` has `parallelism` but no `completions`", help_)


def _count(refused: ServerComplaint) -> Words:
    least = 1 if refused.field in ("parallelism", "completions") else 0
    # Both counts come from one number of nodes, and are wrong together.
    group = ("count", refused.path[2]) if least else None
    return Words(f"`{refused.field}` is {refused.written}", f"set {least} or more", group=group)


def _selector(refused: ServerComplaint) -> Words:
    name = refused.role_name
    field = refused.path[-1] if refused.path[-1] in ("selector", "manualSelector") else "selector"
    return Words(f"`{field}` is set on the Job of `{name}`", "remove it", key=True, group=(name, "selector"))


def _needs_never(refused: ServerComplaint) -> Words:
    also: tuple[Label, ...] = ()
    if refused.role is not None:
        also = (Label(refused.role.spec_at("podFailurePolicy", key=True), "this policy requires `Never`"),)
    message = "JobSet defaults to `restartPolicy: OnFailure`, but the pod failure policy requires `Never`"
    if get(refused.job.tree, *refused.path) is not None:
        message = "the pods restart on failure, so the pod failure policy does not apply"
    return Words(message, "set `restartPolicy: Never` in the pod template", also=also)


def _exit_container(refused: ServerComplaint) -> Words:
    names = {container.name for container in refused.role.containers} if refused.role is not None else set()
    known = ", ".join(f"`{name}`" for name in sorted(names))
    return Words(f"no container is named `{refused.value}`", f"the containers are {known}")


# The first that explains a complaint counts: its rule, the places, a part of the server's words, and what is said.
# fmt: off
EXPLANATIONS = (
    Explanation(CLAIM_UNKNOWN, "resources.claims.#", "Not found",
        "`{container}` uses the ResourceClaim `{value}`, which the pod does not declare",
        "declare it in the pod's `resourceClaims`"),
    Explanation(NO_CONTAINERS, "spec.containers", "", _no_containers),
    Explanation(CONTAINER_NAME, "containers.#.name", "Required value", "a container has no name"),
    Explanation(CONTAINER_NAME, "containers.#.name", "Duplicate value", "two containers are named `{value}`",
        "give each container a unique name"),
    Explanation(CONTAINER_NAME, "containers.#.name", "", "`{value}` is not a valid name for a container",
        "use lower-case letters, digits and `-`, at most 63 of them"),
    Explanation(IMAGE_SPACE, "containers.#.image", "whitespace", lambda refused: Words(
        f"the image of `{refused.container_name}` starts or ends with whitespace", f"write `{refused.value.strip()}`")),
    # A container that an operator adds with the image of another one lacks it for the same reason, at the same place.
    Explanation(MISSING_IMAGE, "containers.#.image", "", lambda refused: Words(
        f"container `{refused.container_name}` has no image", _image_meant(refused), group=refused.job.at(refused.path))),
    Explanation(ENV_NAME, "env.#.name", "Required value", "a variable has no name"),
    Explanation(ENV_NAME, "env.#.name", "", lambda refused: Words(
        f"`{refused.value}` is not a valid name for a variable",
        "write the name and the value separately: `- name: A` and `value: B`" if "=" in refused.value else "")),
    Explanation(ENV_TWICE_SET, "env.#.valueFrom", "when `value` is not empty", _two_values),
    Explanation(FIELD_PATH, ("valueFrom.fieldRef", "valueFrom.fieldRef.fieldPath"), ": ", _field),
    *(
        Explanation(ENV_SOURCE, f"{source}.{field}", says, _no_object)
        for source in _OBJECTS
        for field, says in (("name", 'Invalid value: ""'), ("name", "Required value"), ("key", "Required value"))
    ),
    Explanation(PULL_POLICY, "containers.#.imagePullPolicy", "", "`{value}` is not a valid pull policy",
        "use `IfNotPresent` or `Always`"),
    Explanation(PORT, "ports.#.containerPort", "Required value", "a port has no number"),
    Explanation(PORT, ("ports.#.containerPort", "ports.#.hostPort"), "must be between", "{value} is not a valid port",
        "use a port from 1 to 65535"),
    Explanation(PORT, "ports.#.name", "Duplicate value", lambda refused: Words(
        f"two ports are named `{refused.value}`", also=_first_use(refused, "first used here"))),
    Explanation(PROBE, tuple(f"containers.#.{probe}" for probe in _PROBES), "init containers",
        "`{container}` completes before the other containers start: it cannot have a probe", key=True),
    Explanation(PROBE, tuple(f"containers.#.{probe}" for probe in _PROBES), "handler", "the `{field}` sets no action",
        key=True),
    *(
        Explanation(PROBE, f"{probe}.*", "more than 1 handler", f"the `{probe}` sets two actions", key=True)
        for probe in _PROBES
    ),
    Explanation(NEGATIVE, _AMOUNTS, "or equal to 0", lambda refused: Words(
        f"`{refused.field}: {canonical(refused.written)}` is negative")),
    Explanation(UNKNOWN, _AMOUNTS, "must be a standard resource", _no_resource),
    Explanation(FRACTION, _AMOUNTS, "must be an integer", _fraction),
    Explanation(HUGEPAGES, _PAGES, "must be equal to", "the request and the limit of `{field}` differ"),
    Explanation(HUGEPAGES, _PAGES, "Limit must be set", "`{field}` has a request but no limit"),
    Explanation(HUGEPAGES, "resources", "HugePages require", "huge pages are requested without CPU or memory",
        "request CPU or memory as well", key=True),
    Explanation(OVER_LIMIT, "requests.*", "must be less than or equal to",
        lambda refused: _unlike(refused, "raise the limit or lower the request")),
    Explanation(NOT_LIMIT, "requests.*", "must be equal to", _differs),
    Explanation(NOT_LIMIT, "requests.*", "Limit must be set", "`{field}` has a request but no limit",
        "set it under `limits`: `{field}: {written}`; the request defaults to it"),
    Explanation(VOLUME_NAME, "volumes.#.name", "Required value", "a volume has no name"),
    Explanation(VOLUME_NAME, "volumes.#.name", "Invalid value", lambda refused: Words(
        f"`{refused.value}` is not a valid name for a volume", "use `-` instead of dots" if "." in refused.value else "")),
    Explanation(VOLUME_SOURCE, "volumes.#.*", "more than 1 volume type", _second_source),
    Explanation(NO_VOLUME, "volumeMounts.#.name", "", _no_volume),
    Explanation(MOUNT, "volumeMounts.#.mountPath", "Required value",
        "a volume mount of `{container}` has no `mountPath`"),
    Explanation(MOUNT, "volumeMounts.#.mountPath", "must be unique", _path_twice),
    Explanation(MOUNT, _SUB_PATHS, "must be a relative path", lambda refused: Words(
        f"`{refused.value}` is not a relative path", group=(*refused.path, "absolute"))),
    Explanation(MOUNT, _SUB_PATHS, "must not contain", lambda refused: Words(
        f"`{refused.value}` points outside the volume", group=(*refused.path, "leaving"))),
    Explanation(WORD, ("spec.restartPolicy", "spec.dnsPolicy", "spec.preemptionPolicy"), "supported values", _word),
    Explanation(POD_FIELD,
        ("template.spec.hostname", "template.spec.subdomain", "spec.priorityClassName", "schedulingGates.#.name"),
        "Invalid value", _pod_field),
    Explanation(LABEL, ("metadata.labels.*", "metadata.annotations.*", "spec.nodeSelector.*"), "must ", _label),
    Explanation(DEADLINE, "template.spec.activeDeadlineSeconds", "must be between",
        "{value} seconds is not a valid deadline", "remove it, or set the seconds that a pod may run"),
    Explanation(ALIAS, "hostAliases.#.ip", "valid IP address", "`{value}` is not an IP address",
        "to reach a Service or a pod, use its DNS name"),
    Explanation(AFFINITY, "topologyKey", "Required value: can not be empty", *_NO_TOPOLOGY),
    Explanation(AFFINITY, "topologyKey", 'Invalid value: ""', *_NO_TOPOLOGY),
    Explanation(TOLERATION, "tolerations.#.operator", '"Exists", "Lt"',
        "`{value}` requires the feature gate TaintTolerationComparisonOperators",
        "use `Exists` or `Equal`, or enable the gate: `--set gates=TaintTolerationComparisonOperators`"),
    Explanation(TOLERATION, "tolerations.#.operator", "supported values", "`{value}` is not a valid operator",
        "use `Exists` or `Equal`"),
    Explanation(TOLERATION, "tolerations.#.effect", "supported values", "`{value}` is not a valid taint effect",
        "use `NoSchedule`, `PreferNoSchedule` or `NoExecute`"),
    Explanation(TOLERATION, "tolerations.#.value", "value must be empty",
        "a toleration with `Exists` also sets a value"),
    Explanation(POD_NAME, "metadata.name", "will not able to create pod", _pod_name),
    Explanation(PLACEMENT, "metadata.name", "must be no more than 63 bytes", lambda refused: Words(
        f"the label `{refused.value}` has {len(refused.value)} characters",
        f"shorten the name of the job, the role or the namespace by {len(refused.value) - _MAX_NAME}")),
    Explanation(ALWAYS, "spec.restartPolicy", 'valid values: "OnFailure", "Never"',
        "the pods of `{role}` always restart, so the Job never ends",
        "use `Never`, and `failurePolicy.maxRestarts` of the JobSet, which restarts all pods together"),
    Explanation(NEEDS_NEVER, "spec.restartPolicy", "when podFailurePolicy is specified", _needs_never),
    Explanation(NO_COMPLETIONS, ("spec.parallelism", "spec.completionMode"), "mode is Indexed", _completions),
    Explanation(MODE, "spec.completionMode", "", "`{value}` is not a valid completion mode", "use `Indexed`"),
    Explanation(COUNT, tuple(f"template.spec.{field}" for field in _COUNTS), "or equal to 0", _count),
    Explanation(SELECTOR, ("template.spec.selector", "template.spec.manualSelector"), "", _selector),
    Explanation(PER_INDEX, "spec.maxFailedIndexes", "when maxFailedIndexes is specified",
        "`maxFailedIndexes` requires `backoffLimitPerIndex`", key=True),
    Explanation(PER_INDEX, ("spec.backoffLimitPerIndex", "spec.maxFailedIndexes"), "requires indexed",
        "`{field}` requires an Indexed Job", key=True),
    Explanation(OWN_SUCCESS, "spec.successPolicy", "requires indexed", "a Job's success policy requires an Indexed Job",
        key=True),
    Explanation(OWN_SUCCESS, "spec.successPolicy", "at least one rules", "a Job's success policy has no rules",
        key=True),
    Explanation(OWN_SUCCESS, "successPolicy.rules.#", "at least one of",
        "a rule of the Job's success policy sets neither indexes nor a count", key=True),
    Explanation(OWN_SUCCESS, "rules.#.succeededIndexes", "error parsing", "`{value}` is not a valid list of indexes",
        "write ascending indexes and ranges below `completions`, such as `0,2-4`"),
    Explanation(OWN_SUCCESS, "rules.#.succeededCount", "", lambda refused: Words(
        f"{refused.written} is not a valid count of pods: {refused.reason.rpartition(': ')[2]}")),
    Explanation(FAILURE_RULE, "podFailurePolicy.rules.#", "specifying both",
        "a rule sets both exit codes and pod conditions", "split it into two rules"),
    Explanation(FAILURE_RULE, "podFailurePolicy.rules.#", "specifying one of",
        "a rule sets neither exit codes nor pod conditions"),
    Explanation(FAILURE_RULE, "rules.#.action", "requires the backoff", "`FailIndex` requires `backoffLimitPerIndex`"),
    Explanation(FAILURE_RULE, "rules.#.action", "", "`{value}` is not a valid action",
        "use `FailJob`, `FailIndex`, `Ignore` or `Count`"),
    Explanation(NO_CONTAINER, "onExitCodes.containerName", "", _exit_container),
    Explanation(FAILURE_RULE, "onExitCodes.values", "at least one value", "a rule lists no exit codes"),
    Explanation(FAILURE_RULE, "onExitCodes.values", "must be ordered", lambda refused: Words(
        "the exit codes are not in order", f"write {sorted(plain(get(refused.job.tree, *refused.path)))}")),
    Explanation(FAILURE_RULE, "onExitCodes.values.#", "must not be 0", "exit code 0 is not a failure"),
    Explanation(FAILURE_RULE, "onExitCodes.values.#", "Duplicate value", "an exit code is listed twice"),
    Explanation(FAILURE_RULE, "spec.podReplacementPolicy", 'supported values: "Failed", "TerminatingOrFailed"',
        "`{value}` is not a valid pod replacement policy", "use `Failed`"),
    Explanation(FAILURE_RULE, "spec.podReplacementPolicy", "",
        "`{value}` is not allowed with a pod failure policy", "use `Failed`"),
)
# fmt: on
