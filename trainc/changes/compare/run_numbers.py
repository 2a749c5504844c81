"""Which numbers of runs a job has used: in its file, its renderings, the history of both, and the dumps of its cluster."""

import os
import re
from collections.abc import Iterable, Iterator

from trainc.changes.compare.rendered import files_of
from trainc.changes.git.work_tree import repository_of
from trainc.compiler.emit.spool.changes import runs_of
from trainc.compiler.emit.spool.disk import parse_file
from trainc.compiler.load.lists import expand
from trainc.model.bundle import Bundle
from trainc.model.report import Report
from trainc.model.run import run_of
from trainc.model.settings import Project
from trainc.text.files import ordinary_contents
from trainc.text.suppress import Suppress
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read

_KINDS = ("JobSet", "Job", "Workload")  # of dumps, whose names begin with that of a run


def latest_run(bundle: Bundle, project: Project) -> int:
    """The highest number that a run of a job ever had, as far as files and branches tell that are here."""
    numbers = [run_of(bundle.document.tree)]
    job = bundle.document.name
    folder = os.path.join(project.root, os.path.dirname(files_of(bundle, project)[0]))
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name == f"{job}.yaml" or re.fullmatch(rf"{re.escape(job)}-r[0-9]+\.yaml", name):
            numbers += _rendered(ordinary_contents(os.path.join(folder, name)), job)
    if (repository := repository_of(project.root)) is not None:
        with Suppress(Trouble):  # before the first commit
            prefix = repository.prefix(project.root)
            output = f"{prefix}{project.output}/**"
            for text in repository.versions([f"{output}/{job}.yaml", f"{output}/{job}-r*.yaml"]):
                numbers += _rendered(text, job)
            for text in repository.versions([f"{prefix}{file}" for file in bundle.document.files]):
                numbers += _written([text], job)
    cluster = next((one for one in project.clusters if one.name == bundle.cluster), None)
    for kind in _KINDS:
        for key in cluster.objects.get(kind, ()) if cluster is not None else ():
            if (named := re.search(rf"(?:^|/|-){re.escape(job)}-r([0-9]+)(?:-|$)", key)) is not None:
                numbers.append(int(named[1]))
    return max(numbers)


def is_committed(bundle: Bundle, project: Project) -> bool:
    """Whether the latest commit has the present run of a job, in its file or rendered; also where there is no Git."""
    if (repository := repository_of(project.root)) is None:
        return True
    if not (head := repository.reference("HEAD")):
        return False
    prefix = repository.prefix(project.root)
    number, job = run_of(bundle.document.tree), bundle.document.name
    texts = (repository.text(head, f"{prefix}{file}") for file in bundle.document.files)
    if number in _written([text for text in texts if text is not None], job):
        return True
    rendered = (repository.text(head, f"{prefix}{file}") for file in files_of(bundle, project))
    return any(bundle.name in runs_of(parse_file(text)) for text in rendered if text is not None)


def _rendered(text: bytes, job: str) -> Iterator[int]:
    for number in re.findall(rf"^  name: {re.escape(job)}-r([0-9]+)$", text.decode("utf-8", "replace"), re.MULTILINE):
        yield int(number)


def _written(texts: Iterable[bytes], job: str) -> Iterator[int]:
    """The runs of a job in texts of its file."""
    for text in texts:
        for document in expand(read(text, "", Report()), Report()):
            if document.name == job:
                yield run_of(document.tree)
