"""Changes to the files of a project: to their structure, their text, their bytes, their names, their number."""

import json
import random
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import yaml

from tests.hostile.mutants import ODD, mutate, text_of

Files = dict[str, bytes]

NAMES = ("::error::.yaml", "a b.yaml", "a\nb.yaml", "\x1b[31m.yaml", "\udcff.yaml", "\u202eb.yaml", "-.yaml", "--yes.yaml", "x.json", "x.yml", ".hidden.yaml",
    "a,b:c=d.yaml", "%0A.yaml", "é.yaml", "x.txt", "jobs.yaml/a.yaml", "trainc.yaml", "a/trainc.yaml", "deep/" * 40 + "a.yaml", "runtimes/r.yaml")  # fmt: skip
TOKENS = (b"\t", b"&a ", b"*a ", b"<<: ", b"!!binary ", b"!!python/object:os.system ", b"? ", b"- ", b": ", b"|\n", b">-\n", b"'", b'"', b"[", b"{", b"}", b"]", b"#",
    b"---\n", b"...\n", b"%YAML 1.3\n", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\x85", b"\xe2\x80\xa8", b"\x1b[31m", b"\n::error::x\n", b"\xe2\x80\xae", b"\x9b",
    b"1e999", b"-0", b"0o7", b"\xc2\xb2", b"9" * 5000, b"${X}", b"$(X)", b"$((", b"$(", b"`", b"<<EOF\n", b"# trainc: allow[x] y", b"# trainc: allow[", b"null", b"~", b"[]",
    b"{}", b"2001-01-01", b"0x10", b".inf", b".nan", b"1:20", b"yes")  # fmt: skip
STRINGS = ("a\x1b]0;x\x07", "a\n::error::pwn", "\u202e", "a\u2028b", "\x9b31m", "##[group]x", "²", "${X}", "${X:-1}", "$(X)", "$$(X)", "9" * 40, "x" * 5000, "é", "\ud800",
    "a\0b", "../../etc", "/dev/zero", "1e999", "-1", "1Ki", "10m", "bash -c 'x", "torchrun --nnodes=2 x", "[", "(", "*", "a,b", "%s", "{}", "{0}", "\\",
    "[" * 20_000, '{"a": NaN}', '{"a": 1e999}', "[1]", "null", "a-2147483647.a", "a-" + "9" * 5000 + ".a")  # fmt: skip

NUMBERS = (
    "9" * 5000,
    "2147483647",
    "9223372036854775808",
    "²",
    "-1",
    "1e999",
    "NaN",
    "01",
    "[" * 20_000,
)  # in texts that hold one
_DIGITS = re.compile(r"[0-9]+")


def mutate_files(files: Files, chance: random.Random, others: Sequence[Sequence[tuple[str, bytes]]]) -> None:
    """One to five changes somewhere in the files."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5))):
        path = chance.choice(sorted(files)) if files else "x.yaml"
        data = files.get(path, b"")
        draw = chance.random()
        if draw < 0.55:
            files[path] = _restructured(data, chance)
        elif draw < 0.70:
            files[path] = _reworded(data, chance)
        elif draw < 0.80:
            files[path] = _relined(data, chance)
        elif draw < 0.86:
            _renamed(files, path, chance)
        elif draw < 0.93:
            _joined(files, chance.choice(others), chance)
        elif draw < 0.94:
            files[path] = _amplified(data, chance)
        else:
            files[path] = _with_string(data, chance)


@lru_cache(2048)
def _documents(data: bytes) -> str:
    """The documents of a file as a JSON list; an empty list where there is nothing to mutate."""
    try:
        found = [one for one in yaml.load_all(data, yaml.CSafeLoader) if isinstance(one, dict)]
        return json.dumps(found, default=str)
    except (yaml.YAMLError, ValueError, RecursionError, TypeError):
        return "[]"


def _rewritten(documents: list[Any], chance: random.Random) -> bytes:
    """Documents as JSON or as people write YAML."""
    try:
        if chance.random() < 0.5:
            return text_of(documents).encode("utf-8", "surrogatepass")
        return "---\n".join(yaml.dump(one, Dumper=yaml.CSafeDumper, sort_keys=False) for one in documents).encode()
    except (yaml.YAMLError, ValueError, RecursionError):
        return text_of(documents).encode("utf-8", "surrogatepass")


def _restructured(data: bytes, chance: random.Random) -> bytes:
    documents = json.loads(_documents(data))
    if not documents:
        return _relined(data, chance)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        mutate(documents, chance)
    return _rewritten(documents, chance)


def _reworded(data: bytes, chance: random.Random) -> bytes:
    """A token put into the text, or put in the place of a value."""
    token = chance.choice(TOKENS)
    if chance.random() < 0.5:
        at = chance.randrange(len(data) + 1)
        return data[:at] + token + data[at + chance.choice((0, 0, 1, 5)) :]
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    head, colon, _ = lines[at].partition(b": ")
    lines[at] = head + colon + token
    return b"\n".join(lines)


def _relined(data: bytes, chance: random.Random) -> bytes:
    """Lines gone, doubled, exchanged, or indented otherwise."""
    lines = data.split(b"\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[other])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = b"  " + lines[at]
        case _:
            lines[at] = lines[at][2:]
    return b"\n".join(lines)


def _renamed(files: Files, path: str, chance: random.Random) -> None:
    data = files.pop(path, b"")
    name = chance.choice(NAMES)
    folder = path.rpartition("/")[0]
    target = f"{folder}/{name}" if folder and chance.random() < 0.7 else name
    if not any(other.startswith(f"{target}/") or target.startswith(f"{other}/") for other in files):
        files[target] = data


def _joined(files: Files, other: Sequence[tuple[str, bytes]], chance: random.Random) -> None:
    """A file of another project beside, behind or instead of one of this one."""
    path, data = chance.choice(other)
    if any(found.startswith(f"{path}/") or path.startswith(f"{found}/") for found in files):
        return
    files[path] = files.get(path, b"") + b"\n---\n" + data if chance.random() < 0.5 else data


def _amplified(data: bytes, chance: random.Random) -> bytes:
    """One item of a list or one field many times, up to a few hundred kilobytes."""
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    inner = lines[at : at + chance.choice((1, 1, 2, 5))]
    room = 300_000 // (sum(map(len, inner)) + 1)
    count = min(chance.choice((50, 500, 3000)), room)
    many = [line.replace(b":", b"%d:" % number, 1) for number in range(count) for line in inner]
    return b"\n".join([*lines[:at], *(many if chance.random() < 0.5 else inner * count), *lines[at:]])


def _with_string(data: bytes, chance: random.Random) -> bytes:
    """A text that means something to somebody, as a value anywhere or as a key."""
    documents = json.loads(_documents(data))
    if not documents:
        return data
    holder: Any = chance.choice(documents)
    for _ in range(12):
        inner = [
            value
            for value in (holder.values() if type(holder) is dict else holder)
            if value and type(value) in (dict, list)
        ]
        if not inner or chance.random() < 0.15:
            break
        holder = chance.choice(inner)
    text = chance.choice(STRINGS)
    if type(holder) is dict:
        key = chance.choice([*holder, text, "name"])
        stretched = _stretched(holder.get(key), chance)
        holder[key] = chance.choice((text, text, stretched, *ODD[:8]))
    elif holder:
        index = chance.randrange(len(holder))
        holder[index] = chance.choice((text, text, _stretched(holder[index], chance)))
    return _rewritten(documents, chance)


def _stretched(value: Any, chance: random.Random) -> Any:
    """A text with a number in it, such as the name of a host or a map as JSON, with another number in its place."""
    if type(value) is not str or not _DIGITS.search(value):
        return "x-0.x"
    return _DIGITS.sub(lambda _: chance.choice(NUMBERS), value, count=1)
