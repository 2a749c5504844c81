"""Reading a Git repository: plumbing commands alone, no hooks, no file system monitor, nothing of the caller's GIT_*.

Nothing that the configuration or the attributes of a stranger's repository name is ever started. What could start a
program, and what keeps it from it (each tried with a real repository in tests/changes/compare/test_strangers.py):
hooks, the file system monitor: `-c`; filter drivers: every one that is configured is replaced by nothing; transports of
a promisor remote (`ext::`, `ssh`, a helper): GIT_ALLOW_PROTOCOL, which outranks any `protocol.*.allow`; the status of
submodules, which reads their own configuration: `--ignore-submodules`; pagers, editors and text conversion: only
plumbing commands run, whose output is a pipe.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from trainc.compiler.load.walk import is_candidate
from trainc.text.children import wait_for_children
from trainc.text.trouble import Trouble

FILES = 1_000_000  # of one commit: a few objects can name any number of them
LARGEST = 64 * 1024 * 1024  # bytes of one object
_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never")
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_GRAFT_FILE": os.devnull,  # parents are those that a commit names
    "GIT_NO_LAZY_FETCH": "1",  # from Git 2.45 on; before, the fetch starts and finds no transport
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_DRIVER = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
_MISSING = ("promisor", "lazy fetching", "missing blob", "transport 'none'", "not allowed")
_CHUNK = 1 << 16
LINK, MODULE = "120000", "160000"  # the modes of a symbolic link and of a submodule


class IndexEntry(NamedTuple):
    """One file of the index: its path relative to the top, mode and object; `stage` is 0 but for a merge conflict.

    `is_left_out` says that a sparse checkout has no such file in the work tree.
    """

    path: str
    mode: str
    object: str
    stage: int
    is_left_out: bool


class GitRepository:
    """The Git work tree that holds a folder; reads objects, never changes one.

    Trouble from every method, where Git cannot be run, or refuses, as it does where the folder is in no work tree.
    """

    def __init__(self, folder: str) -> None:
        wait_for_children()
        self._folder = folder
        self._disabled: dict[str, str] | None = None
        self.top = os.path.realpath(self._text("rev-parse", "--show-toplevel"))
        self._index_file = os.environ.get("GIT_INDEX_FILE", "")  # of `git commit FILE` and `git commit -a`

    def prefix(self, folder: str) -> str:
        """What stands before the paths of a folder of the work tree: its own path with a slash, empty for the top."""
        below = os.path.relpath(os.path.realpath(folder), self.top).replace(os.sep, "/")
        return "" if below == "." else f"{below}/"

    def commit(self, revision: str) -> str:
        """The commit that a revision names."""
        if not revision:
            raise Trouble("the revision is empty; name a commit, branch or tag")
        return self._text(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", about=revision
        )

    def reference(self, name: str) -> str:
        """The commit that a reference or an object name stands for, empty where it is not here."""
        try:
            return self._text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        except Trouble:
            return ""

    def references(self, *patterns: str) -> Iterator[tuple[str, str, str]]:
        """Name, commit and target (of a symbolic one) of each reference that a pattern stands for."""
        form = "--format=%(refname) %(objectname) %(symref)"
        for line in self._text("for-each-ref", form, "--", *patterns).splitlines():
            name, commit, *target = line.split(" ")
            yield name, commit, target[0] if target else ""

    def merge_base(self, *commits: str) -> str:
        """The best common ancestor of the first commit and a merge of the others, empty where there is none."""
        try:
            return self._text("merge-base", *commits)
        except Trouble:
            return ""

    def latest(self, commits: Iterable[str]) -> str:
        """The commit among some of which none of the others is a descendant."""
        names = sorted(commits)
        return names[0] if len(names) == 1 else self._text("rev-list", "--max-count=1", "--topo-order", *names, "--")

    def parents(self, commit: str) -> list[str]:
        """The parents that a commit names, also those that a shallow clone lacks."""
        lines = self._bytes("cat-file", "commit", commit).partition(b"\n\n")[0].decode("utf-8", "replace").splitlines()
        return [line.partition(" ")[2] for line in lines if line.startswith("parent ")]

    def versions(self, paths: list[str]) -> Iterator[bytes]:
        """Every text that a path had in a commit of any branch or tag that is here; paths are globs from the top."""
        where = [f":(top,glob){path}" for path in paths]
        words = ("log", "--all", "--full-history", "-m", "--raw", "--no-abbrev", "--no-renames", "--format=", "--")
        lines = self._bytes(*words, *where).decode("utf-8", "replace").splitlines()
        objects = dict.fromkeys(
            line.split()[3] for line in lines if line.startswith(":") and line.split()[1].startswith("100")
        )
        yield from self.contents([*objects])

    def is_shallow(self) -> bool:
        """Whether the clone has a part of the history alone."""
        return self._text("rev-parse", "--is-shallow-repository") == "true"

    def files(self, commit: str, below: str = "") -> Iterator[tuple[str, str]]:
        """Path (relative to the top) and object of every ordinary file of a commit, optionally below a folder."""
        return self._tree(commit, below, "100")

    def links(self, commit: str, below: str = "") -> Iterator[tuple[str, str]]:
        """Path and target of every symbolic link of a commit, as `files` gives files."""
        paths = dict(self._tree(commit, below, LINK))
        return zip(paths, map(os.fsdecode, self.contents([*paths.values()])), strict=True)

    def modules(self, commit: str, below: str = "") -> dict[str, str]:
        """Path and commit of every submodule of a commit, as `files` gives files."""
        return dict(self._tree(commit, below, MODULE))

    def of_modules(self, modules: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
        """The specs of submodules at their commits, by their paths from the top; one that is not checked out has none."""
        for path, commit in modules.items():
            folder = os.path.join(self.top, path)
            if not os.path.lexists(os.path.join(folder, ".git")):
                continue
            module = GitRepository(folder)
            try:
                specs = {inner: name for inner, name in module.files(commit) if is_candidate(inner)}
                inner_modules = module.modules(commit)
            except Trouble as trouble:
                raise Trouble(f"submodule {path}: {trouble}; run `git submodule update --init {path}`") from trouble
            texts = module.contents([*specs.values()])
            yield from ((f"{path}/{inner}", text) for inner, text in zip(specs, texts, strict=True))
            yield from ((f"{path}/{inner}", text) for inner, text in module.of_modules(inner_modules))

    def _tree(self, commit: str, below: str, mode: str) -> Iterator[tuple[str, str]]:
        words = ["ls-tree", "-r", "-z", "--full-tree", commit, *(["--", below] if below else [])]
        count, rest = 0, b""
        for piece in self._stream(*words):
            *entries, rest = (rest + piece).split(b"\0")
            count += len(entries)
            if count > FILES:
                raise Trouble(f"the revision has more than {FILES} files")
            for entry in entries:
                about, tab, path = entry.decode("utf-8", "surrogateescape").partition("\t")
                if tab and about.startswith(mode):
                    if not is_inside(path):
                        raise Trouble(f"the revision has a file named {path!r}, which is outside the repository")
                    yield path, about.split()[2]

    def text(self, commit: str, path: str) -> bytes | None:
        """The bytes of a file of a commit by its path from the top, None where the commit has no such file."""
        names = [name for file, name in self.files(commit, path) if file == path]
        return next(self.contents(names)) if names else None

    def last_change(self, commit: str, path: str) -> str:
        """The last commit up to this one that changed a path from the top, empty where none did."""
        return self._text("rev-list", "--max-count=1", commit, "--", f":(top,literal){path}")

    def contents(self, objects: list[str]) -> Iterator[bytes]:
        """The bytes of each object, in order; Trouble for one that is not here, or is larger than any spec can be."""
        if not objects:
            return
        pieces = self._stream("cat-file", "--batch", feed="".join(f"{name}\n" for name in objects).encode())
        held = b""
        for name in objects:
            while b"\n" not in held:
                held += next(pieces, b"\n")
            head, _, held = held.partition(b"\n")
            if head.endswith(b" missing") or not head:
                raise partial()
            size = int(head.split()[2])
            if size > LARGEST:
                raise Trouble(f"object {name} is larger than {LARGEST >> 20} MiB, the limit for a spec")
            parts = [held]
            length = len(held)
            while length <= size:
                parts.append(next(pieces))
                length += len(parts[-1])
            held = b"".join(parts)
            yield held[:size]
            held = held[size + 1 :]

    @property
    def git_folder(self) -> str:
        """The absolute path of the folder in which Git keeps this work tree's state."""
        usual = os.path.join(self.top, ".git")
        return usual if os.path.isdir(usual) else self._text("rev-parse", "--absolute-git-dir")

    def remote(self) -> str:
        """The URL of `origin` as another machine can use it, without a password; empty where there is none."""
        try:
            url = self._text("config", "--get", "remote.origin.url")
        except Trouble:
            return ""
        scheme, separator, rest = url.partition("://")
        if separator and scheme in ("https", "http", "ssh"):
            host, slash, path = rest.partition("/")
            return f"{scheme}://{host if scheme == 'ssh' else host.rpartition('@')[2]}{slash}{path}"
        host, colon, path = url.partition(":")
        is_ssh = not separator and colon and path and "/" not in host and len(host) > 1  # as in git@host:path
        return url if is_ssh else ""

    def branch(self) -> str:
        """The branch that `origin` has by default, else the one that is checked out; empty where neither is known."""
        for name in ("refs/remotes/origin/HEAD", "HEAD"):
            with suppress(Trouble):
                return self._text("symbolic-ref", "--quiet", "--short", name).removeprefix("origin/")
        return ""

    def index(self) -> Iterator[IndexEntry]:
        """Every file of the index that a hook was given, else of the work tree's own; `git add -N` adds none."""
        promised = {*self._paths("diff-files", "--name-only", "-z", "--diff-filter=A", index=True)}
        return (entry for entry in self._listed("", index=True) if entry.path not in promised)

    def unmerged(self, below: str) -> set[str]:
        """Paths (relative to the top) that a merge left in conflict."""
        return {entry.path for entry in self._listed(below, "--unmerged")}

    def absent(self, below: str) -> dict[str, str]:
        """Paths (relative to the top) that a sparse checkout leaves out, with their objects."""
        if not os.path.exists(os.path.join(self.git_folder, "info", "sparse-checkout")):
            return {}
        return {entry.path: entry.object for entry in self._listed(below) if entry.is_left_out}

    def _listed(self, below: str, which: str = "--cached", *, index: bool = False) -> Iterator[IndexEntry]:
        """Every file of the index, or those in conflict, below a path relative to the top."""
        where = f":(top,literal){below}" if below else ":/"
        for line in self._paths("ls-files", which, "--stage", "-t", "-z", "--full-name", "--", where, index=index):
            about, _, path = line.partition("\t")
            tag, mode, name, stage = about.split()
            yield IndexEntry(path, mode, name, int(stage), tag == "S")

    def staged(self) -> tuple[dict[str, str], dict[str, str]]:
        """Paths (relative to the top) that the next commit adds or changes, and those that it deletes.

        Each with its former object, empty for a file that is new.
        """
        try:
            commit = self.commit("HEAD")
        except Trouble:  # before the first commit
            return {entry.path: "" for entry in self.index()}, {}
        words = ("diff-index", "--cached", "--raw", "--no-abbrev", "--no-renames", "-z", commit, "--")
        answer = self._paths(*words, index=True)
        entries = dict(zip(answer[1::2], answer[::2], strict=True))
        former = {path: entry.split()[2] for path, entry in entries.items()}
        gone = {path: name for path, name in former.items() if entries[path].endswith(" D")}
        return {path: name if name.strip("0") else "" for path, name in former.items() if path not in gone}, gone

    def staged_links(self) -> dict[str, str]:
        """Each symbolic link of the index and the path that it leads to, both relative to the top; those inside alone."""
        paths = {entry.path: entry.object for entry in self.index() if entry.mode == LINK}
        targets = zip(paths, map(os.fsdecode, self.contents([*paths.values()])), strict=True)
        joined = ((path, os.path.normpath(os.path.join(os.path.dirname(path), target))) for path, target in targets)
        return {path: target.replace(os.sep, "/") for path, target in joined if is_inside(target)}

    def changed(self, commit: str) -> set[str]:
        """Paths (relative to the top) that differ between a commit and the work tree, new ones included."""
        tracked = self._bytes("diff-index", "--raw", "--no-abbrev", "-z", "--no-renames", commit, "--")
        words = tracked.decode("utf-8", "surrogateescape").split("\0")
        entries = dict(zip(words[1::2], words[::2], strict=False))
        # Those may have been saved again alone: the index knows times, not contents.
        saved = {}
        for path, entry in entries.items():
            before, after, old, new, status = entry.split()
            # The index has the new object of a file that is as it was added, or that a sparse checkout leaves out.
            if (
                status == "M"
                and not new.strip("0")
                and before[1:] == after
                and after.startswith("100")
                and "\n" not in path
            ):
                saved[path] = old
        # Absolute: Git takes a relative path from the top here, or from this folder, by what else it is asked.
        feed = "".join(f"{os.path.join(self.top, path)}\n" for path in saved)
        given = feed.encode("utf-8", "surrogateescape")
        hashes = self._bytes("hash-object", "--no-filters", "--stdin-paths", feed=given) if saved else b""
        touched = {path for (path, old), now in zip(saved.items(), hashes.decode().split(), strict=True) if now == old}
        return {*entries, *self.untracked()} - touched

    def untracked(self) -> list[str]:
        """Paths (relative to the top) of files that Git neither holds nor ignores."""
        return self._paths("ls-files", "--others", "--exclude-standard", "-z", "--full-name", ":/")

    def _paths(self, *words: str, index: bool = False) -> list[str]:
        return [*filter(None, self._bytes(*words, index=index).decode("utf-8", "surrogateescape").split("\0"))]

    def _text(self, *words: str, about: str = "") -> str:
        return self._bytes(*words, about=about).decode("utf-8", "surrogateescape").strip()

    def _bytes(self, *words: str, feed: bytes = b"", about: str = "", index: bool = False) -> bytes:
        """What a command prints; `about` is the revision it asks for, `index` says that the index of a hook counts."""
        environment = self._environment()
        if index and self._index_file:
            environment["GIT_INDEX_FILE"] = os.path.join(self.top, self._index_file)
        try:
            done = subprocess.run(  # noqa: S603 (fixed words; revisions stand behind --end-of-options)
                self._command(words), check=False, capture_output=True, env=environment, input=feed
            )
        except OSError as error:
            raise Trouble(f"git cannot be run: {error.strerror}") from error
        if done.returncode:
            raise self._trouble(words, done.stderr, about)
        return done.stdout

    def _stream(self, *words: str, feed: bytes = b"") -> Iterator[bytes]:
        """What a command prints, in pieces, however much it is."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaints:
            given.write(feed)
            given.seek(0)
            with subprocess.Popen(  # noqa: S603 (as above)
                self._command(words), stdin=given, stdout=subprocess.PIPE, stderr=complaints, env=self._environment()
            ) as process:
                try:
                    while chunk := process.stdout.read(_CHUNK) if process.stdout else b"":
                        yield chunk
                finally:
                    if process.poll() is None and process.stdout and process.stdout.read(1):
                        process.kill()  # the reader has had enough
            if process.returncode:
                complaints.seek(0)
                raise self._trouble(words, complaints.read(), "")

    def _command(self, words: tuple[str, ...]) -> list[str]:
        if words[0].startswith("diff-"):
            words = (words[0], "--ignore-submodules=all", *words[1:])
        return ["git", *_SAFE, "-C", self._folder, *words]

    def _environment(self) -> dict[str, str]:
        if self._disabled is None:
            self._disabled = {}
            keys = b""
            with suppress(Trouble):  # none is configured, or there is no repository, as the next command will say
                keys = self._bytes("config", "--null", "--name-only", "--get-regexp", r"^filter\.")
            words = keys.decode("utf-8", "surrogateescape").split("\0")
            names = {key.partition(".")[2].rpartition(".")[0] for key in words} - {""}
            pairs = [(f"filter.{name}.{key}", text) for name in sorted(names) for key, text in _DRIVER]
            variables = {"GIT_CONFIG_COUNT": str(len(pairs))} if pairs else {}
            for index, (key, text) in enumerate(pairs):
                variables |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": text}
            self._disabled = variables
        clean = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
        return {**clean, **_ENVIRONMENT, **self._disabled}

    def _trouble(self, words: tuple[str, ...], complaint: bytes, about: str) -> Trouble:
        lines = complaint.decode("utf-8", "replace").strip().splitlines()
        text = lines[-1].strip() if lines else "failed"
        # Above the command that Git advises stands the reason.
        if len(lines) > 1 and text.startswith("git ") and (reason := next(filter(_is_reason, lines), "")):
            return Trouble(f"{reason.partition(': ')[2]}; run `{text}`")
        # Git says the second where the folder is the top of a volume, as in a container.
        if "not a git repository" in text or "filesystem boundary" in text:
            return Trouble(f"{os.path.abspath(self._folder)} is not in a Git repository")
        if any(sign in line for line in lines for sign in _MISSING):
            return partial()
        if about == "HEAD":
            return Trouble("no commits yet: nothing to compare with")
        return Trouble(f"Git has no revision `{about}`" if about else f"git {words[0]}: {text}")


def _is_reason(line: str) -> bool:
    return line.startswith(("fatal: ", "error: "))


def is_inside(path: str) -> bool:
    """Whether a path of a commit or an index stays below its top: the objects of strangers can say anything."""
    return not {"", ".", "..", ".git"} & set(path.replace(os.sep, "/").split("/"))


def partial() -> Trouble:
    """What to say where a partial clone lacks an object."""
    return Trouble(
        "this partial clone lacks objects of the revision, and trainc fetches nothing; "
        "run `git archive -o /dev/null REVISION`, which fetches them, and try again"
    )
