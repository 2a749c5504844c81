"""`clusters:` of trainc.yaml, and policies: what each cluster is, which jobs it runs, what it changes in and asks of them."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from trainc.apiserver.component_uses import uses
from trainc.compiler.project.assignments import SETTINGS, instead, setting
from trainc.compiler.project.dumps import items, read_dumps
from trainc.compiler.project.settings import OF_CLUSTERS
from trainc.model.cluster import Cache, Cluster
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree, get
from trainc.text.files import is_inside, ordinary_contents
from trainc.text.spelling import meant
from trainc.text.trouble import Reaching, Trouble
from trainc.yaml.reader import LIMIT, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.compiler.project import Checker

_USE = {"name", "with"}
_PIECES = ("mlPolicy", "podGroupPolicy", "template")
_IMAGES = {"registries": "registry", "digests": "digest"}
MAX_CLUSTERS = 500  # every job is looked at for each
DEFAULT = "policies"  # the folder that is read where a project names none
_MARK = b"admissionregistration.k8s.io"
_MOST = 2_000  # files of all folders
_SUFFIXES = (".yaml", ".yml", ".json")


def clusters(checker: "Checker", assigned: Mapping[str, Any], cache: Cache | None) -> tuple[Cluster, ...]:
    """Every cluster of a project in the order written; what `--set` says counts for each."""
    declared = []
    names = list(checker.map(("spec", "clusters")))
    if len(names) > MAX_CLUSTERS:
        text = f"a project has at most {MAX_CLUSTERS} clusters, and this one has {len(names)}"
        checker.complain(("spec", "clusters"), text, "create a separate project for each group of clusters", key=True)
        return ()
    folders: dict[str, str] = {}
    for name in names:
        if (other := folders.setdefault(name.lower(), name)) != name:
            text = f"cluster names `{other}` and `{name}` differ only in case"
            hint = "rename one: on some disks their folders of manifests are one"
            checker.complain(("spec", "clusters", name), text, hint, key=True)
            continue
        if name.strip(".-") == name and name.replace("-", "").replace(".", "").isalnum() and name.isascii():
            declared.append(_cluster(name, checker, assigned, cache))
        else:
            hint = "use letters, digits, `-` and `.`: it is the name of a folder of manifests"
            checker.complain(("spec", "clusters", name), f"`{name}` is not a valid cluster name", hint, key=True)
    return tuple(declared)


def _cluster(name: str, checker: "Checker", assigned: Mapping[str, Any], cache: Cache | None) -> Cluster:
    path: Path = ("spec", "clusters", name)
    node = checker.map(path)
    fields: dict[str, Any] = {"name": name}
    for key in node:
        if key in SETTINGS:
            fields.update(_setting(checker, (*path, key), key, node[key]))
        elif key not in OF_CLUSTERS:
            hint = meant(key, OF_CLUSTERS, f"known settings: {', '.join(OF_CLUSTERS)}")
            checker.complain((*path, key), f"unknown setting `{key}`", hint, key=True)
    fields["paths"] = checker.texts((*path, "paths"))
    fields["components"], fields["component_values"] = _components(checker, (*path, "components"))
    if "patch" in node:
        fields["patch"] = _patch(checker, (*path, "patch"))
        fields["document"] = checker.document
    fields["delivery"] = checker.word((*path, "delivery"), OF_CLUSTERS["delivery"])
    fields["images"] = _images(checker, (*path, "images"))
    if folder := checker.folder((*path, "folder")):
        fields["folder"] = folder
        fields.update(read_dumps(checker.root, folder, checker.report, cache, checker.unsaved))
    return Cluster(**{**fields, **assigned})


def _components(checker: "Checker", path: Path) -> tuple[tuple[Sourced[str], ...], dict[str, Mapping[str, Tree]]]:
    """The components of a cluster, however they are spelled, and the values that their parameters are given."""
    names: list[Sourced[str]] = []
    values: dict[str, Mapping[str, Tree]] = {}
    node = get(checker.document.tree, *path)
    given = uses(node, lambda name: checker.document.span((*path, name), key=True)) if node is not None else []
    for item in given if type(given) is list else [given]:
        use: dict[str, Tree] = item if type(item) is dict and item.keys() <= _USE else {}
        name = use.get("name")
        if type(name) is Sourced and type(name.value) is str and type(use.get("with", {})) is dict:
            names.append(use["name"])
            values |= {use["name"].value: use["with"]} if "with" in use else {}
        else:
            hint = "write `components: [shm, spot]`, or `{name: shm, with: {size: 1Gi}}` for each"
            checker.complain(path, "`components` must be a list of components", hint)
    return tuple(names), values


def _setting(checker: "Checker", path: Path, key: str, leaf: Tree) -> dict[str, Any]:
    if type(leaf) is not Sourced:
        checker.complain(path, f"`{key}` must be one value", instead(key))
        return {}
    try:
        field, content = setting(key, leaf)
    except Trouble as trouble:
        checker.complain(path, str(trouble), instead(key))
        return {}
    return {field: content}


def _images(checker: "Checker", path: Path) -> dict[str, dict[str, Sourced[str]]]:
    """`registries` (prefix of an image -> prefix that replaces it) and `digests` (image -> sha256:...)."""
    images: dict[str, dict[str, Sourced[str]]] = {}
    for part in checker.map(path):
        if part not in _IMAGES:
            known = "known settings: registries, digests"
            checker.complain((*path, part), f"unknown setting `{part}`", known, key=True)
            continue
        images[part] = {}
        for name, leaf in checker.map((*path, part)).items():
            text = leaf.value if type(leaf) is Sourced else None
            if type(text) is not str or not text:
                hint = f"write it after `{name}:`, as a string"
                checker.complain((*path, part, name), f"`{name}` gets one {_IMAGES[part]}", hint)
            elif part == "digests" and not _is_digest(text):
                hint = "write `sha256:` and 64 hexadecimal digits"
                checker.complain((*path, part, name), f"`{text}` is not a digest", hint)
            elif part == "registries" and ("://" in text or text.split() != [text]):
                hint = "write only the host and the path, such as `mirror.example.com/hub`"
                checker.complain((*path, part, name), f"`{text}` is not a prefix of an image's name", hint)
            else:
                images[part][name] = leaf
    return images


def _patch(checker: "Checker", path: Path) -> Tree:
    """The cluster's piece of a runtime, which is judged once it is merged; a directive in it has to be one word."""
    tree, sound = checker.map(path), True
    todo: list[tuple[Path, Tree]] = [(path, tree)]
    while todo:
        at, node = todo.pop()
        for step, below in node.items() if type(node) is dict else enumerate(node):
            if type(below) is not Sourced and step == "$patch":
                hint = "write `replace` or `delete`, or remove the key"
                checker.complain((*at, step), "`$patch` must be one word", hint)
                sound = False
            elif type(below) is not Sourced:
                todo.append(((*at, step), below))
    for key in tree:
        if key not in _PIECES:
            hint = meant(key, _PIECES, f"a patch has {', '.join(_PIECES)}")
            checker.complain((*path, key), f"unknown setting `{key}` of a patch", hint, key=True)
    return {key: node for key, node in tree.items() if key in _PIECES} if sound else {}


