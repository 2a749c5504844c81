"""What lists of jobs show of each: what it runs, where it is written, and where its rendering stands."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from trainc.changes.compare.rendering_state import RenderingStates
from trainc.compiler.usage import blueprints, blueprints_behind
from trainc.lint import expand
from trainc.lint.facts.summary import one_pod, overview
from trainc.model.bundle import Bundle
from trainc.model.report import Report
from trainc.model.run import run_of
from trainc.model.settings import Project
from trainc.report.page.inheritance import Inheritance


def has_output(project: Project) -> bool:
    """Whether the project renders into a folder that is there."""
    return os.path.isdir(os.path.join(project.root, project.output))


def job_row(bundle: Bundle, states: RenderingStates | None, shown: Callable[[str], str]) -> dict[str, Any] | None:
    """What is known of a job; None for a bundle without one. `shown` turns a file's name into what people open."""
    if (view := job_view(bundle, None)) is None:
        return None
    state = states.of(bundle) if states is not None else None
    file = shown(bundle.document.file)
    return {
        **view,
        "file": file,
        "folder": os.path.dirname(file),
        "run": run_of(bundle.document.tree),
        "rendering": None if state is None else {"file": shown(state.file), "state": state.state},
    }


def inheritance(project: Project, paths: tuple[str, ...], bundles: Sequence[Bundle]) -> Inheritance:
    """What the runtimes of the project inherit; where a part of it is selected, those that its jobs start from."""
    if "." in paths:
        return Inheritance(blueprints(project), project.clusters)
    plans = [bundle.plan for bundle in bundles if bundle.plan is not None]
    used = blueprints_behind(plan.runtime for plan in plans if plan.runtime is not None)
    names = {bundle.cluster for bundle in bundles}
    return Inheritance(used, [cluster for cluster in project.clusters if cluster.name in names])


def job_view(bundle: Bundle, rank: int | None) -> dict[str, Any] | None:
    """What will run as plain data: the whole job, or its pod of that rank; None where there is none."""
    if (job := expand(bundle, None, Report())) is None:
        return None
    return overview(job) if rank is None else one_pod(job, rank)
