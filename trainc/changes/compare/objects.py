"""Objects beside jobs: those that jobs name, and those passed through; each is compared under its own name."""

from __future__ import annotations

from typing import NamedTuple

from trainc.compiler import pipeline
from trainc.compiler.emit.spool.objects import parts_of
from trainc.model.bundle import Bundle
from trainc.model.references import KINDS, names_in, provides
from trainc.model.report import Report
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trainc.model.settings import Project, Selection
    from trainc.model.tree import Tree

Key = tuple[str, str, str]  # cluster, namespace, name of the job, or kind/name of an object beside jobs


class Split(NamedTuple):
    """One state: the bundles of jobs without some objects, and a bundle for each of these objects."""

    jobs: list[Bundle]
    objects: dict[Key, Bundle]


def object_key(bundle: Bundle, tree: Tree) -> Key:
    """Cluster, namespace, and kind and name as kubectl has them: no job's name has a slash in it.

    What is passed through is there once for all clusters; without a name its file stands for it.
    """
    kind, group = str(value(tree, "kind")), str(value(tree, "apiVersion")).rpartition("/")[0]
    kinds = kind.lower() if kind in KINDS or not group else f"{kind.lower()}.{group}"
    name = value(tree, "metadata", "name") or bundle.document.file
    cluster = "" if bundle.passing else bundle.cluster
    return cluster, str(value(tree, "metadata", "namespace") or "default"), f"{kinds}/{name}"


def names_apart(bundles: Iterable[Bundle]) -> frozenset[Key]:
    """The objects that are in no job's bundle."""
    return frozenset(object_key(one, tree) for one in bundles if one.jobset is None for tree in one.objects)


def split(bundles: Iterable[Bundle], names: frozenset[Key]) -> Split:
    """The bundles with the objects of these names apart, also where they stand in the file of a job."""
    parts = Split([], {})
    for bundle in bundles:
        apart = {key: tree for tree in bundle.objects if (key := object_key(bundle, tree)) in names}
        for key, tree in apart.items():
            parts.objects[key] = Bundle(bundle.document, (tree,), cluster=bundle.cluster, passing=bundle.passing)
        if bundle.jobset is not None:
            parts.jobs.append(_without(bundle, apart.values()) if apart else bundle)
    return parts


def _without(bundle: Bundle, trees: Iterable[Tree]) -> Bundle:
    gone = {id(tree) for tree in trees}
    own = tuple(tree for tree in bundle.objects if id(tree) not in gone)
    return Bundle(bundle.document, own, bundle.plan, cluster=bundle.cluster, jobset=bundle.jobset)


def applied(
    compiled: Iterable[Bundle], kept: Mapping[Key, Bundle], project: Project, selection: Selection
) -> list[Bundle]:
    """What is applied where some runs keep their renderings: these, the other jobs, and the objects that both name."""
    bundles = [kept.get(job_key(one), one) if one.jobset is not None else one for one in compiled]
    return [*bundles, *pipeline.objects_named(bundles, project, selection, Report(compiles=False))]


def of_run(bundle: Bundle, project: Project) -> Bundle:
    """What stands in the rendered file of a job's run: where earlier runs stay, what outlives a run stands elsewhere."""
    return parts_of(bundle)[-1] if project.old_run == "keep" else bundle


def job_key(bundle: Bundle) -> Key:
    """Cluster, namespace and name of a bundle's job."""
    return bundle.cluster, str(value(bundle.jobset, "metadata", "namespace") or "default"), bundle.name


def naming(bundle: Bundle, jobs: Iterable[Bundle]) -> frozenset[str]:
    """The files of the jobs that name the object of a bundle, and its own."""
    wanted = {provides(tree) for tree in bundle.objects}
    users = (one for one in jobs if one.cluster == bundle.cluster and wanted & names_in(one.objects))
    return frozenset((*bundle.document.files, *(one.document.file for one in users)))
