"""Words of a shell in a command that no shell reads."""

from __future__ import annotations

from trainc.model.finding import ERROR, Rule
from trainc.verify.shell import SHELLS
from trainc.verify.values import texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.verify.containers import Container
    from trainc.verify.job import Job

SHELL_WORDS = Rule(
    "shell-words-without-shell",
    ERROR,
    "`&&`, `|` or `>` stands in a command that no shell reads",
    "Kubernetes starts a command without a shell. The program gets these characters as arguments.",
)
_JOINING = frozenset(("&&", "||", "|", ";", ">", ">>", "2>", "2>&1", "&>", "<"))


def shell_words_without_shell(job: Job) -> None:
    for container in job.containers:
        place = _joining(container)
        if place is None:
            continue
        field, index, word = place
        job.report.add(
            SHELL_WORDS.at(
                job.at((*container.path, field, index)),
                f"no shell reads `{word}` here",
                effect=f"`{container.words[0]}` gets `{word}` and what follows as its own arguments",
                help=f'run it in a shell: `[sh, -c, "set -e; {_line(container)}"]`',
            )
        )


def _joining(container: Container) -> tuple[str, int, str] | None:
    """Where the first word stands that only a shell understands; None where a shell, or an unknown program, reads it."""
    if not texts(container.tree, "command") or _has_shell(container.words):
        return None
    before = ""
    for field in ("command", "args"):
        for index, word in enumerate(texts(container.tree, field)):
            if word in _JOINING and before and not before.startswith("-"):
                return field, index, word
            before = word
    return None


def _has_shell(words: list[str]) -> bool:
    return any(word.rpartition("/")[2] in SHELLS for word in words) or "-c" in words


def _line(container: Container) -> str:
    """The command as one line of a shell, shortened where it is long."""
    line = " ".join(container.words)
    return line if len(line) <= 60 and '"' not in line else f"{line[:50].replace(chr(34), '')} ..."


CHECKS = (shell_words_without_shell,)
