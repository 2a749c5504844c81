"""`trainc flux`: the health checks of a Kustomization are the JobSets that are rendered below its path."""

from __future__ import annotations

import os

from trainc.cli.output import tell
from trainc.emit.spool.disk import Folder, replace, written
from trainc.model.report import Report
from trainc.model.tree import get, value
from trainc.model.trouble import Reaching, Trouble
from trainc.yaml.reader import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cli.options import Options
    from trainc.model.document import Document

_GROUP = "kustomize.toolkit.fluxcd.io/"
_KEY = "  healthChecks:"


def flux(options: Options) -> int:
    """Write the list into each file, or with --check only say which lists are old."""
    if not options.arguments:
        raise Trouble("usage: trainc flux FILE...")
    texts = {file: _contents(file) for file in options.arguments}
    new = {file: _with_checks(file, text) for file, text in texts.items()}
    old = [file for file in texts if texts[file] != new[file]]
    for file in old:
        if options.has("check"):
            tell(f"{file}: `healthChecks` is not the list of rendered JobSets; run `trainc flux {file}`")
        else:
            replace(file, new[file].encode())
            tell(f"wrote {file}")
    return 1 if old and options.has("check") else 0


def _contents(file: str) -> str:
    with Reaching(file), open(file, "rb") as stream:
        return stream.read().decode("utf-8", "surrogateescape")


def _with_checks(file: str, text: str) -> str:
    """The text of a file with the list of each Kustomization in it, everything else as it was."""
    documents = [one for one in read(text.encode("utf-8", "surrogateescape"), file, Report()) if _is_kustomization(one)]
    if not documents:
        raise Trouble(f"{file} holds no Kustomization of Flux")
    lines = text.splitlines(keepends=True)
    for document in reversed(documents):
        first = document.span(("spec",), key=True).line
        start, end = _block(lines, first)
        lines[start:end] = _list(_jobsets(file, document))
    return "".join(lines)


def _is_kustomization(document: Document) -> bool:
    return document.kind == "Kustomization" and document.api_version.startswith(_GROUP)


def _block(lines: list[str], spec: int) -> tuple[int, int]:
    """From where to where the list stands in the lines; both the same where there is none yet, below `spec:`."""
    start = spec
    while start < len(lines) and _is_inside(lines[start]):
        if lines[start].startswith(_KEY):
            end = start + 1
            while end < len(lines) and lines[end].startswith(("   ", "  -")):
                end += 1
            return start, end
        start += 1
    return spec, spec


def _is_inside(line: str) -> bool:
    return not line.strip() or line.startswith((" ", "#"))


def _list(jobsets: list[tuple[str, str]]) -> list[str]:
    if not jobsets:
        return [f"{_KEY} []\n"]
    lines = [f"{_KEY}\n"]
    for namespace, name in jobsets:
        lines += ["    - apiVersion: jobset.x-k8s.io/v1alpha2\n", "      kind: JobSet\n", f"      name: {name}\n"]
        lines += [f"      namespace: {namespace}\n"]
    return lines


def _jobsets(file: str, document: Document) -> list[tuple[str, str]]:
    """Namespace and name of every JobSet that trainc rendered below a Kustomization's path."""
    spec = get(document.tree, "spec")
    path, target = str(value(spec, "path") or "."), value(spec, "targetNamespace")
    folder = os.path.normpath(os.path.join(_top(file), path.lstrip("/")))
    names = set()
    for inner, _ in written(Folder(folder), ()):
        for one in read(_contents(os.path.join(folder, inner)).encode(), inner, Report()):
            if one.kind == "JobSet":
                namespace = target or one.namespace
                if not namespace:
                    raise Trouble(f"{os.path.join(folder, inner)}: JobSet `{one.name}` names no namespace")
                names.add((str(namespace), one.name))
    return sorted(names)


def _top(file: str) -> str:
    """What a Kustomization's path is relative to: the top of the Git work tree, or where there is none the present folder."""
    here = os.path.dirname(os.path.abspath(file))
    while not os.path.exists(os.path.join(here, ".git")):
        parent = os.path.dirname(here)
        if parent == here:
            return "."
        here = parent
    return here
