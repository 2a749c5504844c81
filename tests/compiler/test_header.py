import pytest

from trainc.compiler.header import Header, read_header


@pytest.mark.parametrize("source", ["jobs/bert.yaml", "jobs/my job.yaml", "a; b/c job=d.yaml", "<stdin>"])
def test_a_header_is_read_as_it_was_written(source: str) -> None:
    header = Header(source, "0123456789abcdef", "fedcba9876543210")
    assert read_header(str(header)) == header
    assert read_header(str(header).replace("\n", "\r\n")) == header


@pytest.mark.parametrize("line", ["", "kind: JobSet", "# trainc: from ", "# trainc: from jobs/a.yaml; do not edit"])
def test_other_lines_are_none(line: str) -> None:
    assert read_header(line) is None
