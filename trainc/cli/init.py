"""`trainc init`: a repository that works."""

import os
from collections.abc import Iterator
from shlex import quote

from trainc.authoring.add_cluster import with_cluster
from trainc.authoring.new import with_blocking_restarts
from trainc.changes.git.repository import GitRepository
from trainc.cli.compiling import compiled
from trainc.cli.options import Options
from trainc.cli.output import answer
from trainc.cli.scaffold import AT_TOP, cluster_name, hooks, origin, refresh, scaffold, starter_policies, with_labels
from trainc.cli.session import Session
from trainc.compiler.emit.spool import Tally
from trainc.compiler.emit.spool.disk import create, replace
from trainc.compiler.load.shipped import catalogue
from trainc.compiler.load.walk import contents, ours
from trainc.compiler.load.walk import files as walk
from trainc.kinds.other_operators import is_input_kind
from trainc.kinds.table import NAMES
from trainc.model.finding import ERROR
from trainc.model.report import Report
from trainc.model.settings import FILE
from trainc.model.tree import get, value
from trainc.text.counting import counted
from trainc.text.files import work_tree
from trainc.text.suppress import Suppress
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read

_RUNTIME = "torch-distributed"
# What has to be done so that the manifests of a further cluster reach that one.
_APPLIED = {
    "argocd": "{path} deploys to the cluster that Argo CD knows as `{cluster}`: `argocd cluster add CONTEXT --name {cluster}`.",
    "flux": "Apply {path} to cluster `{cluster}`: Flux deploys to the cluster that it runs in.",
}
_EXAMPLE = ("jobs", "runtimes")  # folders that a repository with jobs or a project has its own of


def run(options: Options) -> int:
    """Write the files of a new repository, beside what is there already, and say what to do next."""
    if len(options.arguments) > 1:
        raise Trouble("usage: trainc init [DIR]")
    folder = options.arguments[0] if options.arguments else "."
    cluster = cluster_name(options)
    delivery, scheduler = options.one("delivery"), options.one("scheduler")
    top = work_tree(os.path.realpath(folder))
    prefix = "" if not top else os.path.relpath(os.path.realpath(folder), top).replace(os.sep, "/")
    below = f"{prefix}/" if prefix not in ("", ".") else ""
    with open(os.path.join(catalogue(), f"{_RUNTIME}.yaml"), encoding="utf-8") as stream:
        runtime = with_blocking_restarts(stream.read()) if scheduler else stream.read()
    tool = delivery.removesuffix("-plugin")
    files = scaffold(cluster, delivery, below, scheduler=scheduler, repository=_repository(top))
    files[f"runtimes/{_RUNTIME}.yaml"] = runtime
    is_there = os.path.exists(os.path.join(folder, FILE))
    if options.has("policies"):
        files |= starter_policies() | {"jobs/hello.yaml": with_labels(files["jobs/hello.yaml"])}
    adds = is_there and options.has("cluster")
    if adds:
        files = _further(files, folder, cluster, tool, scheduler)
    if is_there or os.path.exists(os.path.join(folder, "jobs")):
        files = {path: text for path, text in files.items() if path.split("/")[0] not in _EXAMPLE}
    # GitHub and pre-commit read theirs at the top of the work tree alone.
    up = os.path.relpath(top, os.path.realpath(folder)) if top else ""
    targets = {
        os.path.normpath(os.path.join(folder, up if path in AT_TOP else "", path)): files[path]
        for path in sorted(files)
    }
    rows = [f"{_put(at, text, adds=adds)} {os.path.normpath(at)}" for at, text in targets.items()]
    answer(*rows)  # when all of it is there: a reader that has gone stops nothing half-way
    levels: dict[str, int] = {}
    trouble = None
    if not is_there:
        try:
            levels = _levels(folder)
        except (OSError, Trouble) as error:
            trouble = error  # raised at the end: the files are written, and what to do next is the same
    if levels:
        text = scaffold(cluster, delivery, below, levels, scheduler)[FILE]
        replace(os.path.join(folder, FILE), text.encode())
        answer(
            "",
            f"The jobs here have errors of {counted(len(levels), 'rule')}, which {FILE} turns into warnings: {', '.join(sorted(levels))}.",
            "`trainc validate` shows them; remove a rule from that list when its jobs are fixed.",
        )
    step = "" if folder == "." else f"cd {quote(folder)} && "
    git = "" if top else "git init && "
    answer("", "next:", f"  {step}sh {refresh(cluster)}", "  trainc build -w")
    answer(f"  {git}git add -A && pre-commit install && git commit", "")
    answer(f"The first command needs kubectl and is optional: clusters/{cluster}/README.md explains what it adds.")
    if is_there:
        answer(*_unset(contents(folder, FILE), cluster, scheduler, tool, adds=adds))
    answer(*_needed(files, cluster, delivery))
    if trouble is not None:
        raise trouble
    return 0


