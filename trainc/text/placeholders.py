"""Texts that another tool fills in before a server sees them."""

_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_DIRECTIVES = frozenset(("patch", "retainKeys"))  # of a strategic merge patch


def is_placeholder(value: object) -> bool:
    """Whether a text holds `${NAME}` or `$NAME`, which envsubst or Flux fills in before a server sees it."""
    return type(value) is str and "$" in value and placeholder(value) != ""


def placeholder(text: str) -> str:
    """The first `${NAME}` or `$NAME` of a text, empty where it holds none; `$(NAME)` and `$$` are Kubernetes' own."""
    at = text.find("$")
    while at >= 0:
        rest = text[at + 1 :]
        if rest.startswith("{") and "}" in rest:
            return text[at : at + 2 + rest.index("}")]
        length = next((i for i, character in enumerate(rest) if character not in _NAME), len(rest))
        if length and not rest[0].isdigit() and rest[:length] not in _DIRECTIVES:
            return text[at : at + 1 + length]
        at = text.find("$", at + (2 if rest.startswith("$") else 1))
    return ""
