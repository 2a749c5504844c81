"""Writes what people keep for a template language, so that it renders to the objects that trainc writes.

One template of a job's objects with a name for each value in which any two jobs differ, and the list of these values.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import yaml

Path = tuple[str | int, ...]

_KCL = """\
import file
import json
_jobs = json.decode(file.read("jobs.json"))
items = [{} for job in _jobs]
"""


def write(rendered: Sequence[Sequence[Any]], folder: str) -> None:
    """A chart of Helm, a program of jsonnet and one of KCL: `rendered` has the objects of each job."""
    flat = [dict(_leaves(list(objects), ())) for objects in rendered]
    first = flat[0]
    if any(one.keys() != first.keys() for one in flat):
        raise ValueError("the jobs differ in more than values: one template does not do")
    names = {path: f"v{at}" for at, path in enumerate(p for p in first if any(one[p] != first[p] for one in flat))}
    jobs = [{name: one[path] for path, name in names.items()} for one in flat]
    base = list(rendered[0])
    files = {
        "jobs.json": json.dumps(jobs),
        "chart/values.yaml": json.dumps({"jobs": jobs}),
        "chart/Chart.yaml": "apiVersion: v2\nname: jobs\nversion: 1.0.0\n",
        "chart/templates/jobs.yaml": _chart(base, names),
        "jobs.jsonnet": f"[{_program(base, names, json.dumps)} for job in import 'jobs.json']\n",
        "jobs.k": _KCL.format(_program(base, names, repr)),
    }
    for path, text in files.items():
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as stream:
            stream.write(text)


def _leaves(node: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    if not pairs:
        yield path, node
    for key, below in pairs:
        yield from _leaves(below, (*path, key))


def _filled(node: Any, path: Path, hole: Callable[[Path, Any], Any]) -> Any:
    if isinstance(node, dict) and node:
        return {key: _filled(below, (*path, key), hole) for key, below in node.items()}
    if isinstance(node, list) and node:
        return [_filled(below, (*path, index), hole) for index, below in enumerate(node)]
    return hole(path, node)


def _chart(base: list[Any], names: dict[Path, str]) -> str:
    """A template of text: the objects as YAML, each value that differs printed as it is, a text between quotes."""
    marked = _filled(base, (), lambda path, value: f"@@{names[path]}@@" if path in names else value)
    text = yaml.safe_dump_all(marked, sort_keys=False, width=10**9)
    for path, name in names.items():
        quote = '"' if isinstance(_at(base, path), str) else ""
        for spelled in (f"'@@{name}@@'", f"@@{name}@@"):
            text = text.replace(spelled, f"{quote}{{{{ .{name} }}}}{quote}")
    return f"{{{{- range .Values.jobs }}}}\n---\n{text}{{{{- end }}}}\n"


def _program(base: list[Any], names: dict[Path, str], spelled: Callable[[Any], str]) -> str:
    """The objects as an expression of a language, with `job.NAME` for each value that differs."""
    text = spelled(_filled(base, (), lambda path, value: f"@@{names[path]}@@" if path in names else value))
    for name in names.values():
        text = text.replace(spelled(f"@@{name}@@"), f"job.{name}")
    return text


def _at(node: Any, path: Path) -> Any:
    for key in path:
        node = node[key]
    return node
