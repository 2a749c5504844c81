r"""Regular expressions as Go, the API server and CEL read them (RE2): their grammar, and a search in linear time.

Source: Go's regexp/syntax. Python's own engine reads some patterns differently, and can take forever over others, which
come from strangers. A pattern becomes a program of a few instructions; a search follows all its ways at once, and keeps
the sets of ways that it has met.
"""

import re
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

Ranges = tuple[tuple[int, int], ...]

MAX_REPEAT = 1000
MAX_SIZE = 50_000  # instructions of a program; Go bounds the size of a pattern likewise
MAX_STATES = 5_000
MAX_WORK = 5_000_000  # steps through the program of one pattern, those that are remembered not counted
DEPTH = 150  # of nested groups
_LAST = sys.maxunicode
_PERL: dict[str, Ranges] = {
    "d": ((48, 57),),
    "s": ((9, 10), (12, 13), (32, 32)),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
}
_NAMED: dict[str, Ranges] = {
    "alnum": ((48, 57), (65, 90), (97, 122)), "alpha": ((65, 90), (97, 122)), "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)), "cntrl": ((0, 31), (127, 127)), "digit": ((48, 57),), "graph": ((33, 126),),
    "lower": ((97, 122),), "print": ((32, 126),), "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)), "upper": ((65, 90),), "word": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}  # fmt: skip
_ESCAPES = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_ANY: Ranges = ((0, _LAST),)
_NOT_NEWLINE: Ranges = ((0, 9), (11, _LAST))
_REPEAT = re.compile(r"\{(\d+)(,?)(\d*)\}", re.ASCII)
_FLAGS = re.compile(r"\?([imsU]*)(-[imsU]+)?([:)])")
_NAME = re.compile(r"\?P?<(\w+)>", re.ASCII)
_HEX = re.compile(r"([0-9a-fA-F]{2})|\{([0-9a-fA-F]+)\}")
# The others that fold together with a letter, beside what upper() and lower() give.
_FOLDED = {"k": "\u212a", "s": "\u017f", "\u00e5": "\u212b"}
# What is so at a place between two letters.
_BEGIN, _END, _LINE_BEGIN, _LINE_END, _BORDER, _INSIDE = (1 << index for index in range(6))
_CHARS, _SPLIT, _ASSERT, _MATCH = range(4)


class PatternError(ValueError):
    """Why Go does not compile a pattern."""


class UnsupportedPatternError(ValueError):
    """Why trainc cannot tell what a pattern means that Go may compile."""


class _Instruction(NamedTuple):
    kind: int
    first: int = 0  # the next instruction, the preferred one of a split
    second: int = 0  # the other one of a split, the condition of an assertion
    starts: tuple[int, ...] = ()  # where the ranges of characters begin and end
    ends: tuple[int, ...] = ()


class _Piece(NamedTuple):
    """A part of a pattern: what writes its program before some instruction, and the size of that program."""

    write: Callable[[list[_Instruction], int], int]
    size: int
    repeats: int = 1  # how often its repetitions multiply what is in them


class Pattern:
    """A compiled pattern."""

    def __init__(self, pattern: str) -> None:
        parser = _Parser(pattern)
        program = [_Instruction(_MATCH)]
        self._start = parser.whole().write(program, 0)
        self._program = program
        self._work = 0
        self._closures: dict[tuple[tuple[int, ...], int], tuple[tuple[int, ...], bool]] = {}
        self._steps: dict[tuple[tuple[int, ...], str], tuple[int, ...]] = {}

    def search(self, text: str) -> bool:
        """Whether the pattern is found in a text."""
        state: tuple[int, ...] = ()
        for index in range(len(text) + 1):
            state, matched = self._closure((*state, self._start), _context(text, index))
            if matched:
                return True
            if index < len(text):
                state = self._step(state, text[index])
        return False

    def find(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """The first place where the pattern is found, from an index on; the ways that stand first in it are preferred."""
        threads: list[tuple[int, int]] = []
        best: tuple[int, int] | None = None
        for index in range(start, len(text) + 1):
            if best is None:
                threads.append((self._start, index))
            elif not threads:
                break
            following: list[tuple[int, int]] = []
            reached: set[int] = set()
            context = _context(text, index)
            for at, begin in threads:
                ways = self._ways(at, context, reached)
                is_match = False
                for way in ways:
                    if self._program[way].kind == _MATCH:
                        is_match = True
                        break
                    if index < len(text) and _accepts(self._program[way], text[index]):
                        following.append((self._program[way].first, begin))
                if is_match:
                    best = (begin, index)
                    break
            threads = following
            self._count(len(reached))
        return best

    def find_all(self, text: str) -> Iterator[str]:
        """All places one after the other; an empty one right behind another one is none, as in Go."""
        at, last = 0, -1
        while at <= len(text) and (found := self.find(text, at)) is not None:
            begin, end = found
            if end > begin or begin != last:
                yield text[begin:end]
            last = end
            at = end if end > begin else end + 1

    def _closure(self, state: tuple[int, ...], context: int) -> tuple[tuple[int, ...], bool]:
        key = (state, context)
        if key not in self._closures:
            if len(self._closures) >= MAX_STATES:
                self._closures.clear()
            reached: set[int] = set()
            ways = [way for at in state for way in self._ways(at, context, reached)]
            self._count(len(reached))
            chars = tuple([way for way in ways if self._program[way].kind == _CHARS])
            self._closures[key] = chars, len(chars) < len(ways)
        return self._closures[key]

    def _count(self, work: int) -> None:
        self._work += work
        if self._work > MAX_WORK:
            raise UnsupportedPatternError("a pattern that takes too much time")

    def _ways(self, at: int, context: int, reached: set[int]) -> Iterator[int]:
        """The instructions that wait for a character or match, reached from one without any; preferred ones first."""
        todo = [at]
        while todo:
            at = todo.pop()
            if at in reached:
                continue
            reached.add(at)
            kind, first, second, _, _ = self._program[at]
            if kind == _SPLIT:
                todo += (second, first)
            elif kind != _ASSERT:
                yield at
            elif context & second:
                todo.append(first)

    def _step(self, state: tuple[int, ...], letter: str) -> tuple[int, ...]:
        key = (state, letter)
        if key not in self._steps:
            if len(self._steps) >= MAX_STATES:
                self._steps.clear()
            self._steps[key] = tuple(
                dict.fromkeys(self._program[at].first for at in state if _accepts(self._program[at], letter))
            )
        return self._steps[key]


@cache
def compile_re2(pattern: str) -> Pattern:
    """The pattern; a PatternError for what Go does not compile, an UnsupportedPatternError for what trainc cannot."""
    return Pattern(pattern)


def _accepts(instruction: _Instruction, letter: str) -> bool:
    code = ord(letter)
    index = bisect_right(instruction.starts, code) - 1
    return index >= 0 and code <= instruction.ends[index]


def _context(text: str, index: int) -> int:
    before = text[index - 1] if index else ""
    after = text[index] if index < len(text) else ""
    is_border = _is_word(before) is not _is_word(after)
    context = _BORDER if is_border else _INSIDE
    if not before:
        context |= _BEGIN | _LINE_BEGIN
    elif before == "\n":
        context |= _LINE_BEGIN
    if not after:
        context |= _END | _LINE_END
    elif after == "\n":
        context |= _LINE_END
    return context


def _is_word(letter: str) -> bool:
    return letter == "_" or (letter.isascii() and letter.isalnum())


class _Parser:
    """Reads a pattern; `flags` are those that are on where it reads: i, m, s, U."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.flags: frozenset[str] = frozenset()
        self.names: set[str] = set()
        self.depth = 0

    def whole(self) -> _Piece:
        piece = self.alternatives()
        if self.at < len(self.pattern):
            raise PatternError(f"unexpected ): `{self.pattern}`")
        return piece

    def alternatives(self) -> _Piece:
        self.depth += 1
        if self.depth > DEPTH:
            raise UnsupportedPatternError("a pattern with too many nested groups")
        pieces = [self.sequence()]
        while self.peek() == "|":
            self.at += 1
            pieces.append(self.sequence())
        self.depth -= 1
        piece = pieces[-1]
        for earlier in reversed(pieces[:-1]):
            piece = _either(earlier, piece)
        return piece

    def sequence(self) -> _Piece:
        pieces: list[_Piece] = []
        while self.at < len(self.pattern) and self.peek() not in "|)":
            start = self.at
            if self.peek() in "*+?" or (self.peek() == "{" and self.repetition()):
                raise PatternError(f"missing argument to repetition operator: `{self.pattern[start : self.at + 1]}`")
            piece = self.atom()
            if piece is not None:
                pieces.append(self.repeated(piece))
        return _sequence(pieces)

    def peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def repetition(self) -> re.Match[str] | None:
        return _REPEAT.match(self.pattern, self.at)

    def repeated(self, piece: _Piece) -> _Piece:
        start = self.at
        count = 0
        while (letter := self.peek()) and letter in "*+?{":
            low, high = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}.get(letter, (0, 0))
            length = 1
            if letter == "{":
                if (match := self.repetition()) is None:
                    break
                low, high = _bounds(match)
                length = len(match.group())
            count += 1
            if count > 1:
                raise PatternError(f"invalid nested repetition operator: `{self.pattern[start : self.at + length]}`")
            self.at += length
            is_lazy = self.peek() == "?"
            self.at += is_lazy
            piece = _repeat(
                piece, low, high, lazy=is_lazy is not ("U" in self.flags), shown=self.pattern[start : self.at]
            )
        return piece

    def atom(self) -> _Piece | None:
        """One character, class, group or assertion; None for flags."""
        letter = self.peek()
        self.at += 1
        multiline = "m" in self.flags
        match letter:
            case "(":
                return self.group()
            case "[":
                return self.chars(self.bracket())
            case ".":
                return self.chars(_ANY if "s" in self.flags else _NOT_NEWLINE, folded=True)
            case "^":
                return _assertion(_LINE_BEGIN if multiline else _BEGIN)
            case "$":
                return _assertion(_LINE_END if multiline else _END)
            case "\\":
                return self.escaped()
        return self.chars(((ord(letter), ord(letter)),))

    def chars(self, ranges: Ranges, *, folded: bool = False) -> _Piece:
        if "i" in self.flags and not folded:
            ranges = _with_folds(ranges)
        starts, ends = tuple(low for low, _ in ranges), tuple(high for _, high in ranges)

        def write(program: list[_Instruction], following: int) -> int:
            program.append(_Instruction(_CHARS, following, 0, starts, ends))
            return len(program) - 1

        return _Piece(write, 1)

    def group(self) -> _Piece | None:
        outer = self.flags
        if self.peek() == "?":
            if (name := _NAME.match(self.pattern, self.at)) is not None:
                if name[1] in self.names:
                    raise PatternError(f"duplicate capture group name: `{name[1]}`")
                self.names.add(name[1])
                self.at = name.end()
            else:
                flags = _FLAGS.match(self.pattern, self.at)
                if flags is None:
                    raise PatternError(
                        f"invalid or unsupported Perl syntax: `{self.pattern[self.at - 1 : self.at + 2]}`"
                    )
                self.at = flags.end()
                self.flags = (outer | set(flags[1])) - set(flags[2] or "")
                if flags[3] == ")":
                    return None
        piece = self.alternatives()
        if self.peek() != ")":
            raise PatternError(f"missing closing ): `{self.pattern}`")
        self.at += 1
        self.flags = outer
        return piece

    def escaped(self) -> _Piece:
        letter = self.peek()
        assertions = {"A": _BEGIN, "z": _END, "b": _BORDER, "B": _INSIDE}
        if letter in assertions:
            self.at += 1
            return _assertion(assertions[letter])
        if letter == "Q":
            literal, _, _ = self.pattern[self.at + 1 :].partition("\\E")
            self.at = min(len(self.pattern), self.at + 1 + len(literal) + 2)
            return _sequence([self.chars(((ord(one), ord(one)),)) for one in literal])
        if (ranges := self.class_escape()) is not None:
            return self.chars(ranges)
        code = self.character()
        return self.chars(((code, code),))

    def class_escape(self) -> Ranges | None:
        r"""The characters of `\d` or `\pL`; None where another escape stands here, behind the backslash."""
        letter = self.peek()
        if letter.lower() in _PERL:
            self.at += 1
            ranges = _PERL[letter.lower()]
            return ranges if letter.islower() else _outside(ranges)
        if letter not in ("p", "P"):
            return None
        start = self.at
        self.at += 1
        name, is_outside = self.peek(), letter == "P"
        self.at += 1
        if name == "{":
            name, brace, _ = self.pattern[self.at :].partition("}")
            if not brace:
                raise PatternError(f"invalid character class range: `{self.pattern[start - 1 :]}`")
            self.at += len(name) + 1
            if name.startswith("^"):
                name, is_outside = name[1:], not is_outside
        ranges = _category(name, self.pattern[start - 1 : self.at])
        return _outside(ranges) if is_outside else ranges

    def character(self) -> int:
        """The code of an escaped character, behind its backslash."""
        letter = self.peek()
        start = self.at - 1
        self.at += 1
        if not letter:
            raise PatternError("trailing backslash at end of expression: ``")
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        if letter == "x" and (match := _HEX.match(self.pattern, self.at)):
            self.at = match.end()
            code = int(match[1] or match[2], 16)
            if code <= _LAST:
                return code
        elif letter in "01234567" and (letter == "0" or self.peek() in tuple("01234567")):
            digits = letter
            while len(digits) < 3 and self.peek() in tuple("01234567"):
                digits += self.peek()
                self.at += 1
            return int(digits, 8)
        elif letter.isascii() and not letter.isalnum():
            return ord(letter)
        raise PatternError(f"invalid escape sequence: `{self.pattern[start : self.at]}`")

    def bracket(self) -> Ranges:
        start = self.at - 1
        is_outside = self.peek() == "^"
        self.at += is_outside
        ranges: list[tuple[int, int]] = []
        is_first = True
        while self.peek() != "]" or is_first:
            if not self.peek():
                raise PatternError(f"missing closing ]: `{self.pattern[start:]}`")
            is_dash = self.peek() == "-" and not is_first and self.pattern[self.at + 1 : self.at + 2] != "]"
            if is_dash and not self.pattern.startswith("--", self.at):
                raise PatternError(f"invalid character class range: `{self.pattern[self.at : self.at + 2]}`")
            is_first = False
            if self.pattern.startswith("[:", self.at) and ":]" in self.pattern[self.at + 2 :]:
                ranges += self.named_class()
                continue
            if self.peek() == "\\":
                self.at += 1
                if (escaped := self.class_escape()) is not None:
                    ranges += escaped
                    continue
                self.at -= 1
            ranges.append(self.range(start))
        self.at += 1
        if "i" in self.flags:
            ranges = list(_with_folds(tuple(ranges)))
        merged = _merged(ranges)
        return _outside(merged) if is_outside else merged

    def named_class(self) -> Ranges:
        name = self.pattern[self.at + 2 :].partition(":]")[0]
        shown = f"[:{name}:]"
        self.at += len(shown)
        is_outside = name.startswith("^")
        if (ranges := _NAMED.get(name.removeprefix("^"))) is None:
            raise PatternError(f"invalid character class range: `{shown}`")
        return _outside(ranges) if is_outside else ranges

    def range(self, start: int) -> tuple[int, int]:
        first = self.at
        low = high = self.class_character(start)
        if self.peek() == "-" and self.pattern[self.at + 1 : self.at + 2] not in ("", "]"):
            self.at += 1
            high = self.class_character(start)
            if high < low:
                raise PatternError(f"invalid character class range: `{self.pattern[first : self.at]}`")
        return low, high

    def class_character(self, start: int) -> int:
        letter = self.peek()
        if not letter:
            raise PatternError(f"missing closing ]: `{self.pattern[start:]}`")
        self.at += 1
        return self.character() if letter == "\\" else ord(letter)


def _bounds(match: re.Match[str]) -> tuple[int, int]:
    low = int(match[1])
    high = int(match[3]) if match[3] else -1 if match[2] else low
    if max(low, high) > MAX_REPEAT or -1 < high < low:
        raise PatternError(f"invalid repeat count: `{match.group()}`")
    return low, high


def _sequence(pieces: list[_Piece]) -> _Piece:
    def write(program: list[_Instruction], following: int) -> int:
        for piece in reversed(pieces):
            following = piece.write(program, following)
        return following

    repeats = max([piece.repeats for piece in pieces], default=1)
    return _Piece(write, _sized(sum(piece.size for piece in pieces)), repeats)


def _sized(size: int) -> int:
    if size > MAX_SIZE:
        raise PatternError("expression too large")
    return size


def _either(first: _Piece, second: _Piece) -> _Piece:
    def write(program: list[_Instruction], following: int) -> int:
        ways = first.write(program, following), second.write(program, following)
        program.append(_Instruction(_SPLIT, *ways))
        return len(program) - 1

    return _Piece(write, _sized(first.size + second.size + 1), max(first.repeats, second.repeats))


def _assertion(condition: int) -> _Piece:
    def write(program: list[_Instruction], following: int) -> int:
        program.append(_Instruction(_ASSERT, following, condition))
        return len(program) - 1

    return _Piece(write, 1)


def _repeat(piece: _Piece, low: int, high: int, *, lazy: bool, shown: str) -> _Piece:
    """A piece some times, at least `low` and at most `high`, -1 for any number."""
    repeats = piece.repeats * max(low, high, 1)
    if repeats > MAX_REPEAT:
        raise PatternError(f"invalid repeat count: `{shown}`")

    def split(inner: int, following: int) -> _Instruction:
        return _Instruction(_SPLIT, following, inner) if lazy else _Instruction(_SPLIT, inner, following)

    def write(program: list[_Instruction], following: int) -> int:
        after = following
        if high < 0:
            program.append(_Instruction(_SPLIT))
            loop = len(program) - 1
            program[loop] = split(piece.write(program, loop), following)
            after = loop
        for _ in range(high - low):
            program.append(split(piece.write(program, after), following))
            after = len(program) - 1
        for _ in range(low):
            after = piece.write(program, after)
        return after

    return _Piece(write, _sized((piece.size + 1) * max(low, high, 1) + 1), repeats)


def _merged(ranges: list[tuple[int, int]]) -> Ranges:
    out: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(high, out[-1][1]))
        else:
            out.append((low, high))
    return tuple(out)


def _outside(ranges: Ranges) -> Ranges:
    out, at = [], 0
    for low, high in ranges:
        if low > at:
            out.append((at, low - 1))
        at = high + 1
    return (*out, (at, _LAST)) if at <= _LAST else tuple(out)


def _with_folds(ranges: Ranges) -> Ranges:
    """The characters and those that differ from them in case alone."""
    folds = _folds()
    added = [
        (ord(other), ord(other))
        for low, high in ranges
        for code in range(low, min(high, max(map(ord, folds))) + 1)
        for other in folds.get(chr(code), "")
    ]
    return _merged([*ranges, *added])


@cache
def _folds() -> dict[str, str]:
    """The characters that differ from one in case alone."""
    families: dict[str, set[str]] = {}
    for code in range(0x1E944):
        letter = chr(code)
        forms = {form for form in (letter, letter.lower(), letter.upper()) if len(form) == 1}
        if len(forms) > 1:
            lower = min(letter.lower(), letter.upper().lower(), key=len)
            families.setdefault(lower, {lower}).update(forms, _FOLDED.get(lower, ""))
    return {letter: "".join(sorted(family - {letter})) for family in families.values() for letter in family}


@cache
def _category(name: str, shown: str) -> Ranges:
    """The characters of a general category such as L or Lu."""
    if name == "Any":
        return _ANY
    if not re.fullmatch("[CLMNPSZ][a-z]?", name):
        if re.fullmatch("[A-Z][A-Za-z_]+", name):
            raise UnsupportedPatternError(f"the script {shown}")
        raise PatternError(f"invalid character class range: `{shown}`")
    is_whole = len(name) == 1
    codes = [
        (code, code)
        for code in range(_LAST + 1)
        if (category := unicodedata.category(chr(code))) != "Cn" and (category[0] if is_whole else category) == name
    ]
    if not codes:
        raise PatternError(f"invalid character class range: `{shown}`")
    return _merged(codes)
