"""Draws expressions: by the types that functions take and give, and now and then against them."""

from random import Random

from trainc.apiserver.expressions.checker import DYN, Signature, Type, read_type, signatures
from trainc.apiserver.expressions.declarations import VARIABLES

OBJECT = {
    "name": "a-b", "count": 3, "ratio": 1.5, "flag": True, "nothing": None, "words": ["b", "a", "b"], "numbers": [3, 1, 2],
    "labels": {"app": "x"}, "mixed": [1, "a", None, {"k": [True]}], "empty": [], "image": "registry.io/a/b:1",
    "memory": "1.5Gi", "port": 8080, "nested": {"deep": {"er": "z"}}, "namespace": "n",
}  # fmt: skip
_TEXTS = (
    "", "a", "abc", "aXbXc", "latest", "é", "日本", "a b", "\t x ", "1", "-1", "1.5", "true", "0", "NaN", "Infinity",
    "1.5Gi", "1000m", "100Ti", "1k", "-2", "1e3", "1E", "5n", "0.1", "1Ki", "500m", "1.5.2", "", "+1", "12e6", "0.5Mi",
    "https://example.com:8443/a%20b/c?x=1&y=2&x=3", "a/b:1", "mailto:x@y", "/path?q=", "http://[::1]:80/", "http://a b/",
    "registry.example.com:5000/a/b:1", "http://user:pw@h/", "?x", "//h/p", "h:80", "http://h:x/", "a:b", "1:2",
    "127.0.0.1", "::1", "::ffff:1.2.3.4", "fe80::1%eth0", "10.0.0.0/8", "10.1.2.3/16", "::/0", "2001:db8::/32", "1.2.3",
    "1.2.3-alpha.1+b", "v1.2.3", "1.02.3", "1.2", "v1", "169.254.1.1", "224.0.0.1", "255.255.255.255", "01.2.3.4",
    "2024-01-31T23:59:59Z", "2024-02-29T12:00:00.5+02:00", "2023-02-29T00:00:00Z", "2024-01-31", "1h30m", "1.5s", "-1m",
    "100ms", "1d", "Europe/Berlin", "-08:00", "UTC", "05:30", "dns1123Label", "a-b", "A_b", "a.b", "a" * 64, "uri", "uuid",
    "123e4567-e89b-12d3-a456-426614174000", "YWJj", "x.y/z", "-a", "%", "a%sb", '"q"', "\n", "\\", "o'n",
)  # fmt: skip
_PATTERNS = (
    "a", "^a", "b*", "", "[a-c]+", "(a|b)+$", "^[a-z]([-a-z0-9]*[a-z0-9])?$", "(?i)ABC", "x{2}", "(", "a**", r"\\d+", ".",
    "[", "a{1001}", r"\\pL", "(?P<n>a)", "(?=a)", r"\\bX\\b", "a+?", "(?s).", "[^a]", "a|", r"\\x41", "b*?",
)  # fmt: skip
_TEMPLATES = (
    "%s", "%d", "%f", "%.2f", "%e", "%.3e", "%x", "%X", "%b", "%o", "%%", "%q", "%", "%s %s", "a", "%.f", "%5d", "é%s", "%s%%",
)  # fmt: skip
_INTS = (0, 1, -1, 2, 3, 7, 10, 64, 100, -5, 1000000, 2**63 - 1, -(2**63), 1700000000)
_DOUBLES = ("0.0", "1.0", "-1.5", "0.1", "1e10", "123456.789", "1e300", "2.5", "-0.0", "3.0", "1e-7", "1234567.0")
_DURATIONS = ("1h", "90m", "1.5s", "-1m", "0s", "100ms", "24h")
_TIMES = (
    "2024-01-31T23:59:59Z",
    "2024-02-29T12:00:00.123456789+02:00",
    "1970-01-01T00:00:00Z",
    "2023-12-31T00:00:00-08:00",
)
_FIELDS = tuple(OBJECT)
_PLAIN = ("bool", "int", "uint", "double", "string", "bytes", "google.protobuf.Duration", "google.protobuf.Timestamp")
_OPERATORS = {
    "_?_:_": "({} ? {} : {})",
    "_[_]": "{}[{}]",
    "_[?_]": "{}[?{}]",
    "@in": "({} in {})",
    "!_": "!({})",
    "-_": "-({})",
}
_HIDDEN = ("cel.@mapInsert", "@sortByAssociatedKeys", "@not_strictly_false", "_?._")
_PARAMETERS = ("int", "string", "bool", "double", "list(int)", "list(string)", "map(string, int)")


