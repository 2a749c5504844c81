"""The pod template of a Volcano task as a Job takes it: labels, annotations, claims, scheduler and priority class."""

from trainc.kinds.shared.pods import restart_policy
from trainc.kinds.volcanojob.spec import JobOfTasks, Task
from trainc.model.finding import NOTE, Rule
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import Tree, filled, get, given, stamp, value

CLAIM_STAYS = Rule("claim-stays", NOTE)
VOLCANO = "volcano"
DOMAIN = "volcano.sh/"
# What Volcano copies from the job to its pods; of the last two the first that is there.
_ANNOTATIONS = ("preemptable", "cooldown-time", "revocable-zone")
_BUDGETS = ("jdb-min-available", "jdb-max-unavailable")
_LABELS = ("preemptable", "cooldown-time")
_BY = "Volcano"


def finish(job: JobOfTasks, task: Task) -> Tree:
    meta = dict(get(task.template, "metadata") or {})
    own = get(job.document.tree, "metadata", "labels") or {}
    labels = {f"{DOMAIN}{name}": own[f"{DOMAIN}{name}"] for name in _LABELS if f"{DOMAIN}{name}" in own}
    labels = stamp({f"{DOMAIN}job-name": job.name, f"{DOMAIN}task-spec": task.role, **labels}, _BY)
    meta["labels"] = {**(meta.get("labels") or {}), **labels}
    own = get(job.document.tree, "metadata", "annotations") or {}
    names = [f"{DOMAIN}{name}" for name in _ANNOTATIONS]
    names += [f"{DOMAIN}{name}" for name in _BUDGETS if f"{DOMAIN}{name}" in own][:1]
    copied = {name: own[name] for name in names if name in own}
    if (policy := filled(task.tree, "topologyPolicy")) is not None:
        copied[f"{DOMAIN}numa-topology-policy"] = policy
    if annotations := {**(meta.get("annotations") or {}), **copied}:
        meta["annotations"] = annotations
    spec = dict(get(task.template, "spec") or {})
    for field in ("schedulerName", "priorityClassName"):
        leaf = filled(job.spec, field)
        if leaf is not None and (field, leaf.value) != ("schedulerName", VOLCANO) and not value(spec, field):
            spec[field] = leaf
    restart = task.restart
    ending = restart if restart.value == "Never" else derive("a pod that ends", lambda _: "OnFailure", restart)
    spec["restartPolicy"] = restart_policy(restart, ending)
    volumes = [(f"volume-{index}", volume) for index, volume in enumerate(get(job.spec, "volumes") or ())]
    if volumes:
        named = [(n, given(filled(volume, "volumeClaimName"), claim_name(job.name, n))) for n, volume in volumes]
        claims = [{"name": name, "persistentVolumeClaim": {"claimName": claim}} for name, claim in named]
        mounts = [{"name": name, "mountPath": volume["mountPath"]} for name, volume in volumes]
        spec["volumes"] = stamp([*(spec.get("volumes") or []), *claims], _BY)
        spec["containers"] = [
            {**container, "volumeMounts": stamp([*(container.get("volumeMounts") or []), *mounts], _BY)}
            for container in spec.get("containers") or ()
        ]
    return {"metadata": meta, "spec": spec}


def claim_name(job: Sourced[str], volume: str) -> Sourced[str]:
    return derive("claim of the job", lambda name: f"{name}-{volume}", job)


def claims(name: Sourced[str], spec: Tree) -> list[Tree]:
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": claim_name(name, f"volume-{index}")},
            "spec": volume["volumeClaim"],
        }
        for index, volume in enumerate(get(spec, "volumes") or ())
        if get(volume, "volumeClaim") is not None
    ]


def check_claims(job: JobOfTasks) -> None:
    """Say which claims are no longer deleted with the job."""
    for index, volume in enumerate(get(job.spec, "volumes") or ()):
        if get(volume, "volumeClaim") is not None:
            name = claim_name(job.name, f"volume-{index}").value
            message = f"the PVC `{name}` is a separate object: it remains when the job is deleted"
            help_ = "delete it when its data are no longer needed"
            job.say(CLAIM_STAYS, ("spec", "volumes", index, "volumeClaim"), message, help=help_, key=True)
