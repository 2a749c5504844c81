"""Images come from the registry that the house keeps."""

from trainc.lint.check import Check
from trainc.lint.facts.job import Job
from trainc.model.finding import ERROR, Rule
from trainc.model.tree import value

HOUSE = "registry.example.com/"

ELSEWHERE = Rule(
    "image-from-elsewhere",
    ERROR,
    "an image that does not come from the registry of the house",
    "Only what lies there was scanned, and stays there while a job runs.",
)


def image_from_elsewhere(job: Job) -> None:
    """Look at the image of every container."""
    for container in job.containers:
        image = value(container.tree, "image")
        if isinstance(image, str) and not image.startswith(HOUSE):
            job.report.add(
                ELSEWHERE.at(
                    job.at((*container.path, "image")),
                    f"`{image}` does not come from {HOUSE}",
                    help="have it copied there, and name the copy",
                )
            )


CHECKS = (Check(ELSEWHERE, image_from_elsewhere),)
