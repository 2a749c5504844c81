"""A stream of manifests in which runs stay as a folder of rendered files has them."""

import os
from typing import IO

from trainc.compiler.emit import run_path
from trainc.compiler.emit.digest import body_digest
from trainc.compiler.emit.spool import StreamSpool
from trainc.compiler.emit.spool.changes import runs_of
from trainc.compiler.emit.spool.disk import Folder, OnDisk
from trainc.compiler.emit.spool.objects import object_key, services_of, trees_of
from trainc.compiler.emit.spool.questions import Settle
from trainc.lint.across_jobs import shared_service
from trainc.model.bundle import Bundle
from trainc.model.finding import place as place_of
from trainc.model.report import Report
from trainc.model.tree import Tree, value
from trainc.yaml.writer import dump_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.compiler.emit import Rendered


class CommittedSpool(StreamSpool):
    """Writes one YAML stream; a run that is committed in the folder `output` keeps what `settle` does not let change.

    With `keep_old` earlier runs of a job, as far as they are committed, go out behind it. `namespace` is that of
    objects which name none: it is in the stream, and not in the folder. `edited` names the files that are not as trainc
    wrote them: nobody knows what their runs are.
    """

    def __init__(
        self, stream: IO[str], root: str, output: str, *, settle: Settle, keep_old: bool = False, namespace: str = ""
    ) -> None:
        super().__init__(stream)
        self._root = root
        self.folder = os.path.join(root, output)
        self.edited: list[str] = []
        self._files = Folder(self.folder)
        self._settle = settle
        self.keeps_old = keep_old
        self._namespace = namespace
        self._lasting: set[tuple[str, str]] = set()  # of the job at hand, what was kept on its own

    def add(self, rendered: "Rendered", bundle: Bundle, report: Report) -> None:
        """Keep the committed text of a run where it must not change, the present one elsewhere."""
        if bundle.jobset is None:
            self._lasting |= set(map(object_key, bundle.objects))
            super().add(rendered, bundle, report)
            return
        inner, _, name = rendered.path.rpartition("/")
        other = run_path(rendered.path, rendered.name).rpartition("/")[2]
        if self.keeps_old:
            name, other = other, name
        path, existing = self._find(inner, name)
        if other != name and rendered.name not in runs_of(existing):
            before = self._find(inner, other)  # the run may be rendered there since before `oldRun` changed
            if rendered.name in runs_of(before[1]):
                name, (path, existing) = other, before
        if text := self._kept(existing, path, rendered.text, bundle, report):
            self.jobs += 1
            self.references.add(bundle, trees_of(text.encode()))
            self._append(rendered._replace(text=text))
        else:
            super().add(rendered, bundle, report)
        if self.keeps_old:
            self._add_earlier(inner, name, bundle, report)
        self._lasting = set()

    def _find(self, inner: str, name: str) -> tuple[str, OnDisk | None]:
        """The committed file of a job; one that names no namespace is committed under `default`."""
        for folder in self._folders(inner):
            target, existing = self._files.find(f"{folder}/{name}")
            if existing is not None:
                return target, existing
        return "", None

    def _folders(self, inner: str) -> list[str]:
        above, _, namespace = inner.rpartition("/")
        placed = bool(self._namespace) and namespace == self._namespace
        return [inner, "/".join([above, "default"] if above else ["default"])] if placed else [inner]

    def _kept(self, existing: OnDisk | None, path: str, text: str, bundle: Bundle, report: Report) -> str:
        """The committed text of a run that keeps it, empty for one that gets the present one."""
        if existing is None:
            return ""
        header = existing.header
        if header is None or header.body != body_digest(existing.body):
            self.edited.append(path)
            return ""
        if header.source != bundle.document.file and os.path.isfile(os.path.join(self._root, header.source)):
            return ""  # a job of that name in another file
        committed = [tree for tree in trees_of(existing.body) if object_key(tree) not in self._lasting]
        before = dump_all([_placed(tree, bundle) for tree in committed])
        if before == text:
            return ""
        return self._settle(bundle, header, before, os.path.relpath(path, self._root), report)

    def _add_earlier(self, inner: str, name: str, bundle: Bundle, report: Report) -> None:
        """Add what other runs of a job consist of, but for what the present one has as well."""
        job = bundle.document.name
        services = services_of(bundle.objects, "")
        for folder in self._folders(inner):
            place = os.path.join(self.folder, folder)
            for other in sorted(os.listdir(place)) if os.path.isdir(place) else ():
                if other == name or not _is_run(other, job):
                    continue
                path, existing = self._files.find(f"{folder}/{other}")
                if existing is None or existing.header is None or existing.header.source != bundle.document.file:
                    continue
                if existing.header.body != body_digest(existing.body):
                    self.edited.append(path)
                trees = trees_of(existing.body)
                for key in services_of(trees, "").keys() & services.keys():
                    where = place_of(services[key].origin) or bundle.document.span(("metadata", "name"))
                    report.add(shared_service(where, key[1:], other.removesuffix(".yaml")))
                present = self._lasting.union(map(object_key, bundle.objects))
                trees = [tree for tree in trees if object_key(tree) not in present]
                self.references.add(bundle, trees)
                self.objects += len(trees)
                self.hold(dump_all(trees))


def _is_run(file: str, job: str) -> bool:
    """Whether a file is named as one of a job's runs is."""
    stem = file.removesuffix(".yaml")
    number = stem.removeprefix(f"{job}-r")
    return stem == job or (stem != number and number.isdigit())


def _placed(tree: Tree, bundle: Bundle) -> Tree:
    """A committed object in the namespace of its present form, where it names none itself."""
    if value(tree, "metadata", "namespace"):
        return tree
    twin: Tree = next((one for one in bundle.objects if object_key(one) == object_key(tree)), {})
    if (leaf := (twin.get("metadata") or {}).get("namespace")) is None:
        return tree
    return {**tree, "metadata": {**tree["metadata"], "namespace": leaf}}
