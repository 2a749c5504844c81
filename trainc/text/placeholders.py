"""Texts that another tool fills in before a server sees them."""

_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_DIRECTIVES = frozenset(("patch", "retainKeys"))  # of a strategic merge patch

_BLANKS = (
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "replaceme",
    "replace-me",
    "replace_me",
    "your-",
    "your_",
)


def is_left_open(text: str) -> bool:
    """Whether a text is a blank that a person has to fill in: `<namespace>`, `YOUR_IMAGE`, `IMAGE_PLACEHOLDER`."""
    low = text.lower()
    return (text.startswith("<") and text.endswith(">")) or any(blank in low for blank in _BLANKS)


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
