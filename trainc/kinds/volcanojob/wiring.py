"""A Volcano Job as its plugins see it once it is laid out: its tasks, and the addresses of their pods."""

from __future__ import annotations

from trainc.kinds.volcanojob.spec import plugins, read_tasks
from trainc.model.sourced import Sourced, derive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.kinds.volcanojob.flags import Flags
    from trainc.kinds.volcanojob.spec import Task
    from trainc.model.plan import Plan


class Wiring:
    """One job as its plugins see it: its tasks with the addresses of their pods, and the flags of each plugin."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.plugins: Mapping[str, Flags] = plugins(plan.job)
        self.tasks = read_tasks(plan.job)
        self._by_name = {task.role: task for task in reversed(self.tasks)}
        roles = {role.name.value: role for role in plan.roles}
        for task in self.tasks:
            role = roles.get(task.role)
            if role is not None:
                task.jobs, task.pods = role.replicas, role.count

    def task(self, name: str) -> Task | None:
        """The task of that name, None where the job has none."""
        return self._by_name.get(name)

    def hosts(self, task: Task) -> list[str]:
        """The addresses of a task's pods."""
        return task.hosts(self.plan.name.value)

    def text(self, by: str, text: str) -> Sourced[str]:
        """A text that rests on the job's name."""
        return derive(by, lambda _: text, self.plan.name)


def lists(wiring: Wiring) -> dict[str, object]:
    """The addresses of each task and their number, under the names of the plugin `svc`."""
    out: dict[str, object] = {}
    for task in wiring.tasks:
        hosts = wiring.hosts(task)
        out[f"VC_{task.variable}_HOSTS"] = wiring.text("hosts of the task", ",".join(hosts))
        out[f"VC_{task.variable}_NUM"] = wiring.text("number of hosts", str(len(hosts)))
    return out
