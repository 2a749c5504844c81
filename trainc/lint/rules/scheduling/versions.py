"""A rule about Kubernetes' own gangs that people write: the cluster's version must know them."""

from __future__ import annotations

from trainc.model.tree import value
from trainc.schedulers.native import API_NOT_SERVED, GROUP, version_served
from trainc.text.object_keys import NATIVE_FIELD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.lint.facts.placement import Placement
    from trainc.model.cluster import Version
    from trainc.model.finding import Finding
    from trainc.model.report import Report

_KINDS = ("Workload", "PodGroup")


def look(placement: Placement, report: Report) -> None:
    """Report groups in a version that the cluster's Kubernetes does not serve, and pods whose tie it does not know."""
    kubernetes = placement.cluster.kubernetes
    if kubernetes is None:
        return
    for finding in (*_objects(placement, kubernetes), *_ties(placement, kubernetes)):
        report.add(finding)


def _objects(placement: Placement, kubernetes: Version) -> Iterator[Finding]:
    for kind in _KINDS:
        served = _served(kind, kubernetes)
        for tree in placement.bundle.of_kind(kind):
            group, _, version = str(value(tree, "apiVersion") or "").partition("/")
            if group == GROUP and version not in served:
                yield API_NOT_SERVED.at(
                    placement.bundle.span(tree, ("apiVersion",)),
                    f"Kubernetes {_dotted(kubernetes)} does not serve {kind} in `{GROUP}/{version}`",
                    effect="the API server refuses the object, and its pods wait for it",
                    help=_instead(served),
                )


def _served(kind: str, kubernetes: Version) -> tuple[str, ...]:
    """The versions of a kind that a Kubernetes has; 1.35 had Workloads alone, with their groups inside."""
    newest = version_served(kubernetes)
    if not newest:
        return ("v1alpha1",) if kind == "Workload" and kubernetes == (1, 35) else ()
    return (newest, "v1alpha3") if newest == "v1beta1" else (newest,)


def _ties(placement: Placement, kubernetes: Version) -> Iterator[Finding]:
    first = next((tie for tie in placement.ties if tie.back_end == "native"), None)
    if first is not None and not version_served(kubernetes):
        yield API_NOT_SERVED.at(
            placement.at(*first.path),
            f"the pods of Kubernetes {_dotted(kubernetes)} have no field `{NATIVE_FIELD}`",
            effect="the API server drops it, and the job runs without a gang",
            help="use `coscheduling` or `volcano` below Kubernetes 1.36",
        )


def _dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def _instead(served: tuple[str, ...]) -> str:
    if not served:
        return "use `coscheduling` or `volcano` below Kubernetes 1.36"
    return f"use {' or '.join(f'`{GROUP}/{version}`' for version in served)}"
