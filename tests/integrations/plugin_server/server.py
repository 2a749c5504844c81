"""A stand-in for Argo CD's plugin server, faithful where a plugin can tell the difference."""

import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import tarfile
import uuid
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import grpc
import yaml

from tests.effort import PATIENCE
from tests.integrations.plugin_server.wire import SERVICE, decode, encode, text
from tests.repository import unpack

LARGEST = 100 << 20
MARGIN = 0.1  # seconds before the caller's deadline at which a command is stopped


class PluginServer:
    """Serves one plugin file on its socket below `folder`; `environment` is the sidecar's own."""

    def __init__(self, folder: Path, plugin: dict[str, Any], environment: Mapping[str, str]) -> None:
        assert plugin["kind"] == "ConfigManagementPlugin"
        self._spec = plugin["spec"]
        self._environment = environment
        self._work = folder / "_cmp_server"
        version = self._spec.get("version", "")
        self.socket = folder / f"{plugin['metadata']['name']}{f'-{version}' if version else ''}.sock"
        limits = [("grpc.max_receive_message_length", LARGEST), ("grpc.max_send_message_length", LARGEST)]
        self._server = grpc.server(ThreadPoolExecutor(8), options=limits)
        methods: dict[str, Any] = {
            "GenerateManifest": grpc.stream_unary_rpc_method_handler(self._generate),
            "MatchRepository": grpc.stream_unary_rpc_method_handler(self._match),
            "GetParametersAnnouncement": grpc.stream_unary_rpc_method_handler(self._announce),
            "CheckPluginConfiguration": grpc.unary_unary_rpc_method_handler(self._configuration),
        }
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, methods),))
        self._server.add_insecure_port(f"unix:{self.socket}")
        self._server.start()

    def stop(self) -> None:
        """Serve no more."""
        self._server.stop(None).wait()

    def _generate(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> bytes:
        with _Unpacked(self._work, requests, context) as application:
            for step in ("init", "generate"):
                if step in self._spec:
                    out = self._run(self._spec[step], application, context)
        manifests = list(split(out.removesuffix("\n"), context))
        return encode(*((1, manifest) for manifest in manifests), (2, "Plugin"))

    def _match(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> bytes:
        discover = self._spec.get("discover") or {}
        with _Unpacked(self._work, requests, context) as application:
            if "fileName" in discover:
                found = any(application.folder.glob(discover["fileName"]))
            else:
                found = any(application.folder.glob((discover.get("find") or {}).get("glob", "/")[0:] or ""))
        return encode((1, found), (2, bool(discover)))

    def _announce(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> bytes:
        with _Unpacked(self._work, requests, context) as application:
            out = self._run(self._spec["parameters"]["dynamic"], application, context)
        return encode(*((1, _announcement(entry)) for entry in json.loads(out)))

    def _configuration(self, _request: bytes, _context: grpc.ServicerContext) -> bytes:
        return encode((1, bool(self._spec.get("discover"))))

    def _run(self, step: dict[str, Any], application: "_Unpacked", context: grpc.ServicerContext) -> str:
        """Standard output of one command: no shell, the application's folder, a process group, a deadline."""
        words = [*step["command"], *step.get("args", ())]
        process = subprocess.Popen(
            words,
            cwd=application.folder,
            env={**self._environment, **application.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=max(0.0, (context.time_remaining() or PATIENCE) - MARGIN))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)
            process.kill()
            process.communicate()
            context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, f"`{' '.join(words)}` failed signal: terminated")
        if process.returncode:
            said = err.decode("utf-8", "replace").strip()
            context.abort(
                grpc.StatusCode.UNKNOWN, f"`{' '.join(words)}` failed exit status {process.returncode}: {said}"
            )
        return out.decode()


class _Unpacked:
    """One request's repository on disk, gone afterwards: modes lost, links checked."""

    def __init__(self, work: Path, requests: Iterator[bytes], context: grpc.ServicerContext) -> None:
        about = dict[int, Any]()
        self.environment: dict[str, str] = {}
        data = bytearray()
        for request in requests:
            for number, content in decode(request):
                assert isinstance(content, bytes)
                if number == 1:
                    about = self._metadata(content)
                else:
                    data += b"".join(chunk for _, chunk in decode(content) if isinstance(chunk, bytes))
        if hashlib.sha256(data).hexdigest() != about.get(3):
            context.abort(grpc.StatusCode.UNKNOWN, "file checksum validation error")
        self._top = work / str(uuid.uuid4())
        self._top.mkdir(parents=True)
        with tarfile.open(fileobj=io.BytesIO(bytes(data)), mode="r:gz") as archive:
            unpack(archive, self._top)
        for path in self._top.rglob("*"):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() else 0o644)
        self.folder = (self._top / about.get(2, ".")).resolve()
        if not self.folder.is_relative_to(self._top.resolve()):
            context.abort(grpc.StatusCode.UNKNOWN, "application path leaves the work directory")

    def _metadata(self, content: bytes) -> dict[int, Any]:
        about: dict[int, Any] = {}
        for number, value in decode(content):
            if number == 5:
                assert isinstance(value, bytes)
                entry = {key: text(part) for key, part in decode(value)}
                if entry.get(1):
                    self.environment[entry[1]] = entry.get(2, "")
            else:
                about[number] = text(value) if isinstance(value, bytes) else value
        return about

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._top)


def split(stdout: str, context: grpc.ServicerContext) -> Iterator[str]:
    """The documents of a stream as JSON; comments and empty ones are dropped."""
    for line in stdout.splitlines():
        if line.startswith("--- ") and not line[4:].lstrip().startswith("#"):
            context.abort(grpc.StatusCode.UNKNOWN, f"invalid Yaml document separator: {line[4:]}")
    try:
        for tree in yaml.safe_load_all(stdout):
            if tree is not None:
                yield json.dumps(tree)
    except yaml.YAMLError as error:
        context.abort(grpc.StatusCode.UNKNOWN, f"failed to unmarshal manifest: {error}")


def _announcement(entry: dict[str, Any]) -> bytes:
    keys: Iterable[tuple[int, str]] = (
        (1, "name"),
        (2, "title"),
        (3, "tooltip"),
        (4, "required"),
        (5, "itemType"),
        (6, "collectionType"),
        (7, "string"),
    )
    fields = [(number, entry[key]) for number, key in keys if key in entry]
    return encode(*fields, *((8, item) for item in entry.get("array", ())))
