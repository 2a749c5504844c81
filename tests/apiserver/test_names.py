"""Names, labels and paths, with Kubernetes' reasons."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainc.apiserver.names import (
    DNS1035_TEXT,
    LABEL_TEXT,
    SUBDOMAIN_TEXT,
    dns1035,
    label,
    label_value,
    prefixed_path,
    qualified,
    subdomain,
)

TEXTS = st.text("aZ09-_./é \n", max_size=8)
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
DNS1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")


@given(TEXTS)
def test_patterns(text: str) -> None:
    assert (not label(text)) is bool(LABEL.fullmatch(text))
    assert (not subdomain(text)) is bool(SUBDOMAIN.fullmatch(text))
    assert (not dns1035(text)) is bool(DNS1035.fullmatch(text))
    assert (not label_value(text)) is bool(VALUE.fullmatch(text))


@pytest.mark.parametrize(
    ("faults", "expected"),
    [
        (subdomain("a" * 253), ()),
        (subdomain("a" * 254), ("must be no more than 253 characters",)),
        (subdomain("A" * 254), ("must be no more than 253 characters", SUBDOMAIN_TEXT)),
        (label("a" * 64), ("must be no more than 63 characters",)),
        (label("a.b"), ("must not contain dots",)),
        (label("A.b"), (LABEL_TEXT,)),
        (label("é" * 32), ("must be no more than 63 characters", LABEL_TEXT)),
        (label("a..b"), (LABEL_TEXT,)),
        (dns1035("1a"), (DNS1035_TEXT,)),
        (dns1035("1" * 64), ("must be no more than 63 characters", DNS1035_TEXT)),
        (label_value("a" * 64), ("must be no more than 63 bytes",)),
        (qualified("example.com/name"), ()),
        (qualified("a"), ()),
        (qualified("a" * 254 + "/b"), ("prefix part must be no more than 253 bytes",)),
    ],
)
def test_lengths_and_texts(faults: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert faults == expected


@pytest.mark.parametrize(
    ("key", "start"),
    [
        ("a/b/c", "a valid label key must consist of"),
        ("/b", "prefix part must be non-empty"),
        ("a/", "name part must be non-empty"),
        ("A_b/c", "prefix part a lowercase RFC 1123 subdomain"),
        ("my note", "name part must consist of"),
        ("a" * 64, "name part must be no more than 63"),
    ],
)
def test_label_keys(key: str, start: str) -> None:
    assert qualified(key)[0].startswith(start)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("acme.io/foo", []),
        ("acme.io/foo/Bar:1", []),
        ("acme.io", ["acme.io"]),
        ("/foo", ["/foo"]),
        ("acme.io/", ["acme.io/"]),
        ("Acme.io/foo", ["Acme.io"]),
        ("acme.io/a b", ["a b"]),
    ],
)
def test_domain_prefixed_paths(text: str, parts: list[str]) -> None:
    assert [part for part, _ in prefixed_path(text)] == parts
