"""`trainc flux`: the health checks of a Kustomization are the JobSets that are rendered below its path."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from trainc.cli.options import Options
from trainc.cli.output import tell
from trainc.compiler.emit.spool.disk import Folder, replace, written
from trainc.compiler.load.lists import expand
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.tree import get, leaves, plain, value
from trainc.text.files import is_inside, work_tree
from trainc.text.object_keys import JOBSET_API
from trainc.text.suppress import Suppress
from trainc.text.trouble import Reaching, Trouble
from trainc.yaml.reader import read

_GROUP = "kustomize.toolkit.fluxcd.io/"
_LIST = ("spec", "healthChecks")


def run(options: Options) -> int:
    """Write the list into each file, or with --check only say which lists are old."""
    if not options.arguments:
        raise Trouble("usage: trainc flux FILE...")
    return refreshed(options.arguments, check=options.has("check"), command="trainc flux {file}")


def refreshed(files: Sequence[str], *, check: bool, command: str) -> int:
    """Bring the lists of some files up to date; with `check` 1 where one is not, and the `command` that helps."""
    texts = {file: _contents(file) for file in files}
    new = {file: _with_checks(file, text) for file, text in texts.items()}
    old = [file for file in texts if texts[file] != new[file]]
    for file in old:
        if check:
            tell(f"{file}: `healthChecks` is out of date; run `{command.format(file=file)}`")
        else:
            replace(file, new[file].encode("utf-8", "surrogateescape"))
            tell(f"wrote {file}")
    return 1 if old and check else 0


def lists_of(root: str, output: str) -> list[str]:
    """The files `deploy/flux*.yaml` of a project whose Kustomizations all apply a part of its output folder."""
    folder, lists = os.path.join(root, "deploy"), []
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    for name in names:
        path = os.path.join(folder, name)
        if not (name.startswith("flux") and name.endswith((".yaml", ".yml")) and os.path.isfile(path)):
            continue
        text = _contents(path)
        applied = [_applied(path, document) for document in _kustomizations(path, text)] if _GROUP in text else []
        if applied and all(is_inside(os.path.join(root, output), place) for place in applied):
            lists.append(os.path.relpath(path))
    return lists


def _contents(file: str) -> str:
    with Reaching(file), open(file, "rb") as stream:
        return stream.read().decode("utf-8", "surrogateescape")


def _with_checks(file: str, text: str) -> str:
    """The text of a file with the list of each Kustomization in it, everything else as it was."""
    if not (documents := list(_kustomizations(file, text))):
        raise Trouble(f"no Flux Kustomization in {file}")
    wanted = [_wanted(file, document) for document in documents]
    old = [pair for pair in zip(documents, wanted, strict=True) if _written(pair[0]) != pair[1]]
    if not old:
        return text
    from trainc.changes.fix import edited  # noqa: PLC0415 (a list that is up to date needs no parser that keeps comments)

    edits = [edit for document, checks in old for edit in document.edits(_LIST, checks)]
    for new in (_with_lines(text, old), edited(text, edits)):
        with Suppress(Trouble):
            if [_written(document) for document in _kustomizations(file, new)] == wanted:
                return new
    raise Trouble(f"{file}: cannot rewrite this YAML without losing comments; list the JobSets by hand")


def _with_lines(text: str, old: list[tuple[Document, list[Any]]]) -> str:
    """The text with other lines in the place of the lists that take lines of their own, without comments in them."""
    from trainc.changes.migrate.placed_text import Writer  # noqa: PLC0415 (as above)

    lines = text.split("\n")
    for document, checks in reversed(old):
        listed = get(document.tree, *_LIST)
        held = leaves(listed) if type(listed) is list else ()
        ends = [leaf.origin.at.end_line for _, leaf in held if leaf.origin.at is not None]
        key = document.span(_LIST, key=True)
        inner = lines[key.line : max(ends, default=0)]
        if not inner or "\r" in text or any("#" in line for line in inner):
            continue
        indent = " " * (key.column - 1)
        new = Writer({}, deeper=inner[0].startswith(f"{indent} ")).document({_LIST[-1]: checks}, None)
        lines[key.line - 1 : key.line + len(inner)] = [f"{indent}{line}" for line in new]
    return "\n".join(lines)


def _kustomizations(file: str, text: str) -> Iterator[Document]:
    """The Kustomizations of a file, those in a List as well; Trouble for what is not YAML, as nobody can say what it lists."""
    report = Report()
    for document in expand(read(text.encode("utf-8", "surrogateescape"), file, report), report):
        if document.kind == "Kustomization" and document.api_version.startswith(_GROUP):
            yield document
    if report.failed:
        finding = report.findings[0]
        raise Trouble(f"{finding.span}: {finding.message}")


def _written(document: Document) -> Any:
    return plain(get(document.tree, *_LIST))


def _applied(file: str, document: Document) -> str:
    """The folder that a Kustomization applies; its path is relative to the top of the work tree, else to the present folder."""
    path = str(value(document.tree, "spec", "path") or ".")
    return os.path.normpath(os.path.join(work_tree(os.path.dirname(os.path.abspath(file))) or ".", path.lstrip("/")))


def _wanted(file: str, document: Document) -> list[Any]:
    """The list as it should be: what is checked besides JobSets stays."""
    present, target = _written(document), value(document.tree, "spec", "targetNamespace")
    folder = _applied(file, document)
    names = set()
    for inner, _ in written(Folder(folder), ()):
        for one in read(_contents(os.path.join(folder, inner)).encode(), inner, Report()):
            if one.kind == "JobSet":
                namespace = target or one.namespace
                if not namespace:
                    raise Trouble(f"{os.path.join(folder, inner)}: JobSet `{one.name}` names no namespace")
                names.add((str(namespace), one.name))
    listed = present if type(present) is list else []
    others = [one for one in listed if type(one) is not dict or one.get("kind") != "JobSet"]
    known = {"apiVersion": JOBSET_API, "kind": "JobSet"}
    return [*others, *({**known, "name": name, "namespace": namespace} for namespace, name in sorted(names))]
