"""Digests for the header line: of a job as people wrote it, and of rendered text."""

from __future__ import annotations

from hashlib import sha256
from json import JSONEncoder

from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.bundle import Bundle

_LENGTH = 16  # hexadecimal digits: enough to tell accidents apart, short enough for a line that people read


def job_digest(bundle: Bundle) -> str:
    """The digest of a job and of what stands beside it: comments, the order of keys and spelling do not count."""
    companions = bundle.plan.companions if bundle.plan is not None else ()
    written = [document.written for document in (bundle.document, *companions)]
    return _short(_JSON.encode(written).encode("utf-8", "surrogatepass"))


def body_digest(body: bytes) -> str:
    """The digest of everything below the header."""
    return _short(body)


def _short(data: bytes) -> str:
    return sha256(data).hexdigest()[:_LENGTH]


def _bare(leaf: Any) -> Any:
    return leaf.value if type(leaf) is Sourced else str(leaf)


_JSON = JSONEncoder(sort_keys=True, ensure_ascii=False, default=_bare, check_circular=False)  # no file holds a circle
