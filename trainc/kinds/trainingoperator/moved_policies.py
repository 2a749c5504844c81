"""Policies that early versions kept at the root of a spec, put where the later ones read them."""

from __future__ import annotations

from trainc.kinds.table import MPI_OPERATOR, V1
from trainc.model.finding import WARNING, Rule
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.table import Kind
    from trainc.model.document import Document
    from trainc.model.report import Report

MOVED = Rule(
    "moved-field",
    WARNING,
    "a policy is where only older versions of the kind have it",
    "The API server prunes unknown fields: since `runPolicy` exists, the policy has no effect, with no message.",
)
ROOT_POLICIES = (
    "cleanPodPolicy",
    "ttlSecondsAfterFinished",
    "activeDeadlineSeconds",
    "backoffLimit",
    "schedulingPolicy",
)


def settled(document: Document, kind: Kind, report: Report) -> Document:
    """The job with all its policies in `runPolicy`; what stands there already wins."""
    spec = get(document.tree, "spec")
    if type(spec) is not dict:
        return document
    policies = [name for name in ROOT_POLICIES if name in spec]
    if not policies:
        return document
    policy = get(spec, "runPolicy")
    inside = dict(policy) if type(policy) is dict else {}
    for name in policies:
        _say(document, kind, name, name in inside, report)
        inside.setdefault(name, spec[name])
    kept = {key: node for key, node in spec.items() if key not in policies}
    return document.admitted({**document.tree, "spec": {**kept, "runPolicy": inside}})


def _say(document: Document, kind: Kind, name: str, beaten: bool, report: Report) -> None:
    if kind.api not in {V1, MPI_OPERATOR} or (kind.api == V1 and kind.kind == "MPIJob" and name == "cleanPodPolicy"):
        return
    help_ = "remove it: `spec.runPolicy` says it too" if beaten else f"write it as `spec.runPolicy.{name}`"
    message = f"`spec.{name}` left the API of {kind.kind} when `runPolicy` came"
    report.add(MOVED.at(document.span(("spec", name), key=True), message, help=help_))
