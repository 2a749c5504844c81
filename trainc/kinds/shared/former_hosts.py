"""Host names that pods had under their operator, in texts of the job: written as the JobSet's pods are called."""

import re
from collections.abc import Container, Iterable, Mapping
from functools import cached_property
from re import Match, Pattern

from trainc.kinds.shared.environment import NAMESPACE, NAMESPACE_REFERENCE, POD_NAMESPACE
from trainc.kinds.shared.job import LegacyJob
from trainc.kinds.shared.peers import Peer, alias, aliased, own_name, peers, replica_ranges
from trainc.kinds.table import MPI_OPERATOR
from trainc.model.document import Document
from trainc.model.finding import NOTE, WARNING, Rule, place
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.sourced import Sourced, Span, derive
from trainc.model.tree import Tree, get, leaves, stamp, value
from trainc.text.hostnames import hosts_in
from trainc.text.object_keys import TRAINC_PREFIX

REWRITTEN = Rule("operator-host-rewritten", NOTE)
SPLICED = Rule("host-name-spliced", WARNING)
_MARKS = frozenset("$`{%")
# What stands for a text that is known at run time: of a shell, of Kubernetes, of Python, and the braces of bash.
_VARIABLE = r"\\?\$\{[^{}]*\}|\\?\$\(\([^()]*\)\)|\\?\$\([^()]*\)|\\?\$\w+|`[^`]*`|\{[^{}\s]*\}|%[sd]"
_OWN_HOST = ("$HOSTNAME", "${HOSTNAME}", "$(HOSTNAME)", "$(hostname)", "`hostname`")
_JOB_NAMES = (
    "metadata.labels['training.kubeflow.org/job-name']", "metadata.labels['job-name']",
    "metadata.labels['batch.kubernetes.io/job-name']", "metadata.labels['volcano.sh/job-name']",
    "metadata.annotations['volcano.sh/job-name']",
)  # fmt: skip
_ASSIGNED = (
    r"(?m)(?:^|[;&|]|\b(?:export|local|readonly|declare)\b)[ \t]*(\w+)([ \t]*)=[ \t]*"
    r"""(?:os\.(?:environ|getenv)(?:\.get)?[\[(]["'](\w+)["'][\])]|"([^"\n]*)"|'([^'\n]*)'|([^\s;&|]*))[ \t]*([-+.%*\[(]?)"""
)
_LOOPS = r"\b(?:for|read)[ \t]+(\w+)"


