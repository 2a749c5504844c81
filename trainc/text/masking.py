"""Which variables hold secrets, by their names, and what is shown instead of their values."""

from trainc.text.memo import TextMemo

MASK = "(hidden)"
_NAMES = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY", "APIKEY", "CREDENTIAL")
_NOT_SECRET = (
    "_FILE", "_PATH", "_NAME", "_DIR", "TOKENIZER", "TOKENS", "_URL", "_ID", "_TYPE", "_LEN", "_COUNT", "MAX_TOKEN",
)  # fmt: skip


def named_secret(name: str) -> bool:
    """Whether a variable of this name is meant to hold a secret."""
    return _ARE_SECRET[name]


def _is_secret(name: str) -> bool:
    upper = name.upper()
    return any(word in upper for word in _NAMES) and not any(word in upper for word in _NOT_SECRET)


_ARE_SECRET = TextMemo(_is_secret, longest=100)


def variable_of(path: str) -> str:
    """The variable whose literal value stands at a shown path such as `env[NAME].value`; empty for any other path."""
    before, _, field = path.rpartition("]")
    return before.rpartition("env[")[2] if "env[" in before and field in (".value", "/value") else ""
