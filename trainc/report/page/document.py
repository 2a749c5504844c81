"""The page as one HTML document that asks nobody for anything: its style, its script and its data stand in it.

A Content-Security-Policy names the script and the style by their digests, so that no text of the data can ever run.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_SCRIPTS = ("elements.js", "pictures.js", "manifests.js", "views.js", "page.js")
_ESCAPED = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\x7f": "\\u007f"})


def page_html(title: str, index: Any, details: Any) -> Iterator[str]:
    """The document, part by part."""
    style, script = _source("page.css"), "".join(map(_source, _SCRIPTS))
    parts = {
        "title": html.escape(title).replace("##", "#&#35;"),
        "policy": f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'",
        "style": style,
        "index": embedded(index),
        "details": embedded(details),
        "script": script,
    }
    for number, piece in enumerate(_source("page.html").split("@@")):
        yield parts[piece] if number % 2 else piece


def embedded(content: Any) -> str:
    """`content` as JSON in which nothing ends a script element, and `##[` starts no command where the page is printed."""
    return json.dumps(content, separators=(",", ":")).translate(_ESCAPED).replace("##", "#\\u0023")


def _source(name: str) -> str:
    path = os.path.join(os.path.dirname(__file__), "web", name)
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
