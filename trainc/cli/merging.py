"""One answer on standard output from several projects, in the form that was asked for."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import Any

from trainc.cli.output import data
from trainc.report.ci import HEAD, TAIL
from trainc.report.diff import MARKDOWN_ROOM
from trainc.report.dumps import dumps
from trainc.report.lines import text_of
from trainc.report.markdown import code

_MACHINES = ("gitlab", "json", "rdjson", "sarif")
_TITLES: dict[str, Callable[[str], list[str]]] = {
    "text": lambda name: [f"{name}:"],
    "markdown": lambda name: [f"## {code(name)}", ""],
    "mermaid": lambda name: [f"## {code(name)}", ""],
}
_KEPT = ("version", "$schema", "source")


@contextmanager
def joined(form: str) -> Iterator[Callable[[str], None]]:
    """Collects what is printed; gives a function that begins the part of a project, and prints all parts at the end."""
    parts: list[tuple[str, StringIO]] = []
    stream = _Switch()

    def begin(name: str) -> None:
        parts.append((name, StringIO()))
        stream.target = parts[-1][1]

    with redirect_stdout(stream):
        yield begin
    texts = [(name, text.getvalue()) for name, text in parts if text.getvalue()]
    if form in _MACHINES and texts:
        answer = json.loads(texts[0][1])
        for _, text in texts[1:]:
            answer = merge(answer, json.loads(text))
        data(dumps(answer, sort_keys=form == "json"))
        return
    if form == "junit" and texts:
        data(HEAD + "".join(text.removeprefix(HEAD).removesuffix(TAIL) for _, text in texts) + TAIL)
        return
    title = _TITLES.get(form)
    joined_text = "\n".join(f"{text_of(title(name) if title else ())}{text}" for name, text in texts)
    if form == "markdown" and len(joined_text) > MARKDOWN_ROOM:
        kept, _, _ = joined_text[:MARKDOWN_ROOM].rpartition("\n")
        left = joined_text.count("\n") - kept.count("\n") - 1
        joined_text = f"{kept}\n\nand {left} more lines; `trainc diff` shows them\n"
    data(joined_text)


class _Switch(StringIO):
    """A stream that hands everything to another one."""

    target: StringIO

    def write(self, text: str) -> int:
        return self.target.write(text)


def merge(one: Any, other: Any, key: str = "") -> Any:
    """Two answers as one: lists behind each other, counts added, true where one is true."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [*one, *(name for name in other if name not in one)]
        return {name: merge(one.get(name), other.get(name), name) for name in keys}
    if one is None or other is None or key in _KEPT:
        return other if one is None else one
    if isinstance(one, bool):
        return one or other
    if isinstance(one, list) != isinstance(other, list):  # findings of one project instead of what others answer
        return other if isinstance(one, list) else one
    return one + other if isinstance(one, int | float | list) else one
