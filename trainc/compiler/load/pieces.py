"""Long files of TrainJobs, a part at a time: ten thousand documents of one file are never in memory together."""

from __future__ import annotations

from itertools import islice

from trainc.model.report import Report
from trainc.text.object_keys import TRAINER_API

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.model.document import Document

    Reading = Callable[[Report], Iterator[Document]]  # reads a file; what is wrong with its text goes to the report

_TOGETHER = 100  # documents
_TRAINJOB = (TRAINER_API, "TrainJob")


def pieces(read: Reading, report: Report) -> Iterator[list[Document]]:
    """The documents of a file in their order, some at a time where none of them concerns another.

    Whatever stands beside jobs may belong to them: a file that holds anything but TrainJobs, or a fault, comes whole.
    To know that, the file is read twice.
    """
    if not _holds_trainjobs_alone(read):
        yield list(read(report))
        return
    documents = read(report)
    while piece := list(islice(documents, _TOGETHER)):
        yield piece


def _holds_trainjobs_alone(read: Reading) -> bool:
    faults = Report()
    alone = all((document.api_version, document.kind) == _TRAINJOB for document in read(faults))
    return alone and not faults.findings and not faults.account.unread
