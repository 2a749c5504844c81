"""Where a project starts and what its trainc.yaml says for all jobs."""

import os
from collections.abc import Callable, Collection, Mapping
from typing import Any

from trainc import __version__
from trainc.apiserver.names import label
from trainc.compiler.project.settings import SETTINGS
from trainc.model.cluster import Cluster, Opening
from trainc.model.document import Document
from trainc.model.finding import ERROR, Rule
from trainc.model.report import Report
from trainc.model.rule_selection import is_verdict, rule_categories, rule_facts
from trainc.model.settings import FILE, Project, Texts
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Path, Tree, get, value
from trainc.text.files import is_inside, ordinary_contents
from trainc.text.numbers import whole_number
from trainc.text.plugins import RULES, offered
from trainc.text.spelling import meant
from trainc.text.trouble import Reaching, Trouble, near
from trainc.yaml.reader import LIMIT, read

API_VERSION = "trainc.dev/v1alpha1"
_TOP = ("apiVersion", "kind", "metadata", "spec")
_METADATA = ("name", "labels", "annotations")
OFF = "off"
LEVELS = (OFF, "warning", "error")
OTHER_TRAINC = Rule("other-trainc", ERROR, admission=True)
_SIGNS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {  # the longer first: `>` begins `>=`
    ">=": tuple.__ge__,
    "<=": tuple.__le__,
    "==": tuple.__eq__,
    "!=": tuple.__ne__,
    ">": tuple.__gt__,
    "<": tuple.__lt__,
}
BAD_PROJECT = Rule("bad-project", ERROR, admission=True)


def find_root(path: str, top: str = "") -> tuple[str, bool]:
    """The folder a path's project starts in, and whether a trainc.yaml marks it.

    The nearest trainc.yaml upwards wins, then the root of the Git work tree, then the path's own folder. Nothing above
    the folder `top` is looked at: without a trainc.yaml the project starts there.
    """
    start = os.path.abspath(path)
    folder = start if os.path.isdir(start) else os.path.dirname(start)
    git = ""
    here = folder
    while True:
        if os.path.isfile(os.path.join(here, FILE)):
            return here, True
        if not git and os.path.exists(os.path.join(here, ".git")):
            git = here
        if here == top:
            return top, False
        parent = os.path.dirname(here)
        if parent == here:
            return git or folder, False
        here = parent


def open_project(
    paths: tuple[str, ...],
    report: Report,
    assigned: Mapping[str, Any] | None = None,
    cache: Opening | None = None,
    top: str = "",
    unsaved: Mapping[str, bytes] | None = None,
) -> Project:
    """The one project that all paths belong to, with what its trainc.yaml says; `assigned` counts over its clusters'.

    What clusters define is asked of the `cache` first, and kept there. The project does not start above `top`. The texts
    in `unsaved`, by file, count in the place of what is on the disk.

    Raises:
        Trouble: where the paths belong to different projects.
    """
    roots = {find_root(path, top) for path in paths}
    if len(roots) > 1:
        names = " and ".join(sorted(root for root, _ in roots))
        raise Trouble(f"the paths belong to different projects: {names}; run trainc once for each")
    root, marked = roots.pop()
    settings = dict(assigned or {})
    own_report = Report()
    if not marked:
        folders, policies = _policies(root, None, report, unsaved or {})
        clusters = (Cluster(**settings),)
        return Project(
            root,
            clusters=clusters,
            policies=policies,
            policy_folders=folders,
            assigned=settings,
            texts=Texts(unsaved),
        )
    file = os.path.join(root, FILE)
    if not is_inside(root, file):
        raise Trouble(f"{near(file)} is a symbolic link to a file outside its folder; put the file itself there")
    with Reaching(file):
        held = (unsaved or {}).get(FILE)
        documents = list(read(ordinary_contents(file, LIMIT + 1) if held is None else held, FILE, own_report))
    if len(documents) != 1 or type(documents[0].tree) is not dict:
        if documents:
            message = "trainc.yaml must contain one document, of kind Project"
            own_report.add(BAD_PROJECT.at(documents[0].span(), message))
        _forward(own_report, report)
        return Project(root, file=FILE, clusters=(Cluster(**settings),), assigned=settings, texts=Texts(unsaved))
    checker = Checker(root, documents[0], report, unsaved or {})
    project = _project(checker, settings, cache)
    _forward(own_report, report, checker.meant)
    return project


