"""Placeholders that nobody fills in on the way from a rendered file to the cluster."""

from __future__ import annotations

from trainc.lint.tables.created_once import SUBSTITUTE
from trainc.model.finding import ERROR, Rule
from trainc.model.tree import leaves, value
from trainc.text.placeholders import is_placeholder, placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.bundle import Bundle
    from trainc.model.report import Report
    from trainc.model.tree import Path, Tree

UNFILLED = Rule("unfilled-placeholder", ERROR)

_TOOLS = {"argocd": "Argo CD", "flux": "Flux"}
# What a shell, a program or a person reads: text may hold a `$` there.
_TEXTS = frozenset(("command", "args", "annotations"))


def unfilled_placeholder(bundle: Bundle, delivery: str, report: Report) -> None:
    """A finding for each placeholder of a JobSet in a field that a server reads; one for each text."""
    tree = bundle.jobset
    if not _holds_dollar(tree):
        return
    if delivery == "flux" and value(tree, "metadata", "annotations", SUBSTITUTE) != "disabled":
        return
    seen: set[str] = set()
    for path, leaf in leaves(tree):
        if not is_placeholder(leaf.value) or is_program_text(path) or leaf.value in seen:
            continue
        seen.add(leaf.value)
        name = placeholder(leaf.value)
        report.add_or_skip(
            UNFILLED.at(
                bundle.span(tree, path),
                f"{_TOOLS[delivery]} does not fill in `{name}`",
                effect="the server gets the text as it stands: it refuses the job, or the pods never start",
                help="fill it in before `trainc build`, or write what it stands for",
            )
        )


def _holds_dollar(tree: Tree) -> bool:
    """Whether any text holds a `$`; few jobs' do, and paths are made for those alone."""
    if type(tree) is dict:
        return any(map(_holds_dollar, tree.values()))
    if type(tree) is list:
        return any(map(_holds_dollar, tree))
    return type(tree.value) is str and "$" in tree.value


def is_program_text(path: Path) -> bool:
    """Whether a text of a JobSet is for a shell, a program or a person, who may mean something by a `$`."""
    return not _TEXTS.isdisjoint(path) or (path[-1] == "value" and "env" in path)
