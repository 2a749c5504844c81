"""The plan of a job whose page lays out the whole JobSet itself."""

from __future__ import annotations

from trainc.model.plan import Plan, Role
from trainc.model.sourced import Sourced
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from trainc.kinds.shared.job import LegacyOptions
    from trainc.model.catalog import Entry
    from trainc.model.document import Document
    from trainc.model.tree import Tree

    class JobAsRead(Protocol):
        """What every page knows of its job."""

        @property
        def document(self) -> Document: ...
        @property
        def name(self) -> Sourced[str]: ...
        @property
        def options(self) -> LegacyOptions: ...


def plan_of_jobset(
    job: JobAsRead,
    entry: Entry,
    template: Tree,
    pods: Iterable[Tree],
    *,
    gang: Tree,
    framework: str,
    kind: str,
    companions: tuple[Document, ...] | None = None,
) -> Plan:
    """The plan of a template: `pods` holds the number of pods of each of its replicatedJobs, in their order.

    `companions` are the objects of the file that go out with the job, where they are not as they were written.
    """
    namespace = get(job.document.tree, "metadata", "namespace")
    pairs = zip(template["spec"]["replicatedJobs"], pods, strict=True)
    return Plan(
        document=job.document,
        runtime=None,
        name=job.name,
        namespace=namespace if type(namespace) is Sourced else None,
        framework=framework,
        policy=None,
        gang=gang,
        template=template,
        roles=tuple(Role(index, tree, count) for index, (tree, count) in enumerate(pairs)),
        steps=(("runtime", f"{kind} {job.name.value}", template, (), None),),
        companions=entry.companions if companions is None else companions,
        beside=entry.beside,
        secrets=job.options.secrets,
    )
