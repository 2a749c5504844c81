"""Random trees of jobs under random comments, levels and options: `python -m tests.random_trees RUNS SEED`.

Each run is the whole program, `build -w` in a folder of its own or `validate`. Its law: jobs in = compiled + refused +
left to others, by the account and by an own count of what was written into the tree; a run that succeeds compiles or
leaves all of them. The rendered folder holds earlier renderings, also such as nobody may remove: after a run that
succeeds exactly the compiled jobs and those kept on purpose; a run that fails leaves every byte as it was.
"""

import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.compiling import Run, compile_in
from tests.repository import RUNTIME, write
from trainc.compiler.emit import path_of
from trainc.compiler.emit.digest import body_digest
from trainc.compiler.header import Header

RULES = (
    "generated-name",
    "missing-runtime",
    "no-replicas",
    "not-a-number",
    "removed-kind",
    "restart-always",
    "too-many-pods",
    "unbound-job",
    "unknown-cluster",
    "unknown-framework",
    "unknown-kind",
    "unknown-parameter",
    "unsupported-version",
    "yaml-key",
    "yaml-syntax",
    "yaml-tag",
)
_HEAD = "trainer.kubeflow.org/v1alpha1", "TrainJob"
# By kind of mistake: API, kind, and the lines below `spec:`; the first is the job that is right.
JOBS = (
    (*_HEAD, "  runtimeRef: {name: torch}\n"),
    (*_HEAD, "  runtimeRef: {name: torch}\n  trainer: {numNodes: 3}\n"),
    (*_HEAD, "  runtimeRef: {name: gone}\n"),
    (*_HEAD, "  runtimeRef: {name: odd}\n"),
    (*_HEAD, "  runtimeRef: {name: torch}\n  trainer: {numNodes: .inf}\n"),
    (*_HEAD, "  runtimeRef: {name: torch}\n  trainer: {numNodes: !many 2}\n"),
    (*_HEAD, "  runtimeRef: {name: torch}\n  trainer: {numNodes: 2\n"),
    (*_HEAD, "  runtimeRef: {name: torch}\n  ? [a]\n  : 1\n"),
    ("trainer.kubeflow.com/v1alpha1", "TrainJob", "  runtimeRef: {name: torch}\n"),
    ("trainer.kubeflow.org/v1alpha1", "Trainjob", "  runtimeRef: {name: torch}\n"),
    ("kubeflow.org/v1", "PytorchJob", "  pytorchReplicaSpecs: {}\n"),
    ("kubeflow.org/v1", "MXJob", "  mxReplicaSpecs: {}\n"),
    ("kubeflow.org/v9", "PyTorchJob", "  pytorchReplicaSpecs: {}\n"),
    ("kubeflow.org/v1", "PyTorchJob", "  pytorchReplicaSpecs: {Worker: {restartPolicy: %s, template: %s}}\n"),
    ("jobset.x-k8s.io/v1alpha2", "JobSet", "  replicatedJobs: [{name: w, template: {spec: {template: %.0s%s}}}]\n"),
    ("jobset.x-k8s.io/v1alpha2", "JobSet", "  replicatedJobs: [{name: w, template: {spec: {template: {}}}}]\n"),
    (*_HEAD, "  runtimeRef: {name: torch}\n  trainer: {args: ['\x07']}\n"),
    (*_HEAD, "<<<<<<< ours\n  runtimeRef: {name: torch}\n"),
    (*_HEAD, "  runtimeRef: {name: torch}\n  trainer: {args: *nowhere}\n"),
    (*_HEAD, "  runtimeRef: {name: ${RUNTIME}}\n  trainer: {numNodes: ${N}}\n"),
    ("batch.volcano.sh/v1alpha1", "Job", "  minAvailable: 3\n"),
    ("batch.volcano.sh/v1alpha1", "Queue", "  weight: 3\n"),
)
_POD = "{spec: {containers: [{name: pytorch, image: registry.example/train:1, command: [python, train.py]}]}}"
ODD = (
    RUNTIME.replace("name: torch\n", "name: odd\n", 1)
    .replace("framework: torch", "framework: nobody")
    .replace("    torch: {}\n", "")
)
UNREADABLE = (*range(4, 8), *range(16, 19))  # of JOBS: what gives no document
FOREIGN = (21,)  # of JOBS: what is not a job of ours
KEPT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept}\n"


