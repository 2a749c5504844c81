"""Set-ups of several parts, each written in another place, that do nothing or harm when one part is missing."""

from __future__ import annotations

from trainc.lint.facts.job import ExpandedRole, Findings, Job
from trainc.lint.facts.values import rows, table, text, texts
from trainc.lint.tables.machines import SLICE
from trainc.model.finding import WARNING, Label, Rule
from trainc.model.tree import Path
from trainc.text.memo import Memo
from trainc.text.object_keys import EXCLUSIVE, TPU_RESOURCE

SLICES = Rule("multislice-half-set-up", WARNING)
MAINTENANCE = Rule("maintenance-half-handled", WARNING)
PAIR = Rule("daemon-and-plugin-differ", WARNING)

_MEGASCALE = ("MEGASCALE_NUM_SLICES", "MEGASCALE_SLICE_ID", "MEGASCALE_COORDINATOR_ADDRESS")
_REASON = "PodFailurePolicy"
_DISRUPTED = "DisruptionTarget"


def multislice_half_set_up(job: Job) -> Findings:
    for role in job.roles:
        if type(role.replicas) is not int or not any(container.devices.get(TPU_RESOURCE) for container in role.main):
            continue
        names = [name for name in _MEGASCALE if any(name in container.env for container in role.main)]
        for missing, path in _missing_slices(job, role, names, role.replicas):
            message = f"`{role.name}` is configured for several TPU slices, but {missing}"
            effect = "the slices do not find each other, or they share a node pool"
            help_ = "use one complete configuration, such as the component `tpu-multislice`"
            yield SLICES.at(job.at(path), message, effect=effect, help=help_)


def _missing_slices(job: Job, role: ExpandedRole, names: list[str], replicas: int) -> list[tuple[str, Path]]:
    if names and replicas < 2:
        container = next(one for one in role.main if names[0] in one.env)
        if container.value(_MEGASCALE[0]) == "1":  # a launcher that writes them for one slice as for many
            return []
        return [("it has only one Job", container.env_path(names[0]))]
    if not names:
        # Separate slices, or a platform that sets all three itself, as JobSet's own example leaves it to.
        return []
    missing: list[tuple[str, Path]] = []
    if len(names) < len(_MEGASCALE):
        lacking = ", ".join(f"`{name}`" for name in _MEGASCALE if name not in names)
        missing.append((f"{lacking} {'is' if len(names) == 2 else 'are'} not set", (*role.path, "replicas")))
    placed = [table(held, "annotations") for held in (table(table(role.tree, "template"), "metadata"), job.metadata)]
    if SLICE not in role.annotations and not any(EXCLUSIVE in annotations for annotations in placed):
        missing.append((f"the annotation `{EXCLUSIVE}` is missing", (*role.path, "replicas")))
    return missing


def maintenance_half_handled(job: Job) -> Findings:
    policy = rows(table(job.spec, "failurePolicy"), "rules")
    reacting = [index for index, rule in enumerate(policy) if _REASON in texts(rule, "onJobFailureReasons")]
    rules = [(r, i, rule) for r in job.roles for i, rule in enumerate(rows(table(r.spec, "podFailurePolicy"), "rules"))]
    failing = [(role, index, rule) for role, index, rule in rules if text(rule, "action") == "FailJob"]
    conditions = [{text(condition, "type") for condition in rows(rule, "onPodConditions")} for *_, rule in failing]
    disrupted = [one for one, types in zip(failing, conditions, strict=True) if _DISRUPTED in types]
    if disrupted and not reacting and "failurePolicy" in job.spec:
        role, index, _ = disrupted[0]
        at = role.spec_at("podFailurePolicy", "rules", index, "action")
        message = f"a lost node fails the Job of `{role.name}`, but the JobSet has no rule for the reason `{_REASON}`"
        effect = "every maintenance event counts as a failure: it uses up a restart or fails the job at once"
        help_ = f"add a rule `RestartJobSetAndIgnoreMaxRestarts` for `{_REASON}` to `failurePolicy.rules`"
        yield MAINTENANCE.at(at, message, effect=effect, help=help_)
    if reacting and not failing:
        yield MAINTENANCE.at(
            job.at(("spec", "failurePolicy", "rules", reacting[0], "onJobFailureReasons")),
            f"the JobSet has a rule for the reason `{_REASON}`, but no Job has a pod failure policy that fails it",
            effect="no Job ever fails for that reason, so the rule never matches",
            help=f"add a `podFailurePolicy` with the action FailJob on `{_DISRUPTED}` to the Jobs, or remove the rule",
        )


def daemon_and_plugin_differ(job: Job) -> Findings:
    for role in job.roles:
        images = tuple([text(container.tree, "image") for container in role.containers])
        for at, of, fitting in _DIFFERING[images]:
            daemon, plugin = role.containers[at], role.containers[of]
            listed = " or ".join(f"`{tag}`" for tag in sorted(fitting))
            message = f"plugin {_tag(images[of])} is not a known match for daemon {_tag(images[at])}"
            also = [Label(daemon.at("image"), f"daemon {_tag(images[at])}")]
            effect = "connections fail, or data is lost silently"
            help_ = f"use plugin {listed} with this daemon"
            yield PAIR.at(plugin.at("image"), message, also=also, effect=effect, help=help_)


def _differing(images: tuple[str, ...]) -> list[tuple[int, int, frozenset[str]]]:
    """The places of a daemon and a plugin not known to work together, and the plugins that the daemon works with."""
    differing = []
    for daemon_image, plugin_image, known in PAIRS:
        daemon, plugin = _place(images, daemon_image), _place(images, plugin_image)
        fitting = known.get(_tag(images[daemon])) if daemon is not None else None
        if daemon is not None and plugin is not None and fitting and _tag(images[plugin]) not in fitting:
            differing.append((daemon, plugin, fitting))
    return differing


_DIFFERING = Memo(_differing)  # by the images of a pod, in order


def _place(images: tuple[str, ...], image: str) -> int | None:
    return next((at for at, one in enumerate(images) if one.rpartition(":")[0].endswith(image)), None)


def _tag(image: str) -> str:
    return image.rpartition(":")[2]


CHECKS = (daemon_and_plugin_differ, multislice_half_set_up, maintenance_half_handled)

PAIRS: tuple[tuple[str, str, dict[str, frozenset[str]]], ...] = (
    ("tcpx/tcpgpudmarxd-dev", "tcpx/nccl-plugin-gpudirecttcpx-dev", {"v2.0.11": frozenset(("v3.1.7",))}),
    (
        "tcpxo/tcpgpudmarxd-dev",
        "tcpxo/nccl-plugin-gpudirecttcpx-dev",
        {
            "v1.0.12": frozenset(("v1.0.7", "v1.0.8", "v1.0.8-1")),
            "v1.0.13": frozenset(("v1.0.7", "v1.0.8", "v1.0.8-1")),
        },
    ),
)
