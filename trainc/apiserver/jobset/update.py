"""JobSet's validating webhook for a change (sigs.k8s.io/jobset pkg/webhooks, after 0.12)."""

from collections.abc import Iterator
from typing import Any

from trainc.apiserver.cel.operators import bare
from trainc.apiserver.fault import Fault, invalid, of_webhook
from trainc.apiserver.golang.decoding import typed
from trainc.apiserver.profile import Profile
from trainc.apiserver.schema.node import SchemaNode
from trainc.model.tree import Path, Tree, dotted

_SIZES = ("parallelism", "completions")
_IMMUTABLE = "field is immutable"


def update_faults(new: Tree, old: Tree, node: SchemaNode, profile: Profile) -> list[Fault]:
    """What the webhook has against the change; both objects with their defaults."""
    after, before = [tree["spec"] if type(tree.get("spec")) is dict else {} for tree in (new, old)]
    faults: list[Fault] = []
    manager = bare(after.get("managedBy"))
    if manager != bare(before.get("managedBy")):
        faults.append(of_webhook(invalid("spec.managedBy", manager, _IMMUTABLE), ("spec", "managedBy"), manager))
    spec = node.prop("spec")
    jobs = spec.prop("replicatedJobs") if spec is not None else None
    if jobs is None:
        return faults
    allowed = typed(jobs, after.get("replicatedJobs", []), by_value=True)
    was = typed(jobs, before.get("replicatedJobs", []), by_value=True)
    printed = typed(jobs, after.get("replicatedJobs", []))
    if bare(after.get("suspend")) is True or bare(before.get("suspend")) is True:
        _take_over(allowed, was, _resumable)
        _take_over(printed, typed(jobs, before.get("replicatedJobs", [])), _resumable)
    if "ElasticJobSet" in profile.gates:
        faults += _elastic(allowed, was, old)
        _take_over(printed, was, _sizes)
    if allowed != was:
        path: Path = ("spec", "replicatedJobs")
        shown = printed if "replicatedJobs" in after else None
        faults.append(of_webhook(invalid(dotted(path), shown, _IMMUTABLE), path))
    return faults


def _take_over(new: list[Any], old: list[Any], change: Any) -> None:
    """Undo the permitted changes: what is left over is forbidden."""
    by_name = {job.get("name"): job for job in old}
    for job in new:
        if job.get("name") in by_name:
            change(job, by_name[job.get("name")])


def _put_back(after: Any, before: Any, names: tuple[str, ...]) -> None:
    for name in names:
        after.pop(name, None)
        if name in before:
            after[name] = before[name]


def _resumable(new: Any, old: Any) -> None:
    """What may change while the JobSet is suspended before or after."""
    after, before = new["template"]["spec"]["template"], old["template"]["spec"]["template"]
    _put_back(after["metadata"], before["metadata"], ("annotations", "labels"))
    _put_back(after["spec"], before["spec"], ("nodeSelector", "tolerations", "schedulingGates"))


def _sizes(new: Any, old: Any) -> None:
    after, before = new["template"]["spec"], old["template"]["spec"]
    if after.get("completionMode") == "Indexed":
        _put_back(after, before, _SIZES)


def _elastic(new: list[Any], old: list[Any], was: Tree) -> list[Fault]:
    """Rules for changed sizes of Indexed Jobs; the change is then taken out of `new`."""
    by_name = {job.get("name"): job for job in old}
    status = was.get("status")
    is_terminal = any(
        bare(item.get("type")) in ("Completed", "Failed") and bare(item.get("status")) == "True"
        for item in (status.get("conditions", ()) if type(status) is dict else ())
    )
    faults: list[Fault] = []
    for index, job in enumerate(new):
        before = by_name.get(job.get("name"))
        spec = job["template"]["spec"]
        if before is None or spec.get("completionMode") != "Indexed":
            continue
        former = before["template"]["spec"]
        if all(spec.get(name) == former.get(name) for name in _SIZES):
            continue
        at: Path = ("spec", "replicatedJobs", index, "template", "spec")
        if is_terminal:
            text = "Cannot mutate parallelism or completions when JobSet is in a terminal state (Completed or Failed)"
            faults.append(of_webhook(f"{dotted(at)}: Forbidden: {text}", at))
        else:
            faults += _size_faults(spec, at)
        _sizes(job, before)
    return faults


def _size_faults(spec: Any, at: Path) -> Iterator[Fault]:
    for name in _SIZES:
        size = spec.get(name)
        if type(size) is int and size < 1:
            yield of_webhook(invalid(dotted((*at, name)), size, f"{name} must be >= 1"), (*at, name), size)
    parallelism, completions = spec.get("parallelism"), spec.get("completions")
    if parallelism is not None and completions is not None and parallelism != completions:
        where = (*at, "completions")
        text = "completions must be equal to parallelism for Elastic Indexed Jobs"
        yield of_webhook(invalid(dotted(where), completions, text), where, completions)
