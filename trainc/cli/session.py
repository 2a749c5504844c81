"""One run of the compiler from the command line: project and selection in, findings and a verdict out."""

from __future__ import annotations

import os
import sys

from trainc.cli.findings import Baseline, Files, print_findings, read_baseline, tell_of_baseline, written
from trainc.cli.options import Options
from trainc.cli.output import Progress, data, data_beside
from trainc.compiler.load.beside import with_jobs
from trainc.compiler.project import open_project
from trainc.model.finding import WARNING
from trainc.model.report import Report
from trainc.model.rule_selection import RuleFilter
from trainc.model.settings import STDIN, Checks, Project, Selection
from trainc.text.files import ordinary_contents
from trainc.text.record import Any
from trainc.text.spelling import nearest
from trainc.text.trouble import Inapplicable, Reaching, Trouble
from trainc.yaml.reader import LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cli.cache import FileCache

RENDERED = "rendered"  # `--only rendered`: the rendered files, not what is wrong with jobs
WORK_TREE = "work_tree"  # an option that `--staged` sets: the folder that the staged files stand for


def user_cache() -> FileCache | None:
    """The cache of this user, None where there is no place for it."""
    from trainc.cli.cache import opened  # noqa: PLC0415 (only where a cluster shows its definitions)

    return opened()


class Session:
    """What a run works on, and how it reports; `compiles` says whether its output is meant to be applied.

    Its project does not start above the folder `top`. Without `has_cache` nothing is read that an earlier run kept.

    Raises:
        Trouble: for paths that are not there or belong to different projects.
    """

    def __init__(self, options: Options, top: str = "", *, compiles: bool = True, has_cache: bool = True) -> None:
        self.options = options
        paths = options.arguments or ["."]
        self.stdin = standard_input() if "-" in paths else None
        on_disk = [path for path in paths if path != "-"]
        for path in on_disk:
            if not os.path.lexists(path):
                raise Trouble(f"{path}: no such file or directory")
        if options.one("only") == RENDERED and not options.has("check"):
            raise Trouble("--only rendered requires build --check")
        self._texts: dict[str, list[str]] = {}
        self._shown: dict[str, str] = {}
        self._compiles = compiles
        opening = Report()
        cache = user_cache if has_cache and not options.has("no_cache") else None
        project = open_project(tuple(on_disk) or (".",), opening, _settings(options), cache, top)
        self.project: Project = project.checked(_checks(options))
        self._opening = opening.findings
        self.baseline = Baseline({}) if options.has("write_baseline") else read_baseline(self.project.root)
        self.report = self.new_report()
        self.selection = Selection(
            with_jobs(self.project, tuple(self.inside(path) for path in on_disk)),
            stdin=self.stdin,
            include_other=options.has("include_other"),
            clusters=self._clusters(),
            progress=_progress(),
        )

    def new_report(self) -> Report:
        """A report of a run from its start, with what opening the project found."""
        options = self.options
        report = Report(
            admission_only=self.project.checks.admission_only,
            compiles=self._compiles,
            recording=options.one("report") == "json",
            level_of=self.project.level_of,
            choice=_choice(options, is_open=bool(self.project.rules_from)),
        )
        for finding in self._opening:
            report.add(finding)
        return report

    def _clusters(self) -> tuple[str, ...]:
        """The clusters asked for."""
        known = [cluster.name for cluster in self.project.clusters if cluster.name]
        for name in self.options.all("cluster"):
            if name not in known:
                near = nearest(name, known)
                hint = f"did you mean `{near}`? " if near else ""
                listed = f"{hint}clusters of this project: {', '.join(known) or 'none'}"
                raise Inapplicable(f"unknown cluster `{name}`; {listed}")
        return tuple(self.options.all("cluster"))

    def inside(self, path: str) -> str:
        """The name of a path below the project's root."""
        return os.path.relpath(os.path.abspath(path), self.project.root).replace(os.sep, "/")

    def shown(self, file: str) -> str:
        """A file's name as the user can open it from here."""
        if file == STDIN or file.startswith("trainc:"):
            return file
        if file not in self._shown:
            self._shown[file] = os.path.relpath(os.path.join(self.project.root, file)).replace(os.sep, "/")
        return self._shown[file]

    def link(self, file: str) -> str:
        """The address of a file for a terminal that shows links, empty for what is in no file."""
        if file == STDIN or file.startswith("trainc:"):
            return ""
        from socket import gethostname  # noqa: PLC0415 (few terminals show links)
        from urllib.parse import quote  # noqa: PLC0415

        path = os.path.abspath(os.path.join(self.project.root, file)).encode("utf-8", "surrogateescape")
        return f"file://{quote(gethostname())}{quote(path)}"

    def lines(self, file: str) -> list[str]:
        """The lines of a file, for showing the place of a finding."""
        if file not in self._texts:
            self._texts[file] = self._read(file).decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
        return self._texts[file]

    def _read(self, file: str) -> bytes:
        if file == STDIN:
            return self.stdin or b""
        if file.startswith("trainc:"):
            from trainc.compiler.load.shipped import SHIPPED, catalogue  # noqa: PLC0415 (only where a shipped runtime is at fault)

            path = os.path.join(catalogue(), file.removeprefix(SHIPPED))
        else:
            path = os.path.join(self.project.root, file)
        try:
            return ordinary_contents(path)
        except OSError:
            return b""

    def applied_twice(self, folder: str) -> None:
        """Look for GitOps applications of this repository that apply jobs as they are, besides what they compile to."""
        from trainc.changes.compare.applications import report_applications  # noqa: PLC0415 (not for one file)

        report_applications(self.project, self.selection.paths, self.report, folder)

    def verdict(self) -> int:
        """The exit code that the findings ask for."""
        if self.report.failed:
            return 1
        strict = self.options.one("fail_on")
        if strict == "skipped" and self.report.unknown:
            return 1
        return 1 if strict in ("warning", "skipped") and self.report.count(WARNING) else 0

    def finish(self, jobs: int | None = None, *, streams: bool = False, sums: bool = True) -> int:
        """Print the findings and, with `sums`, the summary, which counts jobs for a run that is about jobs; the exit code.

        Text goes to standard error; what machines read goes to standard output, unless manifests went there.
        """
        surplus = self.baseline.surplus(self.report) if self.selection.paths == (".",) else 0
        self.report, accepted = self.baseline.applied(self.report, compiles=self._compiles)
        form = self.options.one("report", "text")
        if form == "text":
            files = Files(self.lines, self.shown, self.link)
            print_findings(self.report, self.options, files, jobs, sums=sums)
            if sums and not self.options.has("quiet"):
                tell_of_baseline(accepted, surplus)
        else:
            for part in written(form, self.report, self.shown, self.lines):
                (data_beside if streams else data)(part)
        return self.verdict()


