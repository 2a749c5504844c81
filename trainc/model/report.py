"""The findings of one run, and what a project and its files have chosen not to hear."""

from collections.abc import Callable, Iterable
from typing import Self

from trainc.model.account import Account, Withheld
from trainc.model.document import Document
from trainc.model.document import Identity as DocumentIdentity
from trainc.model.finding import ERROR, WARNING, Finding, Label, Refusal, Rule
from trainc.model.rule_selection import RuleFilter, instead
from trainc.model.sourced import Span

Findings = dict[tuple[object, ...], Finding]
Identity = tuple[object, ...]

INTERNAL_ERROR = Rule("internal-error", ERROR, verdict=True)  # what trainc itself does wrong
UNUSED_ALLOW = Rule("unused-allow", WARNING)
ALLOW_WITHOUT_REASON = Rule("allow-without-reason", WARNING)
_AMBIGUOUS = "ambiguous-scalar"
# By the rule of a cause, the rules of what follows from it at the same place.
_FOLLOWS = {
    "claims-dropped": frozenset(("claim-not-used",)),
    "component-required": frozenset(("disruption-not-handled",)),
    "jobset-refused": frozenset(("pod-name-too-long",)),
    "mixed-accelerators": frozenset(("several-gpu-resources",)),
    "more-accelerators-than-machine": frozenset(("processes-mismatch", "slots-gpus-mismatch")),
    "processes-mismatch": frozenset(("slots-gpus-mismatch",)),
    "refused-by-webhook": frozenset(("pod-name-too-long",)),
    "request-not-limit": frozenset((
        "more-accelerators-than-machine", "network-cards-mismatch", "partial-node", "processes-mismatch",
        "request-over-limit", "slots-gpus-mismatch",
    )),
    "request-over-limit": frozenset(("processes-mismatch",)),
}  # fmt: skip


class Allow:
    """A comment `# trainc: allow[rule] reason`: it silences that rule on its own line and the next.

    The rule is empty where the comment names none; it silences nothing then.
    """

    __slots__ = ("borrowed", "reason", "rule", "span", "used")

    def __init__(self, rule: str, reason: str, span: Span) -> None:
        self.rule = rule
        self.reason = reason
        self.span = span
        self.used = False
        self.borrowed = False  # the run sees only a part of the jobs that it is for


class Answer:
    """What a server says to one document: nothing against it, or the stage that refuses (`by`) and its messages."""

    __slots__ = ("_known", "by", "kind", "messages", "name", "namespace", "span")

    def __init__(self, document: Document) -> None:
        self.kind = document.kind
        self.name = document.name
        self.namespace = document.namespace
        self.span = document.span(("metadata", "name"))
        self.by = ""
        self.messages: list[str] = []
        self._known: set[str] = set()  # the messages again: there may be thousands

    def refuse(self, refusal: Refusal) -> None:
        """Note one refusal; the first stage that refuses is the one that answers."""
        self.by = self.by or refusal.by
        if refusal.text not in self._known:
            self._known.add(refusal.text)
            self.messages.append(refusal.text)


def deduplicated(findings: Findings) -> Findings:
    """Findings without those that follow from another one, at one of its places."""
    explained: dict[str, set[Span]] = {}
    for finding in findings.values():
        if finding.refusal is not None:
            explained.setdefault(_AMBIGUOUS, set()).add(finding.span)
        for rule in _FOLLOWS.get(finding.rule.name, ()):
            explained.setdefault(rule, set()).update(label.span for label in finding.labels)
    if not explained:
        return findings
    kept = {}
    for identity, finding in findings.items():
        places = explained.get(finding.rule.name, ())
        labels = finding.labels[:1] if finding.rule.name == _AMBIGUOUS else finding.labels
        if not any(label.span in places for label in labels):
            kept[identity] = finding
    return kept


