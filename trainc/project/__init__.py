"""Where a project starts and what its trainc.yaml says for all jobs."""

from __future__ import annotations

import os

from trainc.model.finding import ERROR, Rule
from trainc.model.settings import Project
from trainc.model.sourced import Sourced
from trainc.model.tree import get, value
from trainc.model.trouble import Trouble
from trainc.yaml.reader import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.cluster import Cluster
    from trainc.model.document import Document
    from trainc.model.report import Report
    from trainc.model.tree import Path

FILE = "trainc.yaml"
API_VERSION = "trainc.dev/v1alpha1"
LEVELS = ("off", "warning", "error")

BAD_PROJECT = Rule(
    "bad-project",
    ERROR,
    "trainc.yaml says something that trainc does not understand",
    "A setting that is silently ignored is worse than one that is refused.",
    admission=True,
)

_FIELDS = {"runtimes": list, "rules": dict, "rulesByPath": dict, "deadline": str, "secrets": dict}


def find_root(path: str) -> tuple[str, bool]:
    """The folder a path's project starts in, and whether a trainc.yaml marks it.

    The nearest trainc.yaml upwards wins, then the root of the Git work tree, then the path's own folder.
    """
    start = os.path.abspath(path)
    folder = start if os.path.isdir(start) else os.path.dirname(start)
    git = ""
    here = folder
    while True:
        if os.path.isfile(os.path.join(here, FILE)):
            return here, True
        if not git and os.path.exists(os.path.join(here, ".git")):
            git = here
        parent = os.path.dirname(here)
        if parent == here:
            return git or folder, False
        here = parent


def open_project(paths: tuple[str, ...], report: Report, cluster: Cluster | None = None) -> Project:
    """The one project that all paths belong to, with what its trainc.yaml says; `cluster` is what its output is for.

    Raises:
        Trouble: where the paths belong to different projects.
    """
    roots = {find_root(path) for path in paths}
    if len(roots) > 1:
        names = " and ".join(sorted(root for root, _ in roots))
        raise Trouble(f"the paths belong to different projects: {names}; run trainc once for each")
    root, marked = roots.pop()
    if not marked:
        return Project(root, cluster=cluster)
    with open(os.path.join(root, FILE), "rb") as stream:
        documents = list(read(stream.read(), FILE, report))
    if len(documents) != 1 or type(documents[0].tree) is not dict:
        if documents:
            report.add(BAD_PROJECT.at(documents[0].span(), "trainc.yaml holds one document of kind Project"))
        return Project(root, file=FILE, cluster=cluster)
    return _project(root, documents[0], report, cluster)


def _project(root: str, document: Document, report: Report, cluster: Cluster | None) -> Project:
    checker = _Checker(document, report)
    spec = document.tree.get("spec")
    spec = spec if type(spec) is dict else {}
    if document.kind != "Project" or document.api_version != API_VERSION:
        checker.complain(
            (), f"trainc.yaml is of kind `{document.kind}`", f"write `apiVersion: {API_VERSION}` and `kind: Project`"
        )
    for key in spec:
        if key not in _FIELDS:
            checker.complain(
                ("spec", key), f"unknown setting `{key}`", f"known settings: {', '.join(_FIELDS)}", key=True
            )
    deadline = value(spec, "deadline") or ""
    if deadline not in ("", "per-job"):
        checker.complain(("spec", "deadline"), f"`deadline` cannot be `{deadline}`", "write `per-job`, or leave it out")
    by_path = spec.get("rulesByPath")
    return Project(
        root,
        file=FILE,
        runtimes=checker.folders(root, ("spec", "runtimes")),
        rules=checker.levels(("spec", "rules")),
        rules_by_path={glob: checker.levels(("spec", "rulesByPath", glob)) for glob in by_path}
        if type(by_path) is dict
        else {},
        deadline=deadline,
        secrets=checker.secrets(("spec", "secrets")),
        cluster=cluster,
    )


class _Checker:
    """Reads settings and complains about those it cannot use."""

    def __init__(self, document: Document, report: Report) -> None:
        self._document = document
        self._report = report

    def complain(self, path: Path, message: str, help_text: str, *, key: bool = False) -> None:
        self._report.add(BAD_PROJECT.at(self._document.span(path, key=key), message, help=help_text))

    def folders(self, root: str, path: Path) -> tuple[str, ...] | None:
        node = get(self._document.tree, *path)
        if node is None:
            return None
        names = []
        for index, leaf in enumerate(node if type(node) is list else [node]):
            name = leaf.value if hasattr(leaf, "value") else None
            if type(name) is not str or not os.path.isdir(os.path.join(root, name)):
                self.complain((*path, index), f"there is no folder `{name}`", "name a folder below the project's root")
            else:
                names.append(os.path.normpath(name).replace(os.sep, "/"))
        return tuple(names)

    def secrets(self, path: Path) -> dict[str, Sourced[str]]:
        node = get(self._document.tree, *path)
        found = {}
        for name, leaf in node.items() if type(node) is dict else ():
            text = leaf.value if type(leaf) is Sourced else None
            if type(text) is str and (text == "external-secrets" or text.startswith("existing:")):
                found[name] = leaf
            else:
                self.complain((*path, name), f"`{text}` says nothing about a Secret", "write `existing:NAME` or `external-secrets`")
        return found

    def levels(self, path: Path) -> dict[str, str]:
        node = get(self._document.tree, *path)
        found = {}
        for name in node if type(node) is dict else ():
            level = value(node, name)
            # Kubernetes' YAML reads a bare `off` as false; here it can only mean one thing.
            level = "off" if level is False else level
            if level in LEVELS:
                found[name] = str(level)
            else:
                self.complain((*path, name), f"`{level}` is no level", "write off, warning or error")
        return found
