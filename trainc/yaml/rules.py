"""What can be wrong with a text before it is a document."""

from __future__ import annotations

from trainc.model.finding import ERROR, WARNING, Rule

NOT_UTF8 = Rule("not-utf8", ERROR, unreadable=True)
CONTROL_CHARACTER = Rule("control-character", ERROR, unreadable=True)
SYNTAX = Rule("yaml-syntax", ERROR, unreadable=True)
DUPLICATE_KEY = Rule("duplicate-key", ERROR, admission=True)
BAD_KEY = Rule("yaml-key", ERROR, unreadable=True)
TAG = Rule("yaml-tag", ERROR, unreadable=True)
DIRECTIVE = Rule("yaml-directive", ERROR, unreadable=True)
NOT_A_NUMBER = Rule("not-a-number", ERROR, unreadable=True)
ALIASES = Rule("yaml-aliases", ERROR, unreadable=True)
DEPTH = Rule("yaml-depth", ERROR, unreadable=True)
SIZE = Rule("yaml-size", ERROR, unreadable=True)
AMBIGUOUS = Rule("ambiguous-scalar", WARNING)
LATE_MERGE = Rule("late-merge", WARNING)

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
