"""Two compilations of one job side by side: every difference, and why it is there; and a summary of many files."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from trainc.changes.migrate.target import MigrationTarget
from trainc.compiler.pipeline import bundles
from trainc.frameworks.base.vocabularies import TORCHRUN, VOCABULARIES
from trainc.model.bundle import Bundle
from trainc.model.inference import PORT
from trainc.model.report import Report
from trainc.model.settings import Checks, Project, Selection
from trainc.model.tree import plain
from trainc.text.counting import few
from trainc.text.embedded_json import json_value
from trainc.text.masking import MASK, named_secret, variable_of
from trainc.text.numbers import with_octal

_FIELDS_NAMED = 3  # fields that are named beside the reason that they share
UNEXPLAINED = "not explained: compare the two before you use the new file"
# The parts of the mpi-operator under the names that the Trainer gives them.
_MPI_NAMES = (
    (re.compile(r"^(ConfigMap/.*)-config(?=/)"), r"\1-mpi-hostfile"),
    (re.compile(r"(volumes|volumeMounts)\[mpi-job-config\]"), r"\1[mpi-hostfile]"),
    (re.compile(r"(volumes|volumeMounts)\[ssh-auth\]"), r"\1[mpi-ssh-auth]"),
)
_OF_POLICY = {
    "mpi": (
        (r"^ConfigMap/[^/]*-mpi-hostfile/(metadata/labels/app|data/discover_hosts\.sh)$", "the job does not read it"),
        (
            r"^ConfigMap/[^/]*-mpi-hostfile/metadata/name$|volumes\[mpi-hostfile\]/configMap/",
            "the Trainer has its own hostfile",
        ),
        (r"volumes\[mpi-ssh-auth\]/secret/", "the Trainer has its own Secret with SSH keys"),
        (r"/securityContext/fsGroup$", "the Trainer's ssh keys are readable for root and this group"),
        (r"/dnsConfig/searches\[", "the hostfile names hosts that resolve without it"),
    ),
    "torch": ((r"env\[(MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK)\]/", "torchrun sets it for each of its processes"),),
}
# Where a job asked Volcano for a gang, and its runtime does so now.
_OF_GANGS = (
    (r"/spec/minResources$", "its pods request nothing"),
    (r"/spec/minTaskMember/", "the gang is all pods of the job: no task has a number of its own"),
    (r"/metadata/(labels|annotations)/", "the Trainer passes neither labels nor annotations to the PodGroup"),
)
_NAMESPACE = re.compile(r"(-\d+\.[a-z0-9-]+)\.[a-z0-9-]+\.svc(\.[a-z0-9.-]+)?(?=[:\s])")
_WIRING = ("env[TF_CONFIG]/value", "/data/hostfile")
_BOTH = ("PET_NNODES", "OMPI_MCA_orte_set_default_slots")  # what a policy must set as the operator did
LATEST = Project(".")


class Difference(NamedTuple):
    """One field that the two differ in; None where a side does not have it."""

    path: str
    before: object
    after: object
    reason: str

    def __str__(self) -> str:
        hidden = named_secret(variable_of(self.path))
        before, after = (
            MASK if hidden and side is not None else ("absent" if side is None else with_octal(self.path, repr(side)))
            for side in (self.before, self.after)
        )
        return f"{self.path}: {before} -> {after} ({self.reason})"

    @property
    def weight(self) -> int:
        """How much it matters, 0 most: nobody knows why, the pod itself differs, or only a label or an annotation."""
        if self.reason == UNEXPLAINED:
            return 0
        return 2 if "/labels/" in self.path or "/annotations/" in self.path else 1

    @property
    def field(self) -> str:
        """The last words of the path, by which people know the field."""
        words = re.findall(r"(?:[^/\[]|\[[^\]]*\])+", self.path.removesuffix("/value"))
        return "/".join(words[-2:]) if len(words) > 1 and not words[-1].startswith("env[") else words[-1]


def by_reason(differences: Sequence[Difference]) -> list[str]:
    """A line for each reason, the gravest first, and among equal ones that of the most fields; in full what has none."""
    groups: dict[str, list[Difference]] = {}
    for difference in differences:
        groups.setdefault(difference.reason, []).append(difference)
    lines: list[str] = []
    for reason, group in sorted(groups.items(), key=lambda item: (min(one.weight for one in item[1]), -len(item[1]))):
        if reason == UNEXPLAINED:
            lines += map(str, group)
        else:
            lines.append(f"{reason}: {few(dict.fromkeys(one.field for one in group), _FIELDS_NAMED)}")
    return lines


def _set(names: Iterable[str]) -> str:
    return rf"env\[({'|'.join(names)})\]"


# What the Trainer does otherwise than the operators did; the first pattern that matches the path names the reason.
_REASONS = (
    (r"env\[(PET_RDZV_ENDPOINT|POD_NAMESPACE)\]|/dnsConfig/searches\[", "the file names no namespace: the rendezvous host takes it from the pod"),
    (_set(TORCHRUN.passes_on), f"torchrun meets at the Trainer's port {PORT}; programs without it still use MASTER_PORT"),
    (_set(TORCHRUN.processes[1:]), "the Trainer counts processes from the resources unless `numProcPerNode` is set"),
    (_set(VOCABULARIES["torch"].reserved), "set by the Trainer's torch policy"),
    (_set(VOCABULARIES["jax"].reserved), "set by the Trainer's jax policy, so `jax.distributed.initialize()` needs no arguments"),
    (_set(VOCABULARIES["xgboost"].reserved), "set by the Trainer's xgboost policy, so no script has to derive it"),
    (r"annotations/scheduling\.volcano\.sh/queue-name$", "the Trainer reads the queue there"),
    (r"^PodGroup/.*/minTaskMember/", "Volcano ignores minima of tasks that are 0 or add up to more than `minMember`"),
    (r"^PodGroup/", "a TrainJob is a gang as a whole: its queue and priority are passed to the scheduler"),
    (r"ports\[", "the port where processes meet under the Trainer"),
    (r"training\.kubeflow\.org/", "labels of an operator that is no longer involved"),
    (r"trainjob-ancestor-step", "marks the role that the Trainer scales and configures"),
    (r"/groupName$", "the server's default, written out"),
    (r"annotations/trainc\.dev/", "how the original job was compiled"),
)  # fmt: skip


def differences(before: list[Any], after: list[Any], want: MigrationTarget) -> list[Difference]:
    """Every field in which two lists of objects differ, roles and containers called by their new names in both."""
    renamed = _Names(want)
    old = {renamed.path(path): value for path, value in _flat(before).items()}
    new = _flat(after)
    sides = [(path, old.get(path), new.get(path)) for path in {**old, **new}]
    return [Difference(*side, renamed.reason(*side)) for side in sides if side[1] != side[2]]


class _Names:
    def __init__(self, want: MigrationTarget) -> None:
        self.names = [pair for pair in (*want.roles.items(), *want.containers.items()) if pair[0] != pair[1]]
        self.want = want
        self.policy = want.policy.name if want.policy is not None else ""

    def path(self, path: str) -> str:
        """A path in the new names."""
        for former, name in self.want.roles.items():
            path = path.replace(f"/replicatedJobs[{former}]", f"/replicatedJobs[{name}]")
            path = path.replace(f"/dependsOn[{former}]", f"/dependsOn[{name}]")
        for former, name in self.want.containers.items():
            path = path.replace(f"/containers[{former}]", f"/containers[{name}]")
        for pattern, name in _MPI_NAMES if self.policy == "mpi" else ():
            path = pattern.sub(name, path)
        return path

    def reason(self, path: str, left: object, right: object) -> str:
        """Why the two differ at a path."""
        if isinstance(left, str) and isinstance(right, str):
            for former, name in self.names:
                if left.replace(f"-{former}-", f"-{name}-") == right or (left, right) == (former, name):
                    return f"`{former}` is called `{name}` under the Trainer"
            if path.endswith(_WIRING):
                # Both must name the same hosts, in the same order.
                for former, name in self.want.roles.items():
                    left = left.replace(f"-{former}-0-", f"-{name}-0-")
                hosts = [_NAMESPACE.sub(r"\1", text) for text in (left, right)]
                cluster = _cluster(hosts[0])
                is_same = hosts[0] == hosts[1] or (cluster is not None and cluster == _cluster(hosts[1]))
                return "the hosts are the same; only the form of their names changes" if is_same else UNEXPLAINED
        written = self.want.policy.own if self.want.policy is not None and left is not None else ()
        must_stay = any(f"env[{name}]" in path for name in (*_BOTH, *written))
        if must_stay or (path.endswith(_WIRING) and left and right):
            return UNEXPLAINED
        if self.want.is_gang and path.startswith("PodGroup/"):
            return next((reason for pattern, reason in _OF_GANGS if re.search(pattern, path)), UNEXPLAINED)
        of_policy = _OF_POLICY.get(self.policy, ()) if right is None or self.policy == "mpi" else ()
        decided = left is None or "/spec/template/spec/" not in path or path.endswith("/restartPolicy")
        by_runtime = self.want.followed and decided
        otherwise = f"the runtime `{self.want.followed}` sets it" if by_runtime else UNEXPLAINED
        return next((reason for pattern, reason in (*of_policy, *_REASONS) if re.search(pattern, path)), otherwise)


def _cluster(text: str) -> Any:
    """The hosts and the task of a TF_CONFIG, references to variables as texts; None for a text that is none."""
    try:
        parsed = json_value(re.sub(r'"?\$\(([A-Z_]+)\)"?', r'"\1"', text))
    except ValueError:
        return None
    return (parsed.get("cluster"), parsed.get("task")) if isinstance(parsed, dict) else None


def _flat(objects: list[Any]) -> dict[str, object]:
    named = [(tree, f"{tree['kind']}/{tree['metadata'].get('name', '')}") for tree in objects]
    found = (pair for tree, name in named for pair in _leaves(tree, name))
    # A variable without a value is an empty one.
    return {path: value for path, value in found if value != "" or not path.endswith("]/value")}


def _leaves(node: Any, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(node, dict) and node:
        for key, value in node.items():
            if key != "name" or not path.endswith("]"):
                yield from _leaves(value, f"{path}/{key}")
    elif isinstance(node, list) and node:
        once: set[str] = set()
        for index, item in enumerate(node):
            name = str(item.get("name", item.get("containerPort", index)) if isinstance(item, dict) else index)
            name = f"{name} at {index}" if name in once else name
            once.add(name)
            yield from _leaves(item, f"{path}[{name}]")
    else:
        yield path, node


def made(text: str | bytes, project: Project = LATEST, *, checked: bool = True) -> tuple[list[Bundle], Report]:
    """The bundles of all jobs in a text, and what was found about them; not `checked`: what servers refuse alone."""
    report = Report()
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    lenient = project.checked(Checks(field_validation="warn", admission_only=not checked))
    return list(bundles(lenient, Selection((), stdin=data), report)), report


def objects(compiled: list[Bundle]) -> list[Any]:
    """The objects of bundles as plain values."""
    return [plain(tree) for bundle in compiled for tree in bundle.objects]


def compiled(text: str | bytes, project: Project = LATEST) -> tuple[list[Any], Report]:
    """The objects of all jobs in a text, and what was found about them."""
    bundles, report = made(text, project)
    return objects(bundles), report
