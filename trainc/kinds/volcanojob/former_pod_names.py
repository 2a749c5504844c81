"""The names that Volcano gave to the pods of a job, in texts of the job."""

from __future__ import annotations

from trainc.kinds.shared.former_hosts import FormerHosts, is_domain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.kinds.volcanojob.spec import JobOfTasks


class FormerPodNames(FormerHosts):
    """`JOB-TASK-INDEX`, alone or below the Service `JOB`, and what these pods are called in the JobSet."""

    instead = "take the names from `VC_<TASK>_HOSTS` or from the files in /etc/volcano"

    def __init__(self, job: JobOfTasks) -> None:
        super().__init__(job.document.name, job.document, job.report)
        self._domain = job.asks("cluster-domain") or job.options.cluster_domain
        name = job.name.value
        self._present: dict[str, str] = {}
        self._families: dict[str, range | None] = {}
        for task in job.tasks:
            hosts = task.hosts(name)
            self._present |= {f"{self.base}-{task.role}-{index}": host for index, host in enumerate(hosts)}
            if hosts:
                self._families[task.role] = range(len(hosts))

    @property
    def families(self) -> Mapping[str, range | None]:
        """The tasks, and the indices of their pods."""
        return self._families

    def present(self, host: str) -> str:
        """What a host is called now, "" where it is none of Volcano's names or the same as before."""
        first, dot, rest = host.partition(".")
        present = self._present.get(first, "")
        if not present or not dot:
            return present.partition(".")[0]
        subdomain, _, below = rest.partition(".")
        if subdomain != self.base or not is_domain(below, self.document.namespace or "", self._domain):
            return ""
        return f"{present}.{below}" if below else present
