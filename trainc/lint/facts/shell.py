"""Commands read the way a shell would: the script, its simple commands with the places of their words, what joins them.

The grammar is tree-sitter's of bash, which is loaded for the first script. It cannot be installed everywhere: `grammar`
says whether it is there.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from trainc.text.memo import TextMemo

SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ash", "ksh"))
# What is longer, or nests more, is not read: the grammar takes quadratic time for texts that are no program.
MAX_SCRIPT = 32 << 10
MAX_MARKS = 1_000
ASSIGNING = frozenset(("export", "declare", "local", "readonly", "typeset"))

_QUOTED = re.compile(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|\\(.)")
_PREFIXES = frozenset(("!", "time", "exec", "nohup", "sudo", "command", "env"))
_TESTS = frozenset(("[", "[[", "test"))
_OPERATORS = frozenset((";", "&&", "||", "|", "|&", "&", ";;", "\n"))
# Nodes of the grammar that hold commands, and those of which only some run, or none, whatever else the script does.
_GROUPS = frozenset((
    "program", "list", "pipeline", "redirected_statement", "subshell", "compound_statement", "negated_command", "ERROR",
    "command", "command_name", "declaration_command", "unset_command", "variable_assignments", "elif_clause",
    "else_clause", "do_group", "heredoc_redirect", "if_statement", "while_statement", "for_statement",
    "c_style_for_statement", "case_statement", "case_item", "function_definition",
))  # fmt: skip
_BRANCHES = frozenset((
    "if_statement", "while_statement", "for_statement", "c_style_for_statement", "case_statement",
    "function_definition",
))  # fmt: skip
_STARTS = frozenset(("command", "declaration_command", "unset_command", "test_command"))
_SUBSTITUTIONS = frozenset(("command_substitution", "process_substitution"))
_SKIPPED = frozenset(("heredoc_start", "heredoc_body", "heredoc_end", "herestring_redirect", "file_descriptor"))
# What stands in a branch beside its commands: the values of a loop, the patterns of a case, the name of a function.
_BODIES = {
    "for_statement": frozenset(("do_group", "compound_statement")),
    "c_style_for_statement": frozenset(("do_group", "compound_statement")),
    "case_statement": frozenset(("case_item",)),
    "function_definition": frozenset(("compound_statement", "subshell", "if_statement", "redirected_statement")),
}


class Word(NamedTuple):
    """A word of a script as it is written there, quotes and all, and where it starts and ends."""

    written: str
    start: int
    end: int


class Simple:
    """One simple command: its words without quotes, the operator that ends it, and what stands before the command.

    `places` are the words as they are written in the script, none for a command without a script. `branch` says
    whether it is part of an `if`, a loop, a `case` or a function. `redirected` says whether its output goes to a file.
    """

    __slots__ = ("assigned", "branch", "end", "places", "redirected", "words")

    def __init__(
        self,
        words: list[str],
        assigned: dict[str, str],
        end: str,
        *,
        branch: bool = False,
        places: tuple[Word, ...] = (),
        redirected: bool = False,
    ) -> None:
        self.words = words
        self.assigned = assigned
        self.end = end
        self.branch = branch
        self.places = places
        self.redirected = redirected

    @property
    def program(self) -> str:
        """The last part of the path of what runs."""
        return self.words[0].rpartition("/")[2] if self.words else ""

    def __repr__(self) -> str:
        return f"{' '.join(self.words)}{self.end}"


class HereDocument(NamedTuple):
    """A here-document: its delimiter, where it is named, and where its last line starts, None where it has none."""

    delimiter: str
    start: int
    lookalike: int | None  # where a line starts that is the delimiter but for blanks before or behind it


class Script(NamedTuple):
    """A script: its commands in order, those inside substitutions, its comments, here-documents without an end."""

    text: str
    commands: list[Simple]
    substituted: list[Simple]
    comments: list[tuple[int, int]]
    endless: list[HereDocument]
    quoted: list[tuple[int, int]]  # quoted texts and bodies of here-documents


@cache
def grammar() -> Any:
    """A parser of the shell's grammar; None where it is not installed."""
    try:
        import tree_sitter  # noqa: PLC0415 (most jobs have no script)
        import tree_sitter_bash  # noqa: PLC0415
    except ImportError:
        return None
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def unconditional(commands: list[Simple]) -> list[Simple]:
    """The commands that run whatever others answer: not inside an `if`, a loop or a `case`, nor behind `&&` or `||`."""
    out = []
    before = ""
    for command in commands:
        if not command.branch and before not in ("&&", "||"):
            out.append(command)
        before = command.end
    return out


