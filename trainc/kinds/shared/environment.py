"""The environment of a container as an operator left it: the user's variables, then the operator's, which win."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trainc.frameworks.base.hosts import LONG_VARIABLE, LONGEST_VARIABLE
from trainc.kinds.shared.peers import aliased, services
from trainc.model.finding import ERROR, WARNING, Rule, place
from trainc.model.patch import Patch
from trainc.model.patches import COMPLETION_INDEX, Contribution, Framework, pod, variable
from trainc.model.plan import Plan, Role
from trainc.model.report import Report
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import Tree, first_leaf, get, stamp, value
from trainc.text.object_keys import POD_INDEX

Entries = Callable[[Any, Role, Tree], Mapping[str, object]]  # the job as `wired` sees it, a role, a container
Chosen = Callable[[Role], list[Tree]]

INDEX, NAMESPACE = "JOB_COMPLETION_INDEX", "POD_NAMESPACE"
INDEX_REFERENCE, NAMESPACE_REFERENCE = f"$({INDEX})", f"$({NAMESPACE})"
POD_NAMESPACE = {"valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}
# What our values refer to: declared at the head of the list, because a reference sees only earlier entries. With it the
# fields of a pod that hold the same, and what that is.
_HELPERS: dict[str, tuple[Tree, tuple[str, ...], str]] = {
    INDEX: (
        COMPLETION_INDEX,
        (f"metadata.annotations['{POD_INDEX}']", f"metadata.labels['{POD_INDEX}']"),
        "the index of the pod",
    ),
    NAMESPACE: (POD_NAMESPACE, ("metadata.namespace",), "the namespace of the pod"),
}
_PIECE = re.compile(r"\$\$|\$\(([^)]*)\)|[^$]+|\$")
JOB_INDEX = {"valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/job-index']"}}}
GLOBAL_INDEX = {"valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/job-global-index']"}}}

OVERRIDDEN = Rule("env-overridden", WARNING)
LOST = Rule("env-reference-lost", ERROR)


def every(role: Role) -> list[Tree]:
    return role.containers


def every_and_init(role: Role) -> list[Tree]:
    return [*role.containers, *role.init_containers]


def first(role: Role) -> list[Tree]:
    return role.containers[:1]


def has_words(container: Tree, field: str) -> bool:
    """Whether a container says its `command` or `args`; an empty list and null say nothing."""
    written = container.get(field)
    return type(written) is list and bool(written)


def framework(
    name: str,
    entries: Entries,
    chosen: Chosen = every,
    container: str = "",
    more: Callable[[Plan], Contribution] | None = None,
    check: Callable[[Plan, Report], None] | None = None,
    *,
    wired: Callable[[Plan], Any] | None = None,
    refuse: Callable[[Plan, Report], None] | None = None,
) -> Framework:
    """A framework that gives the chosen containers the entries of an operator, and `more` beside them.

    `container` is the one whose ports the Services under the operator's names repeat; `check` looks for what only this
    framework knows, `refuse` for what cannot be built. `wired` makes once for all containers what `entries` reads, which
    is the plan itself without it.
    """

    def lower(plan: Plan) -> Contribution:
        job = wired(plan) if wired is not None else plan
        patches = [
            Patch(role.index, c["name"].value, sets={"env": environment(c, ours)})
            for role in plan.roles
            for c in chosen(role)
            if (ours := entries(job, role, c))
        ]
        own = Contribution(patches, objects=services(plan, container) if container and aliased(plan) else ())
        return own + more(plan) if more else own

    def verify(plan: Plan, report: Report) -> None:
        job = wired(plan) if wired is not None else plan
        for role in plan.roles:
            for c in chosen(role):
                _check(plan, c, entries(job, role, c), report)
        if check is not None:
            check(plan, report)

    return Framework(name, lower, verify=verify, refuse=refuse)


def environment(container: Tree, ours: Mapping[str, object]) -> list[Tree]:
    """The complete list: the index and the namespace where ours refers to them, the user's less ours, ours."""
    users = container.get("env") or []
    # An empty value is not a value, as the API writes it.
    complete = [{"name": name} if content == "" else variable(name, content) for name, content in ours.items()]
    helpers = [{"name": name, **_HELPERS[name][0]} for name in _helpers(ours)]
    return stamp([*helpers, *_kept(users, ours), *complete], "operator's environment")  # type: ignore[no-any-return]


def _helpers(ours: Mapping[str, object]) -> tuple[str, ...]:
    """The variables that our values refer to, which then stand at the head of the list."""
    contents = [str(_bare(content)) for content in ours.values()]
    return tuple(name for name in _HELPERS if any(f"$({name})" in content for content in contents))


def _bare(content: object) -> object:
    return content.value if type(content) is Sourced else content


