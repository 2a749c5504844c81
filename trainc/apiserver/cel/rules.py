"""CEL rules at work: the rules that hold for one object, and the transition rules between two."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from trainc.apiserver.cel.builtin import RULES
from trainc.apiserver.cel.operators import CelError, bare, same
from trainc.apiserver.fault import SCHEMA_TYPES, Fault, NotJudgedError, shown, untold
from trainc.apiserver.schema.node import SchemaNode
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree, dotted, get, plain
from trainc.text.placeholders import is_placeholder

Rule = dict[str, Any]
Test = Callable[[Any, Any], Any]

_UNCHANGED = ("self == oldSelf", "oldSelf == self")
# Formats whose values are not texts for a rule.
_TYPED_FORMATS = frozenset(["date", "date-time", "datetime", "duration", "byte"])
_METADATA = ("name", "generateName")
_SPELLED = (("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__"))
RESERVED = frozenset([
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
    "let", "loop", "package", "namespace", "return", "var", "void", "while",
])  # fmt: skip


def function(rule: Rule, node: SchemaNode | None = None) -> Test:
    """The Python function of a built-in rule, else one that evaluates CEL over values as `node` types them."""
    text, is_optional = rule["rule"], bool(rule.get("optionalOldSelf"))
    return RULES.get(text) or (lambda new, old: _by_engine(text, node, new, old, is_optional=is_optional))


def _by_engine(rule: str, node: SchemaNode | None, new: Any, old: Any, *, is_optional: bool) -> bool:
    from trainc.apiserver.schema import engine  # noqa: PLC0415 (few clusters bring rules)

    before = None if old is None else visible(node, old, rule)
    judged = engine.judge(rule, visible(node, new), before, is_optional=is_optional)
    if judged.failed:
        raise CelError(judged.failed)
    return judged.value is True


def check(
    waiting: Iterable[tuple[SchemaNode, Path, Tree]], unchecked: list[Fault], old: Tree | None = None
) -> list[Fault]:
    """What the rules say that need no `oldSelf`; rules that cannot be judged go into `unchecked`.

    Rules with `optionalOldSelf` have their say in `check_change` where the object before has the value, too.
    """
    faults: list[Fault] = []
    for node, path, tree in waiting:
        value = bare(tree)
        if node.tests is None:
            node.tests = [(function(rule, node), rule) for rule in node.live]
        for test, rule in node.tests:
            if old is not None and rule.get("optionalOldSelf") and get(old, *path) is not None:
                continue
            _apply(test, rule, path, value, None, faults, unchecked)
    return faults


def _apply(test: Test, rule: Rule, path: Path, new: Any, old: Any, faults: list[Fault], unchecked: list[Fault]) -> None:
    if is_placeholder(new):
        unchecked.append(untold(path, new))
        return
    try:
        if test(new, old) is True:
            return
        broken = _broken(rule, path, new)
    except NotJudgedError as error:
        unchecked.append(Fault(path, "cel", f"the CEL rule `{rule['rule']}` is not evaluated: {error}"))
        return
    except CelError as error:
        text = f"{error} evaluating rule: {_message(rule)}"
        broken = Fault(
            path, "cel", f'{dotted(path) or "<nil>"}: Invalid value: "{SCHEMA_TYPES.get(type(new), "null")}": {text}'
        )
    waiting = [leaf for leaf in _placeholders(new) if f".{leaf[0]}" in rule["rule"]]
    unchecked += [untold(path, text) for _, text in waiting]
    if not waiting:
        faults.append(broken)


def _placeholders(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a value that is still to be filled in, with the field that it stands in."""
    value = bare(value)
    if type(value) is dict:
        for key, inner in value.items():
            yield from _placeholders(inner, key)
    elif type(value) is list:
        for inner in value:
            yield from _placeholders(inner, name)
    elif is_placeholder(value):
        yield name, value


def _broken(rule: Rule, path: Path, value: Any) -> Fault:
    where = path
    if rule.get("fieldPath"):
        where = (*path, *rule["fieldPath"].strip(".").split("."))
    place, message = dotted(where) or "<nil>", _message(rule)
    reason = rule.get("reason", "")
    if reason == "FieldValueRequired":
        return Fault(where, "cel", f"{place}: Required value: {message}")
    if reason == "FieldValueForbidden":
        return Fault(where, "cel", f"{place}: Forbidden: {message}")
    # The server shows scalars and leaves maps and lists out.
    spelled = "" if type(value) in (dict, list) else f"{shown(value)}: "
    word = "Duplicate value" if reason == "FieldValueDuplicate" else "Invalid value"
    return Fault(where, "cel", f"{place}: {word}: {spelled}{message}", plain(value))


