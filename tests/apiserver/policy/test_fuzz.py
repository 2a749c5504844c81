"""Policies, objects and expressions with something odd in them: each gets an answer, and none ends the run."""

import copy
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.apiserver.policy.judging import OBJECT, Judged
from tests.apiserver.policy.test_expressions import COMMON, DECISIVE, LIBRARY, bare, evaluated, reference
from trainc.apiserver.expressions.compiler import CompileError, NotCompiledError
from trainc.apiserver.expressions.functions import FUNCTIONS
from trainc.apiserver.expressions.values import Duration, NotKnownError, Opaque, Optional, Timestamp, TypeName
from trainc.cli.scaffold import starter_policies

Path = tuple[Any, ...]

DOCUMENTS = [document for text in starter_policies().values() for document in yaml.safe_load_all(text)]
ODD: list[Any] = [
    *(None, [], {}, 3, -1, 1.5, True, "", "x", "\0", "${X}", "a" * 1000),
    *([None], [[]], [{}], ["*", "a"], {"a": None}, {"": 1}, {"matchLabels": {"a": 3}}, {"matchExpressions": [None]}),
]


def paths(node: Any, at: Path = ()) -> Iterator[Path]:
    yield at
    for key, inner in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from paths(inner, (*at, key))


def put(node: Any, at: Path, value: Any) -> Any:
    if not at:
        return value
    whole = copy.deepcopy(node)
    holder = whole
    for step in at[:-1]:
        holder = holder[step]
    holder[at[-1]] = value
    return whole


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_any_document_gets_an_answer(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 (nothing is secret)
    for _ in range(60):
        documents = list(DOCUMENTS)
        index = draw.randrange(len(documents))
        documents[index] = put(documents[index], draw.choice(list(paths(documents[index]))), draw.choice(ODD))
        inside = [path for path in paths(OBJECT) if path[:1] in (("metadata",), ("spec",))]
        of = put(OBJECT, draw.choice(inside), draw.choice(ODD))
        judged = Judged(*[document for document in documents if document is not None], of=of)
        assert judged.verdict in {"deny", "admit", "unknown", "unjudged", "invalid"}


TOKENS = [re.findall(r"'[^']*'|\w+|\W", text) for text in (*COMMON, *LIBRARY, *DECISIVE)]
ATOMS = [
    "object.spec",
    "object.spec.containers",
    "object.spec.containers[0]",
    "object.metadata.labels",
    "1",
    "1.5",
    "'a'",
    "null",
    "true",
    "[1,2]",
    "{'a':1}",
    "quantity('1')",
    "ip('1.2.3.4')",
    "duration('1s')",
    "optional.of(1)",
    "optional.none()",
    "3u",
    "b'a'",
    "type(1)",
    "semver('1.0.0')",
    "url('http://a/')",
    "format.uuid()",
    "-9223372036854775807",
    "''",
]
OPERATORS = ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "in"]
NAMES = [name for name in FUNCTIONS if re.fullmatch(r"[A-Za-z.]+", name)]


def drawn(draw: random.Random) -> str:
    """An expression with something in it that does not fit."""
    kind = draw.random()
    if kind < 0.3:
        tokens = list(draw.choice(TOKENS))
        tokens[draw.randrange(len(tokens))] = draw.choice(draw.choice(TOKENS))
        return "".join(tokens)
    atoms = [f"dyn({draw.choice(ATOMS)})" for _ in range(3)]
    if kind < 0.6:
        name = draw.choice(NAMES)
        args = ", ".join(atoms[: draw.randrange(3)])
        return f"{name}({args})" if "." in name else f"{atoms[2]}.{name}({args})"
    return f"{atoms[0]} {draw.choice(OPERATORS)} {atoms[1]}"


DIFFERENT = ("quantity(", "ip(", "semver(", "url(", "uuid(", "[?")  # where cel-cpp does not what Kubernetes does


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_any_expression_is_worth_what_cel_says(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 (nothing is secret)
    for _ in range(600):
        text = drawn(draw)
        try:
            ours = bare(evaluated(text)[0])
        except (CompileError, NotCompiledError, NotKnownError):
            continue
        if type(ours) in (Duration, Timestamp, TypeName, Optional, Opaque) or any(word in text for word in DIFFERENT):
            continue
        try:
            theirs = reference(text)
        except SystemError:  # optional values in a list, which its binding cannot show
            continue
        if theirs != "error" or ours == "error":
            assert ours == theirs or repr(ours) == repr(theirs), text  # NaN is not equal to itself
            assert (type(ours) is bool) == (type(theirs) is bool), text
