"""`trainc rehearse`: run the pods of a job here, as processes."""

import os
import shlex
import sys
from collections.abc import Iterator

from trainc.authoring.rehearse import Ended, Process, Script, perform, script, use_nearby
from trainc.changes.git.scratch import Scratch
from trainc.cli.options import Options
from trainc.cli.output import answer, ask, tell
from trainc.cli.process import Orderly
from trainc.cli.session import Session
from trainc.compiler.admit import admit
from trainc.compiler.emit.spool.disk import replace
from trainc.compiler.load import load
from trainc.compiler.lower import lower
from trainc.compiler.resolve import resolve
from trainc.model.bundle import Bundle
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.sourced import Origin, Sourced
from trainc.text.children import wait_for_children
from trainc.text.numbers import brief, whole_number
from trainc.text.trouble import Trouble

_COLOURS = (36, 33, 32, 35, 34, 31, 96, 93, 92, 95, 94, 91)


def run(options: Options) -> int:
    """Run one job's processes, pass their lines on, and say whether all of them met."""
    session = Session(options)
    nodes = _number(options, "nodes", "")
    timeout = _number(options, "timeout", "120") or 120
    bundles = list(_bundles(session, nodes))
    if session.report.failed:
        return session.finish()
    if len(bundles) != 1:
        raise Trouble(f"trainc rehearse runs one job, and there are {len(bundles)} under the given paths")
    with Orderly(), Scratch() as folder:
        try:
            words = shlex.split(options.one("command"))
        except ValueError as error:
            raise Trouble(f"--command `{options.one('command')}`: {error}") from error
        made = script(bundles[0], folder, words)
        if made is None or not made.processes:
            reasons = "; ".join(made.notes) if made else "it has no JobSet"
            raise Trouble(f"no pod of this job can run here: {reasons}")
        where = os.path.abspath(options.one("directory", session.project.root))
        if not os.path.isdir(where):
            raise Trouble(f"--directory {options.one('directory')}: no such folder")
        use_nearby(made, where)
        _announce(made, where)
        asked = "This runs the commands above. Continue? [y/N]"
        if not (options.has("yes") or (sys.stdin.isatty() and ask(asked).lower() in ("y", "yes"))):
            raise Trouble("trainc rehearse executes the commands in the manifests: confirm with --yes")
        wait_for_children()
        speaker = _Speaker(made, options.one("logs"))
        ended = perform(made, where, timeout, speaker)
    speaker.keep()
    failed = [end for end in ended if not end.well]
    first = next((end for end in ended if end.is_first), None)
    if not failed:
        speaker.compare(ended, ["succeeded"] * len(ended))
        tell(f"all {len(ended)} processes exited with 0")
        return 0
    over = any(end.started and end.code is None for end in ended) and first is None
    when = f" within {timeout} seconds" if over else ""
    speaker.compare(ended, ["succeeded" if end.well else _state(end) for end in ended])
    tell(f"{len(failed)} of {len(ended)} processes failed{when}:")
    tell(*(f"  {end.process.name}: {_fate(end, first)}" for end in failed))
    return 1


def _number(options: Options, key: str, default: str) -> int:
    written = options.one(key, default)
    number = whole_number(written, least=1, most=10**9)
    if written and number is None:
        raise Trouble(f"--{key} must be a whole number of 1 or more, not `{brief(written)}`")
    return number or 0


def _bundles(session: Session, nodes: int) -> Iterator[Bundle]:
    project = session.project.at(session.project.clusters[0])
    documents = load(project, session.selection, session.report)

    def resized(cluster: Cluster) -> Iterator[tuple[str, list[Document]]]:
        for file, read in documents.selected(cluster):
            yield file, [_resized(document, nodes) for document in read]

    scaled = documents._replace(selected=resized) if nodes else documents
    for plan in resolve(admit(scaled, project, session.selection, session.report), project, session.report):
        if (bundle := lower(plan, project, session.report)) is not None and not plan.barred:
            yield bundle


