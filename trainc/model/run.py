"""Which run of a job this is: the number in an annotation, and the name that its objects carry."""

from trainc.model.document import Document
from trainc.model.finding import ERROR, Rule
from trainc.model.report import Report
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import Tree, get, value
from trainc.text.numbers import whole_number

RUN = "trainc.dev/run"
RUN_PATH = ("metadata", "annotations", RUN)

BAD_RUN = Rule("bad-run", ERROR)


def run_of(job: Tree) -> int:
    """The number of a job's run: 1 where it names none, or none that counts."""
    written = value(job, *RUN_PATH)
    return int(written) if _counts(written) else 1


def run_name(job: Tree) -> Sourced[str]:
    """The name of a job's run: the job's own, from the second run on with `-r<run>` behind it."""
    metadata = job["metadata"]
    name: Sourced[str] = metadata["name"]
    if RUN not in (metadata.get("annotations") or ()) or run_of(job) < 2:
        return name
    return derive("name of the run", lambda job, run: f"{job}-r{run}", name, get(job, *RUN_PATH))


def check_run(document: Document, report: Report) -> None:
    """A finding where the annotation says something that is not a number of a run."""
    if (written := value(document.tree, *RUN_PATH)) is not None and not _counts(written):
        report.add(
            BAD_RUN.at(
                document.span(RUN_PATH),
                f"`{written}` is not a valid run number",
                effect="the job would overwrite its first run",
                help=f'use an integer from 1 to 9999 in quotes, such as `{RUN}: "2"`',
            )
        )


def _counts(written: object) -> bool:
    number = whole_number(written, least=1, most=9999)
    return number is not None and str(number) == written
