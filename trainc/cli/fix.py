"""`trainc fix`: the edits that findings carry, as a diff or in place."""

from collections.abc import Iterable

from trainc.changes.compare.committed import refused_runs
from trainc.changes.compare.updates import IMMUTABLE_CHANGE
from trainc.changes.fix import fix
from trainc.cli.options import Options
from trainc.cli.output import tell
from trainc.cli.projects import across_projects
from trainc.cli.rewriting import show, texts, write
from trainc.cli.session import Session
from trainc.compiler import pipeline
from trainc.model.finding import ERROR, SAFE, UNSAFE, Finding
from trainc.model.report import Report
from trainc.model.settings import STDIN
from trainc.text.counting import counted
from trainc.text.line_diff import Replacement, differing_parts

_ROUNDS = 40  # a chain of edits, each of which shows the next mistake, is far shorter
_CHARACTERS = 1 << 20  # of one file in all rounds together: each reads and writes the whole of it


def run(options: Options) -> int:
    """Show the edits, or make them, and say how many findings still need a person."""
    return across_projects(options, _fix)


def _fix(options: Options) -> int:
    session = Session(options)
    repair = Repair(session, unsafe=options.has("unsafe"))
    for file, text in repair.after.items():
        before = repair.before[file]
        if options.has("write") and text != before:
            write(session.project.root, file, text)
        else:
            show(session, file, before, text)
    errors = sum(finding.level == ERROR for finding in repair.left)
    verb = "fixed" if options.has("write") else "could be fixed"
    if any(finding.rule is IMMUTABLE_CHANGE for finding in repair.left):
        tell("to apply an edit that a run cannot take, start a new run with `trainc fix --unsafe` or `trainc run JOB`")
    for (file, line), why in repair.obstacles.items():
        tell(f"{session.shown(file)}:{line}: trainc cannot edit this document: {why}")
    if repair.is_cut:
        tell("a file is too large to try every edit at once: run `trainc fix -w` again to continue")
    tell(f"{len(repair.applied)} {verb}, {counted(errors, 'error')} left to fix by hand")
    return 1 if errors else 0


class Repair:
    """The files of a session with the edits that hold: `before` and `after` by file, what is `applied` and what is `left`."""

    def __init__(self, session: Session, *, unsafe: bool) -> None:
        self._session = session
        self._safeties = {SAFE, UNSAFE} if unsafe else {SAFE}
        self._unsound: set[tuple[object, ...]] = set()  # findings whose edits a server would refuse
        self._singly: set[str] = set()  # files of which one edit at a time is tried
        self.before = dict(texts(session.project, session.selection))
        self.after = dict(self.before)
        self.applied: list[Finding] = []
        self.left = self._findings()
        self.is_cut = False  # whether edits of large files were left aside
        self.obstacles: dict[tuple[str, int], str] = {}  # where a document cannot be edited, and why
        self._edited_characters: dict[str, int] = {}
        for _ in range(_ROUNDS):
            if not self._advance():
                break

    def _findings(self) -> list[Finding]:
        session, report = self._session, self._session.new_report()
        pipeline.check(session.project, session.selection, report)
        bundles = pipeline.bundles(session.project, session.selection, Report(compiles=False))
        refused_runs(bundles, session.project, session.selection, report)
        return report.findings

    def _advance(self) -> bool:
        """Apply what can be applied together and look at the result; whether there was anything to apply."""
        texts_, applied = self._edited()
        if not (changed := {file: text for file, text in texts_.items() if text != self.after[file]}):
            return False
        self._show(changed)
        findings = self._findings()
        faulty = {file for file, text in changed.items() if self._is_faulty(file, text, findings)}
        if not faulty:
            self.after.update(changed)
            self.applied += [finding for file in changed for finding in applied[file]]
            self.left = findings
            return True
        self._show({file: self.after[file] for file in changed})
        for file in faulty:
            if file in self._singly:
                self._unsound.update(finding.identity() for finding in applied[file])
            self._singly.add(file)
        return True

    def _edited(self) -> tuple[dict[str, str], dict[str, tuple[Finding, ...]]]:
        about: dict[str, list[Finding]] = {}
        for finding in self.left:
            if finding.identity() not in self._unsound and all(edit.safety in self._safeties for edit in finding.fix):
                for file in dict.fromkeys(edit.file for edit in finding.fix):
                    about.setdefault(file, []).append(finding)
        texts_, applied = {}, {}
        for file, findings in about.items():
            if file not in self.after:
                continue
            size = len(self.after[file])
            self._edited_characters[file] = self._edited_characters.get(file, 0) + size
            if self._edited_characters[file] > max(_CHARACTERS, size):  # the first time it may be as large as it is
                self.is_cut = True
                continue
            chosen = findings[:1] if file in self._singly else findings
            done = fix(self.after[file], chosen, file, unsafe=UNSAFE in self._safeties)
            texts_[file], applied[file] = done.text, done.applied
            self.obstacles.update({(file, line): why for line, why in done.obstacles})
        return texts_, applied

    def _show(self, texts_: dict[str, str]) -> None:
        """Let runs of this session see these texts in the place of the files'."""
        for file, text in texts_.items():
            data = text.encode("utf-8", "surrogateescape")
            if file == STDIN:
                self._session.selection.stdin = data
            else:
                self._session.project.texts.replace(file, data)

    def _is_faulty(self, file: str, text: str, findings: Iterable[Finding]) -> bool:
        """Whether a server refuses what an edit wrote, or nobody can read the file any more."""
        known = {(finding.rule.name, finding.message) for finding in self.left}
        places = differing_parts(self.after[file], text)
        return any(
            finding.rule.unreadable or (finding.rule.verdict and any(_is_in(finding, place) for place in places))
            for finding in findings
            if finding.span.file == file and (finding.rule.name, finding.message) not in known
        )


def _is_in(finding: Finding, place: Replacement) -> bool:
    lines = place.text.split("\n")
    last = place.line + len(lines) - 1
    end = len(lines[-1]) + (place.column if len(lines) == 1 else 1)
    return (place.line, place.column) <= (finding.span.line, finding.span.column) < (last, end)
