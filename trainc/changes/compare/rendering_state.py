"""Where the rendered file of each job stands: as the text says, older, kept for its run, edited, or not there."""

import os
from typing import NamedTuple

from trainc.changes.compare.changes import Change, as_called, changes_of, facts
from trainc.changes.compare.decision import Decisions, is_compiled
from trainc.changes.compare.rendered import file_of, shape_fault
from trainc.compiler.emit.spool.changes import is_whole
from trainc.compiler.emit.spool.disk import read_file
from trainc.model.bundle import Bundle, runs_pods
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.settings import Project, Selection
from trainc.text.files import ordinary_contents
from trainc.yaml.reader import read

ABSENT = "not rendered"
CURRENT = "current"
OLDER = "out of date"
KEPT = "kept: its run continues"
REFUSED = "edit rejected: new run needed"
EDITED = "changed by hand"
FOREIGN = "not written by trainc"


class RenderingState(NamedTuple):
    """The rendered file of one job: its name, what it is worth, and the bundle in it, None where there is none.

    `fault` says why there is none in a file that holds one.
    """

    file: str
    state: str
    bundle: Bundle | None
    fault: str = ""

    def changes(self, present: Bundle) -> tuple[Change, ...]:
        """What the present text says otherwise than the file."""
        if self.bundle is None:
            return ()
        now = facts(present)
        return changes_of(as_called(facts(self.bundle), now), now)


class RenderingStates:
    """Looks at the rendered files of a project's jobs."""

    def __init__(self, project: Project, selection: Selection) -> None:
        self._project = project
        self._decisions = Decisions(project, selection)

    def of(self, bundle: Bundle) -> RenderingState:
        """The state of a job's rendered file."""
        file = file_of(bundle, self._project)
        path = os.path.join(self._project.root, file)
        if (existing := read_file(path)) is None:
            return RenderingState(file, ABSENT, None)
        if existing.header is None:
            state = FOREIGN
        elif not is_whole(existing):
            state = EDITED
        elif is_compiled(existing, bundle):
            state = CURRENT
        else:
            decision = self._decisions.of_run(bundle)
            if decision is None or not decision.refused:
                state = OLDER
            elif not decision.text:
                state = REFUSED
            else:
                state = KEPT if decision.text.encode() == existing.body else OLDER
        documents = [one for one in read(ordinary_contents(path), file, Report()) if type(one.tree) is dict]
        jobset = next((one for one in documents if runs_pods(one.tree)), None)
        if jobset is None or (fault := shape_fault(jobset)):
            return RenderingState(file, state, None, fault if jobset is not None else "")
        held = Document(bundle.document.file, jobset.tree, {}, 1)
        return RenderingState(file, state, Bundle(held, tuple(one.tree for one in documents), cluster=bundle.cluster))