class Drawer:
    """Draws expressions; the same seed draws the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 (draws tests)
        self._variables: list[tuple[str, Type]] = []
        self._signatures = [
            (name, signature)
            for name, overloads in signatures().items()
            if name not in _HIDDEN
            for signature in overloads
            if "authorization" not in str(signature)
        ]

    def expression(self) -> str:
        """An expression."""
        self._variables = []
        if self.random.random() < 0.5:  # of one function, so that each has its turn
            name, signature = self.random.choice(self._signatures)
            return self.call(name, signature, {}, self.random.choice((1, 1, 2)))
        return self.of(
            self.random.choice([*map(Type, _PLAIN), *map(read_type, _PARAMETERS), Type("bool"), Type("bool")]), 3
        )

    def of(self, wanted: Type, depth: int) -> str:
        """An expression of a type."""
        if self.random.random() < 0.02:
            wanted = read_type(self.random.choice((*_PARAMETERS, *_PLAIN)))
        if wanted.is_parameter:
            wanted = read_type(self.random.choice(_PARAMETERS))
        if wanted == DYN:
            return self.dynamic(depth)
        if self.random.random() < 0.04:
            return f"dyn({self.of(wanted, depth - 1)})" if depth > 0 else self.dynamic(depth)
        names = [name for name, kind in self._variables if kind == wanted]
        if names and self.random.random() < 0.5:
            return self.random.choice(names)
        if depth > 0 and self.random.random() < 0.75:
            made = self.macro(wanted, depth) if self.random.random() < 0.25 else self.function(wanted, depth)
            if made:
                return made
        return self.literal(wanted, depth)

    def function(self, wanted: Type, depth: int) -> str:
        """A call that gives a type, empty where no function does."""
        fitting = []
        for name, signature in self._signatures:
            bound: dict[Type, Type] = {}
            if _fits(signature.result, wanted, bound):
                fitting.append((name, signature, bound))
        if not fitting:
            return ""
        return self.call(*self.random.choice(fitting), depth - 1)

    def call(self, name: str, signature: Signature, bound: dict[Type, Type], depth: int) -> str:
        """A call of a function with drawn arguments."""
        keys = {kind.parameters[0] for kind in _inside(signature) if kind.name == "map"}
        for parameter in [kind for kind in _inside(signature) if kind.is_parameter]:
            names = ("int", "string", "bool") if parameter in keys else _PARAMETERS
            bound.setdefault(parameter, read_type(self.random.choice(names)))
        args = [self.of(_bound(parameter, bound), depth) for parameter in signature.parameters]
        if name in ("matches", "find", "findAll") and self.random.random() < 0.8:
            args[1] = f"'{self.random.choice(_PATTERNS)}'"
        if name == "format" and self.random.random() < 0.9:
            args = [_quoted(self.random.choice(_TEMPLATES)), self.values(depth)]
        if len(args) > 1 and self.random.random() < 0.02:
            args.pop()
        if name in _OPERATORS and _OPERATORS[name].count("{}") == len(args):
            return _OPERATORS[name].format(*args)
        if name.startswith("_") and len(args) == 2:
            return f"({args[0]} {name.strip('_')} {args[1]})"
        if name[0] in "_!-@":
            return f"({args[0]})"
        is_method = signature.is_method if self.random.random() < 0.98 else not signature.is_method
        return f"({args[0]}).{name}({', '.join(args[1:])})" if is_method and args else f"{name}({', '.join(args)})"

    def values(self, depth: int) -> str:
        """A list of some values of any type."""
        kinds = [
            read_type(self.random.choice((*_PARAMETERS, *_PLAIN))) for _ in range(self.random.choice((0, 1, 1, 1, 2)))
        ]
        return f"[{', '.join(self.of(kind, min(depth, 1)) for kind in kinds)}]"

    def macro(self, wanted: Type, depth: int) -> str:
        """A macro that gives a type, empty where none does."""
        over = self.random.choice((Type("int"), Type("string")))
        is_map = self.random.random() < 0.3
        collection = Type("map", (Type("string"), over)) if is_map else Type("list", (over,))
        drawn = self.of(collection, depth - 1)
        element = Type("string") if is_map else over
        if wanted.name == "bool":
            name = self.random.choice(("all", "exists", "exists_one", "existsOne"))
            if self.random.random() < 0.3:
                first = Type("string") if is_map else Type("int")
                return f"{drawn}.{name}(k, v, {self.under((('k', first), ('v', over)), wanted, depth)})"
            if self.random.random() < 0.2:
                return f"has(object.{self.random.choice((*_FIELDS, 'absent', 'nested.deep', 'nested.absent'))})"
            return f"{drawn}.{name}(x, {self.under((('x', element),), wanted, depth)})"
        if wanted.name == "list":
            item = wanted.parameters[0]
            pick = self.random.random()
            if pick < 0.4:
                return f"{drawn}.map(x, {self.under((('x', element),), item, depth)})"
            if pick < 0.55:
                listed = self.of(wanted, depth - 1)
                return f"{listed}.filter(x, {self.under((('x', item),), Type('bool'), depth)})"
            if pick < 0.7 and not is_map:
                return f"{self.of(wanted, depth - 1)}.sortBy(x, {self.under((('x', item),), over, depth)})"
            first = Type("string") if is_map else Type("int")
            return f"{drawn}.transformList(k, v, {self.under((('k', first), ('v', over)), item, depth)})"
        if wanted.name == "map":
            first = Type("string") if is_map else Type("int")
            inner = self.under((("k", first), ("v", over)), wanted.parameters[1], depth)
            if self.random.random() < 0.5:
                return f"{drawn}.transformMap(k, v, {inner})"
            return f"{drawn}.transformMapEntry(k, v, {{string(k): {inner}}})"
        if wanted.name == "optional_type":
            held = self.of(Type("optional_type", (over,)), depth - 1)
            return f"{held}.optMap(x, {self.under((('x', over),), wanted.parameters[0], depth)})"
        return ""

    def under(self, variables: tuple[tuple[str, Type], ...], wanted: Type, depth: int) -> str:
        """An expression that sees more variables."""
        before = self._variables
        self._variables = [*before, *variables]
        made = self.of(wanted, depth - 1)
        self._variables = before
        return made

    def dynamic(self, depth: int) -> str:
        """A value whose type nobody knows."""
        pick = self.random.random()
        field = self.random.choice((*_FIELDS, "absent"))
        if pick < 0.5:
            return f"object.{field}"
        if pick < 0.6:
            return f"object.?{field}"
        if pick < 0.7:
            return f"object.?{field}.orValue({self.of(Type('string'), 0)})"
        if pick < 0.75:
            return self.random.choice(
                ("object.words[1]", "object.mixed[3].k[0]", "object['name']", "object.labels.app")
            )
        return f"dyn({self.of(read_type(self.random.choice(_PARAMETERS)), depth - 1)})"

    def literal(self, wanted: Type, depth: int) -> str:
        """A literal of a type, or the shortest expression of it."""
        choose = self.random.choice
        match wanted.name:
            case "bool":
                return choose(("true", "false"))
            case "int":
                return str(choose(_INTS))
            case "uint":
                return f"{choose((0, 1, 5, 2**64 - 1))}u"
            case "double":
                return choose(_DOUBLES)
            case "string":
                return _quoted(choose(_TEXTS))
            case "bytes":
                return choose(("b'abc'", "b''", r"b'\xff'", "b'é'"))
            case "null_type":
                return "null"
            case "list":
                count = choose((0, 1, 2, 2, 3))
                return f"[{', '.join(self.of(wanted.parameters[0], min(depth, 0)) for _ in range(count))}]"
            case "map":
                count = choose((0, 1, 1))  # Go iterates over more in any order
                pairs = [(self.of(wanted.parameters[0], 0), self.of(wanted.parameters[1], 0)) for _ in range(count)]
                return f"{{{', '.join(f'{key}: {value}' for key, value in pairs)}}}"
            case "google.protobuf.Duration":
                return f"duration('{choose(_DURATIONS)}')"
            case "google.protobuf.Timestamp":
                return f"timestamp('{choose(_TIMES)}')"
            case "optional_type":
                return choose((f"optional.of({self.of(wanted.parameters[0], 0)})", "optional.none()"))
            case "kubernetes.Quantity":
                return f"quantity({_quoted(choose(('1.5Gi', '1000m', '100Ti', '1k', '-2', '500m', '0', '12e6', '1', '2Gi')))})"
            case "kubernetes.URL":
                return f"url({_quoted(choose([text for text in _TEXTS if ':' in text or '/' in text]))})"
            case "net.IP":
                return f"ip({_quoted(choose(('127.0.0.1', '::1', '10.1.2.3', 'fe80::1', '224.0.0.1', '2001:db8::1', '0.0.0.0')))})"  # noqa: S104 (an address in a test)
            case "net.CIDR":
                return (
                    f"cidr({_quoted(choose(('10.0.0.0/8', '10.1.2.3/16', '::/0', '2001:db8::/32', '127.0.0.1/32')))})"
                )
            case "kubernetes.Semver":
                return f"semver({_quoted(choose(('1.2.3', '1.2.3-alpha.1', '1.10.0', '0.0.1', '1.2.3-alpha.b')))})"
            case "kubernetes.NamedFormat":
                return f"format.{choose([name[7:] for name in signatures() if name.startswith('format.') and name != 'format.named'])}()"
            case "type":
                return choose(("int", "string", "type", "list", "net.IP"))
            case name if name in {kind.name for kind in VARIABLES.values()}:
                return "request"
        return "null"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


def _inside(signature: Signature) -> list[Type]:
    """The types of the arguments of a signature, and those within them."""
    out = list(signature.parameters)
    for kind in out:
        out += kind.parameters
    return out


def _bound(kind: Type, bound: dict[Type, Type]) -> Type:
    if kind.is_parameter:
        return bound[kind]
    return Type(kind.name, tuple([_bound(part, bound) for part in kind.parameters]))


def _fits(result: Type, wanted: Type, bound: dict[Type, Type]) -> bool:
    if result.is_parameter:
        return bound.setdefault(result, wanted) == wanted
    return (
        result.name == wanted.name
        and len(result.parameters) == len(wanted.parameters)
        and all(_fits(*pair, bound) for pair in zip(result.parameters, wanted.parameters, strict=True))
    )