class Tree:
    """One random project: its files, and how many documents of it are jobs or were meant as one."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.readable = self.unreadable = 0
        self.jobs: dict[str, int] = {}  # by file
        self.removable: dict[str, str] = {}  # rendered files whose job is gone, and the cluster that it was for
        self.clusters = chance.choice(((), (), ("eu", "us")))
        self.files = {"trainc.yaml": self._project(), "runtimes/torch.yaml": RUNTIME, "runtimes/odd.yaml": ODD}
        for number in range(chance.randint(1, 3)):
            cluster = f"{chance.choice(self.clusters)}/" if self.clusters else ""
            count = chance.choice((1, 1, 2, 3))
            file, before = f"jobs/{cluster}f{number}.yaml", self.readable + self.unreadable
            documents = [self._job(f"j{number}{index}") for index in range(count)]
            self.files[file] = "---\n".join(documents)
            self.jobs[file] = self.readable + self.unreadable - before
        self._render_earlier()

    def _render_earlier(self) -> None:
        """Put earlier renderings into the output folder, and what is not the project's own."""
        for number, source in enumerate((*self.jobs, "jobs/eu/gone.yaml", "jobs/gone.yaml")):
            cluster = source.split("/")[1] if source.count("/") > 1 else ""
            if cluster in ("", *self.clusters):
                path = f"{cluster}/default/old{number}.yaml".lstrip("/")
                self._render(path, Header(source, "0" * 16, ""))
                self.removable[path] = cluster
        self._render("default/theirs.yaml", Header("jobs/gone.yaml", "0" * 16, "", "other"))
        self.files["rendered/default/kept.yaml"] = KEPT

    def _render(self, path: str, header: Header) -> None:
        self.files[f"rendered/{path}"] = f"{header._replace(body=body_digest(KEPT.encode()))}{KEPT}"

    def _project(self) -> str:
        lines = ["apiVersion: trainc.dev/v1alpha1", "kind: Project", "spec:", "  output: rendered"]
        silenced = [f"    {rule}: {self.chance.choice(('off', 'warning'))}" for rule in RULES if self._one_in(4)]
        silenced = [line for line in silenced if line.split(":")[0].strip() not in {"missing-runtime", "unknown-kind"}]
        lines += ["  rules:", *silenced] if silenced and self._one_in(2) else []
        if self.clusters:
            lines += ["  clusters:", *(f"    {name}: {{paths: [jobs/{name}]}}" for name in self.clusters)]
        return "\n".join(lines) + "\n"

    def _job(self, name: str) -> str:
        number = self.chance.randrange(len(JOBS)) if self._one_in(4) else self.chance.choice((0, 1))
        api, kind, spec = JOBS[number]
        if "%s" in spec:
            spec %= (self.chance.choice(("Always", "OnFailure")), _POD)
        if number in UNREADABLE:
            self.unreadable += 1
        elif number not in FOREIGN:
            self.readable += 1
        lines = [f"apiVersion: {api}", f"kind: {kind}", "metadata:"]
        lines.append(f"  generateName: {name}" if self._one_in(40) else f"  name: {name}")
        if self.clusters and self._one_in(8):
            lines.append(f"  annotations: {{trainc.dev/cluster: {self.chance.choice((*self.clusters, 'nowhere'))}}}")
        lines += ["spec:", *spec.splitlines()]
        commented = []
        for line in lines:
            if self._one_in(3):
                indent = line[: len(line) - len(line.lstrip(" "))]
                commented += [f"{indent}# trainc: allow[{rule}] why not" for rule in self.chance.sample(RULES, 1)]
            commented.append(line)
        return "\n".join(commented) + "\n"

    def _one_in(self, number: int) -> bool:
        return self.chance.randrange(number) == 0


