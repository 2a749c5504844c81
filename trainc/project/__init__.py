"""Where a project starts and what its trainc.yaml says for all jobs."""

from __future__ import annotations

import os

from trainc.model.cluster import Cluster
from trainc.model.report import Report
from trainc.model.settings import TOOLS, Project
from trainc.model.spelling import meant
from trainc.model.tree import get, leaves
from trainc.model.trouble import Trouble
from trainc.project.checker import BAD_PROJECT, Checker
from trainc.yaml.reader import LIMIT, read
from trainc.yaml.rules import AMBIGUOUS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from trainc.model.document import Document
    from trainc.model.sourced import Sourced, Span

FILE = "trainc.yaml"
API_VERSION = "trainc.dev/v1alpha1"
FIELDS = (
    "runtimes",
    "rules",
    "rulesByPath",
    "rulesFrom",
    "deadline",
    "secrets",
    "clusters",
    "output",
    "oldRun",
    "delivery",
    "requires",
)


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


def open_project(paths: tuple[str, ...], report: Report, assigned: Mapping[str, Any] | None = None) -> Project:
    """The one project that all paths belong to, with what its trainc.yaml says; `assigned` counts over its clusters'.

    Raises:
        Trouble: where the paths belong to different projects.
    """
    roots = {find_root(path) for path in paths}
    if len(roots) > 1:
        names = " and ".join(sorted(root for root, _ in roots))
        raise Trouble(f"the paths belong to different projects: {names}; run trainc once for each")
    root, marked = roots.pop()
    settings = dict(assigned or {})
    if not marked:
        return Project(root, clusters=(Cluster(**settings),))
    try:
        with open(os.path.join(root, FILE), "rb") as stream:
            opening = Report()
            documents = list(read(stream.read(LIMIT + 1), FILE, opening))
    except OSError as error:
        raise Trouble(f"{os.path.join(root, FILE)}: {error.strerror}") from error
    levels = _levels(documents)
    for finding in opening.findings:
        if finding.rule is not AMBIGUOUS or finding.span not in levels:
            report.add(finding)
    if len(documents) != 1 or type(documents[0].tree) is not dict:
        if documents:
            report.add(BAD_PROJECT.at(documents[0].span(), "trainc.yaml holds one document of kind Project"))
        return Project(root, file=FILE, clusters=(Cluster(**settings),))
    return _project(root, Checker(documents[0], report), settings)


def _project(root: str, checker: Checker, assigned: Mapping[str, Any]) -> Project:
    document = checker.document
    if document.kind != "Project" or document.api_version != API_VERSION:
        hint = f"write `apiVersion: {API_VERSION}` and `kind: Project`"
        kind = f"{document.api_version or 'no apiVersion'}, {document.kind or 'no kind'}"
        checker.complain((), f"trainc.yaml is no project: `{kind}`", hint)
    spec = checker.map(("spec",))
    for key in spec:
        if key not in FIELDS:
            hint = meant(key, FIELDS, f"known settings: {', '.join(FIELDS)}")
            checker.complain(("spec", key), f"unknown setting `{key}`", hint, key=True)
    if "requires" in spec:
        from trainc.project.requires import check_version  # noqa: PLC0415 (what a project says loads what reads it)

        check_version(checker, ("spec", "requires"))
    return Project(
        root,
        file=FILE,
        output=checker.target(root, ("spec", "output")),
        old_run=checker.choice(("spec", "oldRun"), ("prune", "keep")),
        delivery=checker.choice(("spec", "delivery"), TOOLS),
        runtimes=checker.folders(root, ("spec", "runtimes")),
        rules=checker.levels(("spec", "rules"), more="rulesFrom" in spec),
        rules_by_path={
            glob: checker.levels(("spec", "rulesByPath", glob), more="rulesFrom" in spec)
            for glob in checker.map(("spec", "rulesByPath"))
        },
        rules_from=_rules_from(checker) if "rulesFrom" in spec else (),
        deadline=checker.choice(("spec", "deadline"), ("per-job",)),
        secrets=checker.secrets(("spec", "secrets")),
        clusters=(_clusters(root, checker, assigned) if "clusters" in spec else ()) or (Cluster(**assigned),),
    )


def _levels(documents: Iterable[Document]) -> set[Span]:
    """Where the levels of rules stand, among which a bare `off` means one thing to everybody who reads trainc.yaml."""
    fields = [get(document.tree, "spec", field) for document in documents for field in ("rules", "rulesByPath")]
    return {leaf.origin.at for field in fields if field is not None for _, leaf in leaves(field) if leaf.origin.at}


def _rules_from(checker: Checker) -> tuple[Sourced[str], ...]:
    from trainc.project.rules_from import rules_from  # noqa: PLC0415

    return rules_from(checker, ("spec", "rulesFrom"))


def _clusters(root: str, checker: Checker, assigned: Mapping[str, Any]) -> tuple[Cluster, ...]:
    from trainc.project.clusters import clusters  # noqa: PLC0415

    return clusters(checker, root, assigned, checker.report)
