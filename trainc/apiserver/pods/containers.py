"""What is wrong with the containers of a pod: main ones, those that start before, and those of a debugger."""

from __future__ import annotations

from trainc.apiserver.pods import amounts
from trainc.apiserver.pods.complaints import Complaints, fields, items, maps, text
from trainc.apiserver.pods.ports import ports
from trainc.apiserver.pods.variables import variables, whole
from trainc.apiserver.pods.volumes import Volumes, devices, mounts, text_of
from trainc.model.tree import Path, Tree, plain, value
from trainc.text.record import Any

_POLICIES = ("Always", "Never", "OnFailure")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGES = ("File", "FallbackToLogsOnError")
_OPERATORS = ("In", "NotIn")
_MAX_RULES, _MAX_CODES = 20, 255
_NO_SIDECAR = "may not be set for init containers without restartPolicy=Always"
_NO_EPHEMERAL = "cannot be set for an Ephemeral Container"
_HOOKS = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
# What a debugger's container must not have, in the order of Kubernetes' own structure.
_NOT_EPHEMERAL = (
    "ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe", "readinessProbe",
    "startupProbe", "lifecycle",
)  # fmt: skip


def _resize(tree: Any, path: Path, log: Complaints) -> None:
    """What becomes of a container whose resources change."""
    taken: list[str] = []
    for index, policy in maps(tree):
        resource, act, at = text(policy, "resourceName"), text(policy, "restartPolicy"), (*path, index)
        if resource in taken:
            log.duplicate(at, resource)
        taken.append(resource)
        for word, words in ((resource, ("cpu", "memory")), (act, ("NotRequired", "RestartContainer"))):
            if word:
                log.one_of(path, word, words, at=at)
            else:
                log.required(path, at=at)


def _rights(tree: Any, path: Path, log: Complaints) -> None:
    from trainc.apiserver.pods.rights import of_container  # noqa: PLC0415 (most containers ask for no rights)

    of_container(tree, path, log)


def _probe(tree: Any, path: Path, log: Complaints) -> None:
    from trainc.apiserver.pods.probes import once  # noqa: PLC0415 (few containers of a job are probed)

    once(tree, path, log)


def _readiness(tree: Any, path: Path, log: Complaints) -> None:
    from trainc.apiserver.pods.probes import readiness  # noqa: PLC0415

    readiness(tree, path, log)


_PARTS = {
    "ports": ports,
    "envFrom": whole,
    "resources": amounts.resources,
    "resizePolicy": _resize,
    "securityContext": _rights,
}
_PROBES = {"livenessProbe": _probe, "readinessProbe": _readiness, "startupProbe": _probe}


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


def containers(pod: Tree, path: Path, context: Context, log: Complaints) -> None:
    """All containers of a pod."""
    main = items(pod.get("containers"))
    if not main:
        log.required((*path, "containers"))
    names: set[str] = set()
    for index, tree in enumerate(main):
        if type(tree) is dict:
            at = (*path, "containers", index)
            _common(tree, at, context, log)
            _once(tree, at, names, log)
            _hooks(tree, at, context, log)
            if "restartPolicy" in tree or "restartPolicyRules" in tree:
                if log.features.has("ContainerRestartRules"):
                    _restart(plain(tree), at, log)
                elif value(tree, "restartPolicy") is not None:
                    log.forbidden((*at, "restartPolicy"), "may not be set for non-init containers")
    for index, tree in enumerate(items(pod.get("initContainers"))):
        if type(tree) is dict:
            _before(tree, (*path, "initContainers", index), context, names, log)
    others = frozenset(names)
    for index, tree in enumerate(items(pod.get("ephemeralContainers"))):
        if type(tree) is dict:
            _ephemeral(tree, (*path, "ephemeralContainers", index), context, names, others, log)


def _before(tree: Tree, path: Path, context: Context, names: set[str], log: Complaints) -> None:
    _common(tree, path, context, log)
    _once(tree, path, names, log)
    if "restartPolicy" in tree or "restartPolicyRules" in tree:
        _init_restart(plain(tree), path, log)
    if value(tree, "restartPolicy") == "Always":
        _hooks(tree, path, context, log)
        return
    for field in _HOOKS:
        if _is_given(tree, field, path, log):
            log.forbidden((*path, field), _NO_SIDECAR)
    for index, policy in maps(plain(tree.get("resizePolicy"))):
        if policy.get("restartPolicy") == "RestartContainer":
            at: Path = (*path, "resizePolicy", index, "restartPolicy")
            why = "must not be set to 'RestartContainer' for non-sidecar initContainers"
            log.invalid(at, "RestartContainer", why)


def _ephemeral(
    tree: Tree, path: Path, context: Context, names: set[str], others: frozenset[str], log: Complaints
) -> None:
    _common(tree, path, context, log)
    if (target := text_of(tree, "targetContainerName")) and target not in others:
        log.not_found((*path, "targetContainerName"), target)
    _once(tree, path, names, log)
    image = text_of(tree, "image")
    if image != image.strip():
        log.invalid((*path, "image"), image, "must not have leading or trailing whitespace")
    for field in _NOT_EPHEMERAL:
        if plain(tree.get(field)) if field == "resources" else _is_given(tree, field, path, log):
            log.forbidden((*path, field), _NO_EPHEMERAL)
    for index, mount in maps(plain(tree.get("volumeMounts"))):
        for field in ("subPath", "subPathExpr"):
            if mount.get(field):
                log.forbidden((*path, "volumeMounts", index, field), _NO_EPHEMERAL)


