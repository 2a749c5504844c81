"""Digests for the header line: of a job as people wrote it, and of rendered text."""

from collections.abc import Callable, Iterable
from typing import Any

from trainc.model.bundle import Bundle
from trainc.model.sourced import Sourced

_LENGTH = 16  # hexadecimal digits: enough to tell accidents apart, short enough for a line that people read


def job_digest(bundle: Bundle) -> str:
    """The digest of a job and of what stands beside it: comments, the order of keys and spelling do not count."""
    companions = bundle.plan.companions if bundle.plan is not None else ()
    written = "".join(_encoded([document.written for document in (bundle.document, *companions)], 0))
    return body_digest(written.encode("utf-8", "surrogatepass"))


def body_digest(body: bytes) -> str:
    """The digest of everything below the header."""
    from hashlib import sha256  # noqa: PLC0415 (it loads OpenSSL, and `validate` needs none of it)

    return sha256(body).hexdigest()[:_LENGTH]


def _bare(leaf: Any) -> Any:
    return leaf.value if type(leaf) is Sourced else str(leaf)


def _encoder() -> Callable[[Any, int], Iterable[str]]:
    """What gives the parts of a JSON text with sorted keys; no file holds a circle, so that nothing looks for one."""
    try:  # what `json` itself uses, without `re`, which it loads besides
        from _json import encode_basestring, make_encoder  # noqa: PLC0415
    except ImportError:
        from json import JSONEncoder  # noqa: PLC0415

        whole = JSONEncoder(sort_keys=True, ensure_ascii=False, default=_bare, check_circular=False)
        return lambda tree, _: whole.iterencode(tree)
    settings: tuple[Any, ...] = (None, _bare, encode_basestring, None, ": ", ", ", True, False, True)
    parts: Callable[[Any, int], Iterable[str]] = make_encoder(*settings)
    return parts


_encoded = _encoder()