class FormerHosts:
    """The names of a job's pods under its operator: each begins with `base` and a dash; `present` says what it is now.

    `families` are the pods by what stands between the job's name and their index; None for a pod without index.
    """

    rule = REWRITTEN
    said = "`{}` is `{}` in the JobSet: trainc rewrites it"  # of a name that is rewritten, former and present
    spliced = SPLICED
    service = ""  # the subdomain of all names, where they are of no use without it
    families: Mapping[str, range | None] = {}
    job_names: Container[str] = _JOB_NAMES  # fields of a pod that hold `base`
    checks_unknown = True  # whether a name that begins with what is not known is reported
    instead = "write the name in full, or give the variable a value in `env` of the container"

    def __init__(self, base: str, document: Document, report: Report, domain: str = "cluster.local") -> None:
        self.base = base
        self.document = document
        self.report = report
        self.domain = domain  # of the cluster

    def present(self, host: str) -> str:
        """What a host is called now, "" where it is none of the operator's names or the same as before."""
        raise NotImplementedError

    def is_domain(self, rest: str) -> bool:
        """Whether what follows the subdomain of a host leads to the job's namespace; to any where that is not known."""
        return is_domain(rest, self.document.namespace, self.domain)

    def rewritten(self, text: str) -> tuple[str, list[tuple[str, str]]]:
        """A text with present names, and the pairs of former and present name in it."""
        out, at, pairs = "", 0, []
        for start, host in hosts_in(text, f"{self.base}-"):
            if new := self.present(host):
                pairs.append((host, new))
                out += text[at:start] + new
                at = start + len(host)
        return out + text[at:], pairs

    @property
    def _parts(self) -> tuple[str, ...]:
        """What each text with a name of the operator holds, whole or built from variables."""
        return (f"{self.base}-", *(f"-{family}" if family else f".{self.service}" for family in self.families))

    def occur_in(self, tree: Tree) -> bool:
        """Whether any text of a tree may hold a name of the operator, or a part of one."""
        parts = self._parts
        return any(type(leaf.value) is str and any(part in leaf.value for part in parts) for _, leaf in leaves(tree))

    def pod(self, pod: Tree) -> Tree:
        """The spec of a pod with present names in the commands, arguments and variables of its containers."""
        out = dict(pod)
        for field in ("initContainers", "containers"):
            if type(out.get(field)) is list:
                out[field] = [self._container(one) if type(one) is dict else one for one in out[field]]
        return out

    def replicated(self, trees: Iterable[Tree]) -> list[Tree]:
        return [with_pod(tree, self.pod(pod)) if self.occur_in(pod := pod_of(tree)) else tree for tree in trees]

    def files(self, companions: tuple[Document, ...], pods: list[Tree]) -> tuple[Document, ...]:
        """Objects beside a job whose pods have these specs, with present names in the files of ConfigMaps."""
        if not any(companion.kind == "ConfigMap" for companion in companions):
            return companions
        values = self.common_values(pods)
        return tuple([self.config_map(companion, values) for companion in companions])

    def common_values(self, pods: list[Tree]) -> dict[str, str]:
        """The known variables that have one value wherever a container has them."""
        found: dict[str, str] = {}
        unlike = set()
        for container in (one for pod in pods for one in get(pod, "containers") or () if type(one) is dict):
            for name, text in self.known_values(container).items():
                if found.setdefault(name, text) != text:
                    unlike.add(name)
        return {name: text for name, text in found.items() if name not in unlike}

    def config_map(self, document: Document, values: Mapping[str, str]) -> Document:
        """A ConfigMap with present names in its files; another object as it is."""
        data = document.tree.get("data")
        if document.kind != "ConfigMap" or type(data) is not dict or not self.occur_in(data):
            return document
        texts = {key: self.leaf(text, values) for key, text in data.items()}
        return document.admitted({**document.tree, "data": texts})

    def leaf(self, leaf: Tree, values: Mapping[str, str]) -> Tree:
        """A text with present names; every name that is rewritten is reported. `values` are those of known variables."""
        if type(leaf) is not Sourced or type(leaf.value) is not str:
            return leaf
        span = place(leaf.origin) or self.document.span(("spec",), key=True)
        text, pairs = self.renamed(leaf.value, values, span)
        for former, present in dict.fromkeys(pairs):
            self.report.add(self.rule.at(span, self.said.format(former, present)))
        return derive("host names", lambda _: text, leaf) if pairs else leaf

    def renamed(self, text: str, values: Mapping[str, str], span: Span) -> tuple[str, list[tuple[str, str]]]:
        """A text with present names and the pairs in it; a name that is built from what is not known is reported."""
        text, pairs = self.rewritten(text)
        text, more = self._followed(text, values, span)
        if self.service:
            self._check_service(text, values, span)
        return text, [*pairs, *more]

    def known_values(self, container: Tree) -> dict[str, str]:
        """The variables of a container whose values are in the job."""
        found: dict[str, str] = {}
        for entry in container.get("env") or ():
            name, text = value(entry, "name"), value(entry, "value")
            if type(text) is str and "$" not in text:
                found[name] = text
            elif value(entry, "valueFrom", "fieldRef", "fieldPath") in self.job_names:
                found[name] = self.base
            else:
                found.pop(name, None)
        return found

    def _container(self, container: Tree) -> Tree:
        out, values = dict(container), self.known_values(container)
        for field, first in (("command", 1), ("args", 0)):  # the first word of a command is a program
            if type(out.get(field)) is list:
                words = out[field]
                out[field] = [*words[:first], *(self.leaf(word, values) for word in words[first:])]
        env = out["env"] if type(out.get("env")) is list else []
        present = [
            {**entry, "value": self.leaf(entry["value"], values)} if type(entry) is dict and "value" in entry else entry
            for entry in env
        ]
        if env:
            out["env"] = present
        if _refers(out) and not _refers(container):
            own = [entry for entry in present if value(entry, "name") == NAMESPACE]
            rest = [entry for entry in present if value(entry, "name") != NAMESPACE]
            out["env"] = [*(own or [stamp({"name": NAMESPACE, **POD_NAMESPACE}, "host names")]), *rest]
        return out

    def _followed(self, text: str, values: Mapping[str, str], span: Span) -> tuple[str, list[tuple[str, str]]]:
        """A text with present names where a name is built from variables that are known; others are reported."""
        if _MARKS.isdisjoint(text) and "-'" not in text and '-"' not in text and "'-" not in text and '"-' not in text:
            return text, []
        if not self.families or not any(part in text for part in self._parts):
            return text, []
        values = _with_assigned(text, values)
        pairs = []

        def present(match: Match[str]) -> str:
            is_path = text[match.end() : match.end() + 1] == "/" and not text[: match.start()].endswith("://")
            if new := "" if is_path else self._rewritten_name(match, values, span):
                pairs.append((match[0], new))
            return new or match[0]

        return self._spliced_names.sub(present, text), pairs

    @cached_property
    def _spliced_names(self) -> Pattern[str]:
        """What matches a host name of which a part is a variable, or is added outside of quotes."""
        named = sorted(map(re.escape, filter(None, self.families)), key=len, reverse=True)
        family = rf"(?:-(?P<family>{'|'.join(named) or '(?!)'}))" + "?" * ("" in self.families)
        domain = rf"(?P<rest>(?:\.(?:[\w-]|{_VARIABLE})+)*)"
        job = rf"(?P<job>{re.escape(self.base)}|{_VARIABLE}|(?<=[\"'])(?=-))"
        index = rf"(?:-(?P<index>(?:\d|{_VARIABLE})+|(?=[\"'])))?"
        # Neither the end of a path or of a longer name, but for the host of a URL.
        return re.compile(rf"(?:(?<![\w./$%-])|(?<=://)){job}{family}{index}{domain}(?![\w-])")

    def _rewritten_name(self, match: Match[str], values: Mapping[str, str], span: Span) -> str:
        """The present form of a name with variables, "" where it stays as it is; one that should not is reported."""
        job, family, index, rest = match["job"], match["family"] or "", match["index"], match["rest"]
        indices = self.families[family]
        is_whole = job == self.base and (index is None or index.isdigit()) and _MARKS.isdisjoint(rest)
        if is_whole or (indices is None) != (index is None) or (not family and not rest):
            return ""
        written = values.get(_name_of(job)) if job != self.base else job
        if written is not None and written != self.base:
            return ""  # the pod of another job
        if written is None and not self.checks_unknown:
            return ""
        number = index if index is None or index.isdigit() else values.get(_name_of(index))
        probe = self._domain_of(rest, values)
        example = self._present_at(family, number if number is not None else indices and indices[0], probe)
        if not example:
            return ""
        unknown = (job or '"') if written is None else ""
        if not unknown and index is not None and number is None:
            around = self._around_index(family, probe) if index else None
            if around is not None:
                return around[0] + index + _with_rest(around[1], probe, rest)
            unknown = index or '"'
        if not unknown or not family:
            return "" if unknown else _with_rest(example, probe, rest)
        start = f"{self.base}{family and '-'}{family}"
        former = f"{start}-{indices[0] if number is None else number}{probe}" if indices is not None else start
        what = "outside of the quotes" if unknown == '"' else f"from `{unknown}`"
        message = f"the host name `{match[0]}` is built {what}, so trainc does not rewrite it"
        effect = f"the JobSet calls `{former}` `{example}`: the former name does not resolve"
        self.report.add(self.spliced.at(span, message, effect=effect, help=self.instead))
        return ""

    def _check_service(self, text: str, values: Mapping[str, str], span: Span) -> None:
        """A finding for a host in the pods' subdomain whose name holds a variable, but for the pod's own."""
        ending = f".{self.service}"
        start = text.find(ending)
        while start >= 0:
            before, behind = text[:start], text[start + len(ending) :]
            for stop in " \t\n\"'=,;/:@":
                before = before.rpartition(stop)[2]
            is_part = behind[:1].isalnum() or behind[:1] == "-"
            is_known = all(_name_of(variable) in values for variable in re.findall(_VARIABLE, before))
            if "$" in before and before not in _OWN_HOST and not is_part and not is_known:
                former = f"{self.base}-0{ending}"
                now = self.present(former)
                pods = f"its pods `{now.removesuffix(f'0{ending}')}INDEX{ending}`"
                names = pods if now.endswith(f"-0{ending}") else f"`{former}` `{now}`"
                message = f"`{before}{ending}` contains a variable, so trainc does not rewrite the name"
                help_ = "write the name in full, or build it from that pattern"
                self.report.add(self.spliced.at(span, message, effect=f"the JobSet calls {names}", help=help_))
            start = text.find(ending, start + 1)

    def _domain_of(self, rest: str, values: Mapping[str, str]) -> str:
        """What follows the first part of a host, with values for its variables: an unknown one can be the namespace alone."""
        if _MARKS.isdisjoint(rest):
            return rest
        namespace = self.document.namespace or "namespace"
        return re.sub(_VARIABLE, lambda one: values.get(_name_of(one[0]), namespace), rest)

    def _present_at(self, family: str, index: object, rest: str) -> str:
        return self.present("-".join(filter(None, (self.base, family, "" if index is None else str(index)))) + rest)

    def _around_index(self, family: str, rest: str) -> tuple[str, str] | None:
        """What stands before and behind the index in the present names of a family, None where they follow no pattern."""
        indices = self.families[family]
        assert indices is not None
        first, *others = dict.fromkeys((indices[0], *indices[1:2], indices[-1]))
        name, dot, domain = self._present_at(family, first, rest).partition(".")
        choices = [name[: -len(str(first))]] if name.endswith(f"-{first}") else []
        if name.endswith(f"-{first}-0"):
            choices.append(name[: -len(f"{first}-0")])
        for before in choices:
            after = name[len(before) + len(str(first)) :] + dot + domain
            if all(self._present_at(family, one, rest) == f"{before}{one}{after}" for one in others):
                return before, after
        return None


