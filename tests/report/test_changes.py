"""The changes of a job that are named, and how to see the rest."""

from trainc.changes.compare.changes import Change
from trainc.model.paths import in_order
from trainc.report.diff import listed_changes

REMOVED = [Change(f"env[OLD{number}]", "x", "") for number in range(9)]
NEW = [Change(f"env[NEW{number}]", "", "x") for number in range(9)]
EDITED = [Change("image", "a:1", "a:2")]


def test_what_is_removed_does_not_hide_what_is_new() -> None:
    """A role of another name showed five lines `(removed)`, and nothing else."""
    shown = listed_changes([*REMOVED, *NEW, *EDITED], whole=False)
    assert [line.strip() for line in shown] == [
        "image: a:1 -> a:2",
        "env[NEW0]: x (new)",
        "env[OLD0]: x (removed)",
        "env[NEW1]: x (new)",
        "env[OLD1]: x (removed)",
        "and 14 more (`--details` lists each)",
    ]


def test_details_list_every_change_in_its_order() -> None:
    assert len(listed_changes([*REMOVED, *NEW], whole=True)) == 18
    assert listed_changes(REMOVED[:5], whole=False) == listed_changes(REMOVED[:5], whole=True)


def test_items_are_in_the_order_of_their_list() -> None:
    paths = ["args[10]", "args[2]", "args[0]", "env[B].value", "env[A].value", "args"]
    assert sorted(paths, key=in_order) == ["args", "args[0]", "args[2]", "args[10]", "env[A].value", "env[B].value"]
