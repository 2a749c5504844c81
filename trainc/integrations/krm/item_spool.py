"""What becomes of each item of a ResourceList: an object as it was, the objects of a job, or nothing."""

from __future__ import annotations

from trainc.compiler.emit import path_of
from trainc.compiler.emit.spool import Spool
from trainc.integrations.krm.annotations import placed, with_notes
from trainc.kinds.other_operators import is_input_kind
from trainc.kinds.table import kind_of
from trainc.model.document import Document
from trainc.model.sourced import Sourced
from trainc.model.tree import get, value
from trainc.yaml.writer import dump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.compiler.emit import Rendered
    from trainc.integrations.krm.package import Package
    from trainc.integrations.krm.resource_list import Item
    from trainc.model.account import Account
    from trainc.model.bundle import Bundle
    from trainc.model.report import Report
    from trainc.model.tree import Tree

_SPECS = {  # what only a compiler reads
    ("trainer.kubeflow.org", "TrainingRuntime"),
    ("trainer.kubeflow.org", "ClusterTrainingRuntime"),
    ("trainc.dev", "Runtime"),
    ("trainc.dev", "RuntimeComponent"),
    ("trainc.dev", "TrainJobPatch"),
    ("trainc.dev", "Project"),
}


class ItemSpool(Spool):
    """Collects the objects of every job, each with the item that it takes the place of."""

    def __init__(self, package: Package, items: Sequence[Item], output: str) -> None:
        super().__init__()
        self._package = package
        self._items = items
        self._output = output  # the folder of rendered files
        self._made: dict[int, list[Tree]] = {}  # by the place of the job's item
        self._changed: dict[int, Tree] = {}  # items that go out in another form, in their own place

    def add(self, rendered: Rendered, bundle: Bundle, report: Report) -> None:
        """Keep the objects of one bundle."""
        super().add(rendered, bundle, report)
        source = self._package.item_at(bundle.document.span())
        made = self._made.setdefault(source, []) if source is not None and bundle.jobset is not None else []
        path = f"{self._output}/{path_of(bundle)}" if source is not None and self._items[source].path else ""
        for tree in bundle.objects:
            place = self._written(tree)
            if place is None:
                made.append(placed(tree, path, len(made)) if path else tree)
                continue
            self._changed[place] = with_notes(tree, self._items[place].tree)
            if place == source and bundle.jobset is not None:
                made.append(self._changed[place])

    def _written(self, tree: Tree) -> int | None:
        """The place of the item that an object is, in whatever form; None for one that trainc makes."""
        words = (get(tree, "kind"), get(tree, "apiVersion"))
        span = next((word.origin.at for word in words if type(word) is Sourced), None)
        place = self._package.item_at(span) if span is not None else None
        return place if place is not None and _kind(self._items[place].tree) == _kind(tree) else None

    def texts_in_place(self, account: Account) -> list[str]:
        """The texts of all items in order, jobs replaced by what they became; a spec that became nothing is left out."""
        specs = {self._package.item_at(span) for span in account.places()}
        left = (place for file in account.unasked for place in self._package.items_of(file))
        specs |= {place for place in left if _is_job(self._items[place].tree)}
        texts: list[str] = []
        for place, item in enumerate(self._items):
            if place in self._made:
                texts += map(dump, self._made[place])
            elif place in self._changed:
                texts.append(dump(self._changed[place]))
            elif place not in specs and _kind(item.tree) not in _SPECS:
                texts.append(item.text)
        return texts


def _is_job(tree: Tree) -> bool:
    """Whether an object is a job that trainc compiles."""
    document = Document("", tree, {})
    known = document.kind in ("TrainJob", "JobSet") or kind_of(document.api_version, document.kind) is not None
    return known or is_input_kind(document)


def _kind(tree: Tree) -> tuple[str, str]:
    return str(value(tree, "apiVersion")).partition("/")[0], str(value(tree, "kind"))
