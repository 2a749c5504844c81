"""The names that Volcano gave to the pods of a job, in texts of the job."""

from __future__ import annotations

from trainc.kinds.shared.former_hosts import FormerHosts, is_domain
from trainc.model.finding import WARNING, Rule, place
from trainc.model.sourced import Sourced
from trainc.model.tree import leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.volcanojob.spec import JobOfTasks
    from trainc.model.tree import Tree

SPLICED = Rule(
    "host-name-spliced",
    WARNING,
    "a program builds the host name of a Volcano pod, which has changed",
    "A Job names the hosts of its pods itself. trainc cannot rewrite a name that is built at run time.",
)


class FormerPodNames(FormerHosts):
    """`JOB-TASK-INDEX`, alone or below the Service `JOB`, and what these pods are called in the JobSet."""

    def __init__(self, job: JobOfTasks) -> None:
        super().__init__(job.document.name, job.document, job.report)
        self._domain = job.asks("cluster-domain") or job.options.cluster_domain
        name = job.name.value
        self._present: dict[str, str] = {}
        for task in job.tasks:
            for index, host in enumerate(task.hosts(name)):
                self._present[f"{self.base}-{task.role}-{index}"] = host

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


def check_spliced(job: JobOfTasks) -> None:
    """Say where a text of the job puts together a host name from a task's name and a variable."""
    prefixes = {f"{job.document.name}-{task.role}-" for task in job.tasks}
    lengths = {len(prefix) for prefix in prefixes}
    for task in job.tasks:
        for field in ("containers", "initContainers"):
            for container in task.template.get("spec", {}).get(field) or ():
                _check(job, container, prefixes, lengths)


def _check(job: JobOfTasks, container: Tree, prefixes: set[str], lengths: set[int]) -> None:
    texts: Tree = {key: container[key] for key in ("command", "args", "env") if key in container}
    for _, leaf in leaves(texts):
        text = leaf.value if type(leaf) is Sourced else None
        prefix = _spliced(text, prefixes, lengths) if type(text) is str else ""
        if prefix:
            span = place(leaf.origin) or job.span(("metadata", "name"))
            message = f"a host name that begins with `{prefix}` is put together here: no pod is called so"
            effect = "the name does not resolve"
            help_ = "take the names from `VC_<TASK>_HOSTS` or from the files in /etc/volcano"
            job.say(SPLICED.at(span, message, effect=effect, help=help_))


def _spliced(text: str, prefixes: set[str], lengths: set[int]) -> str:
    """The beginning of a host name that a variable or a placeholder goes on with, "" where there is none."""
    for before in text.replace("{", "$").split("$")[:-1]:
        for length in lengths:
            if before[-length:] in prefixes:
                return before[-length:]
    return ""
