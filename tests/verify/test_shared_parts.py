"""What jobs share with others of their runtime is read once, and no job is judged otherwise for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.compiling import ROOT
from trainc import pipeline
from trainc.model.bundle import Bundle
from trainc.model.report import Report
from trainc.model.settings import Selection
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import stamp
from trainc.project import open_project
from trainc.verify import look
from trainc.verify.casings import casing_of
from trainc.verify.frames import work_of
from trainc.verify.policies import FAILURES
from trainc.verify.traits import TRAITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.cluster import Cluster
    from trainc.model.shared import Shared
    from trainc.model.tree import Tree

TEXTS, OTHERS = ("", "-x", "$(X)"), (0, -1, None, "8")
FIELDS = {
    "pod": stamp({"serviceAccountName": "A b", "hostNetwork": True, "resources": {"limits": {"cpu": "1"}}}, "test"),
    "metadata": stamp({"labels": {"a b": "c"}, "annotations": {"a b": "c"}}, "test"),
    "container": stamp(
        {"securityContext": {"privileged": True, "runAsUser": -1}, "volumeMounts": [{"name": "none"}]}, "test"
    ),
}


def bundles() -> list[tuple[Bundle, Cluster]]:
    """The first job of each cluster of the example, after all others have been judged."""
    found: dict[str, tuple[Bundle, Cluster]] = {}
    project = open_project((str(ROOT / "examples/platform"),), Report())
    clusters = {cluster.name: cluster for cluster in project.clusters}
    for bundle in pipeline.bundles(project, Selection((".",)), Report()):
        found.setdefault(bundle.cluster, (bundle, clusters[bundle.cluster]))
    return list(found.values())


def changed(tree: Tree, within: str = "") -> Iterator[Tree]:
    """The tree with one node taken away, written otherwise, doubled or added; all other nodes are the very same."""
    if type(tree) is dict:
        for key, node in tree.items():
            yield {other: inner for other, inner in tree.items() if other != key}
            for one in changed(node, key):
                yield {**tree, key: one}
        kind = "container" if "image" in tree else "pod" if "containers" in tree else within
        for key, node in FIELDS.get(kind, {}).items():
            yield {**tree, key: node}
    elif type(tree) is list:
        for at, item in enumerate(tree):
            yield [*tree[:at], item, *tree[at:]]
            for one in changed(item):
                yield [*tree[:at], one, *tree[at + 1 :]]
    elif type(tree) is Sourced:
        for other in TEXTS if type(tree.value) is str else OTHERS:
            yield Sourced(other, tree.origin)


def heard(bundle: Bundle, jobset: Tree, cluster: Cluster, shared: Shared | None) -> list[str] | str:
    """What is said of a JobSet in the place of a bundle's own, with what its runtime shares or with nothing shared."""
    assert bundle.plan is not None
    objects = tuple([jobset if tree is bundle.jobset else tree for tree in bundle.objects])
    known, report = bundle.plan.shared, Report()
    bundle.plan.shared = shared
    try:
        look(Bundle(bundle.document, objects, bundle.plan, jobset=jobset), cluster, report)
    except (AttributeError, KeyError, TypeError) as error:
        return repr(error)  # what the schema refuses never comes here
    finally:
        bundle.plan.shared = known
    return [repr(finding.identity()) for finding in report.findings]


@pytest.mark.parametrize("at", range(2))
def test_what_is_shared_changes_no_finding(at: int) -> None:
    bundle, cluster = bundles()[at]
    assert bundle.plan is not None
    shared = bundle.plan.shared
    assert shared is not None
    variants = [bundle.jobset, *changed(bundle.jobset)]
    warm = [heard(bundle, one, cluster, shared) for one in variants]
    assert len({repr(each) for each in warm}) > 50
    assert warm == [heard(bundle, one, cluster, None) for one in variants]


def test_casings_are_those_of_these_pods() -> None:
    bundle, _ = bundles()[0]
    assert bundle.plan is not None
    shared = bundle.plan.shared
    assert shared is not None
    pod = bundle.jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    known = casing_of(pod, shared)
    assert casing_of({**pod, "containers": [], "nodeSelector": {}}, shared) is known
    assert casing_of({**pod, "restartPolicy": Sourced("Never", Origin(by="job"))}, shared) is known
    for field in pod.keys() - {"containers", "nodeSelector"}:
        for one in changed(pod[field], field):
            other = {**pod, field: one}
            casing, fresh = casing_of(other, shared), casing_of(other, None)
            assert casing is not known
            assert (casing.traits, casing.needs) == (fresh.traits, fresh.needs)
            assert traits_of(casing.outline) == traits_of(fresh.outline)


def traits_of(outline: Tree) -> frozenset[str]:
    """The traits of a job with one role of this casing."""
    role = ("name",), work_of({}, {}), outline, (), None, ()
    return TRAITS[("replicatedJobs",), (), FAILURES[None], (role,), frozenset()]