def one(seed: int, folder: Path, total: Counter[str]) -> str:
    """One run of the program on one tree; what is wrong with its account, empty where it closes."""
    chance = random.Random(seed)  # noqa: S311 (a test that has to be repeatable)
    tree = Tree(chance)
    write(folder, tree.files)
    arguments = chance.choice((["build", "-w"], ["build", "-w"], ["validate"], ["build", "-o", "rendered"]))
    if chance.randrange(3) == 0:
        arguments = [*arguments, "--only", "admission"]
    cluster = chance.choice(tree.clusters) if tree.clusters and chance.randrange(4) == 0 else ""
    if cluster:
        arguments = [*arguments, "--cluster", cluster]
    arguments += [option for option in ("--closed-world", "--quiet") if chance.randrange(8) == 0]
    if arguments[0] == "build" and chance.randrange(8) == 0:
        arguments.append("--include-other")
    before = _rendered(folder)
    run = compile_in(folder, *arguments)
    if run.code not in (0, 1) or run.report is None or "unaccounted-job" in run.err:
        return f"{arguments}: {run.code}: {run.err}"
    counts = run.report.account.totals()
    unasked = run.report.account.unasked
    counts["left"] += sum(tree.jobs[file] for file in unasked) - len(unasked)
    total.update(counts, runs=1, failed=run.code, unreadable=tree.unreadable, jobs=tree.readable + tree.unreadable)
    if tree.readable + tree.unreadable != sum(counts.values()):
        return f"{arguments}: {tree.readable} jobs and {tree.unreadable} unreadable documents in, {counts}"
    judged = arguments[0] == "validate" and "admission" in arguments
    errors = [finding for finding in run.findings if finding.level == "error"]
    if run.code == 0 and ((counts["refused"] and not judged) or errors):
        return f"{arguments}: exit 0 with {counts}"
    return _folder_trouble(tree, run, arguments, cluster, before, _rendered(folder))


def _folder_trouble(
    tree: Tree, run: Run, arguments: list[str], cluster: str, before: dict[str, bytes], after: dict[str, bytes]
) -> str:
    """What is wrong with the rendered folder after a run, empty where it is as it should be."""
    if run.code or arguments[0] != "build":
        return "" if after == before else f"{arguments}: a run that writes nothing changed the rendered folder"
    gone = {path for path, owner in tree.removable.items() if cluster in ("", owner)}
    made = {bundle.document.file if bundle.jobset is None else path_of(bundle) for bundle in run.bundles}
    wanted = (before.keys() - gone) | made  # without a JobSet: what `--include-other` passes on
    return "" if after.keys() == wanted else f"{arguments}: {sorted(wanted)} wanted, {sorted(after)} rendered"


def _rendered(folder: Path) -> dict[str, bytes]:
    top = folder / "rendered"
    return {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


def many(runs: int, seed: int) -> tuple[Counter[str], list[str]]:
    """The figures of so many runs from a seed, and what is wrong with those whose account does not close."""
    total: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(seed, seed + runs):
        with tempfile.TemporaryDirectory() as folder:
            said = one(number, Path(folder), total)
        wrong += [f"seed {number}: {said}"] if said else []
    return total, wrong


if __name__ == "__main__":
    figures, faults = Counter[str](), 0
    for start in range(0, int(sys.argv[1]), 500):
        found = many(min(500, int(sys.argv[1]) - start), int(sys.argv[2]) + start)
        figures, faults = figures + found[0], faults + len(found[1])
        sys.stdout.write("".join(f"{fault}\n" for fault in (*found[1], f"{dict(figures)} {faults} wrong")))
        sys.stdout.flush()
    sys.exit(1 if faults else 0)
