"""Kubernetes' rules for names, labels and annotations; every function gives the reasons against a value.

Source: k8s.io/apimachinery/pkg/util/validation and pkg/api/validate/content, Kubernetes 1.36.
"""

_LOWER = frozenset("abcdefghijklmnopqrstuvwxyz")
_LOWER_ALNUM = _LOWER | frozenset("0123456789")
_LOWER_DASH = _LOWER_ALNUM | {"-"}
_ALNUM = _LOWER_ALNUM | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_NAME = _ALNUM | frozenset("-_.")
_PATH = _ALNUM | frozenset("/-._~%!$&'()*+,;=:")

SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
DNS1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation "
    "is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_CONFIG_KEY_RULE = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
NAME_HELP = "names of objects have lowercase letters, digits, `-` and `.` alone"
TOO_LONG_63 = "must be no more than 63 characters"


def size(text: str) -> int:
    """The length in bytes, which is what the limits of names mean; words of a command line may be no UTF-8."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def is_label(text: str) -> bool:
    """Whether the characters fit `[a-z0-9]([-a-z0-9]*[a-z0-9])?`, whatever the length."""
    return bool(text) and _LOWER_DASH.issuperset(text) and text[0] != "-" and text[-1] != "-"


def subdomain(text: str) -> tuple[str, ...]:
    """Reasons why `text` is no RFC 1123 subdomain of at most 253 characters."""
    long = ("must be no more than 253 characters",) if size(text) > 253 else ()
    return long if all(map(is_label, text.split("."))) else (*long, SUBDOMAIN_TEXT)


def label(text: str) -> tuple[str, ...]:
    """Reasons why `text` is no RFC 1123 label of at most 63 characters."""
    long = (TOO_LONG_63,) if size(text) > 63 else ()
    if is_label(text):
        return long
    return (*long, LABEL_TEXT if SUBDOMAIN_TEXT in subdomain(text) else "must not contain dots")


def dns1035(text: str) -> tuple[str, ...]:
    """Reasons why `text` is no DNS-1035 label of at most 63 characters."""
    long = (TOO_LONG_63,) if size(text) > 63 else ()
    return long if is_label(text) and text[0] in _LOWER else (*long, DNS1035_TEXT)


def qualified(text: str) -> tuple[str, ...]:
    """Reasons why `text` is not a label key: an optional subdomain and `/`, then a name."""
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        return (
            f"a valid label key {_NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        )
    faults: tuple[str, ...] = ()
    if slash and not prefix:
        faults = ("prefix part must be non-empty",)
    elif slash and (reasons := subdomain(prefix)):
        faults = tuple(f"prefix part {reason.replace('253 characters', '253 bytes')}" for reason in reasons)
    if not name:
        faults = (*faults, "name part must be non-empty")
    elif size(name) > 63:
        faults = (*faults, "name part must be no more than 63 bytes")
    return faults if is_name(name) else (*faults, f"name part {_NAME_RULE}")


def label_value(text: str) -> tuple[str, ...]:
    """Reasons why `text` cannot be the value of a label."""
    long = ("must be no more than 63 bytes",) if size(text) > 63 else ()
    return long if not text or is_name(text) else (*long, _VALUE_RULE)


def is_name(text: str) -> bool:
    """Whether the characters fit `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`, whatever the length."""
    return bool(text) and _NAME.issuperset(text) and text[0] in _ALNUM and text[-1] in _ALNUM


def prefixed_path(text: str) -> tuple[tuple[str, str], ...]:
    """(offending part, reason) against a non-empty `domain/path`."""
    host, slash, path = text.partition("/")
    if not slash or not host or not path:
        return ((text, 'must be a domain-prefixed path (such as "acme.io/foo")'),)
    faults = tuple((host, reason) for reason in subdomain(host))
    if not _PATH.issuperset(path):
        pattern = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
        faults = (*faults, (path, f"Invalid path (regex used for validation is '{pattern}')"))
    return faults


def config_key(text: str) -> tuple[str, ...]:
    """Reasons why a ConfigMap or a Secret has no such key."""
    long = ("must be no more than 253 characters",) if size(text) > 253 else ()
    odd = () if text and _NAME.issuperset(text) else (_CONFIG_KEY_RULE,)
    if text in (".", ".."):
        return (*long, *odd, f"must not be '{text}'")
    return (*long, *odd, "must not start with '..'") if text.startswith("..") else (*long, *odd)
