"""Reads settings of one document and complains about those it cannot use."""

from __future__ import annotations

import os

from trainc.apiserver.names import label
from trainc.model.finding import ERROR, Rule
from trainc.model.sourced import Sourced
from trainc.model.tree import get, value
from trainc.text.files import within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.model.document import Document
    from trainc.model.report import Report
    from trainc.model.sourced import Span
    from trainc.model.tree import Path, Tree

BAD_PROJECT = Rule(
    "bad-project",
    ERROR,
    "trainc.yaml contains an invalid or unknown setting",
    "A setting that is ignored silently is worse than one that is rejected.",
    admission=True,
)


class Checker:
    """One document's settings by path; each method gives what is usable and reports the rest."""

    __slots__ = ("document", "meant", "report", "unsaved")

    def __init__(self, document: Document, report: Report, unsaved: Mapping[str, bytes]) -> None:
        self.document = document
        self.report = report
        self.unsaved = unsaved  # texts that an editor holds, by file
        self.meant: set[Span] = set()  # of words that nobody can take for another value where they stand

    def complain(self, path: Path, message: str, help_text: str, *, key: bool = False) -> None:
        """A finding about the setting at `path`."""
        self.report.add(BAD_PROJECT.at(self.document.span(path, key=key), message, help=help_text))

    def map(self, path: Path) -> dict[str, Tree]:
        """The mapping at `path`, empty where absent."""
        node = get(self.document.tree, *path)
        if type(node) is dict:
            return node
        if type(node) is list or value(node) is not None:
            self.complain(path, f"`{path[-1]}` is a mapping", "write its settings below it, indented")
        return {}

    def text(self, path: Path) -> str | None:
        """The one text at `path`, None where absent or something else."""
        node = get(self.document.tree, *path)
        word = node.value if type(node) is Sourced else None
        if type(word) is str or node is None or (type(node) is Sourced and word is None):
            return word
        self.complain(path, f"`{_name(path)}` is one name", f"write one word behind `{_name(path)}:`, as text")
        return None

    def texts(self, path: Path) -> tuple[Sourced[str], ...]:
        """The names listed at `path`."""
        node = get(self.document.tree, *path)
        if node is None:
            return ()
        items = node if type(node) is list else [node]
        words = tuple(item for item in items if type(item) is Sourced and type(item.value) is str)
        if len(words) != len(items):
            self.complain(path, f"`{path[-1]}` is a list of names", "write one name behind each `-`")
        return words

    def name(self, path: Path) -> str:
        """The name at `path` that other programs and files repeat, empty where absent."""
        word = self.text(path)
        if word is None or not label(word):
            return word or ""
        self.complain(path, f"`{word}` cannot be a name", "use lower-case letters, digits and `-`, 63 at most")
        return ""

    def choice(self, path: Path, choices: tuple[str, ...]) -> str:
        """The one of `choices` written at `path`, empty where absent."""
        word = self.text(path)
        if word is None or word in choices:
            return word or ""
        self.complain(path, f"`{path[-1]}` cannot be `{word}`", f"write one of {', '.join(choices)}, or leave it out")
        return ""

    def folder(self, root: str, path: Path) -> str:
        """The folder named at `path`, empty where absent or not there."""
        name = self.text(path)
        if name is None:
            return ""
        path_of = os.path.join(root, name)
        if within(root, path_of) and os.path.isdir(path_of):
            return os.path.normpath(name).replace(os.sep, "/")
        self.complain(path, f"there is no folder `{name}`", "name a folder below the project's root")
        return ""

    def target(self, root: str, path: Path) -> str:
        """The folder to write to that is named at `path`, empty where absent; it need not be there yet."""
        name = self.text(path)
        if name is None:
            return ""
        path_of = os.path.join(root, name)
        folder = os.path.normpath(name).replace(os.sep, "/")
        if ".git" in folder.lower().split("/"):
            self.complain(path, f"`{name}` is Git's own folder", "name one such as `rendered`")
            return ""
        if within(root, path_of) and not within(path_of, root):
            return folder
        self.complain(path, f"`{name}` is not a folder below the project's root", "name one such as `rendered`")
        return ""

    def folders(self, root: str, path: Path) -> tuple[str, ...] | None:
        """The folders listed at `path`, None where absent."""
        node = get(self.document.tree, *path)
        if node is None:
            return None
        if type(node) is not list:
            self.complain(path, f"`{path[-1]}` is a list of folders", "write one folder behind each `-`")
            return None
        count = len(node)
        return tuple(name for index in range(count) if (name := self.folder(root, (*path, index))))

    def secrets(self, path: Path) -> dict[str, Sourced[str]]:
        """Where each framework's key material comes from."""
        by_name = {}
        for name, leaf in self.map(path).items():
            text = leaf.value if type(leaf) is Sourced else None
            if type(text) is str and (text == "external-secrets" or text.startswith("existing:")):
                by_name[name] = leaf
            else:
                hint = "write `existing:NAME` or `external-secrets`"
                self.complain((*path, name), f"`{text}` says nothing about a Secret", hint)
        return by_name


def _name(path: Path) -> str:
    """The setting that a path leads to, also where it is one of a list."""
    return next(str(step) for step in reversed(path) if type(step) is str)
