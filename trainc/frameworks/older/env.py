"""The environment of a container as an operator left it: the user's variables, then the operator's, which win."""

from __future__ import annotations

from trainc.frameworks.older.peers import aliased, services
from trainc.model.finding import ERROR, WARNING, Rule, place
from trainc.model.patches import COMPLETION_INDEX, Contribution, Framework, Patch, variable
from trainc.model.peers import LONG_VARIABLE, LONGEST_VARIABLE
from trainc.model.sourced import Sourced
from trainc.model.tree import first_leaf, stamp, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trainc.model.plan import Plan, Role
    from trainc.model.report import Report
    from trainc.model.tree import Tree

    Entries = Callable[[Plan, Role, Tree], Mapping[str, object]]
    Chosen = Callable[[Role], list[Tree]]

INDEX = "JOB_COMPLETION_INDEX"
INDEX_REFERENCE = f"$({INDEX})"
GLOBAL_INDEX = {"valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/job-global-index']"}}}

OVERRIDDEN = Rule(
    "env-overridden",
    WARNING,
    "a variable of the job is replaced by one that its operator sets",
    "The operators appended their variables after the user's, and the last of equal names wins.",
)
LOST = Rule(
    "env-reference-lost",
    ERROR,
    "a variable refers to one whose value is replaced",
    "It saw the user's own value under the operator; that value comes from elsewhere and cannot be written in its place.",
)


def every(role: Role) -> list[Tree]:
    """All regular containers."""
    return role.containers


def first(role: Role) -> list[Tree]:
    """The first container."""
    return role.containers[:1]


def has_words(container: Tree, field: str) -> bool:
    """Whether a container says its `command` or `args`; an empty list and null say nothing."""
    found = container.get(field)
    return type(found) is list and bool(found)


def named(name: str) -> Chosen:
    """The container of that name, none where there is none."""
    return lambda role: [c for c in role.containers if value(c, "name") == name]


def framework(
    name: str,
    entries: Entries,
    chosen: Chosen = every,
    container: str = "",
    more: Callable[[Plan], Contribution] | None = None,
    check: Callable[[Plan, Report], None] | None = None,
) -> Framework:
    """A framework that gives the chosen containers the entries of an operator, and `more` beside them.

    `container` is the one whose ports the Services under the operator's names repeat; `check` looks for what only this
    framework knows.
    """

    def lower(plan: Plan) -> Contribution:
        patches = [
            Patch(role.index, c["name"].value, sets={"env": environment(c, entries(plan, role, c))})
            for role in plan.roles
            for c in chosen(role)
            if entries(plan, role, c)
        ]
        own = Contribution(patches, objects=services(plan, container) if container and aliased(plan) else ())
        return own + more(plan) if more else own

    def verify(plan: Plan, report: Report) -> None:
        for role in plan.roles:
            for c in chosen(role):
                ours = entries(plan, role, c)
                _look(plan, c, ours, report)
                _lengths(plan, ours, report)
        if check is not None:
            check(plan, report)

    return Framework(name, lower, verify=verify)


def environment(container: Tree, ours: Mapping[str, object]) -> list[Tree]:
    """The complete list: the index where ours refers to it, the user's less ours, ours."""
    users = container.get("env") or []
    # An empty value is no value, as the API writes it.
    complete = [{"name": name} if content == "" else variable(name, content) for name, content in ours.items()]
    helper = any(INDEX_REFERENCE in str(value_of(entry)) for entry in complete)
    kept = _kept(users, set(ours), escape=helper and all(value(u, "name") != INDEX for u in users))
    if helper:
        kept = [{"name": INDEX, **COMPLETION_INDEX}, *(entry for entry in kept if value(entry, "name") != INDEX)]
    return stamp([*kept, *complete], "operator's environment")  # type: ignore[no-any-return]


def value_of(entry: Tree) -> object:
    """The value of an env entry, sourced or bare."""
    found = entry.get("value")
    return found.value if type(found) is Sourced else found


def _kept(users: list[Tree], ours: set[str], *, escape: bool) -> list[Tree]:
    said: dict[str, str] = {}
    kept = []
    for entry in users:
        name = value(entry, "name")
        if name in ours:
            if type(entry.get("value")) is Sourced:
                said[name] = str(entry["value"].value)
            continue
        text = entry.get("value")
        if type(text) is Sourced and "$" in str(text.value):
            written = rewritten(str(text.value), said, escape=escape)
            kept.append({**entry, "value": text if written == text.value else stamp(written, "inlined", text)})
        else:
            kept.append(entry)
    return kept


def rewritten(text: str, inline: Mapping[str, str], *, escape: bool) -> str:
    """A value whose references to replaced variables carry the user's own text; the helper's name is escaped.

    Kubernetes replaces `$(NAME)` once, left to right; `$$` stands for a dollar.
    """
    out, at = "", 0
    while at < len(text):
        if text.startswith("$$", at):
            out, at = out + "$$", at + 2
            continue
        end = text.find(")", at) if text.startswith("$(", at) else -1
        if end < 0:
            out, at = out + text[at], at + 1
            continue
        name, reference = text[at + 2 : end], text[at : end + 1]
        out += inline.get(name, f"${reference}" if escape and name == INDEX else reference)
        at = end + 1
    return out


def _lengths(plan: Plan, ours: Mapping[str, object], report: Report) -> None:
    for name, content in ours.items():
        text = content.value if type(content) is Sourced else content
        if type(text) is str and len(text) > LONGEST_VARIABLE:
            message = f"`{name}` would be longer than 128 KiB"
            effect = "no process starts: `argument list too long`"
            report.add(
                LONG_VARIABLE.at(
                    plan.document.span(("spec",), key=True), message, effect=effect, help="ask for fewer pods"
                )
            )


def _look(plan: Plan, container: Tree, ours: Mapping[str, object], report: Report) -> None:
    lost: set[str] = set()
    for entry in container.get("env") or []:
        name = value(entry, "name")
        leaf = first_leaf(entry)
        span = (place(leaf.origin) if leaf is not None else None) or plan.document.span(("spec",))
        if name in ours:
            report.add(
                OVERRIDDEN.at(
                    span, f"`{name}` is set by the operator of {plan.document.kind}, which wins", help="remove it"
                )
            )
            if "value" not in entry:
                lost.add(name)
        elif any(f"$({other})" in str(value_of(entry)) for other in lost):
            message = f"`{name}` refers to a variable that is replaced"
            report.add(LOST.at(span, message, help="give the variable it refers to another name"))
