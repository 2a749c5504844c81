"""The folders of admission policies: every object in their files, policies, bindings and parameters alike."""

from __future__ import annotations

import os

from trainc.compiler.project.dumps import items
from trainc.model.report import Report
from trainc.text.files import ordinary_contents, within
from trainc.text.trouble import Reaching, Trouble
from trainc.yaml.reader import LIMIT, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.model.document import Document

DEFAULT = "policies"  # the folder that is read where a project names none
_MARK = b"admissionregistration.k8s.io"
_MOST = 2_000  # files of all folders
_SUFFIXES = (".yaml", ".yml", ".json")


def read_policy_folders(
    root: str, folders_named: tuple[str, ...] | None, report: Report, unsaved: Mapping[str, bytes] | None = None
) -> tuple[tuple[str, ...], tuple[Document, ...]]:
    """The folders of policies, and what they hold; nothing where the default folder holds no policy.

    Raises:
        Trouble: where a file cannot be read or leads out of the project.
    """
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
        for finding in own_report.findings:
            report.add(finding)
    return folders, tuple(documents)


def _texts(root: str, folders: tuple[str, ...], unsaved: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    files = sorted({file for folder in folders for file in _files(root, folder)})
    if len(files) > _MOST:
        raise Trouble(f"the folders of policies hold more than {_MOST} files")
    for file in files:
        path = os.path.join(root, file)
        if not within(root, path):
            raise Trouble(f"{file} is a link that leads out of the project; put the policy itself there")
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
