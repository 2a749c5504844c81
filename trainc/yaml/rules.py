"""What can be wrong with a text before it is a document."""

from __future__ import annotations

from trainc.model.finding import ERROR, WARNING, Rule

NOT_UTF8 = Rule(
    "not-utf8",
    ERROR,
    "a file is not UTF-8",
    "Kubernetes tools reject the file or replace the bytes that they cannot decode.",
    unreadable=True,
)
CONTROL_CHARACTER = Rule(
    "control-character",
    ERROR,
    "a file contains a character that YAML does not allow",
    'In YAML such characters are written as escapes in double quotes, as in `"\\x07"`.',
    unreadable=True,
)
SYNTAX = Rule(
    "yaml-syntax",
    ERROR,
    "a file is not valid YAML",
    "A document that does not parse cannot be checked.",
    unreadable=True,
)
DUPLICATE_KEY = Rule(
    "duplicate-key",
    ERROR,
    "a mapping has a duplicate key",
    "Some parsers keep the last value, some the first; kubectl rejects the document.",
    admission=True,
)
BAD_KEY = Rule(
    "yaml-key",
    ERROR,
    "a key is not a string",
    "Kubernetes allows only strings as keys; null, lists and mappings are invalid.",
    unreadable=True,
)
TAG = Rule(
    "yaml-tag",
    ERROR,
    "a value has a tag that parsers treat differently",
    "Kubernetes drops unknown tags silently; other parsers reject them or construct objects from them.",
    unreadable=True,
)
DIRECTIVE = Rule(
    "yaml-directive",
    ERROR,
    "a document starts with a `%` directive",
    "kubectl drops the document that follows a directive.",
    unreadable=True,
)
NOT_A_NUMBER = Rule(
    "not-a-number",
    ERROR,
    "a number is infinite or NaN",
    "Kubernetes stores JSON, which has no such values.",
    unreadable=True,
)
ALIASES = Rule(
    "yaml-aliases",
    ERROR,
    "an alias has no anchor, contains itself or expands without bound",
    "A few lines of nested aliases can expand to more values than any machine holds.",
    unreadable=True,
)
DEPTH = Rule(
    "yaml-depth",
    ERROR,
    "a document is nested too deeply",
    "No valid Kubernetes object comes near this depth.",
    unreadable=True,
)
SIZE = Rule(
    "yaml-size",
    ERROR,
    "a file or document is too large",
    "No API server accepts an object of this size.",
    unreadable=True,
)
AMBIGUOUS = Rule(
    "ambiguous-scalar",
    WARNING,
    "tools parse an unquoted value differently",
    "YAML 1.1 and 1.2 disagree about words like `on` and numbers like `0755`; Kubernetes follows neither.",
)
LATE_MERGE = Rule(
    "late-merge",
    WARNING,
    "a merge key comes after a key that it sets",
    "Kubernetes keeps the merged value; all other parsers keep the explicit one.",
)

HELP = (  # words of libyaml's messages, and what usually helps
    ("mapping values are not allowed", "check the indentation, and quote a value that contains `: `"),
    (
        "found character that cannot start any token",
        "indent with spaces, and quote a value that starts with `@`, `%` or a backtick",
    ),
    ("found a tab character", "indent with spaces, not tabs"),
    ("expected node content", "give a value here, or close the bracket that is open"),
    ("did not find expected key", "check the indentation of this line against the lines above it"),
    ("did not find expected '-' indicator", "check the indentation of this line against the list above it"),
    ("could not find expected ':'", "write `key: value`, with a space after the colon"),
    ("expected ',' or", "close the bracket, or separate its items with commas"),
    ("unexpected end of stream", "close the quote or bracket that is opened here"),
    ("expected alphabetic or numeric character", "quote a value that starts with `*` or `&`"),
    ("unknown escape character", "use single quotes, or double the backslash"),
)


def help_for(problem: str) -> str:
    """What usually helps against one of libyaml's messages."""
    return next((text for words, text in HELP if words in problem), "")
