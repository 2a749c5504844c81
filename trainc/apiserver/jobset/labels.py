"""The labels that JobSet writes on every Job and pod, and under the same names as annotations.

Source: `labelAndAnnotateObject` of JobSet's controller, after v0.12.
"""

from collections.abc import Iterator

from trainc.model.tree import Tree, value

_PREFIX = "jobset.sigs.k8s.io/"
_UID, _KEY = "0" * 36, "0" * 40  # of the length of what the server chooses and of a hash


def written_labels(jobset: Tree) -> Iterator[dict[str, str]]:
    """The labels of the first Job of each replicatedJob, in order; a uid and a hash are zeros."""
    name = f"{value(jobset, 'metadata', 'name')}"
    roles = jobset["spec"].get("replicatedJobs", ())
    in_all: dict[str, int] = {}
    for role in roles:
        in_all[_group(role)] = in_all.get(_group(role), 0) + _replicas(role)
    total, in_front, before = sum(in_all.values()), 0, dict.fromkeys(in_all, 0)
    for role in roles:
        group, replicas = _group(role), _replicas(role)
        texts = {
            "jobset-name": name,
            "jobset-uid": _UID,
            "replicatedjob-name": f"{value(role, 'name')}",
            "replicatedjob-replicas": f"{replicas}",
            "global-replicas": f"{total}",
            "job-index": "0",
            "job-key": _KEY,
            "job-global-index": f"{in_front}",
            "restart-attempt": "0",
            "group-name": group,
            "group-replicas": f"{in_all[group]}",
            "job-group-index": f"{before[group]}",
        }
        yield {f"{_PREFIX}{key}": text for key, text in texts.items()}
        in_front += replicas
        before[group] += replicas


def _replicas(job: Tree) -> int:
    replicas = value(job, "replicas")
    return replicas if type(replicas) is int else 1


def _group(job: Tree) -> str:
    return f"{value(job, 'groupName') or 'default'}"
