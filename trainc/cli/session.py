"""One run of the compiler from the command line: project and selection in, findings and a verdict out."""

import os
import sys
from dataclasses import replace

from trainc.cli.cache import opened
from trainc.cli.findings import print_findings, print_summary, read_baseline, surplus, without_baseline, written
from trainc.cli.options import Options
from trainc.cli.output import Progress, data, data_beside
from trainc.cli.process import BUG, RUNS
from trainc.compiler.load.beside import with_jobs
from trainc.compiler.project import open_project
from trainc.model.finding import WARNING
from trainc.model.report import Report
from trainc.model.rule_selection import choice_of
from trainc.model.settings import SPARSE_GAP, STDIN, Checks, Project, Selection
from trainc.text.files import is_sparse, ordinary_contents
from trainc.text.spelling import meant
from trainc.text.trouble import Inapplicable, Reaching, Trouble
from trainc.yaml.reader import LIMIT

RENDERED = "rendered"  # `--only rendered`: the rendered files, not what is wrong with jobs
WORK_TREE = "work_tree"  # an option that `--staged` sets: the folder that the staged files stand for
_MAX_BYTES = 4 * LIMIT  # bytes: kubectl's JSON of a large cluster


class Session:
    """What a run works on, and how it reports; `compiles` says whether its output is meant to be applied.

    Its project does not start above the folder `top`. Without `has_cache` nothing is read that an earlier run kept. Paths
    that are not there, or belong to different projects, are Trouble.
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
        self.is_told = False  # whether its findings have been printed
        opening = Report()
        settings = {}
        if options.has("set"):
            from trainc.compiler.project.assignments import assigned  # noqa: PLC0415 (only where asked for)

            settings = assigned(options.all("set"))
        cache = opened if has_cache and not options.has("no_cache") else None
        project = open_project(tuple(on_disk) or (".",), opening, settings, cache, top)
        checks = Checks(
            options.one("field_validation", "strict"),
            admission_only=options.one("only") == "admission",
            closed_world=options.has("closed_world"),
            pod_security=options.one("pod_security"),
        )
        self.project: Project = _with_gap(project.checked(checks))
        self._opening = opening.findings
        self.baseline = {} if options.has("write_baseline") else read_baseline(self.project.root)
        self.report = self.new_report()
        known = [cluster.name for cluster in self.project.clusters if cluster.name]
        for name in options.all("cluster"):
            if name not in known:
                hint = meant(name, known)
                listed = f"clusters of this project: {', '.join(known) or 'none'}"
                raise Inapplicable(f"unknown cluster `{name}`; {hint and f'{hint} '}{listed}")
        self.selection = Selection(
            with_jobs(self.project, tuple(self.inside(path) for path in on_disk)),
            stdin=self.stdin,
            include_other=options.has("include_other"),
            clusters=tuple(options.all("cluster")),
            progress=Progress(sys.stderr) if sys.stderr.isatty() else None,
        )
        RUNS.append(self)

    def new_report(self) -> Report:
        """A report of a run from its start, with what opening the project found."""
        chosen, ignored = self.options.all("select"), self.options.all("ignore")
        is_open = bool(self.project.rules_from)
        report = Report(
            admission_only=self.project.checks.admission_only,
            compiles=self._compiles,
            recording=self.options.one("report") == "json",
            level_of=self.project.level_of,
            choice=choice_of(chosen, ignored, is_open=is_open) if chosen or ignored else None,
        )
        report.add_all(self._opening)
        return report

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
        if file in self._texts:
            return self._texts[file]
        path = os.path.join(self.project.root, file)
        if file.startswith("trainc:"):
            from trainc.compiler.load.shipped import SHIPPED, catalogue  # noqa: PLC0415 (only where a shipped runtime is at fault)

            path = os.path.join(catalogue(), file.removeprefix(SHIPPED))
        try:
            data = ordinary_contents(path) if file != STDIN else self.stdin or b""
        except OSError:
            data = b""
        lines = self._texts[file] = data.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
        return lines

    def applied_twice(self, folder: str) -> None:
        """Look for GitOps applications of this repository that apply jobs as they are, besides what they compile to."""
        from trainc.changes.compare.applications import report_applications  # noqa: PLC0415 (not for one file)

        report_applications(self.project, self.selection.paths, self.report, folder)

    @property
    def broke(self) -> bool:
        """Whether a mistake in trainc kept something from being judged."""
        return self.report.broke

    def tell_findings(self) -> None:
        """Print the findings as text, unless the run has come to its end."""
        if not self.is_told:
            self.is_told = True
            print_findings(self.report, self.options, self.lines, self.shown, self.link)

    def verdict(self) -> int:
        """The exit code that the findings ask for."""
        self.is_told = True  # who asks for the code has printed the findings
        if self.report.broke:
            return BUG
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
        gone = surplus(self.baseline, self.report) if self.selection.paths == (".",) else 0
        self.report, accepted = without_baseline(self.report, self.baseline, compiles=self._compiles)
        form = self.options.one("report", "text")
        if form in ("text", "markdown", "mermaid", "html"):  # forms of answers; findings beside them are text
            print_findings(self.report, self.options, self.lines, self.shown, self.link)
            if sums and not self.options.has("quiet"):
                print_summary(self.report, self.options, jobs, accepted, gone)
        else:
            # All of it before the first part goes out: a program reads it whole, or the text of what broke.
            for part in list(written(form, self.report, self.shown, self.lines)):
                (data_beside if streams else data)(part)
        return self.verdict()


def standard_input() -> bytes:
    """The bytes of standard input; Trouble where they are more than the largest file may have."""
    with Reaching("standard input"):
        data = sys.stdin.buffer.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise Trouble(f"standard input is larger than {LIMIT >> 20} MiB")
    return data


def source_name(path: str) -> str:
    """What people call the source: `-` is standard input."""
    return "standard input" if path == "-" else path


def dump_contents(path: str) -> bytes:
    """The bytes of one dump, which is an ordinary file; of one that is too large no more is read than shows that it is."""
    name = source_name(path)
    with Reaching(name):
        content = sys.stdin.buffer.read(_MAX_BYTES + 1) if path == "-" else ordinary_contents(path, _MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise Trouble(f"{name} is larger than {_MAX_BYTES >> 20} MiB; narrow it with -n or -l")
    return content


def _with_gap(project: Project) -> Project:
    """The project, which knows that runtimes may be missing where a sparse checkout leaves some out."""
    if not is_sparse(project.root):
        return project
    from trainc.changes.git.work_tree import absent_files  # noqa: PLC0415 (Git is asked only where a checkout is sparse)

    folders = project.runtimes or ("runtimes",)
    absent = absent_files(project.root)
    is_short = any(f"/{folder}/" in f"/{path}" for path in absent for folder in folders)
    return replace(project, gap=SPARSE_GAP) if is_short else project
