"""MiniCluster: a view that brings Flux, and scripts that start a broker in each pod, the first with the command."""

from trainc.frameworks.base.requirements import note, secret_name
from trainc.frameworks.flux import RECIPE, quoted, span
from trainc.kinds.minicluster.pods import by_key, text_of
from trainc.model.patch import Patch
from trainc.model.patches import Contribution, Framework
from trainc.model.plan import NODE, Plan, Role
from trainc.model.report import Report
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import Tree, get, given, leaves, value

SCRIPTS = "/flux_operator"
CURVE, CERT = "/flux_curve", "curve.cert"
_VIEW, _IMAGE, _ROOT = "flux-view", "ghcr.io/converged-computing/flux-view-ubuntu:tag-noble", "/mnt/flux"
_EXECUTABLE = 0o777
_INSTALL = r"""
# Flux comes in this image; the other containers get it through the volume.
set -eu
mkdir -p "$root/view" "$root/software"
view=/opt/view
for found in /opt/views/._view/*; do
  [ -d "$found" ] && view=$found
done
cp -R "$view/." "$root/view/"
if [ -d /opt/software ]; then
  cp -R /opt/software/. "$root/software/"
fi
"""
_VIEW_VOLUME = r"""
export PATH="$PATH:$root/view/bin"
mkdir -p /opt/software
cp -R "$root/software/." /opt/software/
python=$(find "$root/view/lib" -maxdepth 1 -type d -name 'python3*' | head -n 1 || true)
export PYTHONPATH="${PYTHONPATH:-}:MODULES"
"""
_STATE = r"""
mkdir -p "$state/run/flux" "$state/var/lib/flux" "$state/curve" "$state/etc/flux/system/cron.d" "$output"
# Flux refuses a certificate that others may read.
install -m 0400 /flux_curve/curve.cert "$state/curve/curve.cert"
flux R encode --hosts="$hosts" --local > "$state/etc/flux/system/R"
"""
_WORKER = r"""
  # The first broker may not be there yet.
  while true; do
    status=0
    flux start -o --config=/flux_operator/config "${options[@]}" || status=$?
    if [ "$status" -eq 0 ] || [ "$ends" = true ]; then
      status=0
      break
    fi
    sleep 15
  done
"""
_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_${}\"'\\")


def lower(plan: Plan) -> Contribution:
    """The ConfigMap of the scripts and the broker's configuration, and what every pod needs to run them."""
    name = derive("name of Flux's scripts", lambda job: f"{job}-entrypoint", plan.name)
    role = plan.roles[0]
    spec, container = plan.settings["spec"], plan.settings["container"]
    start = FluxScripts(plan)
    written = value(plan.settings, "spec", "flux", "brokerConfig")
    out = [("broker.toml", str(written) if written else start.broker_config()), ("entrypoint.sh", start.entrypoint())]
    if not _is_disabled(spec):
        out.append(("install.sh", f"#!/bin/bash\nroot={quoted(start.root)}\n{_INSTALL}"))
    if script := text_of(container, "commands", "script"):
        out.append(("script.sh", f"{script}\n"))
    if value(container, "batch") is True:
        out.append(("batch.sh", start.batch()))
    commands = [container.get("command"), *(leaf for _, leaf in leaves(container.get("commands") or {}))]
    sources = [plan.name, *(leaf for leaf in commands if type(leaf) is Sourced)]
    data = {file: derive("Flux's scripts", lambda *_, text=text: text, *sources) for file, text in out}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
    return Contribution(_patches(plan, role, name, list(data)), objects=[config])


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
    # The configuration is in a folder of its own, because a broker reads every file of it.
    items = [{"key": file, "path": f"config/{file}" if file == "broker.toml" else file} for file in files]
    secret = {"secretName": secret_name(plan, "flux", "-flux-curve"), "items": [{"key": CERT, "path": CERT}]}
    volumes: tuple[Tree, ...] = (
        {"name": "flux-view", "emptyDir": {}},
        {"name": "flux-software", "emptyDir": {}},
        {"name": "flux-home", "emptyDir": {}},
        {"name": "flux-scripts", "configMap": {"name": name, "defaultMode": _EXECUTABLE, "items": items}},
        {"name": "flux-curve", "secret": {**secret, "defaultMode": 0o400}},
    )
    software = {"name": "flux-software", "mountPath": "/opt/software"}
    installer: dict[str, Tree] = {
        "name": given(view.get("name"), _VIEW),
        "image": given(view.get("image"), _IMAGE),
        "imagePullPolicy": "Always" if value(view, "pullAlways") is True else "IfNotPresent",
        "command": ["/bin/bash", f"{SCRIPTS}/install.sh"],
        "volumeMounts": list(shared),
        **{field: view[field] for field in ("workingDir", "resources", "securityContext") if field in view},
    }
    init: tuple[Tree, ...] = () if _is_disabled(spec) else (installer,)
    command = {"command": ["/bin/bash", f"{SCRIPTS}/entrypoint.sh"]}
    others = [one["name"].value for one in role.containers if one["name"].value != runner]
    out = []
    for index, container in enumerate(spec["containers"]):
        before, after = (text_of(container, "commands", hook) for hook in ("pre", "post"))
        parts = [before, text_of(container, "command"), after]
        if index != plan.settings["index"].value and any(parts):
            out.append((str(value(container, "name")), "\n".join(part for part in parts if part)))
    return [
        Patch(role.index, volumes=volumes, init_containers=init),
        Patch(role.index, runner, mounts=(*shared, software, curve), sets={**command, "stdin": True, "tty": True}),
        *[Patch(role.index, other, mounts=(*shared, software)) for other in others],
        *[Patch(role.index, other, sets={"command": ["/bin/sh", "-c", text]}) for other, text in out],
    ]


