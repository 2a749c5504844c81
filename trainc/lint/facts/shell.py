"""Commands read the way a shell would: the script, its simple commands, what joins them."""

from collections.abc import Iterator

SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ash", "ksh"))

_PIECE = (
    r"(?P<space>\\\n|[ \t\r]+)"
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<word>(?:\d*>&[\d-]|\$\(\((?:[^()]|\([^()]*\))*\)\)|\$\((?:[^()]|\([^()]*\))*\)|\$\{[^}]*\}|`[^`]*`|\\."
    r"|'[^']*'|\"(?:\\.|[^\"\\])*\"|[^\s;&|()'\"\\`])+)"
    r"|(?P<op>&>>?|;;|&&|\|\||\|&|[;&|()\n])"
    r"|(?P<other>.)"
)
_HEREDOC = r"<<-?[ \t]*(['\"]?)(\w+)\1([^\n]*)\n"
_QUOTED = r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|\\(.)"
_PREFIXES = frozenset(
    ("then", "do", "else", "{", "(", "!", "time", "exec", "nohup", "sudo", "command", "env", "if", "while", "until")
)

_OPENING = frozenset(("if", "while", "until", "for", "case", "select"))
_CLOSING = frozenset(("fi", "done", "esac"))
_TESTS = frozenset(("[", "[[", "test"))


class Simple:
    """One simple command: its words without quotes, the operator that ends it, and what stands before the command.

    `opens` says whether it is the first one of an `if`, a loop or a `case`.
    """

    __slots__ = ("assigned", "end", "opens", "words")

    def __init__(self, words: list[str], assigned: dict[str, str], end: str, *, opens: bool = False) -> None:
        self.words = words
        self.assigned = assigned
        self.end = end
        self.opens = opens

    @property
    def program(self) -> str:
        """The last part of the path of what runs."""
        return self.words[0].rpartition("/")[2] if self.words else ""

    def __repr__(self) -> str:
        return f"{' '.join(self.words)}{self.end}"


def unconditional(commands: list[Simple]) -> list[Simple]:
    """The commands that run whatever others answer: not inside an `if`, a loop or a `case`, nor behind `&&` or `||`."""
    out = []
    depth, before = 0, ""
    for command in commands:
        depth += command.opens
        if depth == 0 and before not in ("&&", "||"):
            out.append(command)
        depth -= command.program in _CLOSING
        before = command.end
    return out


def with_certainty(commands: list[Simple]) -> Iterator[tuple[Simple, bool]]:
    """Each command, and whether it ran wherever what follows runs: not in an `if`, a loop or a `case`, nor behind a test or `||`."""
    depth, is_maybe = 0, False
    for command in commands:
        depth += command.opens
        yield command, depth == 0 and not is_maybe
        depth -= command.program in _CLOSING
        is_maybe = command.end == "||" or (command.end == "&&" and (is_maybe or command.program in _TESTS))


def script_of(words: list[str]) -> tuple[str, str]:
    """The script that a `sh -c SCRIPT` command hands to its shell, and the shell's own options; both empty else."""
    shell = next((at for at, word in enumerate(words[:6]) if word.rpartition("/")[2] in SHELLS), len(words))
    words, options = words[shell + 1 :], []
    for index, word in enumerate(words):
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            script = index + 1
            if word.endswith("o") and script < len(words):  # `-euco pipefail` takes one more word
                options.append(words[script])
                script += 1
            if words[script : script + 1] == ["--"]:  # behind the options
                script += 1
            options.append(word)
            return (words[script] if script < len(words) else ""), " ".join(options)
        options.append(word)
        if not word.startswith("-") and (index == 0 or words[index - 1][-1:] != "o"):
            break
    return "", ""


def simple_commands(script: str) -> list[Simple]:
    """The simple commands of a script, in order; here-documents and comments are left out."""
    import re  # noqa: PLC0415 (most commands need no shell)

    if "<<" in script:
        script = _without_documents(script)
    out: list[Simple] = []
    words: list[str] = []
    for match in re.finditer(_PIECE, script):
        if match.lastgroup == "word":
            words.append(match.group())
        elif match.lastgroup == "op":
            _close(out, words, match.group())
            words = []
    _close(out, words, "")
    return out


def _without_documents(script: str) -> str:
    """The script without its here-documents, in time that grows with its length."""
    import re  # noqa: PLC0415

    ends: dict[str, list[int]] = {}  # by what a line holds: where such lines end, the last one first
    start = len(script)
    for line in reversed(script.split("\n")):
        ends.setdefault(line.strip(" \t"), []).append(start)
        start -= len(line) + 1
    out: list[str] = []
    at = 0
    for match in re.finditer(_HEREDOC, script):
        if match.start() < at:
            continue
        waiting = ends.get(match[2], [])
        while waiting and waiting[-1] < match.end() + len(match[2]):
            waiting.pop()
        if waiting:
            out += (script[at : match.start()], match[3])
            at = waiting.pop()
    return "".join(out) + script[at:]


def _close(out: list[Simple], words: list[str], end: str) -> None:
    if not words:
        if out and end != "\n" and out[-1].end == "\n":
            out[-1].end = end
        elif not out and end == "(":
            out.append(Simple([], {}, end))
        return
    assigned: dict[str, str] = {}
    start = 0
    for word in words:
        name, equals, content = word.partition("=")
        if word in _PREFIXES:
            start += 1
        elif equals and name.isidentifier():
            assigned[name] = unquote(content)
            start += 1
        else:
            break
    rest = [unquote(word) for word in words[start:]]
    if rest and rest[0] in ("export", "declare", "local", "readonly", "typeset"):
        assigned.update((n, v) for n, e, v in (word.partition("=") for word in rest[1:]) if e)
    out.append(Simple(rest, assigned, end, opens=not _OPENING.isdisjoint(words[: start + 1])))


def unquote(word: str) -> str:
    """A word without its quotes."""
    if "'" not in word and '"' not in word and "\\" not in word:
        return word
    import re  # noqa: PLC0415

    return re.sub(_QUOTED, lambda m: m.group(1) or m.group(2) or m.group(3) or "", word)
