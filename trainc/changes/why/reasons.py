"""Why something that people wrote is in no manifest: a table of paths, and what the Trainer does with them."""

from __future__ import annotations

from typing import NamedTuple

from trainc.model.plan import NODE, TRAINER
from trainc.model.tree import get
from trainc.text.merge_keys import MERGE_KEYS
from trainc.text.object_keys import TRAINC_PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.model.bundle import Bundle
    from trainc.model.document import Document
    from trainc.model.plan import Plan
    from trainc.model.tree import Path

_FRAMEWORK = "trainer.kubeflow.org/framework"
_OUTSIDE = "wrong level: labels and annotations of a {kind} stay on it; those of the pods stand in its template"
_JOB_LEVEL = (
    "wrong level: labels and annotations of a TrainJob are copied to nothing but for kueue.x-k8s.io/*; write them into "
    "runtimePatches[].trainingRuntimeSpec.template.metadata, or further down for the Jobs and the pods"
)
_TRAINJOB: tuple[tuple[Path, str], ...] = (
    (("spec", "runtimeRef"), "says which runtime the job starts from"),
    (("spec", "suspend"), "a queue owns `suspend`: only true is written"),
    (("spec", "managedBy"), "says which controller is in charge; MultiKueue's name alone reaches the JobSet"),
    (
        ("spec", "activeDeadlineSeconds"),
        "not overridable upstream: the Trainer controller alone knows this timer, and writes it to no object",
    ),
    (
        ("spec", "trainer", "resourcesPerNode", "claims"),
        "not overridable upstream: limits and requests are merged, claims are not (Trainer v2.3.0)",
    ),
)
_OWN = {
    "extends": "says which runtime this one inherits from",
    "components": "switches on a component, or chooses for one of its parameters",
    "locks": "says what nobody above may change",
    "parameters": "describes a parameter; its value stands where it is set",
    "roles": "says which replicated jobs the component is for",
    "requires": "says what the component needs",
    "conflictsWith": "says what the component excludes",
    "after": "says what the component is applied after",
    "description": "says what the component is for",
}
_CLUSTER = {
    "components": "switches on a component for every job of the cluster",
    "paths": "says which jobs the cluster runs",
    "folder": "says where the dumps of the cluster are",
    "images": "rewrites the images that start so, or pins those that are called so; no image of a job is or does",
}
_SETTING = "a setting of the {}: it says how jobs are compiled, and stands in no manifest itself"
_EMPTY = "the API leaves an empty value out, or nothing in the manifests rests on it"
_META = ("name", "namespace", "finalizers")


class ValueUse(NamedTuple):
    """What became of a value on the way: whether it counts itself, its document does, and somebody above says the same."""

    counts: bool
    held: bool
    renamed: bool


def reason(document: Document, path: Path, content: object, bundles: Sequence[Bundle], use: ValueUse) -> str:
    """Why the value at a path of a document is in no manifest, in words that name the cause where it is known."""
    if len(path) == 1:
        return "says what this document is"
    plans = [bundle.plan for bundle in bundles if bundle.plan is not None]
    if path[0] == "metadata":
        return _metadata(document.kind, path)
    if document.kind == "TrainJob":
        return _of_job(path, plans[0] if plans else None)
    if document.kind == "Project" and "patch" not in path[3:4]:
        return _of_project(path)
    if path[1] in _OWN and document.kind in ("Runtime", "RuntimeComponent"):
        return _OWN[str(path[1])]
    if not use.held:
        return "no job that was compiled uses it"
    if path[-1] == "$patch" or (content is None and use.counts):
        return "takes away what lower layers say" if content != "replace" else "replaces what lower layers say"
    if is_pointer(path):
        return f"points at `{content}`; the name itself was written by a {'higher' if use.renamed else 'lower'} layer"
    if not use.counts:
        return "a parameter of the component writes this field"
    return _EMPTY


def _metadata(kind: str, path: Path) -> str:
    if path[-1] == _FRAMEWORK:
        return "says which framework the runtime is for; where no policy does, it selects the framework"
    if str(path[-1]).startswith(TRAINC_PREFIX):
        return "trainc itself reads it"
    if path[1] == "name":
        return "names this document"
    return _JOB_LEVEL if kind == "TrainJob" else _OUTSIDE.format(kind=kind)


def _of_project(path: Path) -> str:
    if path[1] != "clusters" or len(path) < 4:
        return _SETTING.format("project")
    return _CLUSTER.get(str(path[3]), _SETTING.format("cluster"))


def _of_job(path: Path, plan: Plan | None) -> str:
    for prefix, text in _TRAINJOB:
        if path[: len(prefix)] == prefix:
            return text
    if len(path) == 2:
        return _EMPTY
    if path[:2] == ("spec", "runtimePatches"):
        return _of_patch(path)
    if plan is not None and path[:2] == ("spec", "trainer"):
        return _of_trainer(str(path[2]), plan)
    if path[:2] == ("spec", "initializer"):
        return f"wrong container: the runtime has no `{path[2]}-initializer` job with a container of that name"
    return "nothing in the manifests rests on it"


def _of_trainer(field: str, plan: Plan) -> str:
    trainers = [role for role in plan.roles if role.ancestor == TRAINER]
    if not trainers:
        return "wrong container: no replicated job of the runtime is labelled as the trainer"
    if not any(role.container(NODE) for role in trainers):
        names = ", ".join(f"`{role.name.value}`" for role in trainers)
        return f"wrong container: {names} has no container `{NODE}`, the one that `spec.trainer` reaches"
    if field == "numProcPerNode":
        return f"the framework {plan.framework} counts its processes in another way"
    if field == "resourcesPerNode" and plan.policy is None:
        return "not overridable upstream: without an mlPolicy in the runtime nobody looks at resourcesPerNode (Trainer v2.3.0)"
    if field == "numNodes" and get(plan.policy, "mpi") is None:
        return "beaten: the framework counts the nodes"
    return f"the framework {plan.framework} writes this field itself"


def _of_patch(path: Path) -> str:
    if path[3:] == ("manager",):
        return "says who patches"
    if path[3:] == ("time",):
        return "says when the patch was made"
    if "metadata" in path and path[-1] in _META and path[-2] == "metadata":
        return "not overridable upstream: of a patch's metadata only labels and annotations count"
    if is_pointer(path):
        return "points at what is patched; the name itself was written by the runtime"
    return "nothing in the manifests rests on it: an empty value in a patch changes nothing"


def is_pointer(path: Path) -> bool:
    """Whether a path leads to the key of an item of a keyed list."""
    return len(path) > 2 and type(path[-2]) is int and MERGE_KEYS.get(str(path[-3])) == path[-1]