def verify(plan: Plan, report: Report) -> None:
    """A note on the Secret with the certificate."""
    note(plan, report, secret_name(plan, "flux", "-flux-curve").value, (CERT,), RECIPE)


FRAMEWORK = Framework("minicluster", lower, verify=verify)


class FluxScripts:
    """The scripts of one MiniCluster, from the settings of its plan."""

    def __init__(self, plan: Plan) -> None:
        self.spec: Tree = plan.settings["spec"]
        self.container: Tree = plan.settings["container"]
        self.job = plan.name.value
        self.subdomain = given(get(plan.template, "spec", "network", "subdomain"), plan.name).value
        self.namespace = plan.namespace.value if plan.namespace is not None else ""
        self.size: int = value(self.spec, "size")
        tasks = value(self.spec, "tasks")
        self.tasks: int = tasks if type(tasks) is int else 1

    @property
    def hosts(self) -> str:
        return f"{self.job}-{NODE}-0-[{span(self.size)}]"

    @property
    def root(self) -> str:
        """Where Flux lies."""
        return value(self.spec, "flux", "container", "mountPath") or "/mnt/flux"

    def broker_config(self) -> str:
        domain = f"{self.subdomain}.{self.namespace}.svc.cluster.local" if self.namespace else self.subdomain
        policy = value(self.spec, "flux", "scheduler", "queuePolicy") or "fcfs"
        state = f"{self.root}/config"
        fluxion = f'\n[sched-fluxion-qmanager]\nqueue-policy = "{policy}"\n'
        simple = value(self.spec, "flux", "scheduler", "simple") is True
        return f"""[access]
allow-guest-user = true
allow-root-owner = true

[resource]
path = "{state}/etc/flux/system/R"

[bootstrap]
curve_cert = "{state}/curve/curve.cert"
default_port = 8050
default_bind = "tcp://eth0:%p"
default_connect = "tcp://%h.{domain}:%p"
hosts = [{{ host = "{self.hosts}" }}]

[archive]
dbpath = "{state}/var/lib/flux/job-archive.sqlite"
period = "1m"
busytimeout = "50s"
{"" if simple else fluxion}"""

    def entrypoint(self) -> str:
        """The script of the container that runs Flux."""
        hooks = ("init", "pre", "post", "brokerPre", "workerPre")
        commands = {field: text_of(self.container, "commands", field) for field in hooks}
        strict = "set -eEu -o pipefail\n" if value(self.spec, "logging", "strict") is True else ""
        wrap = value(self.spec, "flux", "wrap")
        wrapped = f"--wrap={wrap} " if wrap else ""
        modules = value(self.spec, "flux", "container", "pythonPath") or "$python/site-packages"
        start = f"{self._timed('fluxstart')}flux start {wrapped}-o --config=/flux_operator/config"
        parts = [
            f"#!/bin/bash\n{strict}{self._settings()}",
            commands["init"],
            "" if _is_disabled(self.spec) else _VIEW_VOLUME.strip("\n").replace("MODULES", modules),
            _STATE.strip(),
            commands["pre"],
            self._options(),
            'status=0\nif [ "$(hostname -s)" = "$main" ]; then',
            commands["brokerPre"],
            f'  {start} "${{options[@]}}" {self._inner()} || status=$?',
            "else",
            commands["workerPre"],
            _WORKER.strip("\n"),
            "fi",
            commands["post"],
            'exit "$status"',
        ]
        return "\n".join(part for part in parts if part) + "\n"

    def batch(self) -> str:
        """The jobs of a batch, one on each line of the command."""
        lines = [line for line in text_of(self.container, "command").split("\n") if line]
        if value(self.container, "batchRaw") is True:
            return "\n".join(["#!/bin/bash", *lines]) + "\n"
        submit = "flux submit --flags waitable --error={0}/job-{1}.err --output={0}/job-{1}.out {2}"
        jobs = [submit.format("${FLUX_OUTPUT_DIR}", index, line) for index, line in enumerate(lines)]
        return "\n".join(["#!/bin/bash", *jobs, "flux queue idle", "flux jobs -a"]) + "\n"

    def _settings(self) -> str:
        settings = {
            "root": self.root,
            "state": f"{self.root}/config",
            "hosts": self.hosts,
            "main": f"{self.job}-{NODE}-0-0",
            "output": value(self.container, "logs") or "/tmp/fluxout",  # noqa: S108 (a folder of the pod)
            "ends": "true" if value(self.spec, "flux", "completeWorkers") is True else "false",
        }
        lines = [f"{name}={quoted(text)}" for name, text in settings.items()]
        environment = by_key(get(self.spec, "flux", "environment"))
        lines += [f"export {name}={quoted(str(text.value))}" for name, text in environment]
        return "\n".join([*lines, 'export FLUX_OUTPUT_DIR="$output"'])

    def _options(self) -> str:
        flux, logging = get(self.spec, "flux") or {}, get(self.spec, "logging") or {}
        level = 0 if value(logging, "quiet") is True else value(flux, "logLevel") or 6
        options = [
            '"-Scron.directory=$state/etc/flux/system/cron.d"',
            "-Stbon.fanout=256",
            '"-Srundir=$state/run/flux"',
            '"-Sstatedir=$state/var/lib/flux"',
            *([] if value(flux, "disableSocket") is True else ['"-Slocal-uri=local://$state/run/flux/local"']),
            f"-Stbon.connect_timeout={value(flux, 'connectTimeout') or '5s'}",
            *([f"-Stbon.topo={value(flux, 'topology')}"] if value(flux, "topology") else []),
            *(["-Stbon.zmqdebug=1"] if value(logging, "zeromq") is True else []),
            f"-Slog-stderr-level={level}",
            "-Slog-stderr-mode=local",
        ]
        lines = ["options=(", *(f"  {option}" for option in options), ")"]
        if archive := value(self.spec, "archive", "path"):
            lines.append(f'[ -e {quoted(archive)} ] && options+=("-Scontent.restore="{quoted(archive)})')
        return "\n".join(lines)

    def _timed(self, what: str) -> str:
        timed = value(self.spec, "logging", "timed") is True
        return f'/usr/bin/time -f "FLUXTIME {what} wall time %E" ' if timed else ""

    def _inner(self) -> str:
        """What the first broker runs: a submission, a batch, or a launcher that submits by itself."""
        prefix = text_of(self.container, "commands", "prefix")
        before = self._timed("fluxsubmit") + (f"{prefix} " if prefix else "")
        script = text_of(self.container, "commands", "script")
        command = "/bin/bash /flux_operator/script.sh" if script else words(text_of(self.container, "command"))
        if value(self.container, "batch") is True:
            batch = f"flux batch {self._flags()} --flags waitable /flux_operator/batch.sh && flux job wait --all"
            return f"{before}sh -c {quoted(batch)}"
        if value(self.container, "launcher") is True:
            return f"{before}{command}"
        submit = value(self.spec, "flux", "submitCommand") or "flux submit"
        return f"{before}{submit} {self._flags()} --quiet --watch {command}"

    def _flags(self) -> str:
        nodes = f"-N {self.size} " if self.tasks >= self.size or not self.tasks else ""
        counts = nodes.strip() if not self.tasks else f"{nodes}-n{self.tasks}"
        flags = value(self.spec, "flux", "optionFlags") or ""
        debug = "-vvv" if value(self.spec, "logging", "debug") is True else ""
        return " ".join(part for part in (counts, flags, debug) if part)


def words(command: str) -> str:
    """A command as the operator gives it to Flux: split at blanks, variables filled in, nothing else read by the shell."""
    return " ".join("".join(char if char in _BARE else f"\\{char}" for char in word) for word in command.split())