def _forward(own_report: Report, report: Report, meant: Collection[Span] = ()) -> None:
    """Report what was heard of the text, but nothing about words that can only mean one thing where they stand."""
    for finding in own_report.findings:
        from trainc.yaml.rules import AMBIGUOUS  # noqa: PLC0415 (most project files can only be read in one way)

        if finding.rule is not AMBIGUOUS or finding.span not in meant:
            report.add(finding)


def _project(checker: "Checker", assigned: Mapping[str, Any], cache: Opening | None) -> Project:
    document, root = checker.document, checker.root
    if document.kind != "Project" or document.api_version != API_VERSION:
        hint = f"write `apiVersion: {API_VERSION}` and `kind: Project`"
        kind = f"{document.api_version or 'no apiVersion'}, {document.kind or 'no kind'}"
        checker.complain((), f"trainc.yaml is not a project: `{kind}`", hint)
    for key in document.tree:
        if key not in _TOP:
            known = f"known settings: {', '.join(_TOP)}"
            hint = "write it under `spec`" if key in SETTINGS else meant(key, _TOP, known)
            checker.complain((key,), f"unknown setting `{key}`", hint, key=True)
    for key in checker.map(("metadata",)):
        if key not in _METADATA:
            hint = f"known settings: {', '.join(_METADATA)}"
            checker.complain(("metadata", key), f"unknown setting `{key}`", hint, key=True)
    spec = checker.map(("spec",))
    settings: dict[str, Any] = {}
    for key in spec:
        path = ("spec", key)
        if key not in SETTINGS:
            hint = meant(key, SETTINGS, f"known settings: {', '.join(SETTINGS)}")
            checker.complain(path, f"unknown setting `{key}`", hint, key=True)
        elif key not in ("clusters", "policies"):
            content = READERS[key](checker, path) if key in READERS else checker.word(path, SETTINGS[key])
            if content not in ("", None):
                settings["".join([f"_{letter.lower()}" if letter.isupper() else letter for letter in key])] = content
    policy_folders, policies = _policies(root, checker.folders(("spec", "policies")), checker.report, checker.unsaved)
    declared: tuple[Cluster, ...] = ()
    if "clusters" in spec:
        from trainc.compiler.project.clusters import clusters  # noqa: PLC0415 (many projects have one cluster)

        declared = clusters(checker, assigned, cache() if cache is not None else None)
    return Project(
        root,
        file=FILE,
        policies=policies,
        policy_folders=policy_folders,
        name=checker.name(("metadata", "name")),
        clusters=declared or (Cluster(**assigned),),
        assigned=assigned,
        cache=cache,
        texts=Texts(checker.unsaved),
        default_delivery=settings.pop("delivery", ""),
        **settings,
    )


def _policies(
    root: str, folders_named: tuple[str, ...] | None, report: Report, unsaved: Mapping[str, bytes]
) -> tuple[tuple[str, ...], tuple[Document, ...]]:
    if folders_named is None and not os.path.isdir(os.path.join(root, "policies")):
        return (), ()
    from trainc.compiler.project.clusters import read_policy_folders  # noqa: PLC0415 (few projects have policies)

    return read_policy_folders(root, folders_named, report, unsaved)


def rules_from(checker: "Checker", path: Path) -> tuple[Sourced[str], ...]:
    """The names listed at `path` that an installed package offers rules under; the others are complained about."""
    if not (names := checker.texts(path)):
        return ()
    there = offered(RULES)
    for name in names:
        if name.value not in there:
            hint = meant(name.value, there, "install the package in trainc's environment")
            at = name.origin.at or checker.document.span(path)
            message = f"no installed package provides rules named `{name.value}`"
            checker.report.add(BAD_PROJECT.at(at, message, help=hint))
    return tuple(name for name in names if name.value in there)