def _progress() -> Progress | None:
    if not sys.stderr.isatty():
        return None
    from trainc.cli.output import Progress  # noqa: PLC0415 (a pipe shows none)

    return Progress(sys.stderr)


def _checks(options: Options) -> Checks:
    return Checks(
        options.one("field_validation", "strict"),
        admission_only=options.one("only") == "admission",
        closed_world=options.has("closed_world"),
        pod_security=options.one("pod_security"),
    )


def _settings(options: Options) -> dict[str, Any]:
    if not options.has("set"):
        return {}
    from trainc.compiler.project.assignments import assigned  # noqa: PLC0415 (only where asked for)

    return assigned(options.all("set"))


def _choice(options: Options, *, is_open: bool) -> RuleFilter | None:
    if not (options.has("select") or options.has("ignore")):
        return None
    from trainc.model.rule_selection import choice_of  # noqa: PLC0415 (only where asked for)

    return choice_of(options.all("select"), options.all("ignore"), is_open=is_open)


def standard_input() -> bytes:
    """The bytes of standard input, up to the size of the largest file.

    Raises:
        Trouble: where it cannot be read or holds more.
    """
    with Reaching("standard input"):
        data = sys.stdin.buffer.read(LIMIT + 1)
        if len(data) > LIMIT:
            raise Trouble(f"standard input is larger than {LIMIT >> 20} MiB")
        return data


_MAX_BYTES = 4 * LIMIT  # bytes: kubectl's JSON of a large cluster


def source_name(path: str) -> str:
    """What people call the source: `-` is standard input."""
    return "standard input" if path == "-" else path


def dump_contents(path: str) -> bytes:
    """The bytes of one dump; of a larger one no more is read than shows that it is.

    Raises:
        Trouble: for what cannot be read, is not an ordinary file, or is larger.
    """
    name = source_name(path)
    with Reaching(name):
        content = sys.stdin.buffer.read(_MAX_BYTES + 1) if path == "-" else ordinary_contents(path, _MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise Trouble(f"{name} is larger than {_MAX_BYTES >> 20} MiB; narrow it with -n or -l")
    return content
