"""A bundle straight from YAML text, for tests that look at one JobSet and what lies beside it."""

from trainc.lint import expand, look
from trainc.lint.facts.job import Job
from trainc.model.bundle import Bundle
from trainc.model.report import Report
from trainc.yaml.reader import read


def bundle_of(text: str, file: str = "jobset.yaml") -> Bundle:
    """The bundle that the documents of `text` form: the first JobSet, and everything else beside it."""
    documents = list(read(text, file, Report()))
    first = next((d for d in documents if d.kind == "JobSet"), documents[0])
    return Bundle(first, tuple(d.tree for d in documents))


def verified(text: str, file: str = "jobset.yaml") -> Report:
    """The report on that bundle, with nothing known about the project."""
    report = Report()
    look(bundle_of(text, file), None, report)
    return report


def job_of(text: str) -> Job:
    """The job that a JobSet is expanded into."""
    job = expand(bundle_of(text), None, Report())
    assert job is not None
    return job
