"""Every path of a document has a place in its file."""

from hypothesis import given
from hypothesis import strategies as st

from tests.yaml.reading import only
from trainc.model.document import Document
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import leaves, plain
from trainc.yaml.scalars import resolve
from trainc.yaml.writer import dump

TEXT = """\
apiVersion: v1
kind: Thing
metadata:
  name: x
  namespace: team
spec:
  items:
  - a: 1
"""


def test_names() -> None:
    document = only(TEXT)
    assert (document.api_version, document.kind, document.name, document.namespace) == ("v1", "Thing", "x", "team")
    bare = only("metadata: 5\nkind: [x]\napiVersion: 1")
    assert (bare.api_version, bare.kind, bare.name, bare.namespace) == ("", "", "", "")


def test_the_nearest_place_for_what_is_not_written() -> None:
    document = only(TEXT)
    assert str(document.span(("spec", "items", 0, "b"))) == "f.yaml:8:5"
    assert str(document.span(("spec", "items", 7, "b", "c"))) == "f.yaml:7:3"
    assert str(document.span(("spec", "nope"))) == "f.yaml:6:1"
    assert str(document.span(("status", "x"))) == "f.yaml:1:1"
    assert str(document.span(("metadata", "name"), key=True)) == "f.yaml:4:3"
    assert document.span(("metadata", "name")) == Span("f.yaml", 4, 9, 4, 10)


def test_a_tree_without_marks() -> None:
    document = Document("f.yaml", {}, {}, 7)
    assert document.span(("a",)) == Span("f.yaml", 7, 1, 7, 1)
    assert document.span() == Span("f.yaml", 7, 1, 7, 1)


KEYS = st.text("abcé: #\n", max_size=5)
SCALARS = st.integers(-5, 5) | st.booleans() | st.none() | st.text("ab:é #'\"\\", max_size=6)
TREES = st.dictionaries(
    KEYS,
    st.recursive(SCALARS, lambda t: st.lists(t, max_size=3) | st.dictionaries(KEYS, t, max_size=3)),
    min_size=1,
    max_size=4,
)


@given(TREES)
def test_a_leaf_stands_where_its_span_says(tree: object) -> None:
    text = dump(tree)
    document = only(text)
    rows = text.split("\n")
    for path, leaf in leaves(document.tree):
        span = document.span(path)
        if type(leaf) is Sourced:
            assert span is leaf.origin.at
            assert span.line == span.end_line
            shown = rows[span.line - 1][span.column - 1 : span.end_column - 1]
            assert leaf.value == (resolve(shown) if shown[:1] != '"' else plain(only(shown).tree))
        key = document.span(path, key=True)
        if type(path[-1]) is str:
            assert plain(only(rows[key.line - 1][key.column - 1 : key.end_column - 1] + ": 1").tree) == {path[-1]: 1}
