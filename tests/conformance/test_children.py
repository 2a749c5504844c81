"""The Jobs and pods that are put to a server are those that a real controller made of the same JobSets."""

import re
from typing import Any

import pytest
import yaml

from tests.conformance.archives import folders
from tests.conformance.children import child_jobs, first_pods
from tests.sampling import sampled

CASES = folders("live", "pods")
# What a server adds to what the controllers write: defaults, uids, and what admission fills in.
ADDED = re.compile(
    r"controller-uid$|/jobset-uid$|/priority$|/defaultMode$|/hostPath/type$|/fieldRef/apiVersion$|^/metadata/name$"
    r"|^/spec/(template/metadata/labels/(batch\.kubernetes\.io/)?job-name|manualSelector|podReplacementPolicy|backoffLimit)$"
    r"|/resources/requests/|Probe/\w+$|/terminationMessage(Path|Policy)$|/imagePullPolicy$"
    r"|/(dnsPolicy|schedulerName|terminationGracePeriodSeconds|serviceAccount(Name)?)$"
    r"|^/spec/(tolerations#|enableServiceLinks|preemptionPolicy)"
)
# Not compared: a hash of the namespace in which the Job was recorded, which is masked.
MASKED = re.compile(r"/jobset\.sigs\.k8s\.io/job-key$")


def leaves(tree: Any, path: str = "") -> dict[str, str]:
    """Path -> value for every leaf; what is empty is not there, as a server leaves it out."""
    if isinstance(tree, dict):
        return {at: leaf for key, below in tree.items() for at, leaf in leaves(below, f"{path}/{key}").items()}
    if isinstance(tree, list):
        return {at: leaf for index, below in enumerate(tree) for at, leaf in leaves(below, f"{path}#{index}").items()}
    return {path: str(tree)} if tree != "" else {}


def recorded(case: str, kind: str) -> dict[str, dict[str, Any]]:
    found = yaml.safe_load_all(CASES[case].get(f"{kind}.yaml", ""))
    return {each["metadata"].get("generateName", each["metadata"]["name"]): each for each in found if each}


@pytest.mark.parametrize("case", sampled(sorted(CASES), quick=("ex-deepspeed.zero3",)))
def test_children_are_those_of_the_controllers(case: str) -> None:
    jobset = yaml.safe_load(CASES[case]["jobset.yaml"])
    jobs = {job["metadata"]["name"]: job for job in child_jobs(jobset)}
    real = recorded(case, "jobs")
    assert real.keys() == jobs.keys()
    for name, job in real.items():
        assert differ(jobs[name], job) == {}
    pods = {pod["metadata"]["generateName"]: pod for job in jobs.values() for pod in first_pods(job)}
    for name, pod in recorded(case, "pods").items():
        assert differ(pods[name], pod) == {}


def differ(made: Any, real: Any) -> dict[str, tuple[str | None, str | None]]:
    """The leaves in which an object is not as it was recorded: what was made, what was recorded."""
    ours = leaves({field: made[field] for field in ("metadata", "spec")})
    theirs = leaves(real)
    return {
        at: (ours.get(at), theirs.get(at))
        for at in ours | theirs
        if ours.get(at) != theirs.get(at) and not MASKED.search(at) and (at in ours or not ADDED.search(at))
    }
