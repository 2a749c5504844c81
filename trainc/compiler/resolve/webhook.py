"""What the TrainJob webhook refuses whatever the framework: initializers without a home, misused patches."""

from collections.abc import Iterator

from trainc.apiserver.fault import compact
from trainc.apiserver.names import prefixed_path
from trainc.apiserver.normalise import normalise
from trainc.compiler.resolve.runtimes import reference_text
from trainc.compiler.resolve.trainer_block import INITIALIZERS
from trainc.model.finding import ERROR, Finding, Refusal, Rule
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.tree import Path, Tree, get, plain, value

INITIALIZER_WITHOUT_HOME = Rule("initializer-without-home", ERROR, verdict=True)
PATCH_MANAGER = Rule("patch-manager", ERROR, verdict=True)
PATCH_RESERVED_ENV = Rule("patch-reserved-env", ERROR, verdict=True)

_JOBS: Path = ("trainingRuntimeSpec", "template", "spec", "replicatedJobs")
_CONTAINERS: Path = ("template", "spec", "template", "spec", "containers")
_RESERVED = ("dataset-initializer", "model-initializer", "node")
# What stands against the managers met so far: few systems patch many jobs.
_managers: dict[str, tuple[tuple[str, str], ...]] = {}
_REMEMBERED = 256


def check(plan: Plan, report: Report) -> bool:
    """Whether the webhook lets the job in, as far as neither framework nor scheduler is involved."""
    spec = plan.job["spec"]
    refusals: list[Finding] = []
    if "initializer" in spec:
        refusals += _initializers(plan)
    if "runtimePatches" in spec:
        refusals += _patches(plan)
    report.add_all(refusals)
    return not refusals


def _initializers(plan: Plan) -> Iterator[Finding]:
    for name, field in INITIALIZERS.items():
        if get(plan.job, "spec", "initializer", field) is not None and (problem := _initializer(plan, name, field)):
            reference = reference_text(plan.document)
            runtime = value(plan.job, "spec", "runtimeRef", "name")
            span = plan.document.span(("spec", "initializer", field), key=True)
            message = f"runtime `{runtime}` {problem.replace('must have', 'has no').partition(' when ')[0]}"
            help_ = f"use a runtime with a `{name}` job whose container `{name}` mounts the volume `initializer`"
            refusal = Refusal("webhook", f"spec.runtimeRef: Invalid value: {reference}: {problem}")
            yield INITIALIZER_WITHOUT_HOME.at(span, message, help=help_, refusal=refusal)


def _initializer(plan: Plan, name: str, field: str) -> str:
    if (role := plan.role(name)) is None:
        return f"must have {name} job when trainJob is configured with input {field}Config"
    if (container := role.container(name)) is None and role.init_container(name) is None:
        return f"must have container with name - {name} in the {name} job"
    mounts = (container or {}).get("volumeMounts") or ()
    if not any(value(mount, "name") == "initializer" for mount in mounts):
        return f"must have volumeMount with name - initializer in container {name} of the {name} job"
    return ""


def _patches(plan: Plan) -> Iterator[Finding]:
    patches = get(plan.job, "spec", "runtimePatches") or []
    for index, patch in enumerate(patches):
        for part, reason in _reasons(value(patch, "manager")):
            span = plan.document.span(("spec", "runtimePatches", index, "manager"))
            message = f"manager `{value(patch, 'manager')}` is not a domain-prefixed path"
            help_ = "write `<your domain>/<name>`, such as `platform.example.com/defaults`"
            text = f"spec.runtimePatches.manager: Invalid value: {compact(part)}: {reason}"
            yield PATCH_MANAGER.at(span, message, help=help_, refusal=Refusal("webhook", text))
        for spot, name in _reserved_env(patch):
            printed = plain(normalise(patches, "runtimePatches", patch=True))
            detail = "must not have envs for the dataset-initializer, model-initializer, node containers"
            refusal = Refusal("webhook", f"spec.runtimePatches: Invalid value: {compact(printed)}: {detail}")
            span = plan.document.span(("spec", "runtimePatches", index, *spot), key=True)
            help_ = f"set it in `spec.{'trainer.env' if name == 'node' else 'initializer'}`"
            message = f"a patch sets env on container `{name}`"
            yield PATCH_RESERVED_ENV.at(span, message, help=help_, refusal=refusal)


def _reasons(manager: str) -> tuple[tuple[str, str], ...]:
    reasons = _managers.get(manager)
    if reasons is None:
        reasons = prefixed_path(manager)
        if len(_managers) < _REMEMBERED:
            _managers[manager] = reasons
    return reasons


def _reserved_env(patch: Tree) -> Iterator[tuple[Path, str]]:
    for i, job in enumerate(get(patch, *_JOBS) or ()):
        for j, container in enumerate(get(job, *_CONTAINERS) or ()):
            name = value(container, "name")
            if name in _RESERVED and container.get("env"):
                yield (*_JOBS, i, *_CONTAINERS, j, "env"), name
