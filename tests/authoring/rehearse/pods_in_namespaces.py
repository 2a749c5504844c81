"""A JobSet's pods on one machine, each with its own network: what manifests say is run as it is written.

Every pod has an address, a host name, its own `/etc/hosts` in place of the cluster's DNS, its mounted ConfigMaps and
Secrets, and its init containers. `rehearse` starts this module in new namespaces, which take everything along when
they end. It needs root, `ip` and `unshare`; `why_not` says what is missing.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.compiling import ROOT
from tests.conformance.survey_pods import Pod, World

_NEW = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
_PRIVATE = ("/tmp/ray", "/dev/shm")  # noqa: S108 (folders of a pod)
_OVERLAID = ("/etc", "/root", "/home")  # folders of the machine in which a pod's mounts may lie


class Rehearsal(NamedTuple):
    """What the pods printed, each line behind its pod, and whether the JobSet succeeded."""

    out: str
    succeeded: bool


def why_not() -> str:
    """What keeps pods from having networks of their own here, "" where nothing does."""
    if os.geteuid() != 0:
        return "needs root, for networks of their own"
    missing = [name for name in ("ip", "unshare", "mount") if shutil.which(name) is None]
    if missing:
        return f"needs {', '.join(missing)}"
    probe = (
        f"mount -t tmpfs none /mnt && {_overlay('/etc', '/mnt/probe')} && ip link add probe0 type veth peer name probe1"
    )
    done = subprocess.run([*_NEW, "sh", "-c", probe], check=False, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"needs namespaces and overlays: {done.stderr.strip()[-100:]}"


def rehearse(
    objects: Sequence[Any],
    folder: Path,
    *,
    programs: Mapping[str, Sequence[str]] | None = None,
    secrets: Mapping[str, Mapping[str, str]] | None = None,
    where: Path = ROOT,
    seconds: int = 120,
) -> Rehearsal:
    """Run the pods of these objects in `where`; `programs` stand in for those of an image, by role."""
    told = folder / "rehearsal.json"
    told.write_text(
        json.dumps(
            {
                "objects": list(objects),
                "programs": {role: list(words) for role, words in (programs or {}).items()},
                "secrets": {name: dict(keys) for name, keys in (secrets or {}).items()},
                "where": str(where),
                "seconds": seconds,
            }
        ),
        "utf-8",
    )
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"], "/usr/sbin"])
    environment = {"PATH": path, "HOME": "/root", "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}
    command = [*_NEW, sys.executable, "-m", "tests.authoring.rehearse.pods_in_namespaces", str(told)]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=seconds + 60
    )
    return Rehearsal(done.stdout + done.stderr, done.returncode == 0)


class _Machine:
    """The pods of one rehearsal, their networks and their folders."""

    def __init__(self, told: Any) -> None:
        self.world = World(told["objects"])
        self.told = told
        self.scratch = Path("/mnt/pods")
        self.codes: dict[str, int] = {}
        self.children: list[subprocess.Popen[str]] = []
        self.deadline = time.monotonic() + told["seconds"]
        self.over = False

    def run(self) -> bool:
        """Start every pod; whether the JobSet succeeded in time."""
        _sh("mount -t tmpfs none /run && mount -t tmpfs none /mnt && mkdir /run/netns /run/sshd /mnt/pods")
        _sh("ip link set lo up && ip link add pods type bridge && ip link set pods up")
        for number, pod in enumerate(self.world.pods):
            _sh(
                f"ip netns add p{number} && ip link add v{number} type veth peer name eth0 netns p{number} && "
                f"ip link set v{number} master pods up && ip -n p{number} addr add {_address(number)}/16 dev eth0 && "
                f"ip -n p{number} link set eth0 up && ip -n p{number} link set lo up"
            )
            self._write_files(number, pod)
        for number, pod in enumerate(self.world.pods):
            threading.Thread(target=self._live, args=(number, pod), daemon=True).start()
        while time.monotonic() < self.deadline and not self._failed() and not self._succeeded():
            time.sleep(0.1)
        done = self._succeeded()
        self.over = True
        _say(f"end: {'succeeded' if done else 'failed' if self._failed() else 'the time was up'}")
        for child in self.children:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGTERM)
        time.sleep(1)
        return done

    def _live(self, number: int, pod: Pod) -> None:
        """One pod: its init containers in turn, then its containers; again where its Job may try again."""
        for _ in range(min(int(pod.job.get("backoffLimit", 0)), 5) + 1):
            code = self._once(number, pod)
            if code == 0 or self.over:
                break
            _say(f"[{pod.host}] ended with {code}")
        self.codes[pod.host] = code

    def _once(self, number: int, pod: Pod) -> int:
        for container in pod.spec.get("initContainers", []):
            code = self._container(number, pod, container, pod.words(container))
            if code:
                return code
        (container,) = pod.spec["containers"]
        words = self.told["programs"].get(pod.replicated) or pod.words(container)
        return self._container(number, pod, container, words)

    def _container(self, number: int, pod: Pod, container: Any, words: list[str]) -> int:
        env = {**os.environ, "HOSTNAME": pod.host, "PYTHONUNBUFFERED": "1", **pod.env(container)}
        env = {name: text.replace("<status.podIP>", _address(number)) for name, text in env.items()}
        child = subprocess.Popen(
            [
                "ip",
                "netns",
                "exec",
                f"p{number}",
                "unshare",
                "--mount",
                "--uts",
                "sh",
                "-c",
                self._prepared(number, pod, container),
                "sh",
                *words,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=env,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self.children.append(child)
        assert child.stdout is not None
        for line in child.stdout:
            _say(f"[{pod.host}/{container['name']}] {line.rstrip()}")
        return child.wait()

    def _prepared(self, number: int, pod: Pod, container: Any) -> str:
        """The shell's words that give a container its host name and files, and run its command."""
        home = self.scratch / str(number)
        binds = [
            f"mkdir -p '{os.path.dirname(path)}' && cp '{home}/files{path}' '{path}' && chmod 600 '{path}'"
            for path in pod.files(container)
        ]
        steps = [
            *(_overlay(folder, f"{home}/{folder.strip('/')}-{container['name']}") for folder in _OVERLAID),
            f"cp {home}/hosts /etc/hosts",
            *(f"mkdir -p {folder} && mount -t tmpfs none {folder}" for folder in _PRIVATE),
            f"hostname {pod.host}",
            *binds,
            f"cd '{self.told['where']}'",
            'exec "$@"',
        ]
        return " && ".join(steps)

    def _write_files(self, number: int, pod: Pod) -> None:
        home = self.scratch / str(number)
        home.mkdir(parents=True)
        # As the kubelet writes it: programs that ask for the full name of their host get one that others resolve.
        whole = f"{pod.host}.{pod.subdomain}.{pod.namespace}.svc.cluster.local"
        lines = ["127.0.0.1 localhost", f"{_address(number)} {whole} {pod.host}"]
        for other, there in enumerate(self.world.pods):
            own = f"{there.host}.{there.subdomain}"
            services = [
                service["metadata"]["name"]
                for service in self.world.of_kind("Service")
                if self.world.selected(service) == [there]
            ]
            names = [own, *services]
            domains = ["", f".{there.namespace}", f".{there.namespace}.svc", f".{there.namespace}.svc.cluster.local"]
            lines.append(" ".join([_address(other), *(name + domain for name in names for domain in domains)]))
        (home / "hosts").write_text("\n".join(lines) + "\n", "utf-8")
        for container in (*pod.spec.get("initContainers", []), *pod.spec["containers"]):
            for path, text in pod.files(container).items():
                file = home / "files" / path.lstrip("/")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(self._secret(os.path.basename(path)) if text is None else text, "utf-8")

    def _secret(self, key: str) -> str:
        keys: dict[str, str] = {}
        for secret in self.told["secrets"].values():
            keys |= secret
        return keys[key]

    def _failed(self) -> bool:
        return any(self.codes.copy().values())

    def _succeeded(self) -> bool:
        (jobset,) = self.world.jobsets
        policy = jobset["spec"].get("successPolicy", {})
        roles = policy.get("targetReplicatedJobs") or [role["name"] for role in jobset["spec"]["replicatedJobs"]]
        wanted = [pod.host for pod in self.world.pods if pod.replicated in roles]
        return all(self.codes.get(host) == 0 for host in wanted)


def _address(number: int) -> str:
    return f"10.77.0.{number + 2}"


def _overlay(folder: str, beside: str) -> str:
    """The shell's words for a copy of a folder that takes writes and is gone with its mount namespace."""
    options = f"lowerdir={folder},upperdir={beside}/new,workdir={beside}/work"
    return f"mkdir -p {beside}/new {beside}/work && mount -t overlay overlay -o {options} {folder}"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _sh(script: str) -> None:
    subprocess.run(["sh", "-ec", script], check=True)


def documents(path: Path) -> list[Any]:
    """The objects of a rendered file."""
    return [one for one in yaml.safe_load_all(path.read_text("utf-8")) if one]


if __name__ == "__main__":
    sys.exit(0 if _Machine(json.loads(Path(sys.argv[1]).read_text("utf-8"))).run() else 1)
