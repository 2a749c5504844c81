"""Refusals worded as the Kubernetes field errors that the older operators print."""

import re
from collections.abc import Callable, Iterable, Iterator

from trainc.apiserver.admission import admit_object
from trainc.apiserver.served import Server
from trainc.kinds.shared.job import items, mapping
from trainc.kinds.table import Kind
from trainc.model.document import Document
from trainc.model.finding import ERROR, WARNING, Edit, Refusal, Rule
from trainc.model.report import Report
from trainc.model.settings import STRICT, WARN
from trainc.model.tree import Path, Tree, get, value
from trainc.text.placeholders import is_placeholder

REFUSED = Rule("refused-by-operator", ERROR, verdict=True)
EMPTY_MANAGER = Rule("empty-managed-by", WARNING)
ROLE_CASE = Rule("role-case", WARNING)

_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_LABEL_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)

Complaint = tuple[Path, str, str]  # where, the operator's words, what to do


def tolerant(server: Server) -> Server:
    """A server for which unknown fields are warnings: the job ran without them, since they were dropped."""
    return server.tolerant(WARN if server.field_validation == STRICT else server.field_validation)


def admitted(
    document: Document,
    server: Server,
    report: Report,
    refused: Rule,
    by: str,
    complaints: Callable[[Tree], Iterator[Complaint]],
    shown: Callable[[str], str],
) -> Document | None:
    """A job as its server would have stored it, None with findings where it or the operator would have refused it."""
    if (stored := admit_object(document, tolerant(server), report)) is None:
        return None
    refusals = list(complaints(stored.tree))
    for path, text, help_ in refusals:
        span = stored.span(path, key=get(stored.written, *path) is None)
        report.add(refused.at(span, shown(text), help=help_, refusal=Refusal(by, text)))
    return None if refusals else stored


class Validator:
    """Adds refusals of one job to a report and remembers whether there was any."""

    def __init__(self, kind: Kind, document: Document, report: Report, *, by: str, lenient: bool) -> None:
        self.kind = kind
        self.document = document
        self.report = report
        self.by = by
        self.lenient = lenient
        self.refused = False

    @property
    def spec(self) -> Tree:
        return mapping(get(self.document.tree, "spec"))

    @property
    def replicas(self) -> Tree:
        return mapping(get(self.spec, self.kind.field))

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles as written: those without any spec too, which the API server drops."""
        return tuple(dict.fromkeys([*mapping(get(self.document.written, "spec", self.kind.field)), *self.replicas]))

    def say(
        self,
        path: Path,
        text: str,
        message: str,
        *,
        help: str = "",  # noqa: A002 (the word users see)
        key: bool = False,
        fix: Iterable[Edit] = (),
    ) -> None:
        """One refusal: `text` is what the operator prints, `message` the fact behind it."""
        self.refused = True
        span = self.document.span(path, key=key or get(self.document.written, *path) is None)
        self.report.add(REFUSED.at(span, message, help=help, fix=tuple(fix), refusal=Refusal(self.by, text)))


def written(path: Path) -> str:
    """A path as the operators write it: fields with dots, keys and indices in brackets."""
    out = ""
    for depth, step in enumerate(path):
        bracket = type(step) is int or (depth > 0 and str(path[depth - 1]).endswith("ReplicaSpecs"))
        out += f"[{step}]" if bracket else f"{'.' if out else ''}{step}"
    return out


def required(path: Path, detail: str) -> str:
    return f"{written(path)}: Required value: {detail}"


def forbidden(path: Path, detail: str) -> str:
    return f"{written(path)}: Forbidden: {detail}"


def invalid(path: Path, bad: object, detail: str) -> str:
    """The text for a value of the right type that cannot be."""
    shown = f'"{bad}"' if type(bad) is str else str(bad)
    return f"{written(path)}: Invalid value: {shown}: {detail}"


def not_supported(path: Path, bad: object, known: Iterable[str]) -> str:
    names = ", ".join(f'"{name}"' for name in known)
    return f'{written(path)}: Unsupported value: "{bad}": supported values: {names}'


def label_errors(name: str) -> list[str]:
    """What is wrong with a DNS-1035 label, in the API machinery's words; nothing where a part is filled in later."""
    if is_placeholder(name):
        return []
    errors = [] if len(name) <= 63 else ["must be no more than 63 characters"]
    return errors if _LABEL.fullmatch(name) else [*errors, _LABEL_TEXT]


def containers(replica: Tree) -> list[Tree]:
    return items(get(replica, "template", "spec", "containers"))


def image(container: Tree) -> str:
    return value(container, "image") or ""


def empty_manager(r: Validator) -> None:
    """Say that an empty `managedBy` is read as none."""
    path = ("spec", "runPolicy", "managedBy")
    span, fix = r.document.span(path), r.document.edits(path)
    r.report.add(EMPTY_MANAGER.at(span, "`managedBy` is empty", help="remove it", fix=fix))


def odd_case(r: Validator, key: str, role: str) -> None:
    """Say that a role is spelled otherwise than its kind spells it."""
    message = f"the role `{key}` has the wrong case: use `{role}`"
    span = r.document.span(("spec", r.kind.field, key), key=True)
    r.report.add(ROLE_CASE.at(span, message, fix=respelling(r, key, role)))


def respelling(r: Validator, key: str, role: str) -> tuple[Edit, ...]:
    if role in r.roles or key not in r.replicas:
        return ()
    return tuple(r.document.edits(("spec", r.kind.field, key), name=role))