def levels(checker: "Checker", path: Path) -> dict[str, str]:
    """Levels by rule, where a category stands for its rules and a rule's own line wins; `rulesFrom` adds rules."""
    foreign = get(checker.document.tree, "spec", "rulesFrom") is not None
    known = [*rule_facts(), *rule_categories()]
    of_rules: dict[str, str] = {}
    of_categories: dict[str, str] = {}
    for name, leaf in checker.map(path).items():
        level = leaf.value if type(leaf) is Sourced else None
        if level is False:  # what Kubernetes' YAML makes of a bare `off`; here it can only mean one thing
            level = OFF
            checker.meant.add(leaf.origin.at)
        if name not in known and not foreign:
            hint = meant(name, known, "`trainc explain rules` lists them")
            checker.complain((*path, name), f"unknown rule `{name}`", hint, key=True)
        elif level not in LEVELS:
            hint = f"write {', '.join(LEVELS[:-1])} or {LEVELS[-1]}"
            checker.complain((*path, name), f"`{level}` is not a level", hint)
        elif is_verdict(name) and level != LEVELS[-1]:
            hint = "remove this line: the API server rejects it anyway"
            checker.complain((*path, name), f"`{name}` is an error of the API server and cannot be suppressed", hint)
        elif name in rule_categories():
            of_categories |= dict.fromkeys(rule_categories()[name], str(level))
        else:
            of_rules[name] = str(level)
    return of_categories | of_rules


def check_version(checker: "Checker", path: Path) -> None:
    """A finding where this trainc is none that the project asks for, or where nobody can tell."""
    if (text := checker.text(path)) is None:
        return
    if (verdict := fits(text)) is None:
        checker.complain(path, f"`{text}` is not a version constraint", 'write a constraint such as "trainc>=0.1"')
    elif not verdict:
        message = f"this project requires `{text}`, and this is trainc {__version__}"
        hint = "install a matching version, or change `requires` and render the files again"
        checker.report.add(OTHER_TRAINC.at(checker.document.span(path), message, help=hint))


def fits(text: str, version: str = __version__) -> bool | None:
    """Whether a version meets every condition of `trainc>=1.2,<2`; None where the text holds something else."""
    if not text.startswith("trainc"):
        return None
    ours = _numbers(version.partition("+")[0])
    verdict = True
    for condition in text.removeprefix("trainc").split(","):
        sign = next((sign for sign in _SIGNS if condition.strip().startswith(sign)), "")
        wanted = _numbers(condition.strip().removeprefix(sign).strip())
        if not sign or wanted is None or ours is None:
            return None
        verdict = verdict and _SIGNS[sign](ours, wanted)
    return verdict


def _numbers(text: str) -> tuple[int, ...] | None:
    numbers = [number for part in text.split(".") if (number := whole_number(part)) is not None]
    if len(numbers) <= text.count("."):
        return None
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


