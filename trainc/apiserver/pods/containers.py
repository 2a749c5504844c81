"""What is wrong with the containers of a pod: main ones, those that start before, and those of a debugger."""

from trainc.apiserver.names import label
from trainc.apiserver.pods import amounts
from trainc.apiserver.pods.complaints import Field, items, maps, text
from trainc.apiserver.pods.ports import ports
from trainc.apiserver.pods.variables import variables, whole
from trainc.apiserver.pods.volumes import Volumes, devices, mounts, text_of
from trainc.model.tree import Tree, plain, value

_MAX_RULES, _MAX_CODES = 20, 255
_NO_EPHEMERAL = "cannot be set for an Ephemeral Container"
_WORDS = {
    "terminationMessagePolicy": ("File", "FallbackToLogsOnError"),
    "imagePullPolicy": ("Always", "IfNotPresent", "Never"),
}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
# What a debugger's container must not have, in the order of Kubernetes' own structure.
_NOT_EPHEMERAL = ("ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", *_PROBES, "lifecycle")


def _resize(listed: Field) -> None:
    """What becomes of a container whose resources change."""
    taken: list[str] = []
    for policy in listed.maps():
        resource, action = policy.text("resourceName"), policy.text("restartPolicy")
        if resource in taken:
            policy.reading(resource).duplicate()
        taken.append(resource)
        for word, words in ((resource, ("cpu", "memory")), (action, ("NotRequired", "RestartContainer"))):
            field = policy.printed(listed.path).reading(word)
            if field.need():
                field.one_of(words)


def _rights(held: Field) -> None:
    from trainc.apiserver.pods.rights import of_container  # noqa: PLC0415 (most containers ask for no rights)

    of_container(held)


_PARTS = {
    "ports": ports,
    "envFrom": whole,
    "resources": amounts.resources,
    "resizePolicy": _resize,
    "securityContext": _rights,
}


class Context:
    """What the containers of a pod are judged by besides themselves; `grace` is None where it is not known."""

    def __init__(self, pod: Tree, volumes: Volumes, restart: str) -> None:
        seconds = value(pod, "terminationGracePeriodSeconds")
        self.grace: int | None = 30 if seconds is None else seconds if type(seconds) is int else None
        self.restart = restart
        self.host_users = value(pod, "hostUsers") is not False
        self.system = text_of(pod["os"], "name") if type(pod.get("os")) is dict else ""
        self.volumes = volumes
        claims = maps(plain(pod["resourceClaims"])) if "resourceClaims" in pod else ()
        self.claims = [text(claim, "name") for _, claim in claims if text(claim, "name")]


def containers(pod: Field, context: Context) -> None:
    """All containers of a pod, which is a tree."""
    if not items(pod.get("containers")):
        pod["containers"].required()
    names: set[str] = set()
    for container in pod["containers"].maps():
        _common(container, names, context)
        _hooks(container, context)
        if container.log.features.has("ContainerRestartRules"):
            if "restartPolicy" in container.value or "restartPolicyRules" in container.value:
                _restart(container)
        elif value(container.value, "restartPolicy") is not None:
            container["restartPolicy"].forbidden("may not be set for non-init containers")
    for container in pod["initContainers"].maps():
        _common(container, names, context)
        _init_restart(container)
        if value(container.value, "restartPolicy") == "Always":
            _hooks(container, context)
            continue
        for field in ("lifecycle", *_PROBES):
            if _is_given(container, field):
                container[field].forbidden("may not be set for init containers without restartPolicy=Always")
        for policy in _plain(container, "resizePolicy").maps():
            if policy.get("restartPolicy") == "RestartContainer":
                why = "must not be set to 'RestartContainer' for non-sidecar initContainers"
                policy["restartPolicy"].invalid(why)
    others = frozenset(names)
    for container in pod["ephemeralContainers"].maps():
        _ephemeral(container, names, others, context)


def _ephemeral(container: Field, names: set[str], others: frozenset[str], context: Context) -> None:
    _common(container, names, context, others)
    image = _plain(container, "image").reading(text_of(container.value, "image"))
    if image.value != image.value.strip():
        image.invalid("must not have leading or trailing whitespace")
    for field in _NOT_EPHEMERAL:
        if _plain(container, field).value if field == "resources" else _is_given(container, field):
            container[field].forbidden(_NO_EPHEMERAL)
    for mount in _plain(container, "volumeMounts").maps():
        for part in mount.filled("subPath", "subPathExpr"):
            part.forbidden(_NO_EPHEMERAL)


