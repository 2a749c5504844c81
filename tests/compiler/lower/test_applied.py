"""What people say to the tool that applies a job, and what trainc adds."""

import pytest

from trainc.compiler.lower.tool_marks import OPTIONS, applied
from trainc.model.bundle import Bundle
from trainc.model.document import Document
from trainc.model.tree import plain, stamp


@pytest.mark.parametrize(
    ("said", "applied_with"),
    [
        (None, "ServerSideApply=true"),
        ("", "ServerSideApply=true"),
        ("Prune=false", "Prune=false,ServerSideApply=true"),
        ("ServerSideApply=false", "ServerSideApply=false"),
        ("Prune=false, ServerSideApply=true", "Prune=false, ServerSideApply=true"),
    ],
)
def test_options_of_people_and_ours_go_together(said: str | None, applied_with: str) -> None:
    metadata = {"name": "line"} if said is None else {"name": "line", "annotations": {OPTIONS: said}}
    tree = stamp({"kind": "JobSet", "metadata": metadata, "spec": {}}, "a test")
    (found,) = applied(Bundle(Document("line.yaml", tree, {}, 1), (tree,)), "argocd").objects
    assert plain(found)["metadata"]["annotations"] == {OPTIONS: applied_with}
    assert applied(Bundle(Document("line.yaml", found, {}, 1), (found,)), "argocd").objects == (found,)
