"""`trainc new`: a first job, and a runtime where none fits."""

import os
import sys
from collections.abc import Iterable, Mapping

from trainc.apiserver.names import dns1035
from trainc.authoring.new import HARDWARE, STARTS, Request, job_text, project_text, queue_of, runtime_text, shipped_text
from trainc.cli.cache import opened
from trainc.cli.options import Options
from trainc.cli.output import answer, ask, tell
from trainc.cli.projects import unmarked
from trainc.cli.validate import run as validate
from trainc.compiler.emit.spool.disk import create
from trainc.compiler.load.shipped import COMPONENTS, catalogue
from trainc.compiler.project import open_project
from trainc.compiler.usage import Blueprint, blueprints, paths_here
from trainc.model.cluster import Cluster, version
from trainc.model.plan import NODE
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.tree import get, plain, value
from trainc.schedulers import TABLE as SCHEDULERS
from trainc.text.files import ordinary_contents
from trainc.text.numbers import brief, whole_number
from trainc.text.quantity import Quantity, QuantityError
from trainc.text.spelling import meant
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read

_LIST = "list"  # the word that shows the values which an option takes
_PART_MAX = 12  # characters of a value in the name of a runtime
_NAME_MAX = 40  # characters that leave room for what JobSet appends to the names of pods


def run(options: Options) -> int:
    """Write the files of a job that are not there yet, check them, and say what to run next."""
    if _LIST in (options.one("framework"), options.one("on")):
        # A line for each value that `--on` or `--framework` takes; machines for the framework where one is named.
        framework = options.one("framework")
        if framework == _LIST:
            rows = {name: f"{start.runtime}: {start.about}" for name, start in STARTS.items()}
        else:
            fitting = _one_of("framework", framework, STARTS) if framework else ""
            rows = {name: row.about for name, row in HARDWARE.items() if not fitting or fitting in row.frameworks}
        width = max(map(len, rows), default=0)
        answer(*[f"{name:<{width}}  {about}" for name, about in rows.items()])
        return 0
    request = _request(options)
    project = open_project((".",), Report(), cache=opened)
    tell(*unmarked(project))
    own = blueprints(project, paths_here(project))
    _settle(request, options, project, own)
    files = _files(request, options, project, own)
    job = next(iter(files))
    if os.path.lexists(job):
        raise Trouble(f"{job} already exists; nothing was written. Choose another name")
    for path, text in files.items():
        answer(f"{'wrote' if create(path, text) else 'kept '} {path}")
    answer("", "next:")
    if not request.image:
        answer(f"  set your image in {job}")
    answer(f"  trainc show {job}", f"  trainc build {job}", "  trainc build -w, to keep the manifests in rendered/")
    sys.stdout.flush()
    return validate(Options([job], {}))


