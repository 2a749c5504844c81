"""The labels and annotations of a job that its JobSet takes over."""

from __future__ import annotations

from trainc.model.legacy_kinds import ASK
from trainc.model.object_keys import LAST_APPLIED
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree


def job_metadata(job: Tree, *, kept: str = "") -> dict[str, dict[str, Tree]]:
    """Labels and annotations, without those that ask trainc for something, but for `kept`, and kubectl's record."""
    labels, annotations = (_map(get(job, "metadata", field)) for field in ("labels", "annotations"))
    names = [name for name in annotations if (name == kept or not name.startswith(ASK)) and name != LAST_APPLIED]
    return {"labels": labels, "annotations": {name: annotations[name] for name in names}}


def _map(node: Tree) -> dict[str, Tree]:
    return dict(node) if type(node) is dict else {}