def _kept(users: list[Tree], ours: Mapping[str, object]) -> list[Tree]:
    """The user's variables that nothing replaces, with the values of the replaced ones where they refer to them."""
    values: dict[str, str] = {}
    kept = []
    helpers = _helpers(ours)
    for entry in users:
        name, text = value(entry, "name"), entry.get("value")
        if name in ours or name in helpers:  # what it said counts on, unless only the cluster knows
            if "valueFrom" not in entry:
                values[name] = quotable(_text(entry), values, helpers)
            elif name in helpers and _is_helper(entry):
                values[name] = f"$({name})"
        elif type(text) is Sourced and "$" in str(text.value):
            written = rewritten(str(text.value), values, helpers)
            kept.append({**entry, "value": text if written == text.value else stamp(written, "inlined", text)})
        else:
            kept.append(entry)
    return kept


def _is_helper(entry: Tree) -> bool:
    """Whether a variable of the user holds what the helper of its name holds."""
    name, field = value(entry, "name"), value(entry, "valueFrom", "fieldRef", "fieldPath")
    return name in _HELPERS and field in _HELPERS[name][1]


def _check(plan: Plan, container: Tree, ours: Mapping[str, object], report: Report) -> None:
    """Say which variables of the user are replaced, which refer to such, and which of ours are too long."""
    helpers = _helpers(ours)
    lost: set[str] = set()
    entries = container.get("env") or []
    for index, entry in enumerate(entries):
        name = value(entry, "name")
        refers = not lost.isdisjoint(names(_text(entry)))
        leaf = first_leaf(entry)
        span = (place(leaf.origin) if leaf is not None else None) or plan.document.span(("spec",))
        if name in ours or name in helpers:
            if name in ours or not _is_helper(entry):
                users = [value(other, "name") for other in entries[index + 1 :] if name in names(_text(other))]
                rewrite = f", and write its value in `{users[0]}`" if users else ""
                message = f"the operator of {plan.document.kind} sets `{name}`, and its value wins"
                if name not in ours:
                    message = f"`{name}` holds {_HELPERS[name][2]}, from which the job's own variables are made"
                report.add(OVERRIDDEN.at(span, message, help=f"remove it{rewrite}"))
                if "valueFrom" in entry or refers:
                    lost.add(name)
        elif refers:
            message = f"`{name}` refers to a replaced variable"
            report.add(LOST.at(span, message, help="give the variable it refers to another name"))
    for name, content in ours.items():
        text = _bare(content)
        size = len(f"{name}={text}".encode()) + 1 if type(text) is str else 0
        message, effect, level = (
            f"`{name}` is longer than 64 KiB",
            "at twice the length no process would start",
            WARNING,
        )
        if size > LONGEST_VARIABLE:
            message, effect = f"`{name}` would be longer than 128 KiB", "no process starts: `argument list too long`"
            level = ERROR
        if size > LONGEST_VARIABLE // 2:
            span = plan.document.span(("spec",), key=True)
            report.add(LONG_VARIABLE.at(span, message, effect=effect, help="request fewer pods", level=level))


def _text(entry: Tree) -> str:
    """The value of a variable as it is written, empty for one that comes from elsewhere."""
    return str(_bare(entry.get("value", "")))


def rank(role: Role) -> object:
    """The rank of a pod where the Master is rank 0 and worker i rank i + 1."""
    if role.name.value == "node":
        return COMPLETION_INDEX
    return "0" if role.name.value == "master" else GLOBAL_INDEX


def search_domains(plan: Plan, domain: str) -> Contribution:
    """Short host names of the job resolve in every pod."""
    assert plan.namespace is not None
    own = derive("search domain", lambda j, n: f"{j}.{n}.svc.{domain}", plan.name, plan.namespace)
    out = Contribution()
    for role in plan.roles:
        given = get(role.pod, "dnsConfig") or {}
        out += pod(role, dnsConfig={**given, "searches": [*(given.get("searches") or []), own]})
    return out


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """A text in parts, each with the name that it refers to, "" for what stands for itself; `$$` is one part."""
    return ((found[0], found[1] or "") for found in _PIECE.finditer(text))


def names(text: str) -> set[str]:
    return {name for _, name in pieces(text) if name}


def rewritten(text: str, inline: Mapping[str, str], escaped: tuple[str, ...] = ()) -> str:
    """A value whose references to replaced variables carry the user's own text, and those to `escaped` none."""
    return "".join(
        inline.get(name, f"${part}" if name in escaped else part) if name else part for part, name in pieces(text)
    )


def quotable(text: str, inline: Mapping[str, str], escaped: tuple[str, ...] = ()) -> str:
    """The same for a text that is put into another one, whose characters must not join its own to a reference."""
    return "".join("$$" if part == "$" else part for part, _ in pieces(rewritten(text, inline, escaped)))
