"""No word that trainc knows means anything where a form lets words vary."""

import ast
import random
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from benchmarks import tree
from tests.compiling import ROOT, compile_in
from trainc.compiler import forms
from trainc.compiler.forms.places import TELLING
from trainc.compiler.forms.record import Trial
from trainc.compiler.forms.template import Layout, Template, Values, layout_of, parted

pytestmark = pytest.mark.slow

SAMPLE = 1_500
JOBS = 24
# No value is a part of another one, so that each can be another word.
OTHERS = {
    "namespace: speech": "namespace: bravo",
    "team: speech": "team: charlie",
    "speech/train:0": "delta/echo:7",
    "--run-name=speech-00000": "--run-name=foxtrot",
    "value: speech": "value: golf",
    "speech-train": "hotel",
    "a100-a": "india",
}


def words() -> list[str]:
    """Every word in the texts of the program, by itself and as a part of another."""
    found: set[str] = set()
    for path in (ROOT / "trainc").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.update(re.findall("[a-z][a-z0-9]*(?:[-./_][a-z0-9]+)*", node.value.lower()[:200]))
    return [form for word in sorted(found) for form in (word, f"x-{word}", f"{word}-1")]


def test_a_word_that_trainc_knows_is_filled_in_as_it_would_be_compiled(tmp_path: Path) -> None:
    text = tree.job(0)[1]
    for old, new in OTHERS.items():
        assert old in text
        text = text.replace(old, new)
    tree.write(0, str(tmp_path))
    (tmp_path / "jobs").mkdir()
    for number in range(JOBS):
        (tmp_path / f"jobs/{number}.yaml").write_text(text.replace("speech-00000", f"alpha-{number}"), "utf-8")
    tried: list[str] = []
    wrong: list[str] = []
    learned = forms.learned

    def watched(trial: Trial, layout: Layout, file: str, text: str, values: Values, **more: Any) -> Template | None:
        template = learned(trial, layout, file, text, values, **more)
        document = trial.document(file, text)
        assert template is not None
        assert document is not None
        own = layout_of(document, text, whole_images=False)
        assert own is not None
        for word, changed in others(own, values, template):
            [record] = trial.records(file, [own.text(changed)])
            tried.append(word)
            if record is None or not template.is_like(record, changed):
                wrong.append(word)
        return template

    with patch.object(forms, "learned", watched):
        assert compile_in(tmp_path, "build", "jobs").code == 0
    assert len(tried) > SAMPLE // 4
    assert wrong == []


def others(layout: Layout, values: Values, template: Template) -> list[tuple[str, Values]]:
    """Values of the same form, with a word of the program in the place of one of them."""
    key = layout.key(parted(layout.text(values))[1], values)
    places = [at for at, value in enumerate(values) if value.isalpha()]
    chance = random.Random(8)  # noqa: S311 (words, no secrets)
    made = []
    for word in chance.sample(words(), SAMPLE):
        at = chance.choice(places)
        changed = (*values[:at], word, *values[at + 1 :])
        tails = parted(layout.text(changed))[1]
        is_like = layout.read(tails) == changed and layout.key(tails, changed) == key
        if is_like and not TELLING("\n".join(changed)) and not template.clashes(changed):
            made.append((word, changed))
    return made
