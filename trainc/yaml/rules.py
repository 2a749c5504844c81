"""What can be wrong with a text before it is a document."""

from trainc.model.finding import ERROR, WARNING, Finding, Rule
from trainc.model.sourced import Span

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

CONFLICT = "keep one side, and remove the lines that start with `<<<<<<<`, `=======` and `>>>>>>>`"
TEMPLATE = "render the template first, as in `helm template . | trainc validate -`, or exclude it from the paths"


def unread_rest(file: str, line: int) -> Finding:
    """An error for the documents from a line on, which nobody reads because too many above them are broken."""
    message = "the documents from here on are not read: too many above them cannot be"
    return SYNTAX.at(Span(file, line, 1, line, 1), message, help="correct those above first")
