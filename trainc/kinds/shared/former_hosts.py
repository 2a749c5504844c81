"""Host names that pods had under their operator, in texts of the job: written as the JobSet's pods are called."""

from __future__ import annotations

from trainc.kinds.shared.environment import NAMESPACE, NAMESPACE_REFERENCE, POD_NAMESPACE
from trainc.model.finding import NOTE, Rule, place
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import leaves, stamp, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.document import Document
    from trainc.model.report import Report
    from trainc.model.tree import Tree

REWRITTEN = Rule(
    "operator-host-rewritten",
    NOTE,
    "a host name of the operator is rewritten to the JobSet's pod name",
    "The operators named the pods `JOB-worker-0` or `JOB-launcher`; a JobSet adds the Job's number and a subdomain.",
)
_PART_OF_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")


class FormerHosts:
    """The names of a job's pods under its operator: each begins with `base` and a dash; `present` says what it is now."""

    def __init__(self, base: str, document: Document, report: Report) -> None:
        self.base = base
        self.document = document
        self.report = report

    def present(self, host: str) -> str:
        """What a host is called now, "" where it is none of the operator's names or the same as before."""
        raise NotImplementedError

    def rewritten(self, text: str) -> tuple[str, list[tuple[str, str]]]:
        """A text with present names, and the pairs of former and present name in it."""
        out, at, pairs = "", 0, []
        while (start := text.find(f"{self.base}-", at)) >= 0:
            end = start
            while end < len(text) and text[end] in _PART_OF_NAME:
                end += 1
            host = text[start:end].rstrip(".")
            new = self.present(host) if _stands_alone(text, start, end) else ""
            if new:
                pairs.append((host, new))
            out += text[at:start] + (new or host)
            at = start + len(host)
        return out + text[at:], pairs

    def occur_in(self, tree: Tree) -> bool:
        """Whether any text of a tree may hold a name of the operator."""
        beginning = f"{self.base}-"
        return any(type(leaf.value) is str and beginning in leaf.value for _, leaf in leaves(tree))

    def pod(self, pod: Tree) -> Tree:
        """The spec of a pod with present names in the commands, arguments and variables of its containers."""
        out = dict(pod)
        for field in ("initContainers", "containers"):
            if type(out.get(field)) is list:
                out[field] = [self._container(one) if type(one) is dict else one for one in out[field]]
        return out

    def config_map(self, document: Document) -> Document:
        """A ConfigMap with present names in its files; another object as it is."""
        data = document.tree.get("data")
        if document.kind != "ConfigMap" or type(data) is not dict or not self.occur_in(data):
            return document
        return document.admitted({**document.tree, "data": {key: self.leaf(text) for key, text in data.items()}})

    def leaf(self, leaf: Tree) -> Tree:
        """A text with present names; every name that is rewritten is reported."""
        if type(leaf) is not Sourced or type(leaf.value) is not str:
            return leaf
        text, pairs = self.rewritten(leaf.value)
        for former, present in dict.fromkeys(pairs):
            span = place(leaf.origin) or self.document.span(("spec",), key=True)
            message = f"`{former}` is called `{present}` in the JobSet: the text is rewritten"
            self.report.add(REWRITTEN.at(span, message))
        return derive("host names", lambda _: text, leaf) if pairs else leaf

    def _container(self, container: Tree) -> Tree:
        out = dict(container)
        for field, first in (("command", 1), ("args", 0)):  # the first word of a command is a program
            if type(out.get(field)) is list:
                words = out[field]
                out[field] = [*words[:first], *map(self.leaf, words[first:])]
        env = out["env"] if type(out.get("env")) is list else []
        present = [
            {**entry, "value": self.leaf(entry["value"])} if type(entry) is dict and "value" in entry else entry
            for entry in env
        ]
        if env:
            out["env"] = present
        if _refers(out) and not _refers(container):
            own = [entry for entry in present if value(entry, "name") == NAMESPACE]
            rest = [entry for entry in present if value(entry, "name") != NAMESPACE]
            out["env"] = [*(own or [stamp({"name": NAMESPACE, **POD_NAMESPACE}, "host names")]), *rest]
        return out


def is_domain(rest: str, namespace: str, domain: str) -> bool:
    """Whether what follows the subdomain of a host leads to a namespace; any where the job's own is not known."""
    written, _, below = rest.partition(".")
    if not rest or (below == "" and written == namespace):
        return True
    return (written == namespace or not namespace) and below in {"svc", f"svc.{domain}"}


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a text is a host there, not a part of a path or of a longer name."""
    before, url = text[start - 1 : start], text[:start].endswith("://")
    if before and not url and (before in _PART_OF_NAME or before in "/$\\"):
        return False
    return url or text[end : end + 1] != "/"


def _refers(container: Tree) -> bool:
    words: Tree = {key: container[key] for key in ("command", "args", "env") if key in container}
    return any(NAMESPACE_REFERENCE in str(leaf.value) for _, leaf in leaves(words))
