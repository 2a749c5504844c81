"""What reports for machines say of a finding in the same way."""

from hashlib import sha256

from trainc.model.finding import Finding
from trainc.model.rule_selection import NO_FACTS, rule_facts


def details(finding: Finding) -> list[str]:
    """What would happen and what to do, a text each, as far as the finding says so."""
    return [f"{word}: {text}" for word, text in (("effect", finding.effect), ("help", finding.help)) if text]


def page_of(rule: str) -> str:
    """The page of a rule within the documentation, relative to its top; "" for a rule that another package brings."""
    category = rule_facts().get(rule, NO_FACTS).category
    return f"rules/{category}.html#{rule}" if category else ""


def fingerprint(finding: Finding, file: str) -> str:
    """What the same mistake in a file keeps when lines move: its place is not a part of it."""
    text = f"{finding.rule.name}\n{file}\n{finding.message}"
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
