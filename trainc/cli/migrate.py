"""`trainc migrate`: jobs of earlier kinds and spellings as TrainJobs of today."""

from __future__ import annotations

import os
import sys

from trainc.cli.session import Session
from trainc.load.walk import contents, files, ours
from trainc.migrate import migrate as migrated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.cli.options import Options
    from trainc.migrate import Migration


def migrate(options: Options) -> int:
    """Print the new files, or write them in place, and say what changed in meaning."""
    session = Session(options)
    stuck = 0
    for file, text in texts(session):
        done = migrated(text, session.project)
        stuck += len(done.problems)
        _tell(session.shown(file), done)
        if done.touched and options.has("write"):
            write(session, file, done.text)
        elif done.touched:
            print(done.text, end="")
    return 1 if stuck else 0


def texts(session: Session) -> Iterator[tuple[str, str]]:
    """Every file under the paths that may hold a job, with its text."""
    if session.stdin is not None:
        yield "<stdin>", session.stdin.decode()
    for file in files(session.project.root, session.selection.paths):
        data = contents(session.project.root, file)
        if ours(data):
            yield file, data.decode()


def write(session: Session, file: str, text: str) -> None:
    """Put a new text in the place of a file's; standard input has none, its text is printed."""
    if file == "<stdin>":
        print(text, end="")
        return
    with open(os.path.join(session.project.root, file), "w", encoding="utf-8", newline="") as stream:
        stream.write(text)


def _tell(file: str, done: Migration) -> None:
    for change in done.changes:
        print(f"{file}: {change.document}: {change.message}", file=sys.stderr)
    for difference in done.differences:
        print(f"{file}: compiled otherwise: {difference}", file=sys.stderr)
    for finding in done.problems:
        print(f"{file}:{finding.span.line}: not migrated: {finding.message}", file=sys.stderr)