def _request(options: Options) -> Request:
    """What the command line asks for, and on a terminal what the person there answers."""
    arguments = options.arguments[: len(options.arguments) - len(options.tail)]
    if len(arguments) > 1:
        raise Trouble(
            f"a job has one name, not {len(arguments)}; its command comes after `--`: trainc new NAME -- COMMAND"
        )
    asks = sys.stdin.isatty() and sys.stderr.isatty() and not options.has("yes")
    name = arguments[0] if arguments else (ask("Name of the job:") if asks else "")
    if not name:
        raise Trouble("a job needs a name: trainc new NAME")
    if dns1035(name):
        raise Trouble(
            f"`{name}` is not a valid job name: use lowercase letters, digits and dashes, starting with a letter"
        )
    if len(name) > _NAME_MAX:
        raise Trouble(f"`{name}` has {len(name)} characters; the maximum is {_NAME_MAX}, so that pod names stay valid")
    request = Request(name)
    asks = asks and not options.values and not options.tail
    request.framework = _one_of("framework", options.one("framework") or _asked(asks, "Framework", "torch"), STARTS)
    request.on = _machine(options.one("on") or _asked(asks, "Machine type (empty: any)", ""))
    request.nodes = _count("nodes", options.one("nodes") or _asked(asks and not _is_sliced(request), "Nodes", ""))
    wants_gpus = asks and not request.hardware
    request.gpus = _count("gpus", options.one("gpus") or _asked(wants_gpus, "GPUs per node", ""))
    request.image = options.one("image") or _asked(asks, "Image (empty: the runtime's)", "")
    request.command = tuple(options.tail) or tuple(_asked(asks, "Command (empty: the framework's default)", "").split())
    request.checkpoints = options.one("checkpoints") or _asked(asks, "PVC for checkpoints (empty: none)", "")
    request.cpu, request.memory = _amount(options, "cpu"), _amount(options, "memory")
    request.namespace = options.one("namespace", "training")
    request.queue, request.scheduler = options.one("queue"), options.one("scheduler")
    request.runtime, request.kubernetes = options.one("runtime"), options.one("kubernetes")
    if request.kubernetes and version(request.kubernetes) is None:
        raise Trouble(f"--kubernetes must be a version such as 1.37, not `{brief(request.kubernetes)}`")
    pairs = [text.partition("=") for text in options.all("with")]
    for pair in pairs:
        if not all(pair):
            raise Trouble(f"--with must be PARAMETER=VALUE, not `{''.join(pair)}`")
    request.values = {name: given for name, _, given in pairs}
    return request


def _asked(asks: bool, question: str, usual: str) -> str:
    if not asks:
        return usual
    hint = f" [{usual}]" if usual else ""
    return ask(f"{question}{hint}:") or usual


def _one_of(what: str, name: str, known: Iterable[str]) -> str:
    names = list(known)
    if name not in names:
        raise Trouble(f"there is no {what} `{name}`; {meant(name, names, 'one of ' + ', '.join(names))}")
    return name


def _machine(name: str) -> str:
    # The name that the cloud has for it: `p5.48xlarge` is `eks-p5`.
    same = [
        known
        for known, hardware in HARDWARE.items()
        if name.removeprefix(f"{known.partition('-')[0]}-") in hardware.about.replace(",", "").split()
    ]
    if len(same) == 1 and name not in HARDWARE:
        raise Trouble(f"there is no machine type `{name}`; did you mean `{same[0]}`?")
    return _one_of("machine type", name, HARDWARE) if name else ""


def _is_sliced(request: Request) -> bool:
    """Whether the topology of a slice decides how many nodes there are."""
    return request.hardware is not None and not request.hardware.count


def _count(key: str, written: str) -> int:
    number = whole_number(written, least=1, most=100_000)
    if written and number is None:
        raise Trouble(f"--{key} must be a whole number of 1 or more, not `{written}`")
    return number or 0


def _amount(options: Options, key: str) -> str:
    written = options.one(key)
    try:
        Quantity.parse(written or "1")
    except QuantityError as error:
        raise Trouble(f"--{key} must be a quantity such as 8 or 64Gi, not `{written}`") from error
    return written


