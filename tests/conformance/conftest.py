"""Says at the end of a run which recorded cases ran and which did not, and why."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.conformance import tally

if TYPE_CHECKING:
    import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not tally.ran and not tally.skipped:
        return
    terminalreporter.section("recorded cases")
    groups = sorted({*tally.ran, *(group for group, _ in tally.skipped)})
    for group in groups:
        passed, ran = tally.passed[group], tally.ran[group]
        skipped = {why: count for (of, why), count in tally.skipped.items() if of == group}
        reasons = "".join(f"; {count} skipped: {why}" for why, count in sorted(skipped.items()))
        terminalreporter.line(f"{group}: {passed} of {ran} passed{reasons}")
    totals = Counter(tally.ran).total(), Counter(tally.passed).total(), tally.skipped.total()
    terminalreporter.line(f"all: {totals[1]} of {totals[0]} passed, {totals[2]} skipped")
