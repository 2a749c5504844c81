"""`trainc rules`: what trainc looks for, and why."""

from __future__ import annotations

from trainc.cli.output import answer, data
from trainc.cli.session import user_cache
from trainc.model.finding import ERROR
from trainc.model.report import Report
from trainc.model.spelling import meant
from trainc.model.trouble import Trouble
from trainc.project import open_project
from trainc.report.details import page_of
from trainc.report.dumps import dumps
from trainc.rules import Example, examples
from trainc.rules import rules as own
from trainc.verify.foreign import foreign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cli.options import Options
    from trainc.model.finding import Rule


def rules(options: Options) -> int:
    """List all rules, those that the project adds among them, or explain one with its example."""
    if len(options.arguments) > (0 if options.has("kind") else 1):
        raise Trouble("usage: trainc rules [NAME | --kind KIND]")
    chosen = _known()
    if options.has("kind"):
        chosen = _differing(options.one("kind"), chosen)
    if options.arguments:
        chosen = [_named(options.arguments[0], chosen)]
    if options.one("report") == "json":
        data(dumps([_entry(rule) for rule in chosen], sort_keys=False))
    elif options.arguments:
        answer(*_explained(chosen[0], examples().get(chosen[0].name)).splitlines())
    elif options.has("kind"):
        for index, rule in enumerate(chosen):
            answer(*([""] if index else []), rule.name, f"  {rule.summary}", f"  {rule.why}")
    else:
        width = max(len(rule.name) for rule in chosen)
        answer(*(f"{rule.name:<{width}}  {rule.level:<7}  {rule.summary}" for rule in chosen))
    return 0


def _known() -> list[Rule]:
    project = open_project((".",), Report(), cache=user_cache)
    more = [check.rule for name in project.rules_from for check in foreign(name.value)]
    return sorted([*own(), *more], key=lambda rule: rule.name)


def _differing(kind: str, known: list[Rule]) -> list[Rule]:
    """The rules that say what a job of an older kind does otherwise than under its operator."""
    kinds = sorted({name for rule in known for name in rule.differs})
    source = next((name for name in kinds if name == kind), "") or next(
        (name for name in kinds if name.lower() == kind.lower()), ""
    )
    if not source:
        hint = meant(kind, kinds, f"it is one of {', '.join(kinds)}")
        raise Trouble(f"--kind: nothing is known of an operator for `{kind}`; {hint}")
    return [rule for rule in known if source in rule.differs]


def _named(name: str, known: list[Rule]) -> Rule:
    for rule in known:
        if rule.name == name:
            return rule
    hint = meant(name, [rule.name for rule in known], "see trainc rules")
    raise Trouble(f"there is no rule `{name}`; {hint}")


def _entry(rule: Rule) -> dict[str, str]:
    by = "server" if rule.verdict else "trainc"
    entry = {"name": rule.name, "level": rule.level, "by": by, "summary": rule.summary, "why": rule.why}
    page = page_of(rule.name)
    return {**entry, "page": page} if page else entry


def _explained(rule: Rule, example: Example | None) -> str:
    text = (
        f"{rule.name} ({rule.level})\n\n{rule.summary[:1].upper()}{rule.summary[1:]}.\n{rule.why}\n({_silence(rule)})\n"
    )
    if example is None:
        return text
    text += f"\nfails:\n\n{_indented(example.fails)}\n{_indented(example.says)}"
    if example.passes:
        text += f"\npasses:\n\n{_indented(example.passes)}"
    return text


def _silence(rule: Rule) -> str:
    """Whether the rule can be silenced, and how."""
    if rule.verdict:
        return "a server's own verdict; it cannot be silenced"
    if rule.unreadable:
        return "what the text holds cannot be read; it cannot be silenced"
    one = f"silence one place with `# trainc: allow[{rule.name}] reason`"
    limit = "; a job that cannot be compiled stays an error" if rule.level == ERROR else ""
    return f"{one}, or set its level under `rules:` in trainc.yaml{limit}"


def _indented(text: str) -> str:
    return "".join(f"  {line}".rstrip() + "\n" for line in text.splitlines())
