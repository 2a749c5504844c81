"""A cluster of three processes on loopback: etcd, an API server and JobSet's manager, ended with the block that uses it."""

import base64
import json
import os
import secrets
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import yaml

from tests.programs.modules import NotBuiltError, Program, built
from tests.programs.process import DiedError

_PATIENCE = 120  # seconds for a process to answer
JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
_APPLY = "application/apply-patch+yaml"


class Answer(NamedTuple):
    """What an API server answers: a status, an object or a Status, and warnings."""

    code: int
    body: Any
    warnings: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The sentence of a refusal."""
        return str(self.body.get("message", self.body)) if isinstance(self.body, dict) else str(self.body)


class Cluster:
    """Running processes with a folder of their own; nothing of them is left behind."""

    def __init__(self, etcd: Program, apiserver: Program, jobset: Program) -> None:
        self._programs = {program.name: built(program) for program in (etcd, apiserver, jobset)}
        self._running: list[tuple[str, subprocess.Popen[bytes]]] = []
        self._folder = Path()
        self._url = ""
        self._token = secrets.token_hex(16)
        self._context = ssl.create_default_context()

    def __enter__(self) -> Self:
        """Start all, and wait until JobSets are admitted."""
        self._folder = Path(tempfile.mkdtemp(prefix="trainc-cluster-"))
        try:
            self._certificate()
            ports = _free_ports(4)
            self._etcd(ports[0], ports[1])
            self._apiserver(ports[0], ports[2])
            self._jobset(ports[3])
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all."""
        self._end()

    def _end(self) -> None:
        for _, process in reversed(self._running):
            process.kill()
            process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _certificate(self) -> None:
        """A key and a certificate for 127.0.0.1, by the program that Go brings for tests."""
        root = subprocess.run(["go", "env", "GOROOT"], capture_output=True, text=True, check=True).stdout.strip()
        source = Path(root) / "src/crypto/tls/generate_cert.go"
        result = subprocess.run(
            ["go", "run", str(source), "--host", "127.0.0.1", "--ca"],
            cwd=self._folder,
            capture_output=True,
            check=False,
        )
        if result.returncode:
            raise NotBuiltError("no cluster starts: Go's generate_cert.go makes no certificate")
        serving = self._folder / "k8s-webhook-server" / "serving-certs"
        serving.mkdir(parents=True)
        shutil.copy(self._folder / "cert.pem", serving / "tls.crt")
        shutil.copy(self._folder / "key.pem", serving / "tls.key")
        self._context = ssl.create_default_context(cafile=str(self._folder / "cert.pem"))

    def _start(self, name: str, *words: str) -> None:
        environment = {**os.environ, "TMPDIR": str(self._folder), "KUBECONFIG": str(self._folder / "kubeconfig")}
        with (self._folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [str(self._programs[name] / "program"), *words],
                env=environment,
                stdout=log,
                stderr=log,
                cwd=self._folder,
            )
        self._running.append((name, process))

    def _wait(self, name: str, ready: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            for running, process in self._running:
                if process.poll() is not None:
                    lines = (self._folder / f"{running}.log").read_text("utf-8", "replace").strip().splitlines()
                    raise DiedError(f"{running} ended: {lines[-1] if lines else 'it said nothing'}")
            try:
                if ready():
                    return
            except OSError:
                pass
            time.sleep(0.2)
        raise DiedError(f"{name} does not answer after {_PATIENCE} s")

    def _etcd(self, clients: int, peers: int) -> None:
        client, peer = f"http://127.0.0.1:{clients}", f"http://127.0.0.1:{peers}"
        self._start(
            "etcd", "--data-dir", str(self._folder / "etcd"), "--unsafe-no-fsync", "--log-level", "error",
            "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}",
        )  # fmt: skip
        self._wait("etcd", lambda: _connects(clients))

    def _apiserver(self, etcd: int, port: int) -> None:
        key, certificate = str(self._folder / "key.pem"), str(self._folder / "cert.pem")
        (self._folder / "tokens.csv").write_text(f"{self._token},admin,admin,system:masters\n", "utf-8")
        self._url = f"https://127.0.0.1:{port}"
        self._start(
            "kubernetes", "--etcd-servers", f"http://127.0.0.1:{etcd}", "--secure-port", str(port),
            "--bind-address", "127.0.0.1", "--tls-cert-file", certificate, "--tls-private-key-file", key,
            "--cert-dir", str(self._folder), "--token-auth-file", str(self._folder / "tokens.csv"),
            "--service-account-key-file", key, "--service-account-signing-key-file", key,
            "--service-account-issuer", self._url, "--authorization-mode", "AlwaysAllow",
            "--disable-admission-plugins", "ServiceAccount,StorageObjectInUseProtection", "--service-cluster-ip-range", "10.0.0.0/24",
            "--allow-privileged", "--watch-cache=false",
        )  # fmt: skip
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": self._url, "certificate-authority": certificate}}],
            "users": [{"name": "c", "user": {"token": self._token}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
        }  # fmt: skip
        (self._folder / "kubeconfig").write_text(json.dumps(config), "utf-8")
        self._wait("kubernetes", lambda: self.request("GET", "/readyz").code == 200)
        self._wait("kubernetes", lambda: self.request("GET", "/api/v1/namespaces/default").code == 200)

    def _jobset(self, port: int) -> None:
        """The definition of JobSets, the manager, and its webhooks at its port."""
        components = self._programs["jobset"] / "files/config/components"
        definition = yaml.safe_load((components / "crd/bases/jobset.x-k8s.io_jobsets.yaml").read_text("utf-8"))
        made = self.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        if made.code != 201:
            raise DiedError(f"the definition of JobSets is refused: {made.message}")
        configuration = {
            "apiVersion": "config.jobset.x-k8s.io/v1alpha1", "kind": "Configuration",
            "leaderElection": {"leaderElect": False}, "internalCertManagement": {"enable": False},
            "webhook": {"port": port, "host": "127.0.0.1"},
            "metrics": {"bindAddress": "0"}, "health": {"healthProbeBindAddress": "0"},
        }  # fmt: skip
        (self._folder / "jobset.yaml").write_text(yaml.safe_dump(configuration), "utf-8")
        self._wait("kubernetes", lambda: self.request("GET", JOBSETS).code == 200)
        self._start("jobset", "--config", str(self._folder / "jobset.yaml"))
        self._wait("jobset", lambda: _connects(port))
        hooks = yaml.safe_load_all((components / "webhook/manifests.yaml").read_text("utf-8"))
        for hook in hooks:
            kind = hook["kind"].lower() + "s"
            for webhook in hook["webhooks"]:
                path = webhook["clientConfig"].pop("service")["path"]
                webhook["clientConfig"]["url"] = f"https://127.0.0.1:{port}{path}"
                webhook["clientConfig"]["caBundle"] = _base64(self._folder / "cert.pem")
            self.request("POST", f"/apis/admissionregistration.k8s.io/v1/{kind}", hook)
        probe = {
            "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "probe"}, "spec": {},
        }  # fmt: skip
        path = f"{JOBSETS}?dryRun=All"
        self._wait("jobset", lambda: "successPolicy" in self.request("POST", path, probe).body.get("spec", {}))

    def request(self, verb: str, path: str, content: Any = None, kind: str = "application/json") -> Answer:
        """One request, and its answer, whatever its status."""
        data = None if content is None else json.dumps(content).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        request = urllib.request.Request(self._url + path, data, headers, method=verb)  # noqa: S310 (https, ours)
        try:
            with urllib.request.urlopen(request, context=self._context, timeout=60) as response:  # noqa: S310
                warnings = tuple(response.headers.get_all("Warning") or ())
                text = response.read().decode()
                return Answer(response.status, _body(text), warnings)
        except urllib.error.HTTPError as error:
            return Answer(error.code, _body(error.read().decode()))

    def apply(self, path: str, tree: dict[str, Any]) -> Answer:
        """Server-side apply, as Argo CD and Flux do, with strict validation of fields."""
        query = "fieldManager=lane&force=true&fieldValidation=Strict"
        return self.request("PATCH", f"{path}/{tree['metadata']['name']}?{query}", tree, _APPLY)

    def wipe(self) -> None:
        """Delete what a JobSet left: there is no garbage collector."""
        claims = "/api/v1/namespaces/default/persistentvolumeclaims"
        for path in (JOBSETS, "/apis/batch/v1/namespaces/default/jobs", claims):
            self.request("DELETE", path)
        services = self.request("GET", "/api/v1/namespaces/default/services").body["items"]
        for name in {service["metadata"]["name"] for service in services} - {"kubernetes"}:
            self.request("DELETE", f"/api/v1/namespaces/default/services/{name}")
        self._wait("kubernetes", lambda: not self.request("GET", JOBSETS).body["items"])


def _body(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _base64(file: Path) -> str:
    return base64.b64encode(file.read_bytes()).decode()


def _free_ports(count: int) -> list[int]:
    """Ports that are free now, all different."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [opened.getsockname()[1] for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports


def _connects(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