def _plain(container: Field, name: str) -> Field:
    """A part of a container without the origins of its values."""
    return container[name].reading(plain(container.get(name)))


def _is_given(container: Field, name: str) -> bool:
    """Whether a container has a field, and the server does not drop it."""
    if (held := _plain(container, name)).value is None or name != "lifecycle":
        return held.value is not None
    from trainc.apiserver.pods.probes import is_dropped  # noqa: PLC0415

    return not is_dropped(held)


def _common(container: Field, names: set[str], context: Context, others: frozenset[str] | None = None) -> None:
    """What holds for every container; `others` are those that a debugger's can look into."""
    tree = container.value
    name = container["name"].reading(text_of(tree, "name"))
    if name.need() and not (
        name.value.isascii() and name.value.isalpha() and name.value.islower() and len(name.value) < 64
    ):
        name.fits(label)
    container["image"].reading(text_of(tree, "image")).need()
    for field, words in _WORDS.items():
        if field in tree:
            container[field].reading(value(tree, field) or None).one_of(words)
    variables(container)
    for field, part in _PARTS.items():
        if field in tree:
            part(_plain(container, field))
    mounts(container, context.volumes)
    devices(container, context.volumes)
    # Settings of a container that depend on those of its pod.
    if type(tree.get("resources")) is dict and "claims" in tree["resources"]:
        amounts.declared(_plain(container, "resources")["claims"], context.claims)
    if context.restart == "Never":
        for policy in _plain(container, "resizePolicy").maps():
            if policy.get("restartPolicy") != "NotRequired":
                why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
                container["resizePolicy"].reading(policy.text("restartPolicy")).invalid(why, at=policy)
    has_mounts = container.log.features.has("ProcMountType")
    if has_mounts and context.host_users and value(tree, "securityContext", "procMount") == "Unmasked":
        mount = container["securityContext"]["procMount"].reading("Unmasked")
        mount.invalid("`hostUsers` must be false to use `Unmasked`")
    if not context.host_users and _plain(container, "volumeDevices").value:
        container["volumeDevices"].forbidden("when `hostUsers` is false")
    if others is not None and (target := text_of(tree, "targetContainerName")) and target not in others:
        container["targetContainerName"].reading(target).not_found()
    if name.value in names:
        name.duplicate()
    if name.value:
        names.add(name.value)


def _hooks(container: Field, context: Context) -> None:
    for field in (*_PROBES, "lifecycle"):
        if field in container.value:
            from trainc.apiserver.pods import probes  # noqa: PLC0415 (few containers of a job are probed)

            held = _plain(container, field)
            if field == "lifecycle":
                probes.lifecycle(held, context.grace, context.system)
            elif held.value is not None:
                probes.probe(held, field)


def _init_restart(container: Field) -> None:
    """When a container that starts before the others is started again; one that always is stays with them."""
    features = container.log.features
    policy, rules = _plain(container, "restartPolicy"), _plain(container, "restartPolicyRules")
    if not features.has("ContainerRestartRules"):
        policy.one_of(("Always",))
    elif policy.value == "Always" and not features.has("RestartAllContainersOnContainerExits"):
        if items(rules.value):
            rules.forbidden("restartPolicyRules are not allowed for init containers with restart policy Always")
    else:
        _restart(container, is_init=True)


def _restart(container: Field, *, is_init: bool = False) -> None:
    """When a container is started again apart from its pod."""
    policy, rules = _plain(container, "restartPolicy"), _plain(container, "restartPolicyRules")
    if policy.value is None and items(rules.value):
        policy.required("must specify restartPolicy when restart rules are used")
        if is_init:
            return
    policy.one_of(("Always", "Never", "OnFailure"))
    rules.too_many(_MAX_RULES)
    everywhere = container.log.features.has("RestartAllContainersOnContainerExits")
    for rule in rules.maps():
        rule["action"].default("").one_of(("Restart", "RestartAllContainers") if everywhere else ("Restart",))
        codes = rule["exitCodes"]
        if codes.value is None:
            codes.required("must be specified")
            continue
        codes["operator"].default("").one_of(("In", "NotIn"))
        codes["values"].too_many(_MAX_CODES)
