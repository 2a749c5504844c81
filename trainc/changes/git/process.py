"""Runs Git on a repository of strangers: nothing that its configuration or attributes name is ever started.

What could start a program, and what keeps it from it (each tried with a real repository in tests/changes/compare/test_strangers.py):
hooks, the file system monitor: `-c`; filter drivers: every one that is configured is replaced by nothing; transports of
a promisor remote (`ext::`, `ssh`, a helper): GIT_ALLOW_PROTOCOL, which outranks any `protocol.*.allow`; the status of
submodules, which reads their own configuration: `--ignore-submodules`; pagers, editors and text conversion: only
plumbing commands run, whose output is a pipe.
"""

from __future__ import annotations

import os
import subprocess
import tempfile

from trainc.text.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never")
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",  # from Git 2.45 on; before, the fetch starts and finds no transport
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_DRIVER = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
_MISSING = ("promisor", "lazy fetching", "missing blob", "transport 'none'", "not allowed")
_CHUNK = 1 << 16


class Git:
    """Plumbing commands in one folder.

    Raises:
        Trouble: from every method, where Git cannot be run or refuses.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._disabled: dict[str, str] | None = None

    def run(
        self, *words: str, feed: bytes | None = None, about: str = "", more: Mapping[str, str] | None = None
    ) -> bytes:
        """What a command prints; `about` is the revision it asks for, `more` counts over its environment."""
        try:
            done = subprocess.run(  # noqa: S603 (fixed words; revisions stand behind --end-of-options)
                self._command(words), check=False, capture_output=True, env=self._environment(more), input=feed or b""
            )
        except OSError as error:
            raise Trouble(f"git cannot be run: {error.strerror}") from error
        if done.returncode:
            raise self._trouble(words, done.stderr, about)
        return done.stdout

    def stream(self, *words: str, feed: bytes = b"") -> Iterator[bytes]:
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
        return ["git", *_SAFE, "-C", self.folder, *words]

    def _environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        if self._disabled is None:
            self._disabled = {}
            self._disabled = _overriding(self._drivers())
        clean = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
        return {**clean, **_ENVIRONMENT, **self._disabled, **(more or {})}

    def _drivers(self) -> list[str]:
        """The names of all filter drivers in any configuration that Git reads here."""
        try:
            keys = self.run("config", "--null", "--name-only", "--get-regexp", r"^filter\.")
        except Trouble:  # none is configured, or there is no repository, as the next command will say
            return []
        names = (
            key.partition(".")[2].rpartition(".")[0] for key in keys.decode("utf-8", "surrogateescape").split("\0")
        )
        return sorted({name for name in names if name})

    def _trouble(self, words: tuple[str, ...], complaint: bytes, about: str) -> Trouble:
        lines = complaint.decode("utf-8", "replace").strip().splitlines()
        text = lines[-1] if lines else "failed"
        # Git says the second where the folder is the top of a volume, as in a container.
        if "not a git repository" in text or "filesystem boundary" in text:
            return Trouble(f"{os.path.abspath(self.folder)} lies in no Git repository")
        if any(sign in line for line in lines for sign in _MISSING):
            return partial()
        if about == "HEAD":
            return Trouble("there is no commit yet, so nothing to compare with")
        return Trouble(f"Git knows no revision `{about}`" if about else f"git {words[0]}: {text}")


def partial() -> Trouble:
    """What to say where a partial clone lacks an object."""
    return Trouble(
        "this partial clone lacks objects of the revision, and trainc fetches nothing; "
        "run `git archive -o /dev/null REVISION`, which fetches them, and try again"
    )


def _overriding(names: list[str]) -> dict[str, str]:
    """The environment by which Git takes these filter drivers for absent."""
    pairs = [(f"filter.{name}.{key}", text) for name in names for key, text in _DRIVER]
    variables = {"GIT_CONFIG_COUNT": str(len(pairs))} if pairs else {}
    for index, (key, text) in enumerate(pairs):
        variables |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": text}
    return variables
