"""Files of jobs that a command reads as text and writes back."""

import os
from collections.abc import Iterator

from trainc.changes.fix import diff
from trainc.cli.output import answer
from trainc.cli.output import data as put_data
from trainc.cli.session import Session
from trainc.compiler.emit.spool.disk import replace
from trainc.compiler.header import is_rendered
from trainc.compiler.load.walk import contents, files, ours
from trainc.kinds.unsupported import may_name_training
from trainc.model.settings import STDIN, Project, Selection
from trainc.report.colours import unified


def texts(project: Project, selection: Selection, more: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Every file under the paths, and of some more, that may hold a job, with its text."""
    # Bytes that are no text stay recognisable, so that they are reported and never rewritten.
    if selection.stdin is not None:
        yield STDIN, selection.stdin.decode("utf-8", "surrogateescape")
    for file in files(project.root, (*selection.paths, *(file for file in more if file != STDIN))):
        data = contents(project.root, file)
        if ours(data) or (not is_rendered(data) and may_name_training(data)):
            yield file, data.decode("utf-8", "surrogateescape")


def write(root: str, file: str, text: str) -> None:
    """Put a new text in the place of a file's; standard input has none, its text is printed."""
    if file == STDIN:
        put(text)
        return
    # A link stays a link: what it points to gets the new text.
    target = os.path.realpath(os.path.join(root, file))
    mode = os.stat(target).st_mode
    replace(target, text.encode("utf-8", "surrogateescape"))
    os.chmod(target, mode)


def show(session: Session, file: str, before: str, after: str) -> None:
    """Print what a new text changes in a file."""
    lines = unified(diff(before, after, session.shown(file)))
    answer(*lines, color=session.options.one("color", "auto"), folds=False)


def put(text: str) -> None:
    """Write a text to standard output, with the bytes in it that are not text as they were."""
    put_data(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
