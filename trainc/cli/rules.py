"""`trainc explain rules`, a category or a rule: what trainc checks, and why."""

from trainc.cli.cache import opened
from trainc.cli.options import Options
from trainc.cli.output import answer, data, tell
from trainc.compiler.project import open_project
from trainc.lint.catalogue import PACKAGES, Example, categories, category_of, examples, facts_of, summary_of
from trainc.lint.catalogue import rules as own
from trainc.lint.check import foreign
from trainc.model.finding import Rule
from trainc.model.report import Report
from trainc.report.details import page_of
from trainc.report.dumps import dumps
from trainc.text.spelling import meant
from trainc.text.trouble import Trouble

RULES = "rules"  # what lists all of them


def run(options: Options) -> int:
    """The former command: `trainc rules [NAME]` is `trainc explain [NAME]`."""
    if len(options.arguments) > (0 if options.has("kind") else 1):
        raise Trouble("usage: trainc explain [RULE | CATEGORY | rules --kind KIND]")
    topic = options.arguments[0] if options.arguments else RULES
    tell(f"trainc: `trainc rules` is deprecated and will be removed in 0.3; use `trainc explain {topic}`")
    return explain_rules(topic, options)


def is_about_rules(topic: str) -> bool:
    """Whether a topic of `trainc explain` is the list of rules, a category, or a rule of trainc or of the project."""
    return topic == RULES or topic in categories() or any(rule.name == topic for rule in _known())


def explain_rules(topic: str, options: Options) -> int:
    """Explain one rule with its example, or list rules: all by category, those of one, or those of an operator's kind."""
    every = _known()
    if options.has("kind"):
        every = _differing(options.one("kind"), every)
    chosen = [rule for rule in every if topic in (RULES, rule.name, category_of(rule))]
    if not chosen:
        hint = meant(topic, [*categories(), *(rule.name for rule in every)], "see trainc explain rules")
        raise Trouble(f"unknown rule `{topic}`; {hint}")
    is_one = [rule.name for rule in chosen] == [topic]
    if options.one("report") == "json":
        data(dumps([_rule_entry(rule) for rule in chosen], sort_keys=False))
    elif is_one:
        answer(*_explained(chosen[0], examples().get(chosen[0].name)).splitlines())
    elif options.has("kind"):
        for index, rule in enumerate(chosen):
            answer(*([""] if index else []), rule.name, f"  {rule.summary}", f"  {rule.why}")
    else:
        # A line a rule, under the heading of its category.
        by_category: dict[str, list[Rule]] = {}
        for rule in chosen:
            by_category.setdefault(category_of(rule), []).append(rule)
        width = max(len(rule.name) for group in by_category.values() for rule in group)
        about = {word: f"{one.title} ({word}): {one.about}" for word, one in categories().items()}
        about[PACKAGES] = "Rules of installed packages"
        for at, word in enumerate(word for word in about if word in by_category):
            rows = [f"  {rule.name:<{width}}  {rule.level:<7}  {rule.summary}" for rule in by_category[word]]
            answer(*([""] if at else []), about[word], *rows)
    return 0


def _known() -> list[Rule]:
    """Every rule, those that the project adds among them, by name."""
    project = open_project((".",), Report(), cache=opened)
    more = [check.rule for name in project.rules_from for check in foreign(name.value)]
    return sorted([*own(), *more], key=lambda rule: rule.name)


def _differing(kind: str, known: list[Rule]) -> list[Rule]:
    """The rules that say how a job of another operator's kind differs from what that operator runs."""
    kinds = sorted({name for rule in known for name in rule.differs})
    source = kind if kind in kinds else next((name for name in kinds if name.lower() == kind.lower()), "")
    if not source:
        hint = meant(kind, kinds, f"it is one of {', '.join(kinds)}")
        raise Trouble(f"--kind: unknown operator kind `{kind}`; {hint}")
    return [rule for rule in known if source in rule.differs]


def _rule_entry(rule: Rule) -> dict[str, str]:
    by, page = "server" if rule.verdict else "trainc", page_of(rule.name)
    entry = {"name": rule.name, "category": category_of(rule), "level": rule.level, "by": by}
    return {**entry, "summary": rule.summary, "why": rule.why, **({"page": page} if page else {})}


def _explained(rule: Rule, example: Example | None) -> str:
    text = f"{rule.name} ({rule.level})\n\n{summary_of(rule)}\n{rule.why}\n\n"
    text += "".join(f"{word + ':':<10} {value}\n" for word, value in facts_of(rule).items())
    if example is None:
        return text
    text += f"\nfails:\n\n{_indented(example.fails)}\n{_indented(example.says)}"
    if example.passes:
        text += f"\npasses:\n\n{_indented(example.passes)}"
    return text


def _indented(text: str) -> str:
    return "".join(f"  {line}".rstrip() + "\n" for line in text.splitlines())
