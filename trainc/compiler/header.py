"""The first line of a rendered file: what it was made from, and two digests that show who changed it since."""

from typing import NamedTuple

MARK = "# trainc: from "
_BYTES = MARK.encode()
_CONFLICT = b"<<<<<<< "  # begins a line where a merge left both sides
_END = "; do not edit"


class Header(NamedTuple):
    """A rendered file's origin: its job's file, a digest of the job as written there, a digest of the text below.

    `project` names the project where the file stands outside of it, in a folder that several projects may share.
    """

    source: str
    job: str
    body: str
    project: str = ""

    def __str__(self) -> str:
        project = f" project={self.project}" if self.project else ""
        return f"{MARK}{self.source}{project} job={self.job} body={self.body}{_END}\n"


def read_header(line: str) -> Header | None:
    """The header in a file's first line, None for a line that trainc did not write."""
    if not line.startswith(MARK):
        return None
    rest = line.rstrip("\r\n").removeprefix(MARK).removesuffix(_END)
    rest, _, body = rest.rpartition(" body=")
    source, _, job = rest.rpartition(" job=")
    path, mark, project = source.rpartition(" project=")
    return Header(path if mark else source, job, body, project if mark else "") if source and job and body else None


def is_rendered(data: bytes) -> bool:
    """Whether trainc wrote a text, also where a merge conflict begins with its first line."""
    if data.startswith(_CONFLICT):
        data = data.partition(b"\n")[2]
    return data.startswith(_BYTES)


def has_conflict(data: bytes) -> bool:
    """Whether a merge left marks of a conflict in a rendered text, in which nothing else begins a line like that."""
    return data.startswith(_CONFLICT) or b"\n" + _CONFLICT in data
