"""Programs inside of a job as lines that a reviewer can read."""

from __future__ import annotations

import json
import re

from trainc.model.report import Report
from trainc.yaml.reader import read
from trainc.yaml.writer import dump_all

_QUOTED = re.compile(r'^( *)((?:- )*(?:[\w.-]+: )?)(".*\\n.*")$')


def readable(text: str) -> str:
    """A YAML text with quoted texts of several lines as blocks; as it was, where that would say anything else."""
    blocks = "\n".join(map(_block, text.split("\n")))
    documents = [list(read(one, "", Report())) for one in (text, blocks)]
    same = [dump_all(document.tree for document in stream) for stream in documents]
    return blocks if same[0] == same[1] else text


def _block(line: str) -> str:
    """A line whose value is a quoted text as a block below its key, if it can be one."""
    match = _QUOTED.match(line)
    try:
        content = json.loads(match[3]) if match else ""
    except ValueError:
        return line
    if match is None or content.rstrip("\n").startswith(" ") or content.endswith("\n\n"):
        return line
    indent = " " * (len(match[1]) + 2)
    chomp = "" if content.endswith("\n") else "-"
    rows = content.removesuffix("\n").split("\n")
    return "\n".join([f"{match[1]}{match[2]}|{chomp}", *[f"{indent}{row}" if row else "" for row in rows]])
