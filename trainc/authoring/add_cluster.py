"""A further cluster in the text of a trainc.yaml; its comments and layout stay."""

from __future__ import annotations

from collections.abc import Iterable

from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.tree import get, plain, value
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read
from trainc.yaml.spelling import text_of

_FILE = "trainc.yaml"


def with_cluster(config: bytes, name: str, jobs: Iterable[str], delivery: str = "") -> bytes:
    """The text with a cluster of that name, as it was where it has one; `jobs` are the files of the project's jobs.

    Where another tool applies the manifests of the other clusters, the new one names its own, the `delivery`.

    Of several clusters each says which jobs it runs: a single one that does not is given those that are there.

    Raises:
        Trouble: where the text is written so that nothing can be put into it.
    """
    report = Report()
    documents = list(read(config, _FILE, report))
    if report.findings or len(documents) != 1 or type(get(documents[0].tree, "spec")) is not dict:
        raise Trouble(f"{_FILE} is not a project; nothing was written")
    document = documents[0]
    clusters = get(document.tree, "spec", "clusters")
    if type(clusters) is dict and name in clusters:
        return config
    text = config.decode()
    unix = text.replace("\r\n", "\n")
    new = "".join(_extended(unix.splitlines(keepends=True), document, name, jobs, delivery))
    _must_hold(new, document, name)
    return (new.replace("\n", "\r\n") if 2 * text.count("\r\n") > text.count("\n") else new).encode()


def _extended(lines: list[str], document: Document, name: str, jobs: Iterable[str], delivery: str) -> list[str]:
    """The lines with those of the new cluster."""
    is_other = delivery not in ("", value(document.tree, "spec", "delivery"))
    own = [f"delivery: {delivery}"] if is_other else []
    clusters = get(document.tree, "spec", "clusters")
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    if not (type(clusters) is dict and clusters):
        return [*lines, *_lines(document, name, own)]
    first = document.span(("spec", "clusters", next(iter(clusters))), key=True)
    top = document.span(("spec", "clusters"), key=True)
    if first.line == top.line:
        raise Trouble(f"{_FILE}:{top.line}: `clusters` is in flow style (braces); add `{name}` by hand")
    indent = " " * (first.column - 1)
    settings = [f"folder: clusters/{name}", f"paths: [jobs/{name}]", *own]
    entry = [f"{indent}{text_of(name)}:\n", *(f"{indent}  {line}\n" for line in settings)]
    at = _end(lines, first.line, first.column - 1)
    lines[at:at] = entry
    if len(clusters) == 1 and get(next(iter(clusters.values())), "paths") is None:
        steps = [job.split("/") for job in jobs]  # the new cluster's folder aside, those in `jobs` each by itself
        inner = {"/".join(one[: 2 if one[0] == "jobs" else 1]) for one in steps}
        held = sorted(inner - {f"jobs/{name}"}) or ["jobs"]
        lines[first.line : first.line] = [f"{indent}  paths: [{', '.join(map(text_of, held))}]\n"]
    return lines


def _must_hold(text: str, before: Document, name: str) -> None:
    """Raise Trouble unless a text says what the project said before, and the new cluster besides."""
    documents = list(read(text, _FILE, Report()))
    new = plain(documents[0].tree) if len(documents) == 1 else None
    old = plain(before.tree)
    clusters = new["spec"].pop("clusters", None) if type(new) is dict and type(new.get("spec")) is dict else None
    former = old["spec"].pop("clusters", None) or {}
    if new != old or type(clusters) is not dict or clusters.keys() != {*former, name}:
        raise Trouble(f"{_FILE} has a layout that trainc cannot extend; add `{name}` by hand")
    for key, settings in former.items():
        if {**(settings or {}), "paths": None} != {**(clusters[key] or {}), "paths": None}:
            raise Trouble(f"{_FILE} has a layout that trainc cannot extend; add `{name}` by hand")


def _lines(document: Document, name: str, own: list[str]) -> list[str]:
    """The first cluster of a project that has named none, below the other settings."""
    spec = get(document.tree, "spec")
    first = next(iter(spec), None)
    top = document.span(("spec",), key=True).line
    if first is None or "clusters" in spec or top == document.span(("spec", first)).line:
        raise Trouble(f"{_FILE} has a layout that trainc cannot extend; add `{name}` by hand")
    indent = " " * (document.span(("spec", first), key=True).column - 1)
    entry = ["clusters:", f"  {text_of(name)}:", f"    folder: clusters/{name}", *(f"    {line}" for line in own)]
    return [f"{indent}{line}\n" for line in entry]


def _end(lines: list[str], start: int, indent: int) -> int:
    """Behind the last line of a block whose keys stand at `indent`; `start` is one of its lines, counted from 1."""
    end = start
    for at in range(start, len(lines)):
        text = lines[at]
        if text.strip() and len(text) - len(text.lstrip()) < indent:
            break
        if text.strip():
            end = at + 1
    return end
