"""A bundle's pods as processes on this machine, each with the environment and the command of its manifest."""

import atexit
import os
import re
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from trainc.lint import expand
from trainc.lint.facts.instance import Pod
from trainc.lint.facts.job import Container, ExpandedRole
from trainc.lint.facts.values import Unknown, rows, table, text, whole
from trainc.model.bundle import Bundle
from trainc.model.plan import ANCESTOR_LABEL
from trainc.model.report import Report
from trainc.text.trouble import Reaching

HERE = "127.0.0.1"
MOST = 64  # processes: more than a laptop has room for is a mistake
_INHERITED = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH", "LD_LIBRARY_PATH")
_SSHD = re.compile(r"\bsshd$")
_SLOTS = re.compile(rf"^({re.escape(HERE)}) slots=([0-9]{{1,18}})\n", re.MULTILINE)
GRACE = 5.0  # seconds between asking a process to end and ending it
_STEP = 0.1


class Loopback:
    """Rewrites the addresses of a job's pods: the host becomes loopback, a port that is taken a free one.

    `moved` holds the ports of the job on which something listens here already.
    """

    def __init__(self, addresses: Sequence[str], ports: Iterable[int]) -> None:
        self._addresses = frozenset(addresses)
        # Longer names first: `run-node-0-1` is the beginning of `run-node-0-10`.
        ordered = sorted(self._addresses, key=len, reverse=True)
        self._pattern = re.compile(rf"(?<![\w.-])({'|'.join(map(re.escape, ordered))})(?![\w-])(?::(\d+))?")
        self._ports: dict[tuple[str, str], str] = {}
        self.moved = {str(port): free_port() for port in sorted(set(ports)) if not is_free(port)}

    def named_in(self, written: str) -> Iterator[str]:
        """The addresses that a text holds, with their ports."""
        if self._addresses:
            yield from (match[0] for match in self._pattern.finditer(written))

    def mapped(self, written: str) -> str:
        """The text with every address replaced."""
        return self._pattern.sub(self._here, written) if self._addresses else written

    def variable(self, name: str, value: str) -> str:
        """A variable's value here: addresses replaced, and a port of its own that has moved."""
        return self.moved[value] if name.endswith("PORT") and value in self.moved else self.mapped(value)

    def _here(self, match: re.Match[str]) -> str:
        if not (port := match[2]):
            return HERE
        key = (match[1], port)
        if key not in self._ports:
            here = self.moved.get(port, port)
            self._ports[key] = free_port() if here in self._ports.values() else here
        return f"{HERE}:{self._ports[key]}"


def is_free(port: int) -> bool:
    """Whether a process could listen on a port now."""
    with socket.socket() as probe:
        try:
            probe.bind((HERE, port))
        except OSError:
            return False
    return True


def free_port() -> str:
    """A port on which nobody listens now."""
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        return str(probe.getsockname()[1])


@dataclass(slots=True, eq=False)
class Process:
    """One pod's main container; `awaited` are the addresses it is told to meet at, each with its variable."""

    name: str
    role: str
    host: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    awaited: tuple[tuple[str, str], ...] = ()
    after: tuple[tuple[str, str], ...] = ()  # (role, Ready or Complete) that it starts after


@dataclass(slots=True, eq=False)
class Script:
    """All processes of a bundle in order, what is different here, and the files that pods would find mounted."""

    name: str
    processes: list[Process] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what is not as in the cluster, and why
    files: dict[str, str] = field(default_factory=dict)  # path in a pod -> content
    beyond: int = 0  # processes that are left out: they are too many

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def script(bundle: Bundle, folder: str, command: Sequence[str] = ()) -> Script | None:
    """The processes of a bundle, None for one without a JobSet.

    Addresses of pods become loopback, and ConfigMaps are read from `folder` instead of their mounts. With `command`
    every process that trains runs that instead of its own.
    """
    if (job := expand(bundle, None, Report())) is None:
        return None
    made = Script(job.name)
    declared = [whole(port, "containerPort") for container in job.main for port in rows(container.tree, "ports")]
    ports = [number for number in declared if type(number) is int and 0 < number < 1 << 16]
    loopback = Loopback([pod.address for role in job.roles for pod in _pods(role)], ports)
    made.notes += [f"port {port} is in use on this machine: {here} instead" for port, here in loopback.moved.items()]
    for role in job.roles:
        _cast(made, role, loopback, folder, command)
    if bundle.plan is not None and bundle.plan.framework == "lightgbm" and len(made.processes) > 1:
        made.notes.append("LightGBM listens on one port in every pod, and the pods share one host here: use --nodes 1")
    if made.beyond:
        made.notes.append(f"skipped: {made.beyond} processes beyond {MOST}: use --nodes")
    return made


