"""The base: the commit from which a rendered file may be inherited.

It is the revision that a command names. Without one it is, for a branch, the commit at which the branch left the default
branch; on the default branch HEAD where files of the work tree differ from it, else the first parent of HEAD. So each commit is judged by
the one before it, and a branch by what it is merged into. Before the first commit the base is there, and empty.
"""

import os
from collections.abc import Iterable
from functools import cached_property

from trainc.changes.git.work_tree import repository_of
from trainc.compiler.emit.spool.disk import OnDisk, parse_file
from trainc.compiler.load.walk import is_candidate
from trainc.text.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.changes.git.repository import GitRepository

OUTSIDE = "this folder is in no Git repository, so nothing proves a rendering that its sources do not compile to"
_BRANCHES = ("main", "master")  # what a default branch is called where no remote tells


class BaseCommit:
    """The base of one repository: its commit, empty before the first one; `missing` says why there is none."""

    def __init__(self, folder: str, named: str = "", *, is_commit: bool | None = None) -> None:
        self.named = named
        self.repository = repository_of(folder)
        self._is_commit = is_commit

    @cached_property
    def missing(self) -> str:
        """Why there is no base, empty where there is one."""
        return self._answer[1]

    @cached_property
    def commit(self) -> str:
        """The commit; empty where the base holds nothing, or there is none."""
        return self._answer[0]

    @cached_property
    def _answer(self) -> tuple[str, str]:
        if self.repository is None:
            if self.named:
                raise Trouble(f"`{self.named}` names a commit, and this folder is in no Git repository")
            return "", OUTSIDE
        if self.named:
            return self.repository.commit(self.named), ""
        return _found(self.repository, is_commit=self._is_commit)


class Base:
    """Files of a folder as the base has them; paths are relative to the folder.

    `named` is the revision that a command names as the base. `is_commit` says that the work tree is that of a commit,
    whatever of it is there, or that it is not, as somebody asks what an edit would do; without it Git is asked.
    """

    def __init__(
        self, folder: str, named: str = "", *, is_commit: bool | None = None, commit: BaseCommit | None = None
    ) -> None:
        above = os.path.realpath(folder)
        while not os.path.isdir(above):
            above = os.path.dirname(above)
        self._folder = os.path.realpath(folder)
        self._commit = commit or BaseCommit(above, named, is_commit=is_commit)
        self._texts: dict[str, dict[str, bytes]] = {}  # by folder
        self._is_commit = is_commit

    def at(self, folder: str) -> "Base":
        """The same base for another folder; one in another repository has a base of its own."""
        folder = os.path.realpath(folder)
        repository = self._commit.repository
        inside = repository is not None and os.path.commonpath((repository.top, folder)) == repository.top
        return Base(folder, self._commit.named, is_commit=self._is_commit, commit=self._commit if inside else None)

    @property
    def missing(self) -> str:
        """Why there is no base, empty where there is one."""
        return self._commit.missing

    @property
    def commit(self) -> str:
        """Its commit, empty where it holds nothing."""
        return self._commit.commit

    @property
    def repository(self) -> "GitRepository | None":
        """The repository, None outside of Git."""
        return self._commit.repository

    @cached_property
    def _objects(self) -> dict[str, str]:
        if self.repository is None or not self.commit:
            return {}
        prefix = self.repository.prefix(self._folder)
        files = self.repository.files(self.commit, prefix)
        return {path.removeprefix(prefix): name for path, name in files if path.startswith(prefix)}

    def paths(self) -> Iterable[str]:
        """Every file below the folder."""
        return self._objects

    def text(self, path: str) -> bytes | None:
        """The bytes of a file, None where the base has no such file; files of one folder are read together."""
        if path not in self._objects or self.repository is None:
            return None
        folder = path.rpartition("/")[0]
        if folder not in self._texts:
            near = [other for other in self._objects if other.rpartition("/")[0] == folder and is_candidate(other)]
            contents = self.repository.contents([self._objects[other] for other in near])
            self._texts[folder] = dict(zip(near, contents, strict=True))
        return self._texts[folder].get(path)

    def find(self, path: str) -> OnDisk | None:
        """A rendered file; None for one that nobody can have applied, as a merge left marks of a conflict in it."""
        if (data := self.text(path)) is None:
            return None
        file = parse_file(data)
        return None if file.marked else file


def _found(repository: "GitRepository", *, is_commit: bool | None) -> tuple[str, str]:
    """The base of a work tree, and why it has none."""
    head = repository.reference("HEAD")
    if not head:
        return "", ""
    merged = repository.reference("MERGE_HEAD")
    tips = default_branches(repository)
    bases = {repository.merge_base(tip, head, *filter(None, [merged])) for tip in tips} - {""}
    if tips and not bases:
        if repository.is_shallow():
            return "", (
                "this shallow clone lacks the commit at which the branch left the default branch; run `git fetch --unshallow` "
                "(in a workflow: `fetch-depth: 0`)"
            )
        return "", "HEAD has no commit in common with the default branch; name the base with `--base REVISION`"
    base = repository.latest(bases) if bases else head
    if base != head:
        return base, ""
    if is_commit is None:
        is_commit = not merged and not any(map(is_candidate, repository.changed(head)))
    if not is_commit:
        return head, ""
    parents = repository.parents(head)
    if not parents:
        return "", ""
    if not repository.reference(parents[0]):
        return "", (
            "this shallow clone lacks the first parent of HEAD; run `git fetch --deepen=1` (in a workflow: `fetch-depth: 2`)"
        )
    return parents[0], ""


def default_branches(repository: "GitRepository") -> list[str]:
    """The commits of the default branch, here and on each remote; none where no branch is known to be that one."""
    patterns = [f"refs/remotes/*/{name}" for name in ("HEAD", *_BRANCHES)]
    remotes: dict[str, dict[str, tuple[str, str]]] = {}
    for name, commit, target in repository.references(*patterns):
        remote, _, branch = name.removeprefix("refs/remotes/").rpartition("/")
        remotes.setdefault(remote, {})[branch] = (commit, target.removeprefix(f"refs/remotes/{remote}/"))
    tips, names = [], []
    for branches in remotes.values():
        chosen = next(name for name in ("HEAD", *_BRANCHES) if name in branches)
        commit, target = branches[chosen]
        tips.append(commit)
        names.append(target or chosen)
    local = [repository.reference(f"refs/heads/{name}") for name in names or _BRANCHES]
    return list(dict.fromkeys([*tips, *filter(None, local)]))
