"""The Python module of the built-in CEL rules; for development, never imported by the commands people run."""

from __future__ import annotations

import re
from collections.abc import Iterable

_RUNTIME = [
    "field",
    "has",
    "at",
    "same",
    "compare",
    "within",
    "size",
    "matches",
    "both",
    "either",
    "every",
    "some",
    "one",
    "chosen",
    "mapped",
    "number",
    "negated",
    "minus",
    "added",
    "subtracted",
    "text_test",
    "truth",
]


def module(rules: Iterable[str]) -> str:
    """A Python module with one function for each rule and a table from rule text to function."""
    texts = sorted(set(rules))
    body = "".join(
        f"def _rule_{number}(self: Any, old: Any) -> Any:{_unused(text)}\n    return {opened(translate(text))}\n\n\n"
        for number, text in enumerate(texts)
    )
    used = sorted({name for name in _RUNTIME if re.search(rf"\b{name}\(", body)})
    names = "".join(f"    {name},\n" for name in used)
    rows = "".join(f"    {literal(text)}: _rule_{number},\n" for number, text in enumerate(texts))
    return (
        '"""Generated from the CEL rules of the built-in schemas by `trainc schemas generate`; do not edit."""\n\n'
        "from __future__ import annotations\n\n"
        "# fmt: off\n"
        f"from trainc.apiserver.cel.operators import (\n{names})\n\n"
        "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from collections.abc import Callable\n    from typing import Any\n\n\n"
        f"{body}RULES: dict[str, Callable[[Any, Any], Any]] = {{\n{rows}}}\n"
    )


def _unused(rule: str) -> str:
    return "" if "oldSelf" in rule else "  # noqa: ARG001"


class UntranslatableError(ValueError):
    """A rule that uses something the translator does not know; the text says what."""


_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+|\d+(?:[eE][-+]?\d+)?)
    |(?P<raw>[rR](?:"[^"]*"|'[^']*'))
    |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<op>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]{}])
    )""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'", "`": "`", "?": "?", "a": "\a", "b": "\b"}
_WORDS = {"true": "True", "false": "False", "null": "None"}
_MACROS = {"all": "every", "exists": "some", "exists_one": "one", "filter": "chosen", "map": "mapped"}
_RANKS = {"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "in": 3, "+": 4, "-": 4}
_BINARY = {
    "==": "same({}, {})",
    "!=": "not same({}, {})",
    "in": "within({}, {})",
    "<": "compare({}, {}) < 0",
    "<=": "compare({}, {}) <= 0",
    ">": "compare({}, {}) > 0",
    ">=": "compare({}, {}) >= 0",
    "+": "added({}, {})",
    "-": "subtracted({}, {})",
}
# How Kubernetes spells property names that CEL cannot.
_SPELLED = {"__underscores__": "__", "__dot__": ".", "__dash__": "-", "__slash__": "/"}


def translate(rule: str) -> str:
    """A Python expression over `self` and `old` that decides like the rule; raises UntranslatableError."""
    parser = _Parser(rule)
    source = parser.ternary()
    parser.expect("")
    return source


class _Parser:
    """A precedence climber that writes Python while it reads CEL."""

    __slots__ = ("at", "bound", "rule", "tokens")

    def __init__(self, rule: str) -> None:
        self.rule = rule
        self.tokens = _tokens(rule)
        self.at = 0
        self.bound: list[str] = []

    def take(self) -> tuple[str, str]:
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, text: str) -> None:
        kind, token = self.take()
        if token != text or (kind == "end") != (text == ""):
            raise UntranslatableError(f"`{token or 'the end'}` where `{text or 'the end'}` should be, in `{self.rule}`")

    def accept(self, text: str) -> bool:
        kind, token = self.tokens[self.at]
        if token != text or kind in ("text", "raw", "end"):
            return False
        self.at += 1
        return True

    def ternary(self) -> str:
        condition = self.binary(1)
        if not self.accept("?"):
            return condition
        then = self.ternary()
        self.expect(":")
        return f"({then} if truth({condition}) else {self.ternary()})"

    def binary(self, rank: int) -> str:
        left = self.unary()
        while True:
            kind, operator = self.tokens[self.at]
            own_rank = _RANKS.get(operator, 0) if kind in ("op", "name") else 0
            if own_rank < rank or not own_rank:
                return left
            self.at += 1
            right = self.binary(own_rank + 1)
            left = _join(operator, left, right)

    def unary(self) -> str:
        if self.accept("!"):
            return f"negated({opened(self.unary())})"
        if self.accept("-"):
            return f"minus({opened(self.unary())})"
        return self.member()

    def member(self) -> str:
        source = self.primary()
        while True:
            if self.accept("."):
                name = self.take()[1]
                called = self.accept("(")
                source = self.method(source, name) if called else f"field({source}, {literal(spelled(name))})"
            elif self.accept("["):
                key = self.ternary()
                self.expect("]")
                source = f"at({source}, {key})"
            else:
                return source

    def primary(self) -> str:
        kind, text = self.take()
        if kind == "number":
            return repr(float(text) if any(c in text for c in ".eE") else int(text))
        if kind in ("text", "raw"):
            return literal(text)
        if kind == "name":
            return self.call(text) if self.accept("(") else self.variable(text)
        if text == "(":
            inner = self.ternary()
            self.expect(")")
            return f"({inner})"
        if text == "[":
            return f"[{', '.join(self.arguments(']'))}]"
        raise UntranslatableError(f"`{text or 'the end'}` in `{self.rule}`")

    def variable(self, name: str) -> str:
        if name in self.bound:
            return f"v_{name}"
        known = {**_WORDS, "self": "self", "oldSelf": "old"}.get(name)
        if known is None:
            raise UntranslatableError(f"the name `{name}` in `{self.rule}`")
        return known

    def arguments(self, end: str) -> list[str]:
        parsed: list[str] = []
        while not self.accept(end):
            if parsed:
                self.expect(",")
            parsed.append(self.ternary())
        return parsed

    def call(self, name: str) -> str:
        if name == "has":
            return self.has()
        arguments = self.arguments(")")
        source = {"size": "size", "double": "number"}.get(name)
        if source is None or len(arguments) != 1:
            raise UntranslatableError(f"the function `{name}` in `{self.rule}`")
        return f"{source}({arguments[0]})"

    def has(self) -> str:
        source = self.ternary()
        self.expect(")")
        # The argument is a selection, which translates to one call of field.
        if not source.startswith("field("):
            raise UntranslatableError(f"has() of something that is not a field, in `{self.rule}`")
        return f"has{source[len('field') :]}"

    def method(self, source: str, name: str) -> str:
        if name in _MACROS:
            return self.macro(source, name)
        arguments = self.arguments(")")
        if name == "size" and not arguments:
            return f"size({source})"
        if name == "matches" and len(arguments) == 1:
            return f"matches({source}, {arguments[0]})"
        if name in ("startsWith", "endsWith", "contains") and len(arguments) == 1:
            return f"text_test({source}, {literal(name)}, {arguments[0]})"
        raise UntranslatableError(f"the function `{name}` in `{self.rule}`")

    def macro(self, source: str, name: str) -> str:
        kind, variable = self.take()
        if kind != "name":
            raise UntranslatableError(f"`{variable}` as a variable in `{self.rule}`")
        self.expect(",")
        self.bound.append(variable)
        body = self.ternary()
        self.bound.pop()
        self.expect(")")
        return f"{_MACROS[name]}({source}, lambda v_{variable}: {body})"


