"""The labels and annotations of a job that its JobSet takes over."""

from __future__ import annotations

from trainc.model.tree import get
from trainc.text.object_keys import LAST_APPLIED, TRAINC_PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree

# Annotations under these prefixes are for tools that look at the job itself, not at its pods or its group.
FOR_THE_JOB = (TRAINC_PREFIX, "kubectl.kubernetes.io/", "argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/")


def job_metadata(job: Tree, *, kept: str = "") -> dict[str, dict[str, Tree]]:
    """Labels and annotations, without those that ask trainc for something, but for `kept`, and kubectl's record."""
    labels, annotations = (_map(get(job, "metadata", field)) for field in ("labels", "annotations"))
    names = [
        name for name in annotations if (name == kept or not name.startswith(TRAINC_PREFIX)) and name != LAST_APPLIED
    ]
    return {"labels": labels, "annotations": {name: annotations[name] for name in names}}


def _map(node: Tree) -> dict[str, Tree]:
    return dict(node) if type(node) is dict else {}
