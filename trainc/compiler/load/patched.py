"""Files of TrainJobPatches that are given alone: the jobs which they change belong to the run."""

from __future__ import annotations

import os

from trainc.compiler.load.beside import Beside
from trainc.compiler.load.walk import known_contents
from trainc.compiler.patched import PATCH
from trainc.model.report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.settings import Project


def with_jobs(project: Project, paths: tuple[str, ...]) -> tuple[str, ...]:
    """The paths, and the files of the TrainJobs that patches in files among them are for."""
    beside = Beside(project, paths, Report())
    added: dict[str, None] = {}
    for path in paths:
        if not os.path.isfile(os.path.join(project.root, path)) or PATCH.encode() not in known_contents(project, path):
            continue
        patches = [one for one in beside.neighbours(path, PATCH).documents if one.kind == PATCH and one.file == path]
        for patch in patches:
            jobs = beside.neighbours(path, patch.name).documents if patch.name else []
            same = (one for one in jobs if one.kind == "TrainJob")
            added.update({one.file: None for one in same if (one.name, one.namespace) == (patch.name, patch.namespace)})
    return (*paths, *[file for file in added if file not in paths])