class Checker:
    """One document's settings by path; each method gives what is usable and reports the rest."""

    def __init__(self, root: str, document: Document, report: Report, unsaved: Mapping[str, bytes]) -> None:
        self.root = root
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
            self.complain(path, f"`{path[-1]}` must be a mapping", "indent its settings below it")
        return {}

    def text(self, path: Path) -> str | None:
        """The one text at `path`, None where absent or something else."""
        node = get(self.document.tree, *path)
        word = node.value if type(node) is Sourced else None
        if type(word) is str or node is None or (type(node) is Sourced and word is None):
            return word
        self.complain(path, f"`{_name(path)}` must be one name", f"write one word after `{_name(path)}:`, as a string")
        return None

    def texts(self, path: Path) -> tuple[Sourced[str], ...]:
        """The names listed at `path`."""
        if (node := get(self.document.tree, *path)) is None:
            return ()
        items = node if type(node) is list else [node]
        words = tuple(item for item in items if type(item) is Sourced and type(item.value) is str)
        if len(words) != len(items):
            self.complain(path, f"`{path[-1]}` must be a list of names", "write one name after each `-`")
        return words

    def label_keys(self, path: Path) -> tuple[Sourced[str], ...]:
        """The keys of labels listed at `path` that are of no system."""
        keys = self.texts(path)
        for key in keys:
            if key.value.partition("/")[0].endswith(("k8s.io", "kubernetes.io")) and "/" in key.value:
                at = key.origin.at or self.document.span(path)
                message = f"`{key.value}` is a label that Kubernetes or a controller reads"
                self.report.add(BAD_PROJECT.at(at, message, help="set it in the runtime, where it is meant to act"))
        return keys

    def name(self, path: Path) -> str:
        """The name at `path` that other programs and files repeat, empty where absent."""
        if (word := self.text(path)) is None or not label(word):
            return word or ""
        self.complain(path, f"`{word}` is not a valid name", "use lowercase letters, digits and `-`, 63 at most")
        return ""

    def word(self, path: Path, choices: tuple[str, ...]) -> str:
        """The word written at `path`, one of `choices` where there are any; empty where absent."""
        if (word := self.text(path)) is None or word in choices or not choices:
            return word or ""
        self.complain(path, f"`{path[-1]}` cannot be `{word}`", f"write one of {', '.join(choices)}, or remove it")
        return ""

    def folder(self, path: Path) -> str:
        """The folder named at `path`, empty where absent or not there."""
        if (name := self.text(path)) is None:
            return ""
        path_of = os.path.join(self.root, name)
        if is_inside(self.root, path_of) and os.path.isdir(path_of):
            return os.path.normpath(name).replace(os.sep, "/")
        self.complain(path, f"folder `{name}` does not exist", "name a folder inside the project")
        return ""

    def target(self, path: Path) -> str:
        """The folder to write to that is named at `path`, empty where absent; it need not be there yet."""
        if (name := self.text(path)) is None:
            return ""
        path_of = os.path.join(self.root, name)
        folder = os.path.normpath(name).replace(os.sep, "/")
        if ".git" in folder.lower().split("/"):
            self.complain(path, f"`{name}` is Git's own folder", "name one such as `rendered`")
            return ""
        if is_inside(self.root, path_of) and not is_inside(path_of, self.root):
            if os.path.realpath(path_of) == os.path.normpath(os.path.join(os.path.realpath(self.root), name)):
                return folder
            self.complain(path, f"`{name}` is behind a symbolic link", "name the folder that the link leads to")
            return ""
        self.complain(path, f"`{name}` is not a folder inside the project", "name one such as `rendered`")
        return ""

    def folders(self, path: Path) -> tuple[str, ...] | None:
        """The folders listed at `path`, None where absent."""
        if (node := get(self.document.tree, *path)) is None:
            return None
        if type(node) is not list:
            self.complain(path, f"`{path[-1]}` must be a list of folders", "write one folder after each `-`")
            return None
        count = len(node)
        return tuple(name for index in range(count) if (name := self.folder((*path, index))))

    def secrets(self, path: Path) -> dict[str, Sourced[str]]:
        """Where each framework's key material comes from."""
        by_name = {}
        for name, leaf in self.map(path).items():
            text = leaf.value if type(leaf) is Sourced else None
            if type(text) is str and (text == "external-secrets" or text.startswith("existing:")):
                by_name[name] = leaf
            else:
                hint = "write `existing:NAME` or `external-secrets`"
                self.complain((*path, name), f"`{text}` is not a valid setting for Secrets", hint)
        return by_name


# What reads each setting that is more than a word.
READERS: dict[str, Callable[[Checker, Path], object]] = {
    "runtimes": Checker.folders,
    "rules": levels,
    "rulesByPath": lambda checker, path: {glob: levels(checker, (*path, glob)) for glob in checker.map(path)},
    "rulesFrom": rules_from,
    "copyLabels": Checker.label_keys,
    "secrets": Checker.secrets,
    "output": Checker.target,
    "requires": check_version,
}


def _name(path: Path) -> str:
    """The setting that a path leads to, also where it is one of a list."""
    return next(str(step) for step in reversed(path) if type(step) is str)
