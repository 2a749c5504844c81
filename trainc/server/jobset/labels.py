"""The labels that JobSet writes on every Job and pod, and under the same names as annotations.

Source: `labelAndAnnotateObject` of JobSet's controller, after v0.12.
"""

from __future__ import annotations

from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree

_PREFIX = "jobset.sigs.k8s.io/"
_UID, _KEY = "0" * 36, "0" * 40  # of the length of what the server chooses and of a hash


def written_labels(jobset: Tree, job: Tree) -> dict[str, str]:
    """The labels of the first Job of a replicatedJob; a uid and a hash are zeros."""
    name, group = f"{value(jobset, 'metadata', 'name')}", _group(job)
    roles = jobset["spec"]["replicatedJobs"]
    before = roles[: next((index for index, role in enumerate(roles) if role is job), 0)]
    texts = {
        "jobset-name": name,
        "jobset-uid": _UID,
        "replicatedjob-name": f"{value(job, 'name')}",
        "replicatedjob-replicas": f"{_replicas(job)}",
        "global-replicas": f"{sum(map(_replicas, roles))}",
        "job-index": "0",
        "job-key": _KEY,
        "job-global-index": f"{sum(map(_replicas, before))}",
        "restart-attempt": "0",
        "group-name": group,
        "group-replicas": f"{sum(_replicas(role) for role in roles if _group(role) == group)}",
        "job-group-index": f"{sum(_replicas(role) for role in before if _group(role) == group)}",
    }
    return {f"{_PREFIX}{key}": text for key, text in texts.items()}


def _replicas(job: Tree) -> int:
    replicas = value(job, "replicas")
    return replicas if type(replicas) is int else 1


def _group(job: Tree) -> str:
    return f"{value(job, 'groupName') or 'default'}"
