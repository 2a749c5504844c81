"""Mistakes of a pod that the rules' own cases show: where `fails` and `passes` differ in one pod template alone."""

import re
from pathlib import Path as Folder

import yaml

from tests.compiling import ROOT
from tests.matrix.kinds import Node, Path
from tests.matrix.matrix import Mistake, differences

CASES = ROOT / "tests/cases/verify"

# Rules whose case shows more than a pod: why the difference of the pods alone is not the mistake.
OF_THE_JOB = {
    "checkpoints-in-empty-dir": "the job restarts",
    "coordinator-names-no-pod": "an address holds the name of the job",
    "coordinator-ports-differ": "a second role meets at the same address",
    "failure-policy-needs-never": "the Job has a failure policy",
    "folded-script": "the mistake is the style of the scalar, which goes where a pod is written anew",
    "init-container-waits-for-itself": "an address holds the name of the job",
    "host-names-no-pod": "a host name holds the name of the job",
    "pod-security": "a Namespace stands beside the job",
    "ranks-overlap": "a second role meets at the same address",
    "restarts-without-checkpoint": "the job restarts",
}
# Rules that count the pods of one role: in a kind that splits them over two roles the numbers are others.
OF_A_ROLE = frozenset(
    (
        *(
            "bad-coordinator-port",
            "batch-not-divisible",
            "constant-rank",
            "coordinator-is-each-pod",
            "coordinators-differ",
            "host-port-clash",
        ),
        *("mesh-mismatch", "no-rendezvous", "nodes-mismatch", "scheduler-without-group"),
        *("tpu-accelerator-unknown", "tpu-selector-missing", "tpu-topology-mismatch", "variable-of-other-hardware"),
        "world-size-mismatch",
    )
)


def derived() -> list[Mistake]:
    """The mistake of each rule whose two cases differ in a pod template, in the order of the rules' names."""
    found = []
    for folder in sorted(CASES.iterdir()):
        fails, passes = [_jobset(folder / which / "input") for which in ("fails", "passes")]
        if fails is None or passes is None or folder.name in OF_THE_JOB:
            continue
        paths = list(differences(passes, fails))
        roles = {_role(path) for path in paths}
        if len(roles) == 1 and None not in roles:
            index = roles.pop()
            broken, healthy = [one["spec"]["replicatedJobs"][index]["template"]["spec"] for one in (fails, passes)]
            pods = healthy.get("parallelism") or 1
            if isinstance(pods, int) and not isinstance(pods, bool):
                name, is_of_role = f"case-{folder.name}", folder.name in OF_A_ROLE
                found.append(Mistake(name, folder.name, healthy["template"], broken["template"], pods, is_of_role))
    return found


def _jobset(folder: Folder) -> Node | None:
    """The JobSet of a case that holds nothing else."""
    files = sorted(folder.rglob("*")) if folder.is_dir() else []
    if len(files) != 1:
        return None
    text = files[0].read_text("utf-8")
    if re.search(r"^kind: JobSet$", text, re.MULTILINE) is None or re.search(r"^---\n", text, re.MULTILINE):
        return None
    return yaml.load(text, yaml.CSafeLoader)


def _role(path: Path) -> object:
    """The replicatedJob whose pod template holds a field, None for a field of anything else."""
    inside = path[:2] == ("spec", "replicatedJobs") and path[3:6] == ("template", "spec", "template")
    return path[2] if inside else None