def use_nearby(made: Script, where: str) -> None:
    """Run the files of the folder `where` in place of those that only the image has under an absolute path."""
    for process in made.processes:
        words = []
        for word in process.argv:
            name = os.path.basename(word)
            is_of_image = bool(name) and word.startswith("/") and not os.path.exists(word)
            is_nearby = is_of_image and os.path.isfile(os.path.join(where, name))
            words.append(name if is_nearby else word)
            if is_nearby:
                made.note(f"`{word}` is in the image; `{name}` of this folder runs in its place")
        process.argv = tuple(words)


def _pods(role: ExpandedRole) -> Iterator[Pod]:
    if type(role.replicas) is int and type(role.size) is int:
        for replica in range(min(role.replicas, MOST)):
            for index in range(min(role.size, MOST)):
                yield Pod(role, replica, index, -1)


def _cast(made: Script, role: ExpandedRole, loopback: Loopback, folder: str, command: Sequence[str]) -> None:
    for container in role.init:
        made.notes.append(f"skipped: init container `{container.name}` of `{role.name}`: its command is in the image")
    worker = role.trainer
    for container in role.main:
        if container is not worker:
            made.notes.append(
                f"skipped: container `{container.name}` of `{role.name}`: it is not the training container"
            )
    if worker is None:
        return
    labels = table(table(table(role.tree, "template"), "metadata"), "labels")
    own_command = () if text(labels, ANCESTOR_LABEL).endswith("-initializer") else tuple(command)
    words = own_command or worker.words
    if not words:
        made.notes.append(f"skipped: `{role.name}`: its command is in the image; give one with --command")
    elif worker.words and _SSHD.search(worker.words[0]):
        made.notes.append(f"skipped: `{role.name}`: it waits for SSH; here, the launcher starts the processes itself")
    else:
        files = list(_mounted(made, role, worker, folder))
        for path, content, _ in files:
            # The slots of a host as that many lines: mpirun adds them up only where a host is repeated so.
            lines = _SLOTS.sub(lambda line: f"{line[1]}\n" * min(int(line[2]), MOST), loopback.mapped(content))
            made.files[path] = lines
        paths = {mount: path for path, _, mount in files}
        pods = list(_pods(role))
        room = MOST - len(made.processes)
        made.processes += [_process(made, pod, worker, own_command, loopback, paths) for pod in pods[:room]]
        made.beyond += max(0, len(pods) - room)


def _process(
    made: Script,
    pod: Pod,
    container: Container,
    own_command: Sequence[str],
    loopback: Loopback,
    paths: Mapping[str, str],  # of files, by the paths where pods find them mounted
) -> Process:
    pattern = re.compile("|".join(map(re.escape, sorted(paths, key=len, reverse=True))))  # longest first

    def placed(written: str) -> str:
        """A text with the paths as they are here; what is put in is not looked at again."""
        return pattern.sub(lambda path: paths[path[0]], written) if paths else written

    env = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    env |= {"HOSTNAME": pod.host, "PYTHONUNBUFFERED": "1"}
    awaited = []
    for name, value in pod.env(container):
        known = "127.0.0.1" if type(value) is Unknown and value.reason.startswith("status.podIP") else value
        if type(known) is not str:
            made.note(f"skipped: variable `{name}` of `{pod.role.name}`: its value is not in the manifests")
            continue
        awaited += [(name, address) for address in loopback.named_in(known)]
        env[name] = placed(loopback.variable(name, known))
    argv = tuple(placed(loopback.mapped(word)) for word in own_command or pod.command(container))
    after = tuple((text(d, "name"), text(d, "status")) for d in rows(pod.role.tree, "dependsOn"))
    name = f"{pod.role.name}-{pod.replica}-{pod.index}" if pod.role.replicas != 1 else f"{pod.role.name}-{pod.index}"
    return Process(name, pod.role.name, pod.host, argv, env, awaited=tuple(awaited), after=after)


def _mounted(made: Script, role: ExpandedRole, container: Container, folder: str) -> Iterator[tuple[str, str, str]]:
    """The ConfigMaps that the container mounts: path here, content, path in the pod.

    As in a container, no `..` leads above the root, which is the scratch folder here.
    """
    config_maps = role.job.kinds.get("ConfigMap", [])
    maps = {text(table(tree, "metadata"), "name"): table(tree, "data") for tree in config_maps}
    for mount in rows(container.tree, "volumeMounts"):
        source = table(role.volumes.get(text(mount, "name"), {}), "configMap")
        data, where = maps.get(text(source, "name"), {}), text(mount, "mountPath")
        for key in data:
            if not (below := os.path.normpath(f"/{where}/{key}").strip("/")) or "\0" in below:
                made.notes.append(f"skipped: the file `{key}` of `{role.name}`: no file can be at `{where}`")
            else:
                yield os.path.join(folder, below), text(data, key), f"{where}/{key}"


