"""What the compiler does with a job, line by line: it must not depend on the numbers that a form fills in.

A rule that treats two values of a class differently takes another branch for one of them, and is found by that, also
where neither of the two gives rise to a finding.
"""

import gc
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from random import Random
from types import FrameType
from typing import Any
from unittest.mock import patch

import trainc
from trainc.compiler import forms
from trainc.compiler.forms.places import TELLING
from trainc.compiler.forms.record import Trial
from trainc.compiler.forms.template import Layout, Template, Values, layout_of, parted
from trainc.text.memo import Memo

Step = tuple[str, int]

PACKAGE = os.path.dirname(trainc.__file__) + os.sep
OWN = PACKAGE + "forms" + os.sep  # the fast path itself, which looks at numbers for a living


class Traces:
    """Compiles jobs of each form that is learned, with numbers that nobody has seen, and compares every step."""

    def __init__(self, random: Random) -> None:
        self.compared = 0
        self.differences: list[str] = []
        self._random = random

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look at every form that is learned meanwhile."""
        with patch.object(forms, "learned", self._watched(forms.learned)):
            yield

    def _watched(self, learned: Any) -> Any:
        def watched(
            trial: Trial, layout: Layout, file: str, text: str, values: Values, *, whole_images: bool
        ) -> Template | None:
            template: Template | None = learned(trial, layout, file, text, values, whole_images=whole_images)
            if template is not None:
                [document] = [trial.document(file, text)]
                assert document is not None
                own = layout_of(document, text, whole_images=whole_images)
                assert own is not None
                self._compare(trial, own, file, values, template)
            return template

        return watched

    def _compare(self, trial: Trial, layout: Layout, file: str, values: Values, template: Template) -> None:
        """Compare the steps of jobs of a form; once in a while a memo table knows a part of one of them by chance."""
        self.compared += 1
        for _ in range(3):
            jobs = [job for _ in range(3) if (job := self._other(layout, values, template))]
            traces = [apart(trial, file, job) for job in jobs]
            if all(trace == traces[0] for trace in traces):
                return
        first, other = next((traces[0], trace) for trace in traces if trace != traces[0])
        at = next((at for at, pair in enumerate(zip(first, other, strict=False)) if pair[0] != pair[1]), 1)
        name, line = first[at - 1]
        self.differences.append(f"{file}: {name.removeprefix(PACKAGE)}:{line} asks for more than the class\n{jobs[0]}")

    def _other(self, layout: Layout, values: Values, template: Template) -> str:
        """A job of the same form and key with other values."""
        key = layout.key(parted(layout.text(values))[1], values)
        for _ in range(200):
            chosen: dict[str, str] = {}
            for value in sorted(set(values), key=len):
                inner = max((one for one in chosen if one[0] > "9" and one in value), key=len, default="")
                before, middle, after = value.partition(inner) if inner else (value, "", "")
                chosen[value] = self._like(before) + chosen.get(middle, "") + self._like(after)
            others = tuple([chosen[value] for value in values])
            text = layout.text(others)
            tails = parted(text)[1]
            is_like = layout.read(tails) == others and layout.key(tails, others) == key
            if is_like and not template.clashes(others) and not TELLING("\n".join(others)):
                return text
        return ""

    def _like(self, text: str) -> str:
        """Letters for letters and digits for digits, which no line before has held: nothing of them is in a memo table."""
        letters = [
            self._random.choice("bcdfghjkmpqrtvwxz")
            if letter.islower()
            else self._random.choice("123456789")
            if letter in "123456789"
            else letter
            for letter in text
        ]
        return "".join(letters)


@cache
def frozen_tables() -> list[Memo[Any, Any]]:
    """The memo tables that were there when the tests began; the collector does not list what is frozen."""
    gc.unfreeze()
    found = tables()
    gc.freeze()
    return found


def tables() -> list[Memo[Any, Any]]:
    return [one for one in gc.get_objects() if isinstance(one, Memo)]


def apart(trial: Trial, file: str, text: str) -> list[Step]:
    """The steps of a job in a process of its own: no memo table knows anything of another one."""
    with tempfile.TemporaryFile() as stream:
        known = [*frozen_tables(), *tables()]  # looked for here: a child that looks copies all memory
        process = os.fork()
        if process == 0:
            for table in known:
                table.clear()  # one that is nearly full is emptied at a step that hangs on what was asked before
            try:
                pickle.dump(steps(trial, file, text), stream)
                stream.flush()
            finally:
                os._exit(0)
        os.waitpid(process, 0)
        stream.seek(0)
        passed: list[Step] = pickle.load(stream)  # noqa: S301 (written by this very process)
        return passed


def steps(trial: Trial, file: str, text: str) -> list[Step]:
    """Every line of the compiler that one job passes, in order."""
    passed: list[Step] = []

    def local(frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            passed.append((frame.f_code.co_filename, frame.f_lineno))
        return local

    def called(frame: FrameType, _event: str, _: object) -> Any:
        name = frame.f_code.co_filename
        return local if name.startswith(PACKAGE) and not name.startswith(OWN) else None

    before = sys.gettrace()
    sys.settrace(called)
    try:
        trial.records(file, [text])
    finally:
        sys.settrace(before)
    return passed
