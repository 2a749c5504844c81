"""`trainc init`: a repository that works."""

from __future__ import annotations

import os

from trainc.cli.output import answer
from trainc.cli.scaffold import KUBECTL, scaffold
from trainc.emit.spool.disk import create
from trainc.load import catalogue
from trainc.model.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cli.options import Options

_RUNTIME = "torch-distributed"


def init(options: Options) -> int:
    """Write the files of a new repository, beside what is there already, and say what to do next."""
    if len(options.arguments) > 1:
        raise Trouble("usage: trainc init [DIR]")
    folder = options.arguments[0] if options.arguments else "."
    cluster = options.one("cluster", "main")
    if not cluster.replace("-", "").isalnum() or not cluster.isascii() or cluster != cluster.lower():
        raise Trouble(f"`{cluster}` is no name for a cluster: small letters, digits and dashes")
    with open(os.path.join(catalogue(), f"{_RUNTIME}.yaml"), encoding="utf-8") as stream:
        files = {f"runtimes/{_RUNTIME}.yaml": stream.read(), **scaffold(cluster, options.one("delivery"))}
    targets = {os.path.join(folder, path): files[path] for path in sorted(files)}
    rows = [f"{'wrote' if create(at, text) else 'kept '} {os.path.normpath(at)}" for at, text in targets.items()]
    answer(*rows)  # when all of it is there: a reader that has gone stops nothing half-way
    step = "" if folder == "." else f"cd {folder} && "
    answer("", "next:", *f"  {step}{KUBECTL.format(cluster=cluster)}".split("\n"))
    answer("  trainc build -w")
    git = "" if _in_work_tree(folder) else "git init && "
    answer(f"  {git}git add -A && pre-commit install && git commit")
    return 0


def _in_work_tree(folder: str) -> bool:
    here = os.path.abspath(folder)
    return os.path.exists(os.path.join(here, ".git")) or (
        here != os.path.dirname(here) and _in_work_tree(os.path.dirname(here))
    )