def with_certainty(commands: list[Simple]) -> Iterator[tuple[Simple, bool]]:
    """Each command, and whether it ran wherever what follows runs: not in an `if`, a loop or a `case`, nor behind a test or `||`."""
    is_maybe = False
    for command in commands:
        yield command, not command.branch and not is_maybe
        is_maybe = command.end == "||" or (command.end == "&&" and (is_maybe or command.program in _TESTS))


def broken(commands: list[Simple]) -> tuple[Simple, Simple] | None:
    """A command and the one behind it that begins with an option: it belongs to the first, whose line ended too early."""
    for before, simple in pairwise(commands):
        option = simple.words[0] if simple.places and simple.words else ""
        if before.places and before.end == "\n" and option.startswith("--") and option[2:3].isalpha():
            return before, simple
    return None


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
    return parsed(script).commands


def is_readable(script: str) -> bool:
    """Whether a script is of a size that somebody may have written."""
    return len(script) <= MAX_SCRIPT and sum(map(script.count, ("`", "|", "<<", "=("))) <= MAX_MARKS


def parsed(script: str) -> Script:
    """A script as the grammar reads it, without commands where there is no grammar or the script is not readable."""
    return _PARSED[script]


def _parsed(script: str) -> Script:
    reader = _Reader(script)
    if is_readable(script) and (parser := grammar()) is not None:
        reader.read(parser.parse(script.encode("utf-8", "surrogatepass")).root_node)
    return Script(script, reader.commands, reader.substituted, reader.comments, reader.endless, reader.quoted)


_PARSED = TextMemo(_parsed, longest=8192, most=256)


