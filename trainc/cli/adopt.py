"""`trainc adopt`: a repository out of what runs on a cluster."""

import os
from collections.abc import Mapping
from functools import partial
from shlex import quote

from trainc import __version__
from trainc.authoring.add_cluster import with_cluster
from trainc.authoring.adopt.objects import sort_objects
from trainc.authoring.adopt.repository import Adoption, Wishes
from trainc.authoring.adopt.repository import adopt as adopted
from trainc.authoring.adopt.words import DIFFERS, UNCHANGED, WRITTEN, adoption_data, adoption_lines
from trainc.cli.folder_lock import FolderLock
from trainc.cli.options import Options
from trainc.cli.output import answer, data, tell
from trainc.cli.scaffold import cluster_name, errors_as_warnings, filled, project_text, scaffold
from trainc.cli.session import dump_contents, source_name
from trainc.cluster.diagnose.reading import Reading
from trainc.compiler.emit.spool.disk import Staged
from trainc.compiler.project import open_project
from trainc.model.report import Report
from trainc.model.settings import FILE
from trainc.report.dumps import dumps
from trainc.text.files import is_inside, ordinary_contents
from trainc.text.trouble import Reaching, Trouble
from trainc.yaml.reader import LIMIT

_MAX_MIXED = 10  # objects of two clusters that are named


def run(options: Options) -> int:
    """Write the files that are not there yet, and say what became of every object."""
    if not options.arguments:
        raise Trouble("usage: trainc adopt DIR [FILE...]; without FILE, it reads the dump from standard input")
    folder, *sources = options.arguments
    cluster = cluster_name(options)
    reading = Reading()
    for source in sources or ["-"]:
        reading.add(dump_contents(source), source_name(source))
    dump = sort_objects(reading.objects)
    if reading.faults or dump.mixed:
        tell(*(f"error: {fault}" for fault in reading.faults))
        for one, other in dump.mixed[:_MAX_MIXED]:
            tell(f"error: {one.shown} is in the dump twice, as {one.uid or 'no uid'} and {other.uid or 'no uid'}")
        if len(dump.mixed) > _MAX_MIXED:
            tell(f"error: and {len(dump.mixed) - _MAX_MIXED} more objects are in the dump twice")
        if dump.mixed:
            tell("help: these are objects of two clusters; adopt one cluster at a time, each with `--cluster NAME`")
        if reading.faults:
            complete = len(reading.objects)
            tell(f"help: {complete} objects are complete; run kubectl again, and check that it exits with 0")
        tell("nothing was written")
        return 1
    wishes = Wishes(cluster, options.one("finished", "archive") == "archive", options.has("migrate"))
    adoption = adopted(dump, wishes, partial(_config, cluster, options.one("delivery")))
    if others := _other_runtimes(folder, cluster, adoption):
        tell(
            *(f"error: {path} differs from the one of cluster `{cluster}`" for path in others),
            f"help: adopt `{cluster}` into a separate folder, such as {os.path.join(folder, cluster)}, or make them equal",
            "nothing was written",
        )
        return 1
    with FolderLock(folder):
        states = _write(folder, cluster, adoption)
    objects = len(reading.objects)
    if options.one("report") == "json":
        data(dumps(adoption_data(adoption, states, objects), sort_keys=False))
    else:
        answer(*adoption_lines(adoption, states, objects))
        if states[FILE] == DIFFERS and adoption.levels:
            names = ", ".join(f"{rule}: warning" for rule in sorted(adoption.levels))
            answer(f"{FILE} is kept; to build these jobs as they are, add below `rules`: {names}")
        inside = "" if folder == "." else f"cd {quote(folder)} && "
        steps = (f"  {inside}trainc validate", "  trainc build --check", "  git init && git add -A && git commit")
        answer(*(("", "next:", *steps) if WRITTEN in states.values() else ("nothing new",)))
    return 1 if adoption.failures else 0


def _config(cluster: str, delivery: str, levels: Mapping[str, int]) -> dict[str, str]:
    """What every project needs besides its jobs and runtimes."""
    words = {
        "version": __version__,
        "delivery": f"  delivery: {delivery}\n" if delivery else "",
        "rules": errors_as_warnings(levels),
        "cluster": cluster,
        "settings": f"      paths: [jobs/{cluster}]\n",
    }
    started = scaffold(cluster, delivery)
    known = {path: text for path, text in started.items() if path.startswith("clusters/") or path == ".gitattributes"}
    return {**known, FILE: filled(project_text(), words)}


def _other_runtimes(folder: str, cluster: str, adoption: Adoption) -> list[str]:
    """The runtimes of a repository that does not have the cluster yet which differ from those of the cluster."""
    if not os.path.isfile(os.path.join(folder, FILE)):
        return []
    if any(one.name == cluster for one in open_project((folder,), Report()).clusters):
        return []
    return [path for path in sorted(adoption.runtimes) if _state(folder, path, adoption.files[path]) == DIFFERS]


def _state(folder: str, path: str, text: str) -> str:
    """How a file of the repository stands to a text that belongs there, inside of the repository."""
    target = os.path.join(folder, path)
    if not is_inside(os.path.abspath(folder), os.path.abspath(target)):
        raise Trouble(f"{target} leads out of {folder}; nothing was written")
    if not os.path.lexists(target):
        return WRITTEN
    with Reaching(target):
        held = ordinary_contents(target, LIMIT + 1)
    return UNCHANGED if held.replace(b"\r\n", b"\n") == text.encode("utf-8", "surrogatepass") else DIFFERS


def _write(folder: str, cluster: str, adoption: Adoption) -> dict[str, str]:
    """Write every file that is not there yet, all of them or none; how each stands to what was there."""
    texts = dict(adoption.files)
    states = {path: _state(folder, path, text) for path, text in texts.items()}
    for path, (source, text) in adoption.rendered.items():
        if states.get(source) != DIFFERS:
            texts[path] = text
            states[path] = _state(folder, path, text)
    with Staged() as staged:
        for path in sorted(path for path, state in states.items() if state == WRITTEN):
            staged.put(os.path.join(folder, path), texts[path].encode("utf-8", "surrogatepass"))
        if states[FILE] == DIFFERS:
            config = ordinary_contents(os.path.join(folder, FILE), LIMIT + 1)
            extended = with_cluster(config, cluster, os.path.join(folder, "jobs"))
            if extended != config:
                staged.put(os.path.join(folder, FILE), extended)
        staged.move()
    return states
