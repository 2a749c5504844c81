"""The words in which Kubernetes refuses a pod template or a Job, and where it says them."""

from __future__ import annotations

from trainc.model.finding import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.model.finding import Label, Rule
    from trainc.model.tree import Path
    from trainc.verify.job import Job

POD, JOB = "pod", "job"

_LABEL = "consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
DNS_LABEL = (
    f"a lowercase RFC 1123 label must {_LABEL} "
    "(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
DNS_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    f"character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_QUALIFIED}')"
)
LABEL_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    f"'{_LABEL_VALUE}')"
)
NOT_EMPTY = "name part must be non-empty"
TOO_LONG = "must be no more than 63 characters"


def refuse(
    job: Job,
    rule: Rule,
    path: Path,
    reason: str | tuple[str, ...],
    message: str,
    *,
    by: str = POD,
    key: bool = False,
    also: Iterable[Label] = (),
    help: str = "",  # noqa: A002 (the word users see)
    shown: Path = (),
) -> None:
    """Report that the API server will refuse the pods or the Job, in its own words as well as ours.

    `shown` is the path that the server prints where that is not where the mistake stands; several reasons for one
    mistake are lines of one refusal.
    """
    where = spelled(shown or path)
    reasons = (reason,) if type(reason) is str else reason
    effect = "the JobSet is accepted, its child Job is refused again and again, and no pod ever appears"
    if by is POD:
        effect = "the JobSet is accepted, but no pod can be made from this template: the job never starts"
    job.report.add(
        rule.at(
            job.at(path, key=key),
            message,
            also=also,
            effect=effect,
            help=help,
            refusal=Refusal(by, "\n".join(f"{where}: {each}" for each in reasons)),
        )
    )


def spelled(path: Path) -> str:
    """A path as the API server prints it; keys of maps with dots or slashes stand in brackets."""
    out = ""
    for step in path:
        if type(step) is int or "/" in str(step) or str(step).startswith("["):
            out += f"[{str(step).strip('[]')}]"
        else:
            out += f".{step}" if out else str(step)
    return out


def unsupported(value: str, supported: Iterable[str]) -> str:
    """The refusal of a word that is none of those supported."""
    words = ", ".join(f'"{word}"' for word in supported)
    return f'Unsupported value: "{value}": supported values: {words}'


def dns_label(name: str) -> list[str]:
    """What is wrong with a DNS label."""
    faults = []
    if len(name) > 63:
        faults.append(TOO_LONG)
    if not is_dns_label(name):
        faults.append(DNS_LABEL)
    return faults


def is_dns_label(name: str) -> bool:
    """Whether a name has the characters of an RFC 1123 label, of any length."""
    bare = name.replace("-", "")
    return bool(bare) and bare.isascii() and bare.isalnum() and name == name.lower() and name[0] != "-" != name[-1]


def is_dns_subdomain(name: str) -> bool:
    """Whether a name has the form of an RFC 1123 subdomain."""
    return len(name) <= 253 and all(is_dns_label(part) for part in name.split("."))


def label_value(value: str) -> list[str]:
    """What is wrong with a label value."""
    faults = []
    if len(value) > 63:
        faults.append(TOO_LONG)
    if value and not _name_like(value):
        faults.append(LABEL_VALUE)
    return faults


def label_key(key: str) -> list[str]:
    """What is wrong with a label key, an annotation key or any other qualified name."""
    prefix, slash, name = key.rpartition("/")
    faults = []
    if slash and not prefix:
        faults.append("prefix part must be non-empty")
    elif slash and not is_dns_subdomain(prefix):
        faults.append(f"prefix part {DNS_SUBDOMAIN}")
    if not name:
        faults.append(NOT_EMPTY)
    elif len(name) > 63:
        faults.append(f"name part {TOO_LONG}")
    if not _name_like(name):
        faults.append(NAME_PART)
    return faults


def _name_like(text: str) -> bool:
    bare = text.replace("-", "").replace("_", "").replace(".", "")
    return bare.isascii() and bare.isalnum() and text[0].isalnum() and text[-1].isalnum()