def _settle(request: Request, options: Options, project: Project, own: list[Blueprint]) -> None:
    """Fill in what the project decides, and refuse what does not go together."""
    hardware = request.hardware
    if hardware is not None and request.framework not in hardware.frameworks:
        fitting = ", ".join(hardware.frameworks)
        raise Trouble(f"{request.framework} does not run on {request.on}; frameworks that do: {fitting}")
    if _is_sliced(request) and request.nodes:
        raise Trouble(
            f"the topology of {request.on} sets the number of nodes: use --with topology=SHAPE instead of --nodes"
        )
    if request.start.is_named and (request.nodes > 1 or request.checkpoints):
        raise Trouble(f"{request.framework} trains on one node, and keeps its checkpoints in the runtime's own PVC")
    if hardware is not None and hardware.count and request.gpus not in (0, hardware.count):
        raise Trouble(f"a node of {request.on} has {hardware.count} accelerators, and a job takes all of them")
    if request.values and hardware is None:
        raise Trouble("--with sets parameters of the machine type; add --on")
    runtimes = {one.name: one for one in own if not one.is_component}
    if not request.runtime and request.settings() and not _fits(request, runtimes):
        texts = [text.lower() for text in request.settings().values()]
        parts = ("".join(c if c.isascii() and c.isalnum() else "-" for c in text) for text in texts)
        request.variant = "".join(f"-{part}" for part in (part[:_PART_MAX].strip("-") for part in parts) if part)
    _settle_image_of_nodes(request, runtimes)
    secrets = project.secrets.get("mpi" if request.start.has_launcher else request.framework)
    request.secrets = secrets.value if secrets is not None else ""
    # A runtime of the project is used as it is, so that nothing else may be said about it.
    exists = request.runtime_name in runtimes
    if request.runtime and not exists:
        raise Trouble(f"this project has no runtime `{request.runtime}`; see trainc runtimes")
    if exists and options.has("with") and not _fits(request, runtimes):
        raise Trouble(
            f"the runtime `{request.runtime_name}` already exists and is used unchanged; "
            "omit --with, or edit the runtime"
        )
    if not _is_sliced(request):
        request.nodes = request.nodes or 1
    if request.checkpoints:
        # The component takes their number, as the one that trainc ships does, unless the runtime sets it.
        components = [one.document.tree for one in own if one.is_component and one.name == "checkpoints"]
        parameters = plain(get(components[0], "spec", "parameters")) or () if components else ({"name": "restarts"},)
        there = runtimes.get(request.runtime_name)
        spec = get(there.document.tree, "spec", "template", "spec") if there is not None else None
        is_set = bool(value(spec, "failurePolicy", "maxRestarts"))
        request.restarts = not is_set and any(known["name"] == "restarts" for known in parameters)
    file = os.path.relpath(os.path.abspath(_job_file(request, options, project)), project.root).replace(os.sep, "/")
    _settle_scheduler(request, project, project.holders[file] or project.clusters)


def _job_file(request: Request, options: Options, project: Project) -> str:
    root = os.path.relpath(project.root)
    return os.path.normpath(os.path.join(options.one("dir", "jobs" if root == "." else "."), f"{request.name}.yaml"))


def _fits(request: Request, runtimes: Mapping[str, Blueprint]) -> bool:
    """Whether the runtime has the settings that are asked for; also where there is none of its name yet."""
    if (there := runtimes.get(request.runtime_name)) is None or request.hardware is None:
        return there is None
    uses, main = request.uses(), next(reversed(request.hardware.uses))
    components = plain(get(there.document.tree, "spec", "components"))
    entries = [one for one in components if isinstance(one, dict)] if isinstance(components, list) else []
    given = next((one.get("with") for one in entries if one.get("name") == main), None)
    return isinstance(given, dict) and {key: str(value) for key, value in given.items()} == uses[main]


def _settle_image_of_nodes(request: Request, runtimes: Mapping[str, Blueprint]) -> None:
    """A runtime of its own for a job with another image: only a runtime can set that of the nodes, where mpirun starts it."""
    if not (request.image and request.start.has_launcher):
        return
    if (runtime := runtimes.get(request.runtime_name)) is None:
        return
    image = _image_of_nodes(runtime)
    if image == request.image:
        return
    if not request.runtime:
        request.variant += f"-{request.name}"
    elif image:
        raise Trouble(
            f"the nodes of the runtime `{request.runtime}` have the image {image}, and `image` of a job sets only that of "
            "the launcher; omit --runtime to get a runtime for this image"
        )