def _is_given(tree: Tree, field: str, path: Path, log: Complaints) -> bool:
    """Whether a container has a field, and the server does not drop it."""
    if (held := plain(tree.get(field))) is None or field != "lifecycle":
        return held is not None
    from trainc.apiserver.pods.probes import is_dropped  # noqa: PLC0415

    return not is_dropped(held, (*path, field), log)


def _once(tree: Tree, path: Path, names: set[str], log: Complaints) -> None:
    name = text_of(tree, "name")
    if name in names:
        log.duplicate((*path, "name"), name)
    if name:
        names.add(name)


def _common(tree: Tree, path: Path, context: Context, log: Complaints) -> None:
    """What holds for every container."""
    if not (name := text_of(tree, "name")):
        log.required((*path, "name"))
    elif not (name.isascii() and name.isalpha() and name.islower() and len(name) < 64):
        log.label((*path, "name"), name)
    if not text_of(tree, "image"):
        log.required((*path, "image"))
    for field, words in (("terminationMessagePolicy", _MESSAGES), ("imagePullPolicy", _PULL_POLICIES)):
        if field in tree and value(tree, field):
            log.one_of((*path, field), value(tree, field), words)
    if "env" in tree:
        variables(tree, path, log)
    for field, part in _PARTS.items():
        if field in tree:
            part(plain(tree[field]), (*path, field), log)
    mounts(tree, path, context.volumes, log)
    devices(tree, path, context.volumes, log)
    # Settings of a container that depend on those of its pod.
    resources = tree.get("resources")
    if type(resources) is dict and "claims" in resources:
        amounts.declared(plain(resources["claims"]), (*path, "resources", "claims"), context.claims, log)
    if context.restart == "Never" and "resizePolicy" in tree:
        for index, policy in maps(plain(tree["resizePolicy"])):
            if policy.get("restartPolicy") != "NotRequired":
                at: Path = (*path, "resizePolicy", index)
                why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
                log.invalid((*path, "resizePolicy"), text(policy, "restartPolicy"), why, at=at)
    if context.host_users and value(tree, "securityContext", "procMount") == "Unmasked":
        at = (*path, "securityContext", "procMount")
        if log.features.has("ProcMountType"):
            log.invalid(at, "Unmasked", "`hostUsers` must be false to use `Unmasked`")
    if not context.host_users and plain(tree.get("volumeDevices")):
        log.forbidden((*path, "volumeDevices"), "when `hostUsers` is false")


def _hooks(tree: Tree, path: Path, context: Context, log: Complaints) -> None:
    for field, part in _PROBES.items():
        if field in tree and plain(tree[field]) is not None:
            part(plain(tree[field]), (*path, field), log)
    if "lifecycle" in tree:
        from trainc.apiserver.pods.probes import lifecycle  # noqa: PLC0415

        lifecycle(plain(tree["lifecycle"]), (*path, "lifecycle"), log, context.grace, context.system)


def _init_restart(held: dict[str, Any], path: Path, log: Complaints) -> None:
    """When a container that starts before the others is started again; one that always is stays with them."""
    policy, rules = held.get("restartPolicy"), items(held.get("restartPolicyRules"))
    if not log.features.has("ContainerRestartRules"):
        if policy is not None:
            log.one_of((*path, "restartPolicy"), policy, ("Always",))
    elif policy == "Always" and not log.features.has("RestartAllContainersOnContainerExits"):
        if rules:
            why = "restartPolicyRules are not allowed for init containers with restart policy Always"
            log.forbidden((*path, "restartPolicyRules"), why)
    elif policy is not None:
        _restart(held, path, log)
    elif rules:
        log.required((*path, "restartPolicy"), "must specify restartPolicy when restart rules are used")


def _restart(held: dict[str, Any], path: Path, log: Complaints) -> None:
    """When a container is started again apart from its pod."""
    policy, rules = held.get("restartPolicy"), items(held.get("restartPolicyRules"))
    if policy is None and not rules:
        return
    if policy is None:
        log.required((*path, "restartPolicy"), "must specify restartPolicy when restart rules are used")
    else:
        log.one_of((*path, "restartPolicy"), policy, _POLICIES)
    at: Path = (*path, "restartPolicyRules")
    log.too_many(at, len(rules), _MAX_RULES)
    everywhere = log.features.has("RestartAllContainersOnContainerExits")
    actions = ("Restart", "RestartAllContainers") if everywhere else ("Restart",)
    for index, rule in maps(rules):
        log.one_of((*at, index, "action"), text(rule, "action"), actions)
        codes = rule.get("exitCodes")
        if codes is None:
            log.required((*at, index, "exitCodes"), "must be specified")
            continue
        log.one_of((*at, index, "exitCodes", "operator"), text(fields(codes), "operator"), _OPERATORS)
        log.too_many((*at, index, "exitCodes", "values"), len(items(fields(codes).get("values"))), _MAX_CODES)
