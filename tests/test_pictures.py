"""The pictures of the README show what trainc prints today, and the diagrams are those of docs/diagrams.py."""

import html
import re
import runpy

from tests.compiling import ROOT


def test_the_finding_is_the_one_that_validate_prints() -> None:
    picture = (ROOT / "docs/images/finding.svg").read_text("utf-8")
    shown = "\n".join(html.unescape(line) for line in re.findall(r"<text[^>]*>([^<]*)</text>", picture))
    printed = runpy.run_path(str(ROOT / "docs/pictures.py"))["finding"]()
    words = re.sub(r"\x1b\[[0-9;]*m", "", printed).split()
    assert words[:3] == ["error[nodes-mismatch]:", "`torchrun`", "expects"]
    assert "".join(words) in "".join(shown.split()), "run python docs/pictures.py"


def test_the_diagrams_are_drawn_from_their_source() -> None:
    module = runpy.run_path(str(ROOT / "docs/diagrams.py"))
    for name, diagram in module["DIAGRAMS"].items():
        drawn = (ROOT / f"docs/images/{name}.svg").read_text("utf-8")
        assert drawn == module["drawn"](diagram), "run python docs/diagrams.py"