class _Reader:
    """What a script's tree holds, in the order of the text: a tree may be as deep as the script is long, so nothing recurses."""

    def __init__(self, script: str) -> None:
        self.script = script
        self.commands: list[Simple] = []
        self.substituted: list[Simple] = []
        self.comments: list[tuple[int, int]] = []
        self.endless: list[HereDocument] = []
        self.quoted: list[tuple[int, int]] = []
        self._words: list[Word] = []
        self._branch = self._redirected = False
        self._out = self.commands
        self._offsets: list[int] = []
        if not script.isascii():  # the grammar counts bytes
            for index, char in enumerate(script):
                self._offsets += [index] * len(char.encode("utf-8", "surrogatepass"))
            self._offsets.append(len(script))

    def read(self, root: Any) -> None:
        """Take in a tree, then the commands inside the substitutions of its words."""
        inner = self._walk(root)
        self._out = self.substituted
        while inner:
            inner = [node for outer in inner for child in outer.children for node in self._walk(child)]

    def _walk(self, root: Any) -> list[Any]:
        stack = [(root, False)]
        substitutions: list[Any] = []
        while stack:
            node, branch = stack.pop()
            kind = node.type
            if kind in _OPERATORS:
                self._close(kind)
            elif kind == "comment":
                self.comments.append(self._place(node))
            elif kind == "test_command":
                self._close("")
                start, end = self._place(node)
                self._branch = branch
                self._words = [Word(word, start, end) for word in self.script[start:end].split()]
            elif kind == "file_redirect":
                self._redirected = True
                literals = [child for child in node.named_children if child.type != "file_descriptor"]
                stack += [(child, branch) for child in reversed(literals[1:])]  # what follows is of the command
            elif kind in _GROUPS:
                if kind in _STARTS:
                    self._close("")
                    self._branch = branch
                if kind in {"declaration_command", "unset_command"}:
                    self._add(node.children[0], substitutions)
                stack += self._inside(node, branch or kind in _BRANCHES)
            elif kind not in _SKIPPED and node.is_named:
                if not self._words and kind == "variable_assignment":
                    self._branch = branch
                self._add(node, substitutions)
            if kind == "heredoc_body":
                self.quoted.append(self._place(node))
        self._close("")
        return substitutions

    def _inside(self, node: Any, branch: bool) -> list[tuple[Any, bool]]:
        """The parts of a node that hold its commands, the first one last."""
        parts = node.children
        kind = node.type
        if kind == "heredoc_redirect":
            self._note_document(parts)
        if kind == "for_statement":
            name = next((self._text(part) for part in parts if part.type == "variable_name"), "")
            self._close("")
            self._out.append(Simple([], {name: "$"} if name else {}, ";", branch=True))
        if kind in _BODIES:
            parts = [part for part in parts if part.type in _BODIES[kind]]
        elif kind == "case_item":
            start = next((at for at, part in enumerate(parts) if part.type == ")"), 0)
            parts = parts[start + 1 :]
        return [(part, branch) for part in reversed(parts)]

    def _add(self, node: Any, substitutions: list[Any]) -> None:
        start, end = self._place(node)
        if start == end:
            return
        self._words.append(Word(self.script[start:end], start, end))
        inner = [node]
        while inner:
            part = inner.pop()
            if part.type in _SUBSTITUTIONS:
                substitutions.append(part)
            elif part.type in ("string", "raw_string", "ansi_c_string"):
                self.quoted.append(self._place(part))
                inner += part.children
            else:
                inner += part.children

    def _note_document(self, parts: list[Any]) -> None:
        """Keep a here-document that never ends: its delimiter has to stand alone on a line."""
        by_kind = {part.type: part for part in parts}
        start = by_kind.get("heredoc_start")
        if start is None:
            return
        at, end = self._place(start)
        delimiter = unquote(self.script[at:end]).replace("\\", "")
        body = self.script.find("\n", end) + 1
        lines = self.script[body:].split("\n") if body and delimiter else []
        is_stripped = "<<-" in by_kind
        if not delimiter or delimiter in [line.lstrip("\t") if is_stripped else line for line in lines]:
            return
        lookalike, offset = None, body
        for line in lines:
            if line.strip() == delimiter:
                lookalike = offset
                break
            offset += len(line) + 1
        self.endless.append(HereDocument(delimiter, at, lookalike))

    def _close(self, end: str) -> None:
        """End the command that is being read; an operator may come behind one that has ended."""
        words, self._words = self._words, []
        if not words:
            if self._out and end and self._out[-1].end in ("", "\n"):
                self._out[-1].end = end
            self._redirected = False
            return
        if self._out and not self._out[-1].end:
            self._out[-1].end = "\n"
        assigned: dict[str, str] = {}
        start = 0
        for word in words:
            name, equals, content = word.written.partition("=")
            if word.written in _PREFIXES:
                start += 1
            elif equals and name.removesuffix("+").isidentifier():
                assigned[name] = unquote(content)
                start += 1
            else:
                break
        rest = [unquote(word.written) for word in words[start:]]
        if rest and rest[0] in ASSIGNING:
            assigned.update((n, v) for n, e, v in (word.partition("=") for word in rest[1:]) if e)
        if not end and "\n" in self.script[words[-1].end :]:
            end = "\n"
        self._out.append(
            Simple(rest, assigned, end, branch=self._branch, places=tuple(words[start:]), redirected=self._redirected)
        )
        self._redirected = False

    def _place(self, node: Any) -> tuple[int, int]:
        start, end = node.start_byte, node.end_byte
        return (self._offsets[start], self._offsets[end]) if self._offsets else (start, end)

    def _text(self, node: Any) -> str:
        start, end = self._place(node)
        return self.script[start:end]


def unquote(word: str) -> str:
    """A word without its quotes."""
    if "'" not in word and '"' not in word and "\\" not in word:
        return word
    return _QUOTED.sub(lambda m: m.group(1) or m.group(2) or m.group(3) or "", word)
