import pytest

from trainc.model.run import RUN, run_name, run_of
from trainc.model.tree import stamp


@pytest.mark.parametrize(
    ("written", "number", "name"),
    [
        (None, 1, "bert"),
        ("1", 1, "bert"),
        ("2", 2, "bert-r2"),
        ("40", 40, "bert-r40"),
        ("0", 1, "bert"),
        ("02", 1, "bert"),
        ("two", 1, "bert"),
        ("٢", 1, "bert"),
        ("-2", 1, "bert"),
        ("99999", 1, "bert"),
    ],
)
def test_the_number_is_part_of_the_name(written: str | None, number: int, name: str) -> None:
    annotations = {} if written is None else {RUN: written}
    job = stamp({"metadata": {"name": "bert", "annotations": annotations}}, "test")
    assert run_of(job) == number
    assert run_name(job).value == name


def test_the_name_knows_both_places() -> None:
    job = stamp({"metadata": {"name": "bert", "annotations": {RUN: "2"}}}, "test")
    assert str(run_name(job).origin) == "name of the run (test, test)"
