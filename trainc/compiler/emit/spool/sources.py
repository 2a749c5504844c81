"""Whether the files of a run without a single object are those that rendered files were made from."""

import os
import re

from trainc.compiler.emit.spool.disk import Folder, written
from trainc.compiler.lost_sources import source_lost
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Span

_EARLIER = re.compile(r"-r[0-9]+$")  # behind the name of a run


def report_blank_sources(project: Project, report: Report) -> None:
    """A finding for each file of a run without a single object that a job was rendered from, unless it moved elsewhere."""
    folder, blank = os.path.join(project.root, project.output), report.account.blank
    for path, header in written(Folder(folder), ()) if os.path.isdir(folder) else ():
        if header.source not in blank or header.project:
            continue
        name = os.path.basename(path).removesuffix(".yaml")
        if not (report.account.is_compiled(name) or report.account.is_compiled(_EARLIER.sub("", name))):
            place = Span(header.source, 1, 1, 1, 1)
            rendered = os.path.join(os.path.relpath(folder), path)
            report.add(source_lost(place, blank[header.source], "restore it", rendered))