class Report:
    """Collects the findings of a run; stages add to it, the command line alone reads it."""

    def __init__(
        self,
        *,
        admission_only: bool = False,
        compiles: bool = True,
        recording: bool = False,
        level_of: Callable[[str, str], str] | None = None,
        choice: RuleFilter | None = None,
    ) -> None:
        self.admission_only = admission_only
        self.compiles = compiles  # whether its output is meant to be applied: another run only judges
        # What was found, skipped (the reason) or suppressed (None), each with the file and the job that it was met in.
        self.remarks: list[tuple[str, str, Finding | str | None]] = []
        self.recording = recording  # whether the server's answer to every document is kept
        self.answers: dict[tuple[str, str, Span], Answer] = {}
        self._answer: Answer | None = None
        self.unknown: dict[str, int] = {}  # by reason, checks that were skipped as a value cannot be known here
        self.job = ""  # that findings are met in just now
        self.file = ""  # that is looked at just now
        self.switched_on: dict[str, Label] = {}  # files of the components that the job itself switches on, and where
        self.met: list[Finding] | None = None  # what is added from now on, where somebody wants to know
        self.reached: dict[tuple[object, ...], set[str]] = {}  # by finding, the jobs that it was met in
        self._findings: dict[tuple[object, ...], Finding] = {}
        self._allows: dict[tuple[str, int], list[Allow]] = {}
        self._level_of = level_of  # what the project wants for a rule at a place: off, warning, error, "" for its own
        self._choice = choice  # the rules that this call turns off
        self._broke = False  # whether trainc made a mistake of its own in what is left out here
        self._lost = False  # whether an error of no job stands, which may hide what a comment is there for
        self.account = Account()  # what became of each job
        self.reached_runtimes: set[DocumentIdentity] = set()  # those that its jobs are made of
        self.alone: set[DocumentIdentity] = set()  # those that were looked at without a job

    def begin(self, document: Document) -> None:
        """The document that findings are met in from now on."""
        self.job, self.file = document.name, document.file
        self.switched_on = {}
        if self.recording:
            self.looking_at(document)

    def looking_at(self, document: Document) -> Answer | None:
        """The document that a server judges from now on; gives what `back_to` takes."""
        before = self._answer
        if self.recording:
            answer = Answer(document)
            self._answer = self.answers.setdefault((answer.kind, answer.name, answer.span), answer)
        return before

    def answered(self, by: str, messages: Iterable[str]) -> None:
        """What the server says in the end to the document that it judges, word for word."""
        if self._answer is not None:
            self._answer.by = by
            self._answer.messages = list(messages)

    def back_to(self, before: Answer | None) -> None:
        """The document that was judged before."""
        self._answer = before

    def end(self) -> None:
        """No job any more: what follows concerns the whole run."""
        self.job = self.file = ""
        self.switched_on = {}
        self.account.current = None
        self._answer = None

    def allow(self, comments: Iterable[Allow], *, borrowed: bool = False) -> None:
        """Heed the `allow` comments of a file, once; a borrowed file's may silence something in jobs of other runs."""
        for comment in comments:
            self.remarks.append((comment.span.file, "", None))
            known = self._allows.setdefault((comment.span.file, comment.span.line), [])
            same = next((other for other in known if other.rule == comment.rule), None)
            if same is None:
                comment.borrowed = borrowed
                known.append(comment)
            elif not borrowed:
                same.borrowed = False

    def add(self, finding: Finding) -> None:
        """Keep a finding, once, unless it is silenced; remember which job met it."""
        self.remarks.append((self.file, self.job, None))
        if self.switched_on and finding.span.file in self.switched_on:
            finding = finding._replace(labels=(self.switched_on[finding.span.file], *finding.labels))
        if self.admission_only and not finding.rule.admission:
            self.account.withhold(Withheld(finding))
            return
        if not finding.rule.verdict:
            if (weaker := self._weakened(finding)) is None:
                return
            finding = weaker
        elif self._allows and (comments := self._comments(finding)):
            text = "this comment cannot suppress it: the API server rejects the object"
            finding = finding.restored(finding.level, tuple(Label(one.span, text) for one in comments))
        if self._answer is not None and finding.refusal is not None and finding.level == ERROR:
            self._answer.refuse(finding.refusal)
        identity = finding.identity()
        self._findings.setdefault(identity, finding)
        self.remarks[-1] = (self.file, self.job, finding)
        if self.met is not None:
            self.met.append(finding)
        if finding.level == ERROR:
            self.account.stand(finding)
        if not self.job:
            self._lost = self._lost or (finding.level == ERROR and finding.rule.admission)
        else:
            self.reached.setdefault(identity, set()).add(self.job)

    def add_all(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self.add(finding)

    def _weakened(self, finding: Finding) -> Finding | None:
        """The finding at the level that comments and the project leave it, None where they silence it."""
        comments = self._comments(finding) if self._allows else ()
        level = self._level_of(finding.rule.name, finding.span.file) if self._level_of else ""
        option = self._choice.option_against(finding.rule.name) if self._choice else ""
        level = "off" if option else level
        weaker = finding._replace(level=level) if level not in ("", "off", finding.level) else finding
        if not comments and weaker.level == ERROR and level != "off":
            return weaker
        withheld = Withheld(finding, tuple([comment.span for comment in comments]), level, option)
        if finding.rule.unreadable and (comments or level):
            return withheld.restored(finding.level)
        self.account.withhold(withheld)
        return None if comments or level == "off" else weaker

    def _comments(self, finding: Finding) -> list[Allow]:
        """The `allow` comments, with a reason, that are there for a finding; they count as used."""
        comments = []
        for label in finding.labels:
            for line in (label.span.line, label.span.line - 1):
                for comment in self._allows.get((label.span.file, line), ()):
                    if comment.rule == finding.rule.name and comment.reason:
                        comment.used = True
                        comments.append(comment)
        return comments

    def skip(self, reason: str) -> None:
        """Count a check that could not be made: unknown is not wrong."""
        self.remarks.append((self.file, self.job, reason))
        self.unknown[reason] = self.unknown.get(reason, 0) + 1

    def add_or_skip(self, finding: Finding) -> None:
        """Add what stops a compilation because a value is not known yet; a run that only judges counts it."""
        if self.compiles:
            self.add(finding)
        else:
            self.skip(finding.message)

    def reach(self, runtime: Document | None) -> None:
        """A job was looked at with this runtime, and with those that it inherits from."""
        for document in runtime.sources if runtime is not None else ():
            self.reached_runtimes.add(document.identity)

    def absorb(self, other: Self) -> None:
        self.reached_runtimes |= other.reached_runtimes
        self.remarks += other.remarks
        for identity, finding in other._findings.items():
            self._findings.setdefault(identity, finding)
        for identity, jobs in other.reached.items():
            self.reached.setdefault(identity, set()).update(jobs)
        self._lost = self._lost or other._lost
        self.account.absorb(other.account)
        for reason, count in other.unknown.items():
            self.unknown[reason] = self.unknown.get(reason, 0) + count
        for comments in other._allows.values():
            self.allow(comments)
            for comment in comments:
                for known in self._allows[comment.span.file, comment.span.line]:
                    known.used = known.used or (comment.used and known.rule == comment.rule)

    def only(self, is_wanted: Callable[[Finding], bool]) -> "Report":
        """A report with those of the findings alone that are wanted."""
        kept = Report()
        kept._findings = {identity: finding for identity, finding in self._findings.items() if is_wanted(finding)}
        kept.reached, kept.unknown, kept.alone = self.reached, self.unknown, self.alone
        kept.account = self.account
        kept._broke = self.broke
        return kept

    def portable(self) -> "Report":
        """This report without what cannot leave its process."""
        one = Report(admission_only=self.admission_only)
        one.unknown, one.reached = self.unknown, self.reached
        one.remarks = self.remarks
        one._findings, one._allows, one._lost = self._findings, self._allows, self._lost
        one.account, one.reached_runtimes = self.account, self.reached_runtimes
        return one

    def close(self) -> None:
        """Close the account, and say which `allow` comments are of no use; called once, at the end.

        With `--only admission` a run that only judges does not fail for what trainc alone cannot do.
        """
        if self._findings:
            self._findings = deduplicated(self._findings)
        lost = self._lost or bool(self.account.refusals)
        for finding in self.account.close(judged_only=self.admission_only and not self.compiles):
            self._findings[finding.identity()] = finding
        for comments in list(self._allows.values()):
            for comment in comments:
                if not comment.rule:
                    hint = "write `# trainc: allow[RULE] the reason`, with the rule of the finding"
                    self.add(UNUSED_ALLOW.at(comment.span, "an `allow` without a rule suppresses nothing", help=hint))
                elif not comment.reason:
                    text = f"`allow[{comment.rule}]` gives no reason, so it suppresses nothing"
                    hint = "add the reason after the bracket, on the same line"
                    self.add(ALLOW_WITHOUT_REASON.at(comment.span, text, help=hint))
                elif not (comment.used or comment.borrowed or lost or self.admission_only):
                    text = f"`allow[{comment.rule}]` suppresses nothing"
                    self.add(UNUSED_ALLOW.at(comment.span, text, help=instead(comment.rule)))

    @property
    def comments(self) -> list[Allow]:
        return [comment for comments in self._allows.values() for comment in comments]

    @property
    def commented_files(self) -> set[str]:
        return {file for file, _ in self._allows}

    @property
    def findings(self) -> list[Finding]:
        """All findings, sorted by file, line, column and rule."""
        return sorted(self._findings.values(), key=lambda f: (f.span, f.rule.name, f.message))

    @property
    def failed(self) -> bool:
        return any(f.level == ERROR for f in self._findings.values())

    @property
    def broke(self) -> bool:
        """Whether a mistake in trainc kept something from being judged; the run ends with the exit code of a bug."""
        return self._broke or any(f.rule.name == INTERNAL_ERROR.name for f in self._findings.values())

    def count(self, level: str) -> int:
        return sum(1 for f in self._findings.values() if f.level == level)

    def jobs_reached(self, finding: Finding) -> int:
        return len(self.reached.get(finding.identity(), ()))
