"""Every module of rules, and the fields without which it has nothing to look at."""

from __future__ import annotations

from trainc.apiserver.frame import frame_of
from trainc.lint.facts.values import table
from trainc.text.memo import Memo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.lint.facts.job import Findings, Job
    from trainc.model.tree import Tree

    Checks = tuple[Callable[[Job], Findings], ...]


def _every() -> Checks:
    from trainc.lint.rules import hygiene, images, life, sizes

    return (*sizes.CHECKS, *life.CHECKS, *hygiene.CHECKS, *images.CHECKS)


def _processes() -> Checks:
    from trainc.lint.rules import (
        commands,
        environment,
        exits,
        meeting,
        mesh,
        ranks,
        references,
        rendezvous,
        tokens,
        topology,
        words,
    )

    return (
        *topology.CHECKS,
        *ranks.CHECKS,
        *commands.CHECKS,
        *meeting.CHECKS,
        *rendezvous.CHECKS,
        *mesh.CHECKS,
        *exits.CHECKS,
        *references.CHECKS,
        *words.CHECKS,
        *environment.CHECKS,
        *tokens.CHECKS,
    )


def _mpi() -> Checks:
    from trainc.lint.rules import launchers, mpi

    return (*mpi.CHECKS, *launchers.CHECKS)


def _amounts() -> Checks:
    from trainc.lint.rules import checkpoints, memory, resources, units

    return (*resources.CHECKS, *units.CHECKS, *memory.CHECKS, *checkpoints.CHECKS)


def _networks() -> Checks:
    from trainc.lint.rules import networks

    return networks.CHECKS


def _tpu() -> Checks:
    from trainc.lint.rules import slices, tpu

    return (*tpu.CHECKS, *slices.CHECKS)


def _machines() -> Checks:
    from trainc.lint.rules import accelerators, pod_sizes

    return (*accelerators.CHECKS, *pod_sizes.CHECKS)


def _parts() -> Checks:
    from trainc.lint.rules import bundles

    return bundles.CHECKS


def _volumes() -> Checks:
    from trainc.lint.rules import access, volumes

    return (*volumes.CHECKS, *access.CHECKS)


def _claims() -> Checks:
    from trainc.lint.rules import claims

    return claims.CHECKS


def _files() -> Checks:
    from trainc.lint.rules import files

    return files.CHECKS


def _annotations() -> Checks:
    from trainc.lint.rules import buckets
    from trainc.lint.rules.scheduling import nodes

    return (*buckets.CHECKS, *nodes.CHECKS)


def _written_annotations() -> Checks:
    from trainc.lint.rules import annotations

    return annotations.CHECKS


def _schedulers() -> Checks:
    from trainc.lint.rules import gangs

    return gangs.CHECKS


def _ports() -> Checks:
    from trainc.lint.rules import ports

    return ports.CHECKS


def _endings() -> Checks:
    from trainc.lint.rules import endings

    return endings.CHECKS


def _rights() -> Checks:
    from trainc.lint.rules import rights

    return rights.CHECKS


def _managers() -> Checks:
    from trainc.lint.rules import jobs

    return jobs.CHECKS


def _grace() -> Checks:
    from trainc.lint.rules import templates

    return templates.CHECKS


# Who loads modules of rules, and the fields of which a job must have one.
MODULES: tuple[tuple[Callable[[], Checks], frozenset[str]], ...] = (
    (_every, frozenset(("JobSet",))),
    (_processes, frozenset(("container.command", "container.args", "container.env"))),
    (_mpi, frozenset(("roles.1", "beside.ConfigMap"))),
    (_amounts, frozenset(("container.resources",))),
    (_networks, frozenset(("container.resources", "container.env"))),
    (_tpu, frozenset(("resources.google.com/tpu",))),
    (_machines, frozenset(("pod.nodeSelector", "pod.resourceClaims", "beside.ComputeDomain"))),
    (
        _parts,
        frozenset(
            (
                "resources.google.com/tpu",
                "failurePolicy.rules",
                "Job.podFailurePolicy",
                "pod.initContainers",
                "containers.1",
            )
        ),
    ),
    (_volumes, frozenset(("pod.volumes", "container.volumeMounts"))),
    (_claims, frozenset(("spec.volumeClaimPolicies",))),
    (
        _files,
        frozenset(
            (
                "pod.volumes",
                "pod.imagePullSecrets",
                "container.volumeMounts",
                "container.env",
                "container.envFrom",
                "spec.volumeClaimPolicies",
            )
        ),
    ),
    (_annotations, frozenset(("volume.csi", "template.annotations", "pod.affinity"))),
    (_written_annotations, frozenset(("written.annotations",))),
    (_schedulers, frozenset(("pod.schedulerName",))),
    (_ports, frozenset(("pod.hostNetwork", "container.ports"))),
    (
        _endings,
        frozenset(
            (
                "roles.1",
                "role.dependsOn",
                "Job.ttlSecondsAfterFinished",
                "Job.activeDeadlineSeconds",
                "spec.ttlSecondsAfterFinished",
            )
        ),
    ),
    (_managers, frozenset(("Job.managedBy",))),
    (_rights, frozenset(("pod.hostPID", "pod.hostIPC", "pod.securityContext", "container.securityContext"))),
    (_grace, frozenset(("pod.terminationGracePeriodSeconds",))),
)


_READ: dict[str, dict[str, str]] = {}  # the fields that a module declares, by the object that has them
for _, paths in MODULES:
    for path in paths:
        _READ.setdefault(path.partition(".")[0], {})[path.partition(".")[2]] = path


def fields_of(job: Job) -> frozenset[str]:
    """The fields of a job that some module declares."""
    paths = ["JobSet"]
    paths += [path for parent, tree in _objects(job) for field, path in _READ[parent].items() if field in tree]
    if len(job.roles) > 1:
        paths.append("roles.1")
    if any(len(role.main) > 1 for role in job.roles):
        paths.append("containers.1")
    return frozenset(paths)


def _objects(job: Job) -> Iterator[tuple[str, Tree]]:
    """The objects that a job consists of, each with what `MODULES` calls it."""
    yield "beside", job.kinds
    yield "written", table(job.bundle.document.tree, "metadata")
    yield "written", job.metadata
    yield "spec", job.spec
    yield "failurePolicy", table(job.spec, "failurePolicy")
    for role in job.roles:
        yield "role", role.tree
        yield "Job", role.spec
        yield "pod", role.pod
        yield "template", role.metadata
        for volume in role.volumes.values():
            yield "volume", volume
        for container in role.containers:
            yield "container", container.tree
            yield "resources", container.limits
            yield "resources", container.requests


def _checks(fields: frozenset[str]) -> Checks:
    return tuple([check for load, read in MODULES if not read.isdisjoint(fields) for check in load()])


_CHECKS = Memo(_checks)
_MAX_FRAMES = 1_000
_CHOSEN: dict[tuple[int, frozenset[str], bool], Checks] = {}


def checks_for(job: Job) -> Checks:
    """The checks that may find something in a job, in the order in which they look: the same for jobs of one frame."""
    written = table(job.bundle.document.tree, "metadata")
    key = frame_of(job.tree), frozenset(job.kinds), "annotations" in written or "annotations" in job.metadata
    chosen = _CHOSEN.get(key)
    if chosen is None:
        if len(_CHOSEN) >= _MAX_FRAMES:
            _CHOSEN.clear()
        chosen = _CHOSEN[key] = _CHECKS[fields_of(job)]
    return chosen


def all_checks() -> Checks:
    """Every check of this stage."""
    return tuple([check for load, _ in MODULES for check in load()])
