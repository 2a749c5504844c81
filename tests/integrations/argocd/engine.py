"""Argo CD's sync engine as far as its order and its waiting go, and its health of an application.

Copied in rule, not in text, from `gitops-engine/pkg/sync/sync_context.go` and `sync_tasks.go` of Argo CD 3.6.0:

* An object's wave is its annotation, 0 without one. Pruned objects go in the reverse order of their waves; with
  `PruneLast` they go in a wave behind all others.
* Each step first asks the health of what was applied: Healthy, or no health check, is done; Degraded fails the sync.
* With more than one wave in the whole sync, nothing happens while an object that was applied is neither.
* Then the lowest wave that is left is applied; when nothing is left after that, the sync has succeeded at once.

The health of an application is the worst of its objects' (`controller/health.go`); those without a check do not count.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import lupa.lua51 as lua

Observe = Callable[[Any], Any]  # the live object of a manifest

WAVE = "argocd.argoproj.io/sync-wave"
ORDER = ("Healthy", "Suspended", "Progressing", "Missing", "Degraded", "Unknown")
WAITING, SUCCEEDED, FAILED = "waiting", "succeeded", "failed"
# What Argo CD 3.6.0 itself knows of kinds that stand beside jobs: `gitops-engine/pkg/health` and
# `resource_customizations/external-secrets.io/ExternalSecret/health.lua`.
_CLAIM = {"Bound": "Healthy", "Pending": "Progressing", "Lost": "Degraded"}


class Health:
    """The health of objects with the checks of one or more argocd-cm ConfigMaps."""

    def __init__(self, *configs: Mapping[str, str]) -> None:
        prefix = "resource.customizations.health."
        self._scripts = {
            key.removeprefix(prefix): text
            for config in configs
            for key, text in config.items()
            if key.startswith(prefix)
        }

    def of(self, tree: Any) -> str | None:
        """The health of one live object, None where Argo CD has no check for its kind."""
        group, kind = str(tree["apiVersion"]).rpartition("/")[0], tree["kind"]
        script = self._scripts.get(f"{group}_{kind}")
        if script is not None:
            return run_lua(script, tree)[0]
        if kind == "PersistentVolumeClaim":
            return _CLAIM.get(tree.get("status", {}).get("phase"), "Unknown")
        if kind == "ExternalSecret":
            ready = [c["status"] for c in tree.get("status", {}).get("conditions", ()) if c["type"] == "Ready"]
            return {"True": "Healthy", "False": "Degraded"}.get(ready[0]) if ready else "Progressing"
        return None

    def of_application(self, trees: Iterable[Any]) -> str:
        """The health of an application that consists of these live objects."""
        found = [health for tree in trees if (health := self.of(tree)) is not None]
        return max(found, key=ORDER.index, default="Healthy")


def run_lua(script: str, tree: Any) -> tuple[str, str]:
    """Status and message: the script runs without Lua's libraries but the basic ones, `obj` is the object."""
    runtime = lua.LuaRuntime(register_eval=False)
    for library in ("os", "io", "package", "require", "debug", "string", "math", "python"):
        runtime.globals()[library] = None
    runtime.globals()["obj"] = runtime.table_from(tree, recursive=True)
    answer = runtime.execute(script)
    return str(answer["status"]), str(answer["message"])


class _Task:
    def __init__(self, tree: Any, *, prune: bool) -> None:
        self.tree = tree
        self.prune = prune
        self.wave = int(tree["metadata"].get("annotations", {}).get(WAVE, 0))
        self.state = "pending"


def sync(
    wanted: Sequence[Any],
    health: Health,
    observe: Observe,
    *,
    pruned: Sequence[Any] = (),
    prune_last: bool = False,
    steps: int = 20,
) -> str:
    """How a sync stands after so many steps in a world that has come to rest: waiting, succeeded or failed."""
    tasks = _tasks(wanted, pruned, prune_last=prune_last)
    several = len({task.wave for task in tasks}) > 1
    for _ in range(steps):
        for task in [task for task in tasks if task.state == "running"]:
            found = health.of(observe(task.tree))
            task.state = {None: "done", "Healthy": "done", "Degraded": "failed"}.get(found, "running")
        if several and any(task.state == "running" for task in tasks):
            continue
        if any(task.state == "failed" for task in tasks):
            return FAILED
        left = [task for task in tasks if task.state == "pending"]
        first = min((task.wave for task in left), default=0)
        for task in left:
            if task.wave == first:
                task.state = "done" if task.prune else "running"
        if all(task.wave == first for task in left):
            return SUCCEEDED
    return WAITING


def _tasks(wanted: Sequence[Any], pruned: Sequence[Any], *, prune_last: bool) -> list[_Task]:
    tasks = [*(_Task(tree, prune=False) for tree in wanted), *(_Task(tree, prune=True) for tree in pruned)]
    waves = sorted({task.wave for task in tasks if task.prune})
    swapped = dict(zip(waves, reversed(waves), strict=True))
    last = max([0, *(task.wave for task in tasks)]) + 1
    for task in tasks:
        if task.prune:
            task.wave = last if prune_last else swapped[task.wave]
    return tasks
