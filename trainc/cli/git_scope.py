"""Which files a run reads, by Git: with `--staged` those of the next commit, with `--changed-since` what a change reaches."""

import os
from collections.abc import Iterable, Iterator
from contextlib import chdir, contextmanager

from trainc.changes.git.repository import GitRepository
from trainc.changes.git.staged import StagedFiles, scratch_folder
from trainc.cli.caching.index_folder import index_folder
from trainc.cli.caching.run_cache import Run, run_cached
from trainc.cli.options import Options
from trainc.cli.output import tell
from trainc.cli.process import Orderly
from trainc.cli.session import WORK_TREE
from trainc.compiler.header import is_rendered, read_header
from trainc.compiler.load.lists import expand
from trainc.compiler.load.runtimes import may_hold_runtimes
from trainc.compiler.load.walk import contents, files, is_candidate, ours
from trainc.model.references import KINDS, provides
from trainc.model.report import Report
from trainc.model.settings import FILE, Project
from trainc.text.files import is_below
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read


def run_staged(name: str, run: Run, options: Options, *, touched: bool = False) -> int:
    """Run a command in a folder that holds what Git's index holds; every path keeps the name that it has here.

    With `touched` and no arguments, all that the commit changes are. What it deletes no tool passes: the folder of a
    deleted runtime, or of anything else that jobs may rest on, is an argument in any case.
    """
    repository = GitRepository(".")
    here = os.path.realpath(".")
    arguments = [_relative(path, here) for path in options.arguments]
    for path in arguments:
        if os.path.commonpath((repository.top, os.path.normpath(os.path.join(here, path)))) != repository.top:
            raise Trouble(f"{path} is outside the Git work tree")
    deleted: list[str] = []
    if touched:
        changed, gone = repository.staged()
        for link, target in repository.staged_links().items():
            below = {path: f"{link}{path[len(target) :]}" for path in (*changed, *gone) if is_below(path, (target,))}
            changed |= {seen: changed.get(path) or gone.get(path, "") for path, seen in below.items()}
        former = {**changed, **gone}
        specs = sorted(path for path, name in former.items() if name and is_candidate(path))
        held = zip(specs, repository.contents([former[path] for path in specs]), strict=True)
        # Those that may reach jobs in other files.
        reaching = [
            path for path, text in held if may_hold_runtimes(text) or (path in gone and not ours(text, rendered=True))
        ]
        deleted = [os.path.relpath(os.path.join(repository.top, path), here) for path in reaching]
        if not arguments:
            arguments = [os.path.relpath(os.path.join(repository.top, path), here) for path in sorted(changed)]
    values = {name: given for name, given in options.values.items() if name != "staged"}
    values[WORK_TREE] = [here]
    with Orderly(), _next_commit(repository, options) as (folder, stays):
        place = os.path.join(folder, repository.prefix(here))
        os.makedirs(place, exist_ok=True)
        with chdir(place):
            staged = Options([*arguments, *map(_standing, deleted)], values)
            code = run_cached(name, run, staged) if stays else run(staged, None)
    if code == 1 and (left := [path for path in repository.untracked() if _may_be_runtime(repository.top, path)]):
        shown = [os.path.relpath(os.path.join(repository.top, path), here) for path in left]
        tell(f"help: not in the next commit, so not read: {', '.join(shown)}; run `git add` if the jobs use them")
    return code


@contextmanager
def _next_commit(repository: GitRepository, options: Options) -> Iterator[tuple[str, bool]]:
    """A folder with what the index holds, and whether it stays for the next run."""
    if options.has("no_cache"):
        with scratch_folder(StagedFiles(repository)) as folder:
            yield folder, False
    else:
        with index_folder(repository) as kept:
            yield kept


def _may_be_runtime(top: str, path: str) -> bool:
    try:
        return is_candidate(path) and may_hold_runtimes(contents(top, path))
    except Trouble:
        return False


def _standing(path: str) -> str:
    while not os.path.isdir(path):
        path = os.path.dirname(path) or "."
    return path


def _relative(path: str, here: str) -> str:
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.relpath(os.path.join(os.path.realpath(folder), name), here)


def narrow(project: Project, paths: tuple[str, ...], revision: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The files under the paths that differ since a revision, or use something that does; and the files that went.

    A job uses every runtime, component, claim and the like whose name stands anywhere in its file: too many are
    compiled rather than one too few. A change of the project or of a cluster's folder reaches everything.
    """
    root = project.root
    before = _before(root, revision)
    gone = frozenset(file for file in before if not os.path.isfile(os.path.join(root, file)))
    if any(file == FILE or file.startswith(project.apart) for file in before):
        return paths, gone
    texts = {file: contents(root, file) for file in files(root, (".",))}
    both = [text for file in before for text in (before[file], texts.get(file, b""))]
    names = _names(both, texts.values())
    headers = [read_header(text.partition(b"\n")[0].decode("utf-8", "replace")) for text in both]
    sources = {header.source for header in headers if header is not None and header.source}
    changed = tuple(
        file
        for file in files(root, paths)
        if file in before or file in sources or any(name in texts[file] for name in names)
    )
    return changed, gone | frozenset(source for source in sources if source not in texts)


def _before(root: str, revision: str) -> dict[str, bytes]:
    """Every file of the project that changed, with its text at the revision; empty for a new one."""
    repository = GitRepository(root)
    commit = repository.commit(revision)
    prefix = repository.prefix(root)
    changed = {path for path in repository.changed(commit) if path.startswith(prefix)}
    known = {path: name for path, name in repository.files(commit) if path in changed}
    old = dict(zip(known, repository.contents(list(known.values())), strict=True))
    return {path[len(prefix) :]: old.get(path, b"") for path in sorted(changed)}


def _names(changed: Iterable[bytes], texts: Iterable[bytes]) -> set[bytes]:
    """The names of what jobs use among the changed texts, and of what builds on it."""
    shared = [text for text in texts if _is_shared(text)]
    names = {name for text in changed if _is_shared(text) for name in _defined(text)}
    while True:
        more = {name for text in shared if any(known in text for known in names) for name in _defined(text)}
        if more <= names:
            return names
        names |= more


def _is_shared(text: bytes) -> bool:
    """Whether a text may hold what jobs in other files use."""
    if is_rendered(text):
        return False
    return (ours(text) and may_hold_runtimes(text)) or any(kind.encode() in text for kind in KINDS)


def _defined(text: bytes) -> set[bytes]:
    documents = [one for one in expand(read(text, "", Report()), Report()) if one.name and "Job" not in one.kind]
    return {name.encode() for one in documents for name in (one.name, provides(one.tree)[1])}
