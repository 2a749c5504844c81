"""MiniCluster: a view that brings Flux, and scripts that start a broker in each pod, the first with the command."""

from __future__ import annotations

from trainc.frameworks.base.secrets import note, secret_name
from trainc.frameworks.flux.checks import RECIPE
from trainc.kinds.minicluster import scripts as flux_start
from trainc.kinds.minicluster.pods import text_of
from trainc.model.patch import Patch
from trainc.model.patches import Contribution, Framework
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import get, given, leaves, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.plan import Plan, Role
    from trainc.model.report import Report
    from trainc.model.tree import Tree

SCRIPTS = "/flux_operator"
CURVE, CERT = "/flux_curve", "curve.cert"
_VIEW, _IMAGE, _ROOT = "flux-view", "ghcr.io/converged-computing/flux-view-ubuntu:tag-noble", "/mnt/flux"
_EXECUTABLE = 0o777


def lower(plan: Plan) -> Contribution:
    """The ConfigMap of the scripts and the broker's configuration, and what every pod needs to run them."""
    name = derive("name of Flux's scripts", lambda job: f"{job}-entrypoint", plan.name)
    role = plan.roles[0]
    data = {file: derive("Flux's scripts", lambda *_, text=text: text, *_sources(plan)) for file, text in _files(plan)}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
    return Contribution([*_patches(plan, role, name, list(data))], objects=[config])


def _sources(plan: Plan) -> list[Sourced[object]]:
    """The texts of people that the scripts are made of."""
    container = plan.settings["container"]
    sources = [container.get("command"), *(leaf for _, leaf in leaves(container.get("commands") or {}))]
    return [plan.name, *(leaf for leaf in sources if type(leaf) is Sourced)]


def _files(plan: Plan) -> list[tuple[str, str]]:
    spec, container = plan.settings["spec"], plan.settings["container"]
    start = flux_start.FluxScripts(plan)
    out = [("broker.toml", _broker_config(plan, start)), ("entrypoint.sh", start.entrypoint())]
    if not _is_disabled(spec):
        out.append(("install.sh", start.installer()))
    if script := text_of(container, "commands", "script"):
        out.append(("script.sh", f"{script}\n"))
    if value(container, "batch") is True:
        out.append(("batch.sh", start.batch()))
    return out


def _broker_config(plan: Plan, start: flux_start.FluxScripts) -> str:
    written = value(plan.settings, "spec", "flux", "brokerConfig")
    return str(written) if written else start.broker_config()


def _is_disabled(spec: Tree) -> bool:
    return value(spec, "flux", "container", "disable") is True


def _patches(plan: Plan, role: Role, name: Sourced[str], files: list[str]) -> list[Patch]:
    spec = plan.settings["spec"]
    view = get(spec, "flux", "container") or {}
    root = given(view.get("mountPath"), _ROOT)
    shared: tuple[Tree, ...] = (
        {"name": "flux-view", "mountPath": root},
        {"name": "flux-scripts", "mountPath": SCRIPTS, "readOnly": True},
        {"name": "flux-home", "mountPath": "/home/flux-operator"},
    )
    curve = {"name": "flux-curve", "mountPath": CURVE, "readOnly": True}
    runner = role.containers[plan.settings["index"].value]["name"].value
    secret = {"secretName": secret_name(plan, "flux", "-flux-curve"), "items": [{"key": CERT, "path": CERT}]}
    volumes: tuple[Tree, ...] = (
        {"name": "flux-view", "emptyDir": {}},
        {"name": "flux-software", "emptyDir": {}},
        {"name": "flux-home", "emptyDir": {}},
        {"name": "flux-scripts", "configMap": {"name": name, "defaultMode": _EXECUTABLE, "items": _items(files)}},
        {"name": "flux-curve", "secret": {**secret, "defaultMode": 0o400}},
    )
    software = {"name": "flux-software", "mountPath": "/opt/software"}
    init: tuple[Tree, ...] = () if _is_disabled(spec) else (_installer(view, shared),)
    command = {"command": ["/bin/bash", f"{SCRIPTS}/entrypoint.sh"]}
    others = [one["name"].value for one in role.containers if one["name"].value != runner]
    return [
        Patch(role.index, volumes=volumes, init_containers=init),
        Patch(role.index, runner, mounts=(*shared, software, curve), sets={**command, "stdin": True, "tty": True}),
        *[Patch(role.index, other, mounts=(*shared, software)) for other in others],
        *[
            Patch(role.index, other, sets={"command": ["/bin/sh", "-c", text]})
            for other, text in _beside(spec, plan.settings["index"].value)
        ],
    ]


def _items(files: list[str]) -> list[Tree]:
    """Each file at its place: the configuration in a folder of its own, because a broker reads every file of it."""
    return [{"key": file, "path": f"config/{file}" if file == "broker.toml" else file} for file in files]


def _installer(view: Tree, mounts: tuple[Tree, ...]) -> Tree:
    out: dict[str, Tree] = {
        "name": given(view.get("name"), _VIEW),
        "image": given(view.get("image"), _IMAGE),
        "imagePullPolicy": "Always" if value(view, "pullAlways") is True else "IfNotPresent",
        "command": ["/bin/bash", f"{SCRIPTS}/install.sh"],
        "volumeMounts": list(mounts),
    }
    return {**out, **{field: view[field] for field in ("workingDir", "resources", "securityContext") if field in view}}


def _beside(spec: Tree, runner: int) -> list[tuple[str, str]]:
    """The commands of the containers that do not run Flux, with what stands around them."""
    out = []
    for index, container in enumerate(spec["containers"]):
        parts = [
            text_of(container, "commands", "pre"),
            text_of(container, "command"),
            text_of(container, "commands", "post"),
        ]
        if index != runner and any(parts):
            out.append((str(value(container, "name")), "\n".join(part for part in parts if part)))
    return out


def verify(plan: Plan, report: Report) -> None:
    """A note on the Secret with the certificate."""
    note(plan, report, secret_name(plan, "flux", "-flux-curve").value, (CERT,), RECIPE)


FRAMEWORK = Framework("minicluster", lower, verify=verify)
