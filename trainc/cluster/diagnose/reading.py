"""From what `kubectl get -o yaml|json` printed to plain objects; what was cut off or is not an object is counted."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from trainc.model.report import Report
from trainc.model.tree import plain
from trainc.text.trouble import Trouble
from trainc.yaml.reader import LIMIT, read

_CUT = "the input ends in the middle of an object; what was cut off is unknown"
_ITEM = re.compile(rb"^- ", re.MULTILINE)
_LIST_START = re.compile(r'"items"\s*:\s*\[')
_LISTS = re.compile(rb"\A(?:#[^\n]*\n|---\n)*(?:apiVersion: [^\n]*\n)?items:\n")


class Reading:
    """The objects of some texts, and what is wrong with the texts."""

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.faults: list[str] = []

    def add(self, content: bytes, name: str) -> None:
        """Read one text.

        Raises:
            Trouble: for a text that holds no object at all, or more than fits.
        """
        if not content.strip(b"\xef\xbb\xbf \t\r\n\0"):
            raise Trouble(f"{name} is empty; kubectl found nothing, or its error went elsewhere")
        before = len(self.objects)
        trees = (
            _json(content, name, self.faults) if content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else None
        )
        for tree in _flattened(_yaml(content, name, self.faults) if trees is None else trees):
            if type(tree) is dict and type(tree.get("kind")) is str:
                self.objects.append(tree)
            else:
                self.faults.append(f"an item is not an object with a kind: {str(tree)[:60]}")
        if len(self.objects) == before and self.faults:
            raise Trouble(
                f"{name} cannot be read as YAML or JSON objects: {self.faults[-1]}; pass `-o yaml` to kubectl"
            )


def _flattened(trees: Iterable[Any]) -> Iterator[Any]:
    todo = list(trees)[::-1]
    while todo:
        tree = todo.pop()
        if type(tree) is list:
            todo.extend(tree[::-1])
        elif type(tree) is dict and str(tree.get("kind", "List")).endswith("List"):
            items = tree.get("items")
            todo.extend(items[::-1] if type(items) is list else [])
        elif tree is not None:
            yield tree


def _json(content: bytes, name: str, faults: list[str]) -> list[Any] | None:
    """The documents of a JSON text; of one that is cut off, the whole items of its list. None where it is YAML."""
    source = content.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    decoder = json.JSONDecoder()
    values: list[Any] = []
    position = 0
    while position < len(source):
        try:
            tree, position = decoder.raw_decode(source, position)
        except RecursionError as error:
            raise Trouble(f"{name} is nested deeper than any Kubernetes object") from error
        except ValueError as error:
            items = _whole_items(source, position, decoder)
            if not values and not items:
                if _LIST_START.search(source):
                    raise Trouble(f"{name} is not a complete JSON document ({error})") from error
                return None
            faults.append(_CUT)
            return [*values, *items]
        values.append(tree)
        while position < len(source) and source[position] in " \t\r\n":
            position += 1
    return values


def _whole_items(source: str, start: int, decoder: json.JSONDecoder) -> list[Any]:
    opening = _LIST_START.search(source, start)
    items: list[Any] = []
    position = opening.end() if opening else len(source)
    while position < len(source):
        if source[position] in " \t\r\n,":
            position += 1
            continue
        try:
            tree, position = decoder.raw_decode(source, position)
        except (ValueError, RecursionError):
            break
        items.append(tree)
    return items


def _yaml(content: bytes, name: str, faults: list[str]) -> list[Any]:
    """The documents of a YAML text; of a list that is cut off, the items before the last."""
    if len(content) > LIMIT:
        raise Trouble(f"{name} holds more than {LIMIT >> 20} MiB of YAML; use -o json, or narrow it with -n or -l")
    trees, complaints = _parsed(content, name)
    is_list = bool(_LISTS.match(content))
    if is_list and (complaints or (len(trees) == 1 and type(trees[0]) is dict and "kind" not in trees[0])):
        faults.append(_CUT)
        starts = [match.start() for match in _ITEM.finditer(content)]
        trees, complaints = _parsed(content[: starts[-1]], name) if len(starts) > 1 else ([], complaints)
    faults.extend(complaints)
    return trees


def _parsed(content: bytes, name: str) -> tuple[list[Any], list[str]]:
    report = Report()
    trees = [plain(document.tree) for document in read(content, name, report, duplicates="ignore")]
    return trees, [f"line {one.labels[0].span.line}: {one.message}" for one in report.findings if one.level == "error"]