def _resized(document: Document, nodes: int) -> Document:
    if document.kind != "TrainJob" or type(document.tree.get("spec")) is not dict:
        return document
    spec = document.tree["spec"]
    trainer = spec.get("trainer")
    if type(trainer) is Sourced and trainer.value is None:
        trainer = {}
    if type(trainer) is not dict and trainer is not None:
        return document  # admission says what is wrong with it
    trainer = {**(trainer or {}), "numNodes": Sourced(nodes, Origin(by="--nodes"))}
    tree = {**document.tree, "spec": {**spec, "trainer": trainer}}
    return Document(document.file, tree, document.marks, document.start)


def _announce(made: Script, where: str) -> None:
    """Everything that will run: words, variables and files, as they are; what all processes have in common once."""
    count = len(made.processes)
    tell(f"rehearsing `{made.name}`: {count} {'process' if count == 1 else 'processes'} on this machine, in {where}")
    # The variables of each process that it does not have from whoever starts it.
    environments = [
        {name: text for name, text in process.env.items() if os.environ.get(name) != text} for process in made.processes
    ]
    common = dict.fromkeys(pair for pair in environments[0].items() if all(pair in e.items() for e in environments))
    for process, environment in zip(made.processes, environments, strict=True):
        tell(f"  {process.name}: {shlex.join(process.argv)}")
        tell(*(f"    {name}={shlex.quote(text)}" for name, text in environment.items() if (name, text) not in common))
    tell("  with, in all of them:", *(f"    {name}={shlex.quote(text)}" for name, text in common))
    for path, text in made.files.items():
        tell(f"  writes {path}:", *(f"    {line}" for line in text.split("\n")))
    tell(*(f"  {note}" for note in made.notes))


class _Speaker:
    """Prints each line behind the name of its process, in a colour of its own; keeps it where a folder is named."""

    def __init__(self, made: Script, folder: str) -> None:
        self._width = max(len(process.name) for process in made.processes)
        self._colours = {process: _COLOURS[i % len(_COLOURS)] for i, process in enumerate(made.processes)}
        self._folder = folder
        self.lines: dict[Process, list[str]] = {process: [] for process in made.processes}

    def __call__(self, process: Process, line: str) -> None:
        name = f"{process.name:<{self._width}} |"
        answer(((f"\033[{self._colours[process]}m", name), ("", f" {line}")))
        sys.stdout.flush()
        kept = self.lines[process]
        kept.append(line)
        if not self._folder:
            del kept[:-1]  # the last line says how far it came

    def keep(self) -> None:
        for process, lines in self.lines.items() if self._folder else ():
            replace(os.path.join(self._folder, f"{process.name}.log"), "".join(f"{one}\n" for one in lines).encode())
        if self._folder:
            tell(f"logs are in {self._folder}")

    def compare(self, ended: list[Ended], fates: list[str]) -> None:
        """The processes side by side: how each ended, and the last line that it wrote."""
        wide = max(map(len, fates))
        for end, fate in zip(ended, fates, strict=True):
            last = (self.lines[end.process] or ["nothing was written"])[-1]
            name = f"  {end.process.name:<{self._width}}"
            tell(((f"\033[{self._colours[end.process]}m", name), ("", f"  {fate:<{wide}}  {last}")))


def _state(end: Ended) -> str:
    if not end.started:
        return "never started"
    if end.code is None:
        return "still running"
    return f"signal {-end.code}" if end.code < 0 else f"exit code {end.code}"


def _fate(end: Ended, first: Ended | None) -> str:
    """How a process ended, why, and where it waited."""
    if not end.started:
        waits = " and ".join(f"`{role}` to be {status}" for role, status in end.process.after)
        return f"never started: it waits for {waits}" if waits else "never started: another process failed first"
    if end.code is not None and end.code != 0:
        fate = f"terminated by signal {-end.code}" if end.code < 0 else f"exited with code {end.code}"
        return f"{fate}, the first to fail" if end.is_first else fate
    where = ", ".join(f"{address} ({name})" for name, address in dict.fromkeys(end.process.awaited))
    why = f"stopped: `{first.process.name}` failed" if first else "still running when the rehearsal ended"
    return why + (f"; rendezvous: {where}" if where else "")