def is_domain(rest: str, namespace: str, domain: str) -> bool:
    """Whether what follows the subdomain of a host leads to a namespace; any where the job's own is not known."""
    written, _, below = rest.partition(".")
    if not rest or (below == "" and written == namespace):
        return True
    return (written == namespace or not namespace) and below in {"svc", f"svc.{domain}"}


def _refers(container: Tree) -> bool:
    words: Tree = {key: container[key] for key in ("command", "args", "env") if key in container}
    return any(NAMESPACE_REFERENCE in str(leaf.value) for _, leaf in leaves(words))


def _name_of(variable: str) -> str:
    """The name of a variable that is read without anything else, "" for other expressions."""
    name = variable.removeprefix("\\").removeprefix("$").strip("{}()")
    return name if name.isidentifier() else ""


def _with_rest(host: str, probe: str, rest: str) -> str:
    """A host that ends as `probe` does, as the text writes that end."""
    labels = ["", *re.findall(rf"\.((?:[\w-]|{_VARIABLE})+)", rest)] if rest else [""]
    ends = zip(reversed(probe.split(".")), reversed(labels), strict=True)
    tail = ""
    for known, written in ends:
        if not known or not host.endswith(f".{known}"):
            break
        host, tail = host.removesuffix(f".{known}"), f".{written}{tail}"
    return host + tail