def _image_of_nodes(runtime: Blueprint) -> str:
    """The image that a runtime itself writes for the nodes of an MPI job; empty where it writes none."""
    roles = plain(get(runtime.document.tree, "spec", "template", "spec", "replicatedJobs"))
    for role in roles if isinstance(roles, list) else ():
        if isinstance(role, dict) and role.get("name") == NODE:
            containers = get(role, "template", "spec", "template", "spec", "containers")
            for container in containers if isinstance(containers, list) else ():
                if isinstance(container, dict) and container.get("name") == NODE:
                    return str(container.get("image") or "")
    return ""


def _settle_scheduler(request: Request, project: Project, clusters: Iterable[Cluster]) -> None:
    """The scheduler of the clusters that run the job: those whose `paths` hold its file, where there are any."""
    if request.scheduler:
        _one_of("scheduler", request.scheduler, SCHEDULERS)
    known = {one.scheduler.value for one in clusters if project.file and one.scheduler is not None}
    if project.file and request.scheduler and known != {request.scheduler}:
        raise Trouble(f"--scheduler is for a project without trainc.yaml; {_places(request.scheduler, project)}")
    if not request.scheduler and len(known) == 1:
        request.scheduler = known.pop()
    if request.scheduler == "native" and not project.file and not request.kubernetes:
        raise Trouble("native gang scheduling depends on the Kubernetes version: add --kubernetes VERSION")
    if request.queue and not queue_of(request.scheduler)[0]:
        if project.file:
            raise Trouble(f"--queue needs a scheduler with queues, kueue or volcano; {_places('kueue', project)}")
        raise Trouble("--queue needs a scheduler with queues: --scheduler kueue or --scheduler volcano")


def _places(scheduler: str, project: Project) -> str:
    """Where trainc.yaml says another scheduler, or none, and what to write there."""
    path = os.path.join(project.root, project.file)
    file = os.path.relpath(path)
    documents = list(read(ordinary_contents(path), file, Report()))
    places = []
    for cluster in project.clusters:
        keys = ("spec", "clusters", cluster.name)
        known = cluster.scheduler
        if not documents or get(documents[0].tree, *keys) is None:
            return f"add `clusters: {{{cluster.name}: {{scheduler: {scheduler}}}}}` to `spec` in {file}"
        if known is None:
            places.append(f"{file}:{documents[0].span(keys, key=True).line} (`{cluster.name}` names none)")
        elif known.value != scheduler:
            line = documents[0].span((*keys, "scheduler")).line
            places.append(f"{file}:{line} (`{cluster.name}` has `{known.value}`)")
    return f"write `scheduler: {scheduler}` for the cluster at {', '.join(places)}"


def _files(request: Request, options: Options, project: Project, own: list[Blueprint]) -> dict[str, str]:
    root = os.path.relpath(project.root)
    job = _job_file(request, options, project)
    folder = os.path.join(root, project.runtimes[0] if project.runtimes else "runtimes")
    files = {job: job_text(request)}
    names = {(one.is_component, one.name) for one in own}
    wanted: dict[str, str] = {}
    components: list[str] = []
    if (False, request.runtime_name) not in names:
        wanted = {} if request.start.is_named else {request.runtime_name: runtime_text(request)}
        if (False, request.start.runtime) not in names:
            wanted[request.start.runtime] = shipped_text(_shipped(request.start.runtime), request)
        components += request.uses()
    for name in [*components, *(["checkpoints"] if request.checkpoints else [])]:
        if (True, name) not in names:
            wanted[os.path.join(COMPONENTS, name)] = _shipped(os.path.join(COMPONENTS, name))
    files |= {os.path.normpath(os.path.join(folder, f"{name}.yaml")): text for name, text in wanted.items()}
    if not project.file and (request.scheduler or not os.path.exists(os.path.join(project.root, ".git"))):
        files[os.path.normpath(os.path.join(root, "trainc.yaml"))] = project_text(request)
    return files


def _shipped(name: str) -> str:
    with open(os.path.join(catalogue(), f"{name}.yaml"), encoding="utf-8") as stream:
        return stream.read()