@dataclass(slots=True, eq=False)
class Ended:
    """How a process ended: its exit code, None for one that was still running when the time was up or never started.

    `is_first` marks the first that failed, which ended the rehearsal.
    """

    process: Process
    code: int | None
    started: bool = True
    is_first: bool = False

    @property
    def well(self) -> bool:
        """Whether it did what it was there for."""
        return self.code == 0


class _Actor:
    __slots__ = ("child", "out", "process", "rest")

    def __init__(self, process: Process, cwd: str) -> None:
        self.process = process
        self.rest = b""
        self.child = subprocess.Popen(  # noqa: S603 (running what the manifests say is what was asked for)
            process.argv,
            cwd=cwd,
            env=dict(process.env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # its own group: the launcher's children end with it
        )
        assert self.child.stdout is not None
        self.out = self.child.stdout
        os.set_blocking(self.out.fileno(), False)


def perform(script: Script, cwd: str, timeout: float, say: Callable[[Process, str], None]) -> list[Ended]:
    """Run all processes of a script in `cwd` and tell how each ended; `say` hears every line.

    The first that fails ends the rehearsal, as a failed pod ends the training.
    """
    for path, content in script.files.items():
        with Reaching(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "x", encoding="utf-8") as stream:
                stream.write(content)
    waiting = list(script.processes)
    running: list[_Actor] = []
    ended: list[Ended] = []
    deadline = time.monotonic() + timeout
    atexit.register(_stop, running)
    with selectors.DefaultSelector() as selector:
        try:
            while (waiting or running) and time.monotonic() < deadline and all(e.well for e in ended):
                for process in [p for p in waiting if _due(p, script, ended, waiting)]:
                    waiting.remove(process)
                    try:
                        running.append(_Actor(process, cwd))
                    except OSError as error:
                        say(process, f"cannot start {process.argv[0]}: {error.strerror}")
                        ended.append(Ended(process, 127))
                    else:
                        selector.register(running[-1].out, selectors.EVENT_READ, running[-1])
                _listen(selector, say)
                _reap(running, ended)
            # The others have a moment to end by themselves once one has failed: their reasons are worth hearing.
            patience = min(deadline, time.monotonic() + GRACE)
            while running and time.monotonic() < patience:
                _reap(running, ended)
                time.sleep(_STEP)
        finally:
            _stop(running)
            atexit.unregister(_stop)
            while selector.get_map() and _listen(selector, say):
                pass  # what is still in the pipes
            for key in list(selector.get_map().values()):
                _close(selector, key.data)
    for failed in [end for end in ended if not end.well][:1]:
        failed.is_first = True
    ended += [Ended(actor.process, None) for actor in running]
    ended += [Ended(process, None, started=False) for process in waiting]
    return sorted(ended, key=lambda e: script.processes.index(e.process))


def _due(process: Process, script: Script, ended: Sequence[Ended], waiting: Sequence[Process]) -> bool:
    """Whether everything has happened that the pod's role waits for; roles that are left out count as done."""
    done = {e.process for e in ended if e.well}
    for role, status in process.after:
        others = [other for other in script.processes if other.role == role]
        if any((other not in done) if status == "Complete" else (other in waiting) for other in others):
            return False
    return True


def _reap(running: list[_Actor], ended: list[Ended]) -> None:
    for actor in [a for a in running if a.child.poll() is not None]:
        running.remove(actor)
        ended.append(Ended(actor.process, actor.child.returncode))


def _listen(selector: selectors.BaseSelector, say: Callable[[Process, str], None]) -> bool:
    """Pass on every complete line that has come in; whether anything has."""
    if not selector.get_map():
        time.sleep(_STEP)
        return False
    ready = selector.select(_STEP)
    for key, _ in ready:
        actor: _Actor = key.data
        if not (chunk := os.read(key.fd, 1 << 16)):
            _close(selector, actor)
            chunk = b"\n" if actor.rest else b""
        *lines, actor.rest = (actor.rest + chunk).split(b"\n")
        for line in lines:
            say(actor.process, line.decode("utf-8", "replace").rstrip("\r"))
    return bool(ready)


def _close(selector: selectors.BaseSelector, actor: _Actor) -> None:
    selector.unregister(actor.out)
    actor.out.close()


def _stop(running: Sequence[_Actor]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        for actor in running:
            if actor.child.poll() is None:
                os.killpg(actor.child.pid, number)
        until = time.monotonic() + GRACE
        while any(actor.child.poll() is None for actor in running) and time.monotonic() < until:
            time.sleep(_STEP)
