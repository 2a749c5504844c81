"""A stream of manifests in which runs stay as a folder of rendered files has them."""

import os
from typing import IO

from trainc.compiler.emit import manifests, run_path
from trainc.compiler.emit.spool import StreamSpool
from trainc.compiler.emit.spool.changes import runs_of
from trainc.compiler.emit.spool.disk import Folder, OnDisk, read_file
from trainc.compiler.emit.spool.objects import object_key, services_of, trees_of
from trainc.compiler.emit.spool.questions import BaseFolder, Settle
from trainc.lint.across_jobs import shared_service
from trainc.model.bundle import Bundle
from trainc.model.finding import place as place_of
from trainc.model.report import Report
from trainc.model.tree import Tree, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.compiler.emit import Rendered


class CommittedSpool(StreamSpool):
    """Writes one YAML stream; a run that the `base` has in the folder `output` keeps what `settle` does not let change.

    With `keep_old` earlier runs of a job, as far as they are in the folder and in the base, go out behind it. `namespace`
    is that of objects which name none: it is in the stream, and not in the folder. `unproven` names the files of earlier
    runs that nothing proves.
    """

    def __init__(
        self,
        stream: IO[str],
        root: str,
        output: str,
        *,
        settle: Settle,
        base: BaseFolder,
        keep_old: bool = False,
        namespace: str = "",
    ) -> None:
        super().__init__(stream)
        self._root = root
        self.folder = os.path.join(root, output)
        self.unproven: list[str] = []
        self._base = base
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
        path, inherited = self._find(inner, name)
        if other != name and rendered.name not in runs_of(inherited):
            before = self._find(inner, other)  # the run may be rendered there since before `oldRun` changed
            if rendered.name in runs_of(before[1]):
                name, (path, inherited) = other, before
        if text := self._kept(inherited, path, rendered.text, bundle, report):
            self.jobs += 1
            self.references.add(bundle, trees_of(text.encode()))
            self._append(rendered._replace(text=text))
        else:
            super().add(rendered, bundle, report)
        if self.keeps_old:
            self._add_earlier(inner, name, bundle, report)
        self._lasting = set()

    def _find(self, inner: str, name: str) -> tuple[str, OnDisk | None]:
        """The file of a job in the base, or in the folder where there is none; one that names no namespace is under `default`."""
        for folder in self._folders(inner):
            target, existing = self._files.find(f"{folder}/{name}")
            inherited = existing if self._base.missing else self._base.find(f"{folder}/{name}")
            if inherited is not None:
                return target, inherited
        return "", None

    def _folders(self, inner: str) -> list[str]:
        above, _, namespace = inner.rpartition("/")
        placed = bool(self._namespace) and namespace == self._namespace
        return [inner, "/".join([above, "default"] if above else ["default"])] if placed else [inner]

    def _kept(self, inherited: OnDisk | None, path: str, text: str, bundle: Bundle, report: Report) -> str:
        """The text of a run that keeps it from the base, empty for one that gets the present one."""
        header = inherited.header if inherited is not None else None
        if inherited is None or header is None:
            return ""
        if header.source != bundle.document.file and os.path.isfile(os.path.join(self._root, header.source)):
            return ""  # a job of that name in another file
        present = read_file(path)
        texts = [self._text(file, bundle) for file in (inherited, present) if file is not None]
        if text in texts:
            return ""
        return self._settle(bundle, header, texts[0], path, report, self._base.missing)

    def _text(self, file: OnDisk, bundle: Bundle) -> str:
        """What a rendered file has of a job's own, as it goes out."""
        own = [tree for tree in trees_of(file.body) if object_key(tree) not in self._lasting]
        return manifests([_placed(tree, bundle) for tree in own])

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
                inherited = self._base.find(f"{folder}/{other}")
                if inherited is None:
                    self.unproven += [path] if self._base.missing else []
                    continue
                trees = trees_of(inherited.body)
                for key in services_of(trees, "").keys() & services.keys():
                    where = place_of(services[key].origin) or bundle.document.span(("metadata", "name"))
                    report.add(shared_service(where, key[1:], other.removesuffix(".yaml")))
                present = self._lasting.union(map(object_key, bundle.objects))
                trees = [tree for tree in trees if object_key(tree) not in present]
                self.references.add(bundle, trees)
                self.objects += len(trees)
                self.hold(manifests(trees))


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
