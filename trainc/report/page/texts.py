"""Lines of people's files as the page shows them: those that something points at, with secrets hidden."""

import re
from collections.abc import Callable, Iterator

from trainc.model.report import Report
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Tree, given, leaves, value
from trainc.text.masking import MASK, named_secret
from trainc.yaml.reader import read

MAX_COLUMNS = 240  # of a line that are shown
_NAMED = re.compile(r"\bname:\s*[\"']?(\w+)")
_SECRET = re.compile(r"\bkind:\s*[\"']?Secret\b")
_AFTER_COLON = re.compile(r"(:\s).*")
_SECRET_DATA = ("data", "stringData")
_WORD = re.compile(r"[^\s:{}\[\],\"']{12,}")  # in a line that may hold a secret
_SHORTEST = 6  # characters of a secret that is looked for in sentences: shorter ones are ordinary words


class SourceLines:
    """Collects lines of files by number; `lines_of` gives the lines of a file, none where it cannot be read."""

    def __init__(self, lines_of: Callable[[str], list[str]]) -> None:
        self._lines_of = lines_of
        self._wanted: dict[str, set[int]] = {}
        self._hidden: dict[str, list[str]] = {}
        self._secrets: set[str] = set()

    def want(self, file: str, line: int, around: int = 0) -> None:
        """Ask for a line, and for as many lines before and behind it."""
        self._wanted.setdefault(file, set()).update(range(max(1, line - around), line + around + 1))

    def shown(self) -> dict[str, dict[int, str]]:
        """The text of every line that was asked for and is there, by file and number."""
        out: dict[str, dict[int, str]] = {}
        for file, numbers in sorted(self._wanted.items()):
            lines = self._masked(file)
            out[file] = {number: lines[number - 1][:MAX_COLUMNS] for number in sorted(numbers) if number <= len(lines)}
        return out

    def sentence(self, text: str, file: str) -> str:
        """A sentence about a file without the secrets that stand there."""
        self._masked(file)
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        return text

    def _masked(self, file: str) -> list[str]:
        if file not in self._hidden:
            lines = list(self._lines_of(file))
            report = Report()
            spans = [span for document in read("\n".join(lines), file, report) for span in _secrets(document.tree)]
            for span in spans:
                self._hide(lines, span)
            if report.failed:
                guessed = _guessed(lines)
                pairs = zip(lines, guessed, strict=True)
                self._secrets |= {word for line, kept in pairs if line != kept for word in _WORD.findall(line)}
                lines = guessed
            self._hidden[file] = lines
        return self._hidden[file]

    def _hide(self, lines: list[str], span: Span) -> None:
        for number in range(span.line, min(span.end_line, len(lines)) + 1):
            line = lines[number - 1]
            start = span.column - 1 if number == span.line else len(line) - len(line.lstrip())
            end = span.end_column - 1 if number == span.end_line else len(line)
            secret = line[start:end].strip("\"'")
            if len(secret) >= _SHORTEST:
                self._secrets.add(secret)
            lines[number - 1] = line[:start] + (MASK if line[start:end].strip() else "") + line[end:]


def _secrets(tree: Tree) -> Iterator[Span]:
    """Where literal values of variables named like secrets stand, and the content of Secrets."""
    if type(tree) is list:
        for item in tree:
            yield from _secrets(item)
    if type(tree) is not dict:
        return
    leaf = tree.get("value")
    names = [value(tree, "name")]
    content = [leaf] if type(names[0]) is str and named_secret(names[0]) and type(leaf) is Sourced else []
    if value(tree, "kind") == "Secret":
        content += [each for field in _SECRET_DATA for _, each in leaves(given(tree.get(field), {}))]
    yield from (each.origin.at for each in content if each.origin.at is not None)
    for node in tree.values():
        yield from _secrets(node)


def _guessed(lines: list[str]) -> list[str]:
    """The lines of a file that is not YAML, without what follows a colon near the name of a secret or in a Secret."""
    holds_secret = any(_SECRET.search(line) for line in lines)
    out = []
    for index, line in enumerate(lines):
        beside = " ".join(lines[max(0, index - 1) : index + 2])
        hides = holds_secret or any(named_secret(name) for name in _NAMED.findall(beside))
        out.append(_AFTER_COLON.sub(rf"\g<1>{MASK}", line) if hides else line)
    return out
