"""Whatever is called usual is what no rule has anything to say about, also after any one change to it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.tree import write
from trainc import pipeline
from trainc.model.bundle import Bundle
from trainc.model.report import Report
from trainc.model.settings import Selection
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import get
from trainc.project import open_project
from trainc.schedulers import looks, rules, usual
from trainc.schedulers.keys import COSCHEDULING_LABEL, EXCLUSIVE, KUEUE_QUEUE, PODSET_REQUIRED, VOLCANO_GROUP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.cluster import Cluster
    from trainc.model.tree import Tree

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "platform"
TEXTS, NUMBERS = ("", "other", "root", "${LATER}"), (0, 1, 7, -1, "${LATER}")
KEYS = (COSCHEDULING_LABEL, EXCLUSIVE, KUEUE_QUEUE, PODSET_REQUIRED, VOLCANO_GROUP)
FIELDS = (
    "suspend",
    "dependsOn",
    "schedulingGroup",
    "readinessProbe",
    "minTaskMember",
    "failurePolicy",
    "startupPolicy",
)
MISTAKE = Origin(by="a mistake")


def bundles() -> list[tuple[Bundle, Cluster]]:
    """One job of each cluster of the example, and a gang of coscheduling."""
    project = open_project((str(EXAMPLE),), Report())
    found = []
    for cluster in project.clusters:
        first = next(pipeline.bundles(project, Selection((".",), clusters=(cluster.name,)), Report()))
        found.append((first, cluster))
    with TemporaryDirectory() as folder:
        write(1, folder, gangs=True)
        project = open_project((folder,), Report())
        found.append((next(pipeline.bundles(project, Selection((".",)), Report())), project.cluster))
    return found


def changed(tree: Tree) -> Iterator[Tree]:
    """The tree with one thing taken away, written otherwise, or added."""
    if type(tree) is dict:
        for key, node in tree.items():
            yield {other: inner for other, inner in tree.items() if other != key}
            for one in changed(node):
                yield {**tree, key: one}
        for key in (*KEYS, *FIELDS):
            if key not in tree:
                yield {**tree, key: Sourced("other", MISTAKE)}
    elif type(tree) is list:
        for at, item in enumerate(tree):
            yield [*tree[:at], *tree[at + 1 :]]
            yield [*tree[:at], item, item, *tree[at + 1 :]]
            for one in changed(item):
                yield [*tree[:at], one, *tree[at + 1 :]]
    elif type(tree) is Sourced:
        for other in TEXTS if type(tree.value) is str else NUMBERS:
            yield Sourced(other, tree.origin)


def heard(bundle: Bundle, cluster: Cluster) -> tuple[list[str], dict[str, int]]:
    """What the rules say about a bundle."""
    report = Report()
    rules.verify(bundle, cluster, report)
    return [repr(finding.identity()) for finding in report.findings], report.unknown


@pytest.mark.parametrize("at", range(3))
def test_nothing_that_is_usual_is_worth_a_word(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle, cluster = bundles()[at]
    variants: list[Bundle] = [bundle]
    for index, tree in enumerate(bundle.objects):
        if get(tree, "kind").value in {"JobSet", "PodGroup"}:
            variants += [
                Bundle(bundle.document, (*bundle.objects[:index], one, *bundle.objects[index + 1 :]), bundle.plan)
                for one in changed(tree)
                if get(one, "kind") == get(tree, "kind") and type(get(one, "spec")) is dict
            ]
    looked: list[None] = []
    whole = looks.look

    def look(*given: Any, **more: Any) -> None:
        looked.append(None)
        whole(*given, **more)

    monkeypatch.setattr(looks, "look", look)
    assert heard(bundle, cluster) == ([], {})
    assert looked == []
    quick = [heard(one, cluster) for one in variants]
    assert 0 < len(looked) < len(variants)
    for name in ("queued", "gang"):
        monkeypatch.setattr(usual, name, lambda *_: False)
    assert quick == [heard(one, cluster) for one in variants]
    assert quick[0] == ([], {})
