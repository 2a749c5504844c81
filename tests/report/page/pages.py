"""Pages for tests, and what a real HTML parser reads in them."""

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tests.compiling import compile_in

HOSTILE = "</script><img src=x onerror=alert(1)><!--"


class Page(HTMLParser):
    """The elements of a page with their attributes, and the text in each script and style."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag

    def handle_endtag(self, tag: str) -> None:
        self._open = "" if tag == self._open else self._open

    def handle_data(self, data: str) -> None:
        if self._open in {"script", "style", "title"}:
            self.texts.append((self._open, data))

    def data(self, name: str) -> Any:
        """The embedded data of that name: of each project."""
        scripts = [attributes.get("id") for tag, attributes in self.elements if tag == "script"]
        texts = [text for tag, text in self.texts if tag == "script"]
        return json.loads(texts[scripts.index(name)])


def page_of(folder: Path, *words: str) -> str:
    """The page that `trainc show` writes to standard output in a folder."""
    return compile_in(folder, "show", "--report", "html", *words).out
