"""A further cluster in the text of a trainc.yaml; its comments and layout stay."""

from collections.abc import Iterable
from typing import Any

from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.tree import get, plain, value
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read
from trainc.yaml.spelling import text_of

_FILE = "trainc.yaml"


def with_cluster(
    config: bytes, name: str, jobs: Iterable[str], delivery: str = "", settings: Iterable[str] = ()
) -> bytes:
    """The text with a cluster of that name, as it was where it has one; `jobs` are the files of the project's jobs.

    Where another tool applies the manifests of the other clusters, the new one names its own, the `delivery`.

    `settings` are further lines of the new one, such as its scheduler. Of several clusters each says which jobs it runs: a single one that does not is given those that are there.

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
    new = "".join(_extended(unix.splitlines(keepends=True), document, name, jobs, delivery, settings))
    # It says what the project said before, and the new cluster besides.
    again = list(read(new, _FILE, Report()))
    before = plain(document.tree)
    after = plain(again[0].tree) if len(again) == 1 else None
    held: Any = after["spec"].pop("clusters", None) if type(after) is dict and type(after.get("spec")) is dict else None
    former = before["spec"].pop("clusters", None) or {}
    is_whole = after == before and type(held) is dict and held.keys() == {*former, name}
    if not is_whole or any(
        {**(one or {}), "paths": 0} != {**(held[key] or {}), "paths": 0} for key, one in former.items()
    ):
        raise Trouble(f"{_FILE} has a layout that trainc cannot extend; add `{name}` by hand")
    return (new.replace("\n", "\r\n") if 2 * text.count("\r\n") > text.count("\n") else new).encode()


def _extended(
    lines: list[str], document: Document, name: str, jobs: Iterable[str], delivery: str, more: Iterable[str]
) -> list[str]:
    is_other = delivery not in ("", value(document.tree, "spec", "delivery"))
    settings = [f"folder: clusters/{name}", f"paths: [jobs/{name}]", *([f"delivery: {delivery}"] if is_other else [])]
    settings += more
    spec = get(document.tree, "spec")
    clusters = get(spec, "clusters")
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    if not (type(clusters) is dict and clusters):
        # The first cluster of a project that has named none, below the other settings.
        other = next(iter(spec), None)
        top = document.span(("spec",), key=True).line
        if other is None or "clusters" in spec or top == document.span(("spec", other)).line:
            raise Trouble(f"{_FILE} has a layout that trainc cannot extend; add `{name}` by hand")
        indent = " " * (document.span(("spec", other), key=True).column - 1)
        own = [f"    {setting}" for setting in settings if not setting.startswith("paths:")]
        return [*lines, *(f"{indent}{line}\n" for line in ["clusters:", f"  {text_of(name)}:", *own])]
    first = document.span(("spec", "clusters", next(iter(clusters))), key=True)
    line = document.span(("spec", "clusters"), key=True).line
    if first.line == line:
        raise Trouble(f"{_FILE}:{line}: `clusters` is in flow style (braces); add `{name}` by hand")
    indent = " " * (first.column - 1)
    at = _end(lines, first.line, first.column - 1)
    lines[at:at] = [f"{indent}{text_of(name)}:\n", *(f"{indent}  {setting}\n" for setting in settings)]
    if len(clusters) == 1 and get(next(iter(clusters.values())), "paths") is None:
        steps = [job.split("/") for job in jobs]  # the new cluster's folder aside, those in `jobs` each by itself
        inner = {"/".join(one[: 2 if one[0] == "jobs" else 1]) for one in steps}
        held = sorted(inner - {f"jobs/{name}"}) or ["jobs"]
        lines[first.line : first.line] = [f"{indent}  paths: [{', '.join(map(text_of, held))}]\n"]
    return lines


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
