"""Reads an expression of CEL: its tokens, its grammar, and its macros, which become folds.

Source: cel-go parser (gen/CEL.g4, parser.go, macro.go, unescape.go) and the macros of cel-go's extensions for optionals,
lists and comprehensions with two variables.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from trainc.apiserver.expressions.syntax import Call, Const, Fold, Ident, ListOf, MapOf, Node, Select, Uint

MAX_LENGTH = 100_000
MAX_DEPTH = 250  # nested expressions
ACCUMULATOR = "@result"
UNUSED = "#unused"
_SORTED = "@__sortBy_input__"
_INT, _UINT = 2**63, 2**64
_RESERVED = frozenset((
    "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package", "namespace",
    "return", "var", "void", "while",
))  # fmt: skip
_ESCAPED = r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_TEXT = (
    r'[rR]"""[\s\S]*?"""|[rR]\'\'\'[\s\S]*?\'\'\'|[rR]"[^"\n\r]*"|[rR]\'[^\'\n\r]*\''
    rf'|"""(?:{_ESCAPED}|[^\\])*?"""|\'\'\'(?:{_ESCAPED}|[^\\])*?\'\'\''
    rf'|"(?:{_ESCAPED}|[^\\"\n\r])*"|\'(?:{_ESCAPED}|[^\\\'\n\r])*\''
)
_TOKEN = re.compile(
    r"(?P<blank>(?:[\t \r\n\f]|//[^\n]*)+)"
    r"|(?P<double>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<uint>0x[0-9a-fA-F]+[uU]|[0-9]+[uU])"
    r"|(?P<int>0x[0-9a-fA-F]+|[0-9]+)"
    rf"|(?P<bytes>[bB](?:{_TEXT}))"
    rf"|(?P<string>{_TEXT})"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<quoted>`[A-Za-z0-9_.\-/ ]+`)"
    r"|(?P<mark>==|!=|<=|>=|&&|\|\||[\[\]{}().,\-!?:+*/%<>])"
)
_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\"'\\?`])|([0-3][0-7][0-7])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))"
)
_SHORT = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CONSTANTS = {"true": True, "false": False, "null": None}
# How tightly operators of two sides bind; those of one line have one strength.
_STRENGTH = {
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!=", "in"), 1),
    **dict.fromkeys(("+", "-"), 2),
    **dict.fromkeys(("*", "/", "%"), 3),
}


class SyntaxFaultError(Exception):
    """What is wrong with an expression, and at which index of its text."""

    def __init__(self, text: str, at: int) -> None:
        super().__init__(text)
        self.at = at


class Token(NamedTuple):
    """A word of an expression; the last one is of the kind `end`."""

    kind: str
    text: str
    at: int


class Parsed(NamedTuple):
    """The tree of an expression, and the index of its text at which each node stands, by the id() of the node."""

    tree: Node
    places: dict[int, int]


def parsed(text: str) -> Parsed:
    """The tree of an expression; a SyntaxFaultError where it is none."""
    if len(text) > MAX_LENGTH:
        raise SyntaxFaultError(f"expression code point size exceeds limit: size: {len(text)}, limit {MAX_LENGTH}", 0)
    parser = _Parser(_tokens(text))
    tree = parser.expression()
    parser.expect("end", "")
    return Parsed(tree, parser.places)


def _tokens(text: str) -> list[Token]:
    tokens = []
    at = 0
    while at < len(text):
        if (match := _TOKEN.match(text, at)) is None:
            raise SyntaxFaultError(f"Syntax error: token recognition error at: '{text[at : at + 20]}'", at)
        kind = match.lastgroup or ""
        if kind == "name" and match.group() == "in":
            kind = "mark"
        if kind != "blank":
            tokens.append(Token(kind, match.group(), at))
        at = match.end()
    return [*tokens, Token("end", "", at)]


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.index = 0
        self.depth = 0
        self.places: dict[int, int] = {}
        self._nodes: list[Node] = []  # kept, so that no id is used twice

    @property
    def token(self) -> Token:
        return self.tokens[self.index]

    def take(self, *marks: str) -> Token | None:
        """The next token where it is one of these marks."""
        token = self.token
        if token.kind != "mark" or token.text not in marks:
            return None
        self.index += 1
        return token

    def expect(self, kind: str, text: str) -> Token:
        token = self.token
        if token.kind != kind or (text and token.text != text):
            shown = token.text or "<EOF>"
            raise SyntaxFaultError(f"Syntax error: mismatched input '{shown}' expecting {text or '<EOF>'}", token.at)
        self.index += 1
        return token

    def node(self, node: Node, at: int) -> Node:
        self.places[id(node)] = at
        self._nodes.append(node)
        return node

    def call(self, function: str, at: int, *args: Node, target: Node | None = None) -> Node:
        return self.node(Call(target, function, args), at)

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise SyntaxFaultError(f"expression recursion limit exceeded: {MAX_DEPTH}", self.token.at)
        node = self.logical("||", "_||_")
        if (mark := self.take("?")) is not None:
            yes = self.logical("||", "_||_")
            self.expect("mark", ":")
            node = self.call("_?_:_", mark.at, node, yes, self.expression())
        self.depth -= 1
        return node

    def logical(self, mark: str, function: str) -> Node:
        """Terms joined by `||` or `&&`: a tree of few levels, as cel-go balances them."""

        def term() -> Node:
            return self.logical("&&", "_&&_") if mark == "||" else self.binary(1)

        terms, places = [term()], []
        while (token := self.take(mark)) is not None:
            places.append(token.at)
            terms.append(term())

        def balanced(low: int, high: int) -> Node:
            middle = (low + high + 1) // 2
            left = terms[middle] if middle == low else balanced(low, middle - 1)
            right = terms[middle + 1] if middle == high else balanced(middle + 1, high)
            return self.call(function, places[middle], left, right)

        return balanced(0, len(places) - 1) if places else terms[0]

    def binary(self, weakest: int) -> Node:
        """Operators of at least some strength, from left to right."""
        left = self.unary()
        while self.token.kind == "mark" and (strength := _STRENGTH.get(self.token.text, 0)) >= weakest:
            operator = self.token
            self.index += 1
            right = self.binary(strength + 1)
            name = "@in" if operator.text == "in" else f"_{operator.text}_"
            left = self.call(name, operator.at, left, right)
        return left

    def unary(self) -> Node:
        first = self.token
        if first.kind != "mark" or first.text not in "!-":
            return self.member()
        count = 0
        while self.take(first.text) is not None:
            count += 1
        if first.text == "-" and self.token.kind in ("int", "double") and count == 1:
            return self.member(sign="-", at=first.at)
        operand = self.member()
        return self.call(f"{first.text}_", first.at, operand) if count % 2 else operand

    def member(self, sign: str = "", at: int = 0) -> Node:
        node = self.literal(sign, at) if sign else self.primary()
        while (mark := self.take(".", "[")) is not None:
            if mark.text == "[":
                function = "_[?_]" if self.take("?") is not None else "_[_]"
                index = self.expression()
                self.expect("mark", "]")
                node = self.call(function, mark.at, node, index)
                continue
            is_optional = self.take("?") is not None
            is_quoted = self.token.kind == "quoted"
            field = self.expect("quoted" if is_quoted else "name", "")
            name = field.text.strip("`")
            if is_quoted:
                opening = None
            elif name in _CONSTANTS:
                raise SyntaxFaultError(f"Syntax error: no viable alternative at input '.{name}'", field.at)
            else:
                opening = self.take("(")
            if is_optional:
                if opening is not None:
                    raise SyntaxFaultError("Syntax error: mismatched input '('", opening.at)
                node = self.call("_?._", mark.at, node, self.node(Const(name), field.at))
            elif opening is not None:
                node = self.function(name, node, self.arguments(), opening.at)
            else:
                node = self.node(Select(node, name, False), mark.at)
        return node

    def arguments(self) -> list[Node]:
        args: list[Node] = []
        if self.take(")") is not None:
            return args
        args.append(self.expression())
        while self.take(",") is not None:
            args.append(self.expression())
        self.expect("mark", ")")
        return args

    def primary(self) -> Node:
        token = self.token
        if token.kind == "name" and token.text in _CONSTANTS:
            self.index += 1
            return self.node(Const(_CONSTANTS[token.text]), token.at)
        if token.kind == "name" or (token.kind == "mark" and token.text == "."):
            return self.name()
        if self.take("(") is not None:
            inner = self.expression()
            self.expect("mark", ")")
            return inner
        if self.take("[") is not None:
            return self.list_literal(token.at)
        if self.take("{") is not None:
            return self.map_literal(token.at)
        return self.literal("", token.at)

    def name(self) -> Node:
        dot = "." if self.take(".") is not None else ""
        token = self.expect("name", "")
        if token.text in _CONSTANTS:
            raise SyntaxFaultError(f"Syntax error: no viable alternative at input '.{token.text}'", token.at)
        if (message := self.message()) is not None:
            raise SyntaxFaultError(f"undeclared reference to '{dot}{message}' (in container '')", token.at)
        if token.text in _RESERVED:
            raise SyntaxFaultError(f"reserved identifier: {token.text}", token.at)
        name = dot + token.text
        if (opening := self.take("(")) is not None:
            return self.function(name, None, self.arguments(), opening.at)
        return self.node(Ident(name), token.at)

    def message(self) -> str | None:
        """The name of a message such as `a.B{}`, whose first word was read; None for anything else."""
        words, index = [self.tokens[self.index - 1].text], self.index
        while self.tokens[index].text == "." and self.tokens[index + 1].kind == "name":
            words.append(self.tokens[index + 1].text)
            index += 2
        return ".".join(words) if self.tokens[index] == ("mark", "{", self.tokens[index].at) else None

    def list_literal(self, at: int) -> Node:
        elements: list[Node] = []
        optional: list[int] = []
        while self.take("]") is None:
            if elements:
                self.expect("mark", ",")
                if self.take("]") is not None:
                    break
            elif self.take(",") is not None:
                self.expect("mark", "]")
                break
            if self.take("?") is not None:
                optional.append(len(elements))
            elements.append(self.expression())
        return self.node(ListOf(tuple(elements), frozenset(optional)), at)

    def map_literal(self, at: int) -> Node:
        entries: list[tuple[Node, Node, bool]] = []
        while self.take("}") is None:
            if entries:
                self.expect("mark", ",")
                if self.take("}") is not None:
                    break
            elif self.take(",") is not None:
                self.expect("mark", "}")
                break
            is_optional = self.take("?") is not None
            key = self.expression()
            self.expect("mark", ":")
            entries.append((key, self.expression(), is_optional))
        return self.node(MapOf(tuple(entries)), at)

    def literal(self, sign: str, at: int) -> Node:
        token = self.token
        if token.kind not in ("int", "uint", "double", "string", "bytes"):
            shown = token.text or "<EOF>"
            raise SyntaxFaultError(f"Syntax error: mismatched input '{shown}'", token.at)
        self.index += 1
        try:
            value = _READERS[token.kind](sign + token.text)
        except ValueError as error:
            raise SyntaxFaultError(str(error), token.at) from None
        return self.node(Const(value), at)

    def function(self, name: str, target: Node | None, args: list[Node], at: int) -> Node:
        """A call, or what a macro makes of it."""
        macro = _MACROS.get((name, len(args), target is not None))
        if macro is None:
            return self.call(name, at, *args, target=target)
        return macro(self, name, target, args, at)

    def fold(
        self,
        over: Node,
        variables: tuple[str, str],
        start: Node,
        steps: tuple[Node, Node, Node],
        at: int,
        result: str = "",
    ) -> Node:
        return self.node(Fold(*variables, over, result or ACCUMULATOR, start, *steps), at)

    def variable(self, node: Node, wrong: str) -> str:
        if type(node) is not Ident:
            raise SyntaxFaultError(wrong, self.places[id(node)])
        if node.name in (ACCUMULATOR, "__result__"):
            raise SyntaxFaultError("iteration variable overwrites accumulator variable", self.places[id(node)])
        return node.name

    def variables(self, args: list[Node], count: int, wrong: str) -> tuple[str, str]:
        """The one or two variables of a macro, the second empty where there is one alone."""
        first = self.variable(args[0], wrong)
        if count == 1:
            return first, ""
        second = self.variable(args[1], wrong)
        if first == second:
            raise SyntaxFaultError(f"duplicate variable name: {first}", self.places[id(args[1])])
        return first, second


def _has(parser: _Parser, _name: str, _target: Node | None, args: list[Node], at: int) -> Node:
    if type(args[0]) is not Select or args[0].test:
        raise SyntaxFaultError("invalid argument to has() macro", at)
    return parser.node(Select(args[0].operand, args[0].field, True), at)


def _quantifier(parser: _Parser, name: str, target: Node | None, args: list[Node], at: int) -> Node:
    """all(), exists() and existsOne()."""
    variables = parser.variables(args, len(args) - 1, "argument must be a simple name")
    accumulated = parser.node(Ident(ACCUMULATOR), at)
    start: Node
    if name == "all":
        start = Const(True)
        condition = parser.call("@not_strictly_false", at, accumulated)
        step, result = parser.call("_&&_", at, accumulated, args[-1]), accumulated
    elif name == "exists":
        start = Const(False)
        condition = parser.call("@not_strictly_false", at, parser.call("!_", at, accumulated))
        step, result = parser.call("_||_", at, accumulated, args[-1]), accumulated
    else:
        one = parser.node(Const(1), at)
        start, condition = Const(0), parser.node(Const(True), at)
        step = parser.call("_?_:_", at, args[-1], parser.call("_+_", at, accumulated, one), accumulated)
        result = parser.call("_==_", at, accumulated, one)
    assert target is not None
    return parser.fold(target, variables, parser.node(start, at), (condition, step, result), at)


def _collecting(count: int, *, entries: bool = False, keyed: bool = False, itself: bool = False) -> "Macro":
    """A macro that collects what it makes of each element: of the variables that are so many, a list or entries of a map.

    Behind the variables stand a condition, if there is one, and what is collected; filter() collects the element `itself`.
    """

    def macro(parser: _Parser, _name: str, target: Node | None, args: list[Node], at: int) -> Node:
        variables = parser.variables(args, count, "argument is not an identifier")
        accumulated = parser.node(Ident(ACCUMULATOR), at)
        conditions = args[count:] if itself else args[count:-1]
        made = args[0] if itself else args[-1]
        start: Node
        if entries:
            start = MapOf(())
            key = [parser.node(Ident(variables[0]), at)] if keyed else []
            step = parser.call("cel.@mapInsert", at, accumulated, *key, made)
        else:
            start = ListOf((), frozenset())
            step = parser.call("_+_", at, accumulated, parser.node(ListOf((made,), frozenset()), at))
        for condition in conditions:
            step = parser.call("_?_:_", at, condition, step, accumulated)
        assert target is not None
        always = parser.node(Const(True), at)
        return parser.fold(target, variables, parser.node(start, at), (always, step, accumulated), at)

    return macro


def _bound(parser: _Parser, name: str, value: Node, result: Node, at: int) -> Node:
    """An expression that sees a value under a name: a fold over nothing, whose accumulator has that name."""
    nothing = parser.node(ListOf((), frozenset()), at)
    never, same = parser.node(Const(False), at), parser.node(Ident(name), at)
    return parser.fold(nothing, (UNUSED, ""), value, (never, same, result), at, name)


def _of_optional(parser: _Parser, name: str, target: Node | None, args: list[Node], at: int) -> Node:
    """optMap() and optFlatMap()."""
    if type(args[0]) is not Ident:
        raise SyntaxFaultError(f"{name}() variable name must be a simple identifier", parser.places[id(args[0])])
    value = parser.call("value", at, target=target)
    inner = _bound(parser, args[0].name, value, args[1], at)
    if name == "optMap":
        inner = parser.call("optional.of", at, inner)
    return parser.call("_?_:_", at, parser.call("hasValue", at, target=target), inner, parser.call("optional.none", at))


def _sort_by(parser: _Parser, _name: str, target: Node | None, args: list[Node], at: int) -> Node:
    if not isinstance(target, ListOf | Select | Ident | Fold | Call):
        text = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        raise SyntaxFaultError(text, at)
    held = parser.node(Ident(_SORTED), at)
    keys = _collecting(1)(parser, "map", held, args, at)
    return _bound(parser, _SORTED, target, parser.call("@sortByAssociatedKeys", at, keys, target=held), at)


def _read_int(text: str) -> int:
    negative, digits = text.startswith("-"), text.removeprefix("-")
    number = int(digits, 0) if digits.startswith("0x") else _decimal(digits, "int")
    number = -number if negative else number
    if not -_INT <= number < _INT:
        raise ValueError("invalid int literal")
    return number


def _read_uint(text: str) -> Uint:
    digits = text[:-1]
    number = int(digits, 0) if digits.startswith("0x") else _decimal(digits, "uint")
    if number >= _UINT:
        raise ValueError("invalid uint literal")
    return Uint(number)


def _decimal(digits: str, kind: str) -> int:
    if len(digits.lstrip("0")) > 20:
        raise ValueError(f"invalid {kind} literal")
    return int(digits)


def _read_double(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("invalid double literal")
    return number


def _read_text(text: str) -> str:
    return "".join(_unescaped(text, of_bytes=False))


def _read_bytes(text: str) -> bytes:
    return b"".join(
        letter.encode("latin-1") if is_byte else letter.encode("utf-8", "surrogatepass")
        for letter, is_byte in _parts(text[1:], of_bytes=True)
    )


def _unescaped(text: str, *, of_bytes: bool) -> list[str]:
    return [letter for letter, _ in _parts(text, of_bytes=of_bytes)]


def _parts(text: str, *, of_bytes: bool) -> list[tuple[str, bool]]:
    """The parts of a literal without its quotes, each with whether it is the number of a byte."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    is_raw = text[0] in "rR"
    text = text[1:] if is_raw else text
    quotes = 3 if len(text) >= 6 and text[:3] in ('"""', "'" * 3) else 1
    body = text[quotes:-quotes]
    if is_raw:
        return [(body, False)]
    parts, at = [], 0
    for match in _ESCAPE.finditer(body):
        parts.append((body[at : match.start()], False))
        at = match.end()
        short, octal, byte, four, eight = match.groups()
        if short is not None:
            parts.append((_SHORT.get(short, short), False))
            continue
        if of_bytes and (four or eight):
            raise ValueError("unable to unescape string")
        code = int(octal, 8) if octal else int(byte or four or eight, 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise ValueError("invalid unicode code point")
        parts.append((chr(code), of_bytes))
    return [*parts, (body[at:], False)]


_READERS: dict[str, Callable[[str], object]] = {
    "int": _read_int, "uint": _read_uint, "double": _read_double, "string": _read_text, "bytes": _read_bytes,
}  # fmt: skip
Macro = Callable[[_Parser, str, Node | None, list[Node], int], Node]
# By the name, the number of arguments, and whether it is a method.
_MACROS: dict[tuple[str, int, bool], Macro] = {
    ("has", 1, False): _has,
    **{(name, count, True): _quantifier for name in ("all", "exists", "exists_one") for count in (2, 3)},
    ("existsOne", 3, True): _quantifier,
    **{("map", count, True): _collecting(1) for count in (2, 3)},
    ("filter", 2, True): _collecting(1, itself=True),
    **{("transformList", count, True): _collecting(2) for count in (3, 4)},
    **{("transformMap", count, True): _collecting(2, entries=True, keyed=True) for count in (3, 4)},
    **{("transformMapEntry", count, True): _collecting(2, entries=True) for count in (3, 4)},
    ("optMap", 2, True): _of_optional,
    ("optFlatMap", 2, True): _of_optional,
    ("sortBy", 2, True): _sort_by,
}