def _with_assigned(text: str, values: Mapping[str, str]) -> dict[str, str]:
    """The known variables, with those that a script sets itself; without those that it sets to what is not known."""
    found: dict[str, str | None] = dict.fromkeys(re.findall(_LOOPS, text))
    for name, space, variable, *quotes, bare, operator in re.findall(_ASSIGNED, text):
        known = values.get(variable) if variable else "".join(quotes) or bare
        is_plain = known is not None and not operator and not (bare and space) and re.fullmatch(r"[\w.-]*", known)
        found[name] = known if is_plain and found.get(name, known) == known else None
    return {name: known for name, known in {**values, **found}.items() if known is not None}


class Hosts(FormerHosts):
    """The operator's names of a job's pods, and what they are called in its JobSet."""

    instead = f'{FormerHosts.instead}, or keep the operator\'s names with `{TRAINC_PREFIX}compat-names: "true"`'

    def __init__(self, job: LegacyJob, plan: Plan, *, in_files: bool = False) -> None:
        super().__init__(job.document.name, job.document, job.report, job.cluster_domain)
        self._job = job
        self._plan = plan
        self._namespace = "" if in_files else NAMESPACE_REFERENCE  # in a file nobody fills in that of a pod
        found: dict[str, range | None] = {}
        for one in replica_ranges(plan):
            earlier = found.get(one.type) or one.numbers
            found[one.type] = None if self._is_alone(one.type) else range(earlier.start, one.numbers.stop)
        self.families = found

    @cached_property
    def _pods(self) -> Mapping[str, Peer]:
        return {
            f"{self.base}-{pod.type}" + ("" if self._is_alone(pod.type) else f"-{pod.number}"): pod
            for pod in peers(self._plan)
        }

    def _is_alone(self, kind: str) -> bool:
        """Whether a type of replicas has one pod, without index: the launcher of an MPIJob."""
        return self._job.kind.kind == "MPIJob" and kind == "launcher"

    def present(self, host: str) -> str:
        first, dot, rest = host.partition(".")
        if (pod := self._pods.get(first)) is None:
            return ""
        if aliased(self._plan):
            new = alias(self._plan, pod)
            return "" if new == first or not self.is_domain(rest) else new + dot + rest
        own, subdomain = own_name(self._plan, pod), self._plan.name.value
        if self._job.kind.api == MPI_OPERATOR and dot:  # its Service was the job's subdomain
            above, _, rest = rest.partition(".")
            return f"{own}.{subdomain}{rest and '.'}{rest}" if above == self.base and self.is_domain(rest) else ""
        if self._job.kind.framework == "mpijob":  # reached by `kubectl exec`, which looks the pod up by its host name
            return "" if dot else own
        if not self.is_domain(rest):
            return ""
        return f"{own}.{subdomain}.{rest}" if rest else f"{own}.{subdomain}{self._rest()}"

    def _rest(self) -> str:
        """What follows the subdomain: torch knows a pod as itself by its whole name alone."""
        namespace = self.document.namespace or self._namespace
        return f".{namespace}.svc.{self.domain}" if namespace and self._job.kind.kind == "PyTorchJob" else ""


def pod_of(tree: Tree) -> Tree:
    return tree["template"]["spec"]["template"]["spec"]


def with_pod(tree: Tree, pod: Tree) -> Tree:
    spec = tree["template"]["spec"]
    return {**tree, "template": {**tree["template"], "spec": {**spec, "template": {**spec["template"], "spec": pod}}}}