def _is_digest(text: str) -> bool:
    kind, _, digits = text.partition(":")
    return kind == "sha256" and len(digits) == 64 and not digits.strip("0123456789abcdef")


def read_policy_folders(
    root: str, folders_named: tuple[str, ...] | None, report: Report, unsaved: Mapping[str, bytes] | None = None
) -> tuple[tuple[str, ...], tuple[Document, ...]]:
    """The folders of policies, and what they hold, nothing where the default one holds none; a Trouble for what is unreadable."""
    if folders_named is None and not os.path.isdir(os.path.join(root, DEFAULT)):
        return (), ()
    folders = (DEFAULT,) if folders_named is None else folders_named
    texts = dict(_texts(root, folders, unsaved or {}))
    if folders_named is None and not any(_MARK in data for data in texts.values()):
        return (), ()
    documents: list[Document] = []
    for file, data in texts.items():
        own_report = Report()
        documents += [item for document in read(data, file, own_report) for item in items(document)]
        report.add_all(own_report.findings)
    return folders, tuple(documents)


def _texts(root: str, folders: tuple[str, ...], unsaved: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    files = sorted({file for folder in folders for file in _files(root, folder)})
    if len(files) > _MOST:
        raise Trouble(f"the folders of policies have more than {_MOST} files")
    for file in files:
        path = os.path.join(root, file)
        if not is_inside(root, path):
            raise Trouble(f"{file} is a symbolic link to a file outside the project; put the policy itself there")
        held = unsaved.get(file)
        with Reaching(path):
            yield file, ordinary_contents(path, LIMIT + 1) if held is None else held


def _files(root: str, folder: str) -> Iterator[str]:
    """The files below a folder; links to folders are not followed."""
    with Reaching(os.path.join(root, folder)):
        names = sorted(os.listdir(os.path.join(root, folder)))
    for name in names:
        path = os.path.join(root, folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            if not name.startswith("."):
                yield from _files(root, f"{folder}/{name}")
        elif name.lower().endswith(_SUFFIXES) and not os.path.isdir(path):
            yield f"{folder}/{name}"
