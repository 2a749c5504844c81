"""Digests for the header line: of a job as people wrote it, and of rendered text."""

from __future__ import annotations

from hashlib import sha256
from json import dumps

from trainc.model.tree import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.bundle import Bundle

_LENGTH = 16  # hexadecimal digits: enough to tell accidents apart, short enough for a line that people read


def job_digest(bundle: Bundle) -> str:
    """The digest of a job and of what stands beside it: comments, the order of keys and spelling do not count."""
    companions = bundle.plan.companions if bundle.plan is not None else ()
    written = [plain(document.written) for document in (bundle.document, *companions)]
    return _short(dumps(written, sort_keys=True, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))


def body_digest(body: bytes) -> str:
    """The digest of everything below the header."""
    return _short(body)


def _short(data: bytes) -> str:
    return sha256(data).hexdigest()[:_LENGTH]