def opened(source: str) -> str:
    """An expression without the brackets around all of it."""
    if not source.startswith("("):
        return source
    depth = 0
    for place, char in enumerate(source):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            # A bracket inside a quoted text only makes this keep a pair that it could have dropped.
            return source[1:-1] if place == len(source) - 1 else source
    return source


def _join(operator: str, left: str, right: str) -> str:
    if operator in _BINARY:
        return f"({_BINARY[operator].format(left, right)})"
    if re.fullmatch(r'has\(self, "[^"]*"\)', left):
        # Nothing can fail on the left, so Python's own operator means the same.
        return f"({left} {'and' if operator == '&&' else 'or'} {right})"
    return f"{'both' if operator == '&&' else 'either'}(lambda: {left}, lambda: {right})"


def literal(text: str) -> str:
    """A Python string literal, in double quotes where that is possible."""
    plain = text.isascii() and text.isprintable() and '"' not in text
    return '"' + text.replace("\\", "\\\\") + '"' if plain else repr(text)


def spelled(name: str) -> str:
    """The property that Kubernetes' escapes stand for: `__dash__` is a dash, `__in__` the word `in`."""
    for escape, text in _SPELLED.items():
        name = name.replace(escape, text)
    reserved = re.fullmatch(r"__([a-z]+)__", name)
    return reserved[1] if reserved else name


def _tokens(rule: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    at = 0
    end = len(rule.rstrip())
    while at < end:
        match = _TOKEN.match(rule, at)
        if match is None:
            raise UntranslatableError(f"`{rule[at:].lstrip()[:1]}` in `{rule}`")
        kind = match.lastgroup or ""
        text = match[kind]
        if kind == "text":
            text = _unescape(text[1:-1], rule)
        tokens.append((kind, text[2:-1] if kind == "raw" else text))
        at = match.end()
    return [*tokens, ("end", "")]


def _unescape(text: str, rule: str) -> str:
    def one(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            raise UntranslatableError(f"the escape `{match[0]}` in `{rule}`")
        return _ESCAPES[match[1]]

    return re.sub(r"\\(.)", one, text)
