"""A project compiled with forms and without: everything that a run says, counts and writes has to be the same."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from unittest.mock import patch

from tests.compiler.forms.variants import variants
from tests.compiling import Run, compile_in
from trainc.compiler.forms import Forms
from trainc.compiler.forms.template import Template

FEWEST_FILES = 20  # for which forms are looked for here; a real run needs more for them to pay
_KIND = re.compile("^kind: *[A-Za-z]*Job(Set)?$", re.MULTILINE)


class Comparison:
    """How many jobs were compared, how many of them a form filled in, and what differed."""

    def __init__(self) -> None:
        self.jobs = 0
        self.filled = 0
        self.differences: list[str] = []

    def __str__(self) -> str:
        return f"{self.jobs} jobs, {self.filled} filled in, {len(self.differences)} differences"

    def compare(self, place: Path, argv: list[str], label: str) -> None:
        """Run a command with forms and without, and note where the two differ."""
        with patch.object(Forms, "template", self._counted(Forms.template)):
            on = _outcome(place, argv)
        off = _outcome(place, [*argv, "--no-forms"])
        self.jobs += int(off["jobs"])  # type: ignore[call-overload]
        for name, expected in off.items():
            if on[name] != expected:
                self.differences.append(f"{label}: {name} differs with {' '.join(argv)}")

    def _counted(self, template: object) -> object:
        def counted(forms: Forms, file: str, text: str, place: str) -> tuple[Template, list[str]] | None:
            found: tuple[Template, list[str]] | None = template(forms, file, text, place)  # type: ignore[operator]
            self.filled += found is not None
            return found

        return counted


def _outcome(place: Path, argv: list[str]) -> dict[str, object]:
    """Everything that a run leaves behind, by name."""
    for folder in list(place.rglob("rendered")):
        shutil.rmtree(folder)
    run = compile_in(place, *argv)
    report = run.report
    files = {str(path.relative_to(place)): path.read_bytes() for path in sorted(place.glob("**/rendered/**/*.yaml"))}
    return {
        "exit code": run.code,
        "standard output": run.out,
        "standard error": run.err,
        "files": files,
        "findings": _findings(run),
        "reached": sorted((str(one), len(jobs)) for one, jobs in report.reached.items()) if report else [],
        "unknown": report.unknown if report else {},
        "totals": report.account.totals() if report else {},
        "jobs": sum(report.account.totals().values()) if report else 0,
    }


def _findings(run: Run) -> list[tuple[object, ...]]:
    return [
        (one.rule.name, one.level, one.message, [(x.span, x.text) for x in one.labels], one.effect, one.help, one.notes)
        for one in run.findings
    ]


def planted(source: Path, place: Path, count: int, random: Random) -> bool:
    """A copy of a folder in which each job has a file of its own, beside variants of itself; whether there is any."""
    shutil.copytree(source, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("output", "expected", "rendered"))
    found = False
    for path, jobs, others in list(_job_files(place)):
        path.write_text("---\n".join(others), "utf-8") if others else path.unlink()
        for index, job in enumerate(jobs):
            for number, text in enumerate(variants(job, path.name, count, random)):
                found = True
                path.with_name(f"{path.stem}-v{index}-{number}.yaml").write_text(text, "utf-8")
    return found


def _job_files(place: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Files with jobs: the documents that are jobs, and all others."""
    for path in sorted(place.rglob("*.y*ml")):
        try:
            text = path.read_text("utf-8")
        except (UnicodeDecodeError, OSError):
            continue
        documents = re.split(r"^---\s*\n", text, flags=re.MULTILINE)
        jobs = [one for one in documents if _KIND.search(one)]
        if jobs and len(text) < 20_000:
            yield path, jobs, [one for one in documents if one not in jobs and one.strip()]
