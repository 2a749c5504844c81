"""Jobs and runtimes of a project as the API server would give them, and jobs written as files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from trainc.compiler.emit.spool.disk import create, remove
from trainc.compiler.emit.spool.disk import replace as replace_file
from trainc.integrations.kubeflow.contents import Contents
from trainc.library import validate
from trainc.model.finding import ERROR, NOTE, Finding
from trainc.model.report import Report
from trainc.model.tree import stamp
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read
from trainc.yaml.writer import dump, dump_all


class JobError(RuntimeError):
    """A job that a server would refuse or that would not run; its text has every error with file and line.

    `findings` are all that was found, `source` is the YAML that would have been written to the file of the job.
    """

    def __init__(self, findings: tuple[Finding, ...], source: str, lines: list[str]) -> None:
        self.findings = findings
        self.source = source
        super().__init__("\n".join(["the job is not written:", *lines]))


class ExistingJobError(Trouble, RuntimeError):
    """There is a job of that name, and it may not be replaced."""


class Repository:
    """The project at a folder; it is read anew for each question, as people edit it."""

    def __init__(self, root: str, folder: str, namespace: str, *, replace: bool) -> None:
        self._root = root
        self._folder = folder
        self.namespace = namespace
        self._replace = replace
        self._held: Contents | None = None
        self.cautions: tuple[str, ...] = ()  # what was found of the job written last, and is not an error

    @contextmanager
    def one_reading(self) -> Iterator[None]:
        """Within it, all questions are answered from one reading of the project."""
        self._held = self.contents()
        try:
            yield
        finally:
            self._held = None

    def contents(self) -> Contents:
        """What the project holds now."""
        return self._held or Contents(self._root, self.namespace)

    def jobs(self) -> list[dict[str, Any]]:
        """Every TrainJob that can be read with its runtime, of the namespace if one is given, sorted by file; others are warnings."""
        contents = self.contents()
        return [contents.stored(document) for document in contents.jobs if contents.is_readable(document)]

    def job(self, name: str) -> dict[str, Any] | None:
        """The TrainJob of a name, None where there is none."""
        contents = self.contents()
        same_name = [document for document in contents.jobs if document.name == name]
        if len(same_name) > 1:
            raise Trouble(f"{len(same_name)} jobs are named `{name}`; choose one with trainer_client(namespace=...)")
        return contents.stored(same_name[0]) if same_name else None

    def file_of(self, name: str) -> str:
        """The file of a job that is there, from the project's root."""
        return next(document.file for document in self.contents().jobs if document.name == name)

    def write(self, job: dict[str, Any]) -> None:
        """Write a job to its file if it compiles.

        Raises:
            JobError: with the errors; the file is as it was then.
            ExistingJobError: where another file holds a job of that name, or its own does and may not be replaced.
        """
        metadata = {**job["metadata"], **({"namespace": self.namespace} if self.namespace else {})}
        name = str(metadata["name"])
        contents = self.contents()
        top = contents.project.root
        path = os.path.join(self._root, self._folder, f"{name}.yaml")
        file = os.path.relpath(path, top).replace(os.sep, "/")
        there = next((document.file for document in contents.jobs if document.name == name), "")
        if there not in ("", file) or (os.path.lexists(path) and not self._replace):
            raise ExistingJobError(
                f"{there or file}: a job `{name}` already exists; choose another name, or pass replace=True"
            )
        text = readable(dump(stamp({**job, "metadata": metadata}, "the SDK")))
        if (before := _contents(path)) is None:
            create(path, text)
        else:
            replace_file(path, text.encode())
        findings = validate(path, root=self._root)
        if any(finding.level == ERROR for finding in findings):
            if before is None:
                remove(top, file)
            else:
                replace_file(path, before)
            raise JobError(findings, text, [contents.line(one) for one in findings if one.level == ERROR])
        self.cautions = tuple([contents.line(finding) for finding in findings if finding.level != NOTE])


def _contents(path: str) -> bytes | None:
    if not os.path.exists(path):
        return None
    with open(path, "rb") as stream:
        return stream.read()


_QUOTED = re.compile(r'^( *)((?:- )*(?:[\w.-]+: )?)(".*\\n.*")$')


def readable(text: str) -> str:
    """A YAML text with quoted texts of several lines as blocks; as it was, where that would say anything else."""
    blocks = "\n".join(map(_block, text.split("\n")))
    documents = [list(read(one, "", Report())) for one in (text, blocks)]
    same = [dump_all(document.tree for document in stream) for stream in documents]
    return blocks if same[0] == same[1] else text


def _block(line: str) -> str:
    """A line whose value is a quoted text as a block below its key, if it can be one."""
    match = _QUOTED.match(line)
    try:
        content = json.loads(match[3]) if match else ""
    except ValueError:
        return line
    if match is None or content.rstrip("\n").startswith(" ") or content.endswith("\n\n"):
        return line
    indent = " " * (len(match[1]) + 2)
    chomp = "" if content.endswith("\n") else "-"
    rows = content.removesuffix("\n").split("\n")
    return "\n".join([f"{match[1]}{match[2]}|{chomp}", *[f"{indent}{row}" if row else "" for row in rows]])
