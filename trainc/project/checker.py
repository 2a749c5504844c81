"""Reads settings of one document and complains about those it cannot use."""

from __future__ import annotations

import os

from trainc.model.finding import ERROR, Rule
from trainc.model.sourced import Sourced
from trainc.model.tree import get, value
from trainc.model.within import within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.document import Document
    from trainc.model.report import Report
    from trainc.model.sourced import Span
    from trainc.model.tree import Path, Tree

BAD_PROJECT = Rule(
    "bad-project",
    ERROR,
    "trainc.yaml says something that trainc does not understand",
    "A setting that is silently ignored is worse than one that is refused.",
    admission=True,
)


class Checker:
    """One document's settings by path; each method gives what is usable and reports the rest."""

    __slots__ = ("document", "meant", "report")

    def __init__(self, document: Document, report: Report) -> None:
        self.document = document
        self.report = report
        self.meant: set[Span] = set()  # of words that nobody can take for another value where they stand

    def complain(self, path: Path, message: str, help_text: str, *, key: bool = False) -> None:
        """A finding about the setting at `path`."""
        self.report.add(BAD_PROJECT.at(self.document.span(path, key=key), message, help=help_text))

    def map(self, path: Path) -> dict[str, Tree]:
        """The mapping at `path`, empty where absent."""
        node = get(self.document.tree, *path)
        if type(node) is dict:
            return node
        if node is not None and value(node) is not None:
            self.complain(path, f"`{path[-1]}` is a mapping", "write its settings below it, indented")
        return {}

    def texts(self, path: Path) -> tuple[Sourced[str], ...]:
        """The names listed at `path`."""
        node = get(self.document.tree, *path)
        if node is None:
            return ()
        items = node if type(node) is list else [node]
        found = tuple(item for item in items if type(item) is Sourced and type(item.value) is str)
        if len(found) != len(items):
            self.complain(path, f"`{path[-1]}` is a list of names", "write one name behind each `-`")
        return found

    def choice(self, path: Path, choices: tuple[str, ...]) -> str:
        """The one of `choices` written at `path`, empty where absent."""
        found = value(self.document.tree, *path)
        if found is None or found in choices:
            return str(found or "")
        self.complain(path, f"`{path[-1]}` cannot be `{found}`", f"write one of {', '.join(choices)}, or leave it out")
        return ""

    def folder(self, root: str, path: Path) -> str:
        """The folder named at `path`, empty where absent or not there."""
        name = value(self.document.tree, *path)
        if name is None:
            return ""
        path_of = os.path.join(root, str(name))
        if type(name) is str and within(root, path_of) and os.path.isdir(path_of):
            return os.path.normpath(name).replace(os.sep, "/")
        self.complain(path, f"there is no folder `{name}`", "name a folder below the project's root")
        return ""

    def target(self, root: str, path: Path) -> str:
        """The folder to write to that is named at `path`, empty where absent; it need not be there yet."""
        name = value(self.document.tree, *path)
        if name is None:
            return ""
        path_of = os.path.join(root, str(name))
        below = within(root, path_of) and not within(path_of, root)
        if type(name) is str and below:
            return os.path.normpath(name).replace(os.sep, "/")
        self.complain(path, f"`{name}` is no folder below the project's root", "name one such as `rendered`")
        return ""

    def folders(self, root: str, path: Path) -> tuple[str, ...] | None:
        """The folders listed at `path`, None where absent."""
        node = get(self.document.tree, *path)
        if node is None:
            return None
        count = len(node) if type(node) is list else 0
        return tuple(name for index in range(count) if (name := self.folder(root, (*path, index))))

    def secrets(self, path: Path) -> dict[str, Sourced[str]]:
        """Where each framework's key material comes from."""
        found = {}
        for name, leaf in self.map(path).items():
            text = leaf.value if type(leaf) is Sourced else None
            if type(text) is str and (text == "external-secrets" or text.startswith("existing:")):
                found[name] = leaf
            else:
                hint = "write `existing:NAME` or `external-secrets`"
                self.complain((*path, name), f"`{text}` says nothing about a Secret", hint)
        return found
