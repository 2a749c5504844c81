"""Text of strangers in Markdown reports: a real parser of GitHub's dialect sees neither new cells nor links nor HTML."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from tests.compiling import ROOT
from trainc.changes.compare.changes import Change
from trainc.changes.compare.diff import Diff, Edited
from trainc.report.diff import diff_markdown
from trainc.report.drawing import overview_markdown, pod_markdown
from trainc.report.markdown import code, prose

NASTY = ("|", "a|b", "`", "``x`", "\\|", "<img src=x onerror=y>", "[x](http://evil)", "](http://evil", "<!--", "@team", "www.evil.org", "https://evil.org", "a\n\n# b", "#1", "&#124;")  # fmt: skip


@given(st.one_of(st.sampled_from(NASTY), st.text(alphabet="|`\\<>[]()!@#&; \nax:/.", max_size=12)))
def test_nothing_that_is_markup_is_left(text: str) -> None:
    shown = prose(text)
    bare = shown.replace("&#", "")
    assert not set("<[]|`\\@\n") & set(bare)
    assert "://" not in shown
    marked = code(text)
    assert "|" not in marked
    assert "\n" not in marked
    inner = marked.removeprefix("<code>").removesuffix("</code>") if marked.startswith("<code>") else marked[1:-1]
    assert "`" not in inner
    if marked.startswith("<code>"):
        assert not set("<>[]()!@:/") & set(inner)


def test_a_row_has_four_cells_whatever_is_in_it() -> None:
    for text in NASTY:
        edited = Edited((text,), (text,), (Change(text, text, f"{text} "),), (text,), kept=False, ignored=False)
        diff = Diff((), (), (), (), (edited,), ({}, {}), {}, (0.0, 0.0), uncounted=False, causes={})
        (row,) = [line for line in diff_markdown(diff, text) if line.startswith("| needs a new run")]
        assert row.count("|") == 5
        words = (
            re.sub("`[^`]*`", "", row)
            .replace("<br>", "")
            .replace(" -> ", "")
            .replace("<code>", "")
            .replace("</code>", "")
        )
        assert not set("<[]`\\@\n") & set(words)


def test_what_will_run_is_drawn_as_text_whatever_it_is_called() -> None:
    for text in NASTY:
        view = json.loads((ROOT / "tests/lint/shown/mpi/expected/job.json").read_text("utf-8"))
        role = view["roles"][0]
        view |= {"name": text, "namespace": text, "queue": text, "exclusiveTopology": text, "held": text}
        role |= {"name": text, "hosts": [text], "addresses": text, "images": [text], "volumes": {text: text}}
        lines = overview_markdown(view)
        assert {line.count("|") for line in lines if line.startswith("|")} == {8}
        for line in lines:
            words = re.sub("`[^`]*`|</?code>", "", line)
            assert not set("<[]`\\@\n") & set(words), line
            assert "://" not in words


def test_no_variable_ends_the_block_that_it_is_in() -> None:
    container = {
        "kind": "container",
        "name": "](x",
        "image": "`|",
        "env": {"```": "````", "A": "``"},
        "command": ["```"],
    }
    pod = {"rank": 0, "host": "a`b", "role": "<b>", "job": 0, "index": 0, "address": "`", "containers": [container]}
    lines = pod_markdown(pod)
    fences = [line for line in lines if line.startswith("```") and "=" not in line]
    assert fences == ["`````sh", "`````"]
    assert lines[0] == "### rank 0: <code>a&#96;b</code>"
    assert "&#60;b>" in lines[2]