def _repository(top: str) -> tuple[str, str]:
    """The URL and the main branch of the work tree, as far as Git knows them."""
    with Suppress(Trouble):  # no Git here
        if top:
            repository = GitRepository(top)
            return repository.remote(), repository.branch()
    return "", ""


def _needed(files: dict[str, str], cluster: str, delivery: str) -> Iterator[str]:
    """What else has to be done outside of the repository."""
    tool = delivery.removesuffix("-plugin")
    if (path := f"deploy/{tool}-{cluster}.yaml") in files:
        yield _APPLIED[tool].format(path=path, cluster=cluster)
    if delivery == "argocd-plugin":
        yield "Build the image of the plugin, and name it in deploy/argocd-repo-server-patch.yaml: see docs/delivery.md."
    if not origin():
        yield "The workflow needs the repository variable TRAINC: the package that pip installs."


def _unset(config: bytes, cluster: str, scheduler: str, delivery: str, *, adds: bool) -> Iterator[str]:
    """The settings that a trainc.yaml which is kept does not have; one that `adds` a cluster has its folder."""
    if scheduler and _setting(config, "clusters", cluster, "scheduler") != scheduler:
        yield f"{FILE} is kept: set `scheduler: {scheduler}` under `clusters.{cluster}` there."
    if not adds and not _setting(config, "clusters", cluster, "folder"):
        yield f"{FILE} is kept: set `folder: clusters/{cluster}` under `clusters.{cluster}` there, or no dump is read."
    of_cluster = _setting(config, "clusters", cluster, "delivery")
    if delivery and (of_cluster or _setting(config, "delivery")) != delivery:
        yield f"{FILE} is kept: set `delivery: {delivery}` there, or the jobs lack its annotations."


def _levels(folder: str) -> dict[str, int]:
    """In how many jobs of a new project each rule is an error; what a server refuses stays an error."""
    session = Session(Options([folder], {}), compiles=False)
    compiled(session, Tally())
    levels: dict[str, int] = {}
    for finding in session.report.findings:
        if finding.level == ERROR and not finding.rule.verdict:
            levels[finding.rule.name] = levels.get(finding.rule.name, 0) + max(1, session.report.jobs_reached(finding))
    return levels


def _further(files: dict[str, str], folder: str, cluster: str, delivery: str, scheduler: str) -> dict[str, str]:
    """What a further cluster needs: an entry in trainc.yaml, and an application of its own."""
    found = []  # the files of the project that hold jobs
    for file in walk(folder, (".",)):
        data = contents(folder, file)
        documents = read(data, file, Report()) if ours(data) else ()
        if any(one.kind in ("TrainJob", "JobSet", *NAMES) or is_input_kind(one) for one in documents):
            found.append(file)
    settings = [f"scheduler: {scheduler}"] if scheduler else []
    if scheduler == "volcano":
        settings.append("queue: default")  # that it takes itself where a job names none
    config = with_cluster(contents(folder, FILE), cluster, found, delivery, settings)
    files[FILE] = config.decode()
    path = f"deploy/{delivery}.yaml"
    is_there = os.path.exists(os.path.join(folder, path))
    marks = (f"rendered/{cluster}\n".encode(), f"string: {cluster}\n".encode())
    if path in files and is_there and not any(mark in contents(folder, path) for mark in marks):
        # The API server of Argo CD itself is that of one cluster alone.
        text = files.pop(path).replace("server: https://kubernetes.default.svc\n", f"name: {cluster}\n")
        files[path.replace(".yaml", f"-{cluster}.yaml")] = text
    return files


def _setting(config: bytes, *path: str) -> str:
    documents = list(read(config, FILE, Report()))
    return str(value(documents[0].tree, "spec", *path) or "") if documents else ""


def _put(at: str, text: str, *, adds: bool) -> str:
    """Write a file that is not there, or add the hooks or a cluster to the one that is; what was done."""
    if create(at, text):
        return "wrote"
    if os.path.basename(at) == FILE and adds and contents(os.path.dirname(at) or ".", FILE) != text.encode():
        replace(at, text.encode())
        return "added the cluster to"
    if os.path.basename(at) == ".pre-commit-config.yaml":
        before = contents(os.path.dirname(at) or ".", os.path.basename(at))
        after = with_hooks(before)
        if after != before:
            replace(at, after)
            return "added hooks to"
    return "kept "


def with_hooks(config: bytes) -> bytes:
    """A configuration of pre-commit with the hooks of trainc before its others; as it was where it has them."""
    report = Report()
    documents = list(read(config, "", report))
    repos = get(documents[0].tree, "repos") if len(documents) == 1 and not report.findings else None
    if b"trainc-validate" in config or type(repos) is not list or not repos:
        return config
    lines = config.decode().splitlines(keepends=True)
    first = documents[0].span(("repos", 0)).line - 1
    indent, dash, _ = lines[first].partition("- ")
    if not dash or indent.strip():
        return config
    entry = "".join(f"{indent}{line[2:]}" for line in hooks().splitlines(keepends=True))
    return "".join([*lines[:first], entry, *lines[first:]]).encode()