def _message(rule: Rule) -> str:
    text: str = rule.get("message", "").strip()
    return text or f"failed rule: {rule['rule'].strip()}"


def check_change(node: SchemaNode, new: Tree, old: Tree, unchecked: list[Fault], path: Path = ()) -> list[Fault]:
    """What the transition rules say about a change, wherever a value stands in both objects."""
    faults: list[Fault] = []
    for rule in node.rules:
        if "oldSelf" not in rule["rule"]:
            continue
        if rule["rule"].strip() in _UNCHANGED:
            if not alike(node, new, old):
                faults.append(_broken(rule, path, bare(new)))
        else:
            _apply(function(rule, node), rule, path, bare(new), bare(old), faults, unchecked)
    if type(new) is dict and type(old) is dict:
        for key in new:
            child = node.prop(key) if key in old else None
            if child is not None and moves(child):
                faults += check_change(child, new[key], old[key], unchecked, (*path, key))
    elif type(new) is list and type(old) is list and node.keys:
        item = node.item()
        before = {_key(node, entry): entry for entry in old}
        for index, entry in enumerate(new):
            key = _key(node, entry)
            if item is not None and key in before and moves(item):
                faults += check_change(item, entry, before[key], unchecked, (*path, index))
    return faults


def _key(node: SchemaNode, entry: Tree) -> object:
    held = entry if type(entry) is dict else {}
    return tuple(bare(held.get(name)) for name in node.keys)


def moves(node: SchemaNode) -> bool:
    """Whether a transition rule stands at this node or below it."""
    if node.moves is None:
        children = [*map(node.prop, node.props.names), node.other(), node.item()]
        own = any("oldSelf" in rule["rule"] for rule in node.rules)
        node.moves = own or any(moves(child) for child in children if child is not None)
    return node.moves


def alike(node: SchemaNode | None, new: Tree, old: Tree) -> bool:
    """Equality as typed CEL sees it: lists that are maps or sets are equal in any order."""
    if node is None or type(new) is Sourced or type(new) is not type(old):
        return same(new, old)
    if type(new) is dict:
        return new.keys() == old.keys() and all(alike(node.prop(key), new[key], old[key]) for key in new)
    if type(new) is not list or len(new) != len(old):
        return same(new, old)
    item = node.item()
    if node.keys:
        before = {_key(node, entry): entry for entry in old}
        return all(_key(node, entry) in before and alike(item, entry, before[_key(node, entry)]) for entry in new)
    if node.unique:
        return all(any(same(entry, other) for other in old) for entry in new)
    return all(alike(item, a, b) for a, b in zip(new, old, strict=True))


def visible(node: SchemaNode | None, tree: Tree, compared: str = "") -> Any:
    """Plain data as a rule sees it; with `compared`, the text of a rule that may compare it with another state.

    Raises:
        NotJudgedError: for what trainc would take for something else than the server does.
    """
    value = bare(tree)
    if node is None or node.kind in ("", "partial"):
        raise NotJudgedError("it looks at a value without a type")
    if type(value) is dict:
        if not node.props.names:
            other = node.other()
            return {} if other is None else {key: visible(other, child, compared) for key, child in value.items()}
        fields = {}
        for key, child in value.items():
            if key == "metadata" and "apiVersion" in node.props.names and type(child) is dict:
                fields[key] = {name: bare(child[name]) for name in _METADATA if name in child}
            elif key in node.props.names and (at := node.prop(key)) is not None and (at.kind or not at.preserve):
                fields[_escaped(key)] = visible(at, child, compared)
        return fields
    if type(value) is list:
        if (node.keys or node.unique) and len(value) > 1 and ("==" in compared or "!=" in compared):
            raise NotJudgedError("it compares lists whose order does not count")
        return [visible(node.item(), item, compared) for item in value]
    if node.format in _TYPED_FORMATS and type(value) is str:
        from trainc.apiserver.schema import engine  # noqa: PLC0415 (the built-in rules need none)

        return engine.of_format(node.format, value)
    return float(value) if node.kind == "number" and type(value) is int else value


def _escaped(name: str) -> str:
    """A property's name as a rule has to write it."""
    if name in RESERVED:
        return f"__{name}__"
    for text, escape in _SPELLED:
        name = name.replace(text, escape)
    return name
