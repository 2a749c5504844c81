"""A file of YAML documents as pieces of text that can be changed one by one, comments and layout kept.

JSON stays JSON: other programs read such a file too, and do not take what is YAML besides.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString, SingleQuotedScalarString

from trainc.changes.migrate.placed_text import name_in, says
from trainc.model.report import Report
from trainc.model.tree import plain
from trainc.text.embedded_json import json_value
from trainc.yaml.comments import comments
from trainc.yaml.reader import read
from trainc.yaml.spelling import plain_text

_MARK = "\ufeff"
_START = re.compile(r"^---(?:[ \t].*)?$")
_ITEM = re.compile(r"^( *)[^\s#-][^\n]*:[ \t]*(?:#[^\n]*)?\n(?:[ \t]*#[^\n]*\n)*( *)- ", re.MULTILINE)
# Both halves of a character, and a backslash that is no escape of what follows it.
_HALVES = re.compile(r"\\\\|(\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}").sub
_FIRST_LINE = "---\n"
_INDENT = re.compile(r"\{\r?\n([ \t]*)").match


def split(text: str) -> list[str]:
    """The documents of a text, each with the line that starts it; joined they are the text again."""
    pieces: list[list[str]] = [[]]
    for line in text.splitlines(keepends=True):
        if _START.match(line.rstrip("\r\n")) and any(kept.strip() for kept in pieces[-1]):
            pieces.append([])
        pieces[-1].append(line)
    return ["".join(piece) for piece in pieces]


def joined(pieces: Iterable[str]) -> str:
    """Texts of documents as one text; a line that starts a document stands before each that has none."""
    out = ""
    for piece in pieces:
        if out and piece and not piece.startswith("---"):
            out += "---\n"
        out += piece
    return out


class UnreadableError(ValueError):
    """A text cannot be rewritten with its comments: why, at which line and column from 0."""

    def __init__(self, error: Exception | None = None, why: str = "this cannot be read") -> None:
        mark = getattr(error, "problem_mark", None)
        self.line: int = getattr(mark, "line", 0)
        self.column: int = getattr(mark, "column", 0)
        super().__init__(getattr(error, "problem", None) or why)


def as_bytes(text: str) -> bytes:
    """The bytes of a text, those that are no text as they were."""
    return text.encode("utf-8", "surrogateescape")


def lost_comments(text: str, former: str) -> list[str]:
    """The comments that a text has no more since it was `former`."""
    return list((Counter(comments(as_bytes(former))) - Counter(comments(as_bytes(text)))).elements())


def values(text: str) -> list[Any]:
    """What the documents of a text say, as a server reads them."""
    return [plain(document.tree) for document in read(as_bytes(text), "", Report(), duplicates="ignore")]


def load(text: str) -> Any:
    """One document with its comments, quotes and order.

    UnreadableError for a text that the parser refuses, in whatever way it does so, or takes for something else than an
    object, as it does where lines end in characters that only YAML 1.1 takes for line ends.
    """
    try:
        root = _yaml(text).load(text)
    except Exception as error:  # the library raises whatever its parts raise
        raise UnreadableError(error) from error
    if not isinstance(root, CommentedMap):
        raise UnreadableError
    return root


def dump(node: Any, like: str) -> str:
    """A document as text, laid out like the text it came from; UnreadableError where that is not one document."""
    _bare(node)
    if is_json(like):
        return json_text(node, like)
    stream = io.StringIO()
    _yaml(like).dump(node, stream)
    text = stream.getvalue()
    if len(values(text)) != 1:
        raise UnreadableError(why="it would not be read back")
    return text


def _bare(node: Any) -> None:
    """Take the comments off maps and lists that have become empty: written with them they would not be read back."""
    for key, child in list(node.items() if isinstance(node, CommentedMap) else enumerate(node)):
        if not isinstance(child, CommentedMap | CommentedSeq):
            continue
        if child:
            _bare(child)
        elif not child.fa.flow_style():
            node[key] = type(child)()
            node[key].fa.set_flow_style()
            node.ca.items.pop(key, None)


def _yaml(text: str) -> YAML:
    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = 4096
    yaml.explicit_start = text.startswith("---")
    if (deeper := [len(item[2]) > len(item[1]) for item in _ITEM.finditer(text)]) and all(deeper):
        yaml.indent(mapping=2, sequence=4, offset=2)
    else:
        yaml.indent(mapping=2, sequence=2, offset=0)
    return yaml


def fresh(value: Any) -> Any:
    """A plain value as a node to put into a document; what other readers could misread is quoted."""
    if isinstance(value, dict):
        return CommentedMap((key, fresh(child)) for key, child in value.items())
    if isinstance(value, list):
        return CommentedSeq(fresh(child) for child in value)
    if isinstance(value, str):
        if "\n" in value:
            return LiteralScalarString(value)
        if '"' in value and "'" not in value and "\\" not in value:
            return SingleQuotedScalarString(value)
        return value if plain_text(value) else DoubleQuotedScalarString(value)
    return value


def reshape(node: Any, wanted: Any) -> Any:
    """The node changed in place until it says what is wanted; what says so already keeps its comments and quotes."""
    if isinstance(node, CommentedMap) and isinstance(wanted, dict):
        for key in [key for key in node if key not in wanted]:
            del node[key]
        for key, value in wanted.items():
            if key not in node:
                node[key] = fresh(value)
            elif key not in ("requests", "limits") or not says(node[key], value, amount=True):
                node[key] = reshape(node[key], value)
        return node
    if isinstance(node, CommentedSeq) and isinstance(wanted, list):
        names = [name_in(item) for item in wanted]
        held = [name_in(item) for item in node]
        if held == names[: len(held)]:
            for index, item in enumerate(wanted):
                if index < len(node):
                    node[index] = reshape(node[index], item)
                else:
                    node.append(fresh(item))
            return node
        by_name = {name: item for name, item in zip(held, node, strict=True) if name is not None}
        out = [reshape(by_name[n], w) if n in by_name else fresh(w) for n, w in zip(names, wanted, strict=True)]
        return CommentedSeq(out)
    kind = next((kind for kind in (bool, int, float, str) if isinstance(node, kind)), type(node))
    return node if type(wanted) is kind and node == wanted else fresh(wanted)


def with_line_ends(text: str, rewrite: Callable[[str], Any]) -> Any:
    """What becomes of a text, with the byte order mark that it begins with and the line ends that most of its lines have.

    It is rewritten without the mark, and with the line ends of Unix.
    """
    mark = _MARK if text.startswith(_MARK) else ""
    own = text.removeprefix(_MARK)
    unix = own.replace("\r\n", "\n")
    if "\\u" in unix and unix.lstrip()[:1] in ("{", "["):
        # In JSON each character that is written as two halves becomes itself: YAML knows no halves.
        unix = _HALVES(lambda match: json.loads(f'"{match[0]}"') if match[1] else match[0], unix)
    done = rewrite(unix)
    if done.text == unix:
        return done._replace(text=text)
    new = done.text.replace("\n", "\r\n") if 2 * own.count("\r\n") > own.count("\n") else done.text
    return done._replace(text=mark + new)


def is_json(text: str) -> bool:
    """Whether a document is written as JSON, the mark that starts it aside."""
    body = text.removeprefix(_FIRST_LINE)
    if not body.lstrip().startswith("{"):
        return False
    try:
        json_value(body)
    except ValueError:
        return False
    return True


def json_text(tree: Any, like: str) -> str:
    """An object as JSON, laid out like the text that it takes the place of."""
    start = _FIRST_LINE if like.startswith(_FIRST_LINE) else ""
    body = like.removeprefix(_FIRST_LINE)
    indent = _INDENT(body.lstrip())
    separators = None if '": ' in body or not body.strip("{}\n ") else (",", ":")
    text = json.dumps(tree, ensure_ascii=False, indent=indent[1] if indent else None, separators=separators)
    return f"{start}{text}\n" if like.endswith("\n") else f"{start}{text}"


class MisshapenError(Exception):
    """A node is not of the kind that its field holds, so nobody can say what was meant."""


def mapping(node: Any, kind: type = dict) -> Any:
    """The node as a map, an empty one where there is none."""
    if node is not None and not isinstance(node, kind):
        raise MisshapenError
    return kind() if node is None else node


def items(node: Any) -> Any:
    """The node as a list, an empty one where there is none."""
    return mapping(node, list)


def rename(node: Any, old: str, new: str) -> None:
    """Call a key otherwise, in its place and with its comments."""
    at = list(node).index(old)
    beside = node.ca.items.pop(old, None)
    node.insert(at, new, node.pop(old))
    if beside is not None:
        node.ca.items[new] = beside


def take(node: Any, key: str) -> Any:
    """The value of a key, which leaves the map; None where it is not there."""
    return mapping(node).pop(key, None)


def below(node: Any, *path: str) -> Any:
    """The map at a path, made where it is missing."""
    for key in path:
        if mapping(node).get(key) is None:
            node[key] = fresh({})
        node = mapping(node[key])
    return node
