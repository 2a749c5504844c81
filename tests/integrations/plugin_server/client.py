"""What Argo CD's repo-server does with a plugin: pack the repository, send it, read one answer."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import grpc

from tests.effort import PATIENCE
from tests.integrations.plugin_server.wire import SERVICE, decode, encode, text

CHUNK = 1024
ANNOUNCING = ("ARGOCD_APP_NAME", "ARGOCD_APP_SOURCE_REPO_URL", "ARGOCD_APP_SOURCE_TARGET_REVISION")
EXCLUDED = (".git",)  # --plugin-tar-exclude, as operators of large repositories set it
LARGEST = 100 << 20


class Client:
    """A connection to the socket of one plugin; `environment` goes with every request to generate."""

    def __init__(self, socket: Path, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.excluded: tuple[str, ...] = EXCLUDED
        limits = [("grpc.max_receive_message_length", LARGEST), ("grpc.max_send_message_length", LARGEST)]
        self._channel = grpc.insecure_channel(f"unix:{socket}", options=limits)
        grpc.channel_ready_future(self._channel).result(timeout=PATIENCE)

    def close(self) -> None:
        """Hang up."""
        self._channel.close()

    def generate(
        self, repository: Path, inner: str, environment: Mapping[str, str], *, timeout: float = PATIENCE
    ) -> list[str]:
        """The manifests of the application in the folder `inner` of a repository.

        Raises:
            grpc.RpcError: with the text that people see in the UI.
        """
        answer = self._upload("GenerateManifest", repository, inner, {**self._environment, **environment}, timeout)
        return [text(content) for number, content in decode(answer) if number == 1]

    def supports(self, repository: Path, inner: str) -> tuple[bool, bool]:
        """Whether discovery finds the application to be the plugin's, and whether there is discovery at all."""
        found = dict(decode(self._upload("MatchRepository", repository, inner, {}, PATIENCE)))
        return bool(found.get(1)), bool(found.get(2))

    def announcements(
        self, repository: Path, inner: str, environment: Mapping[str, str]
    ) -> list[dict[int, int | bytes]]:
        """The parameters announced for an application; few of its variables go with the request."""
        known = {name: text for name, text in self._environment.items() if name in ANNOUNCING}
        answer = self._upload("GetParametersAnnouncement", repository, inner, {**known, **environment}, PATIENCE)
        return [dict(decode(content)) for _, content in decode(answer) if isinstance(content, bytes)]

    def discovers(self) -> bool:
        """Whether discovery is configured."""
        call = self._channel.unary_unary(f"/{SERVICE}/CheckPluginConfiguration", _raw, _raw)
        return bool(dict(decode(call(b""))).get(1))

    def _upload(
        self, method: str, repository: Path, inner: str, environment: Mapping[str, str], timeout: float
    ) -> bytes:
        call = self._channel.stream_unary(f"/{SERVICE}/{method}", _raw, _raw)
        answer: bytes = call(_stream(packed(repository, self.excluded), inner, environment), timeout=timeout)
        return answer


def packed(repository: Path, excluded: tuple[str, ...] = EXCLUDED) -> bytes:
    """The repository as an archive without some of its files: folders before files, sorted, relative names."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(repository.rglob("*"), key=lambda path: (not path.is_dir(), path)):
            if path.relative_to(repository).parts[0] in excluded:
                continue
            archive.add(path, str(path.relative_to(repository)), recursive=False)
    return gzip.compress(out.getvalue(), mtime=0)


def _stream(archive: bytes, inner: str, environment: Mapping[str, str]) -> Iterator[bytes]:
    variables = [(5, encode((1, name), (2, content))) for name, content in environment.items()]
    checksum = hashlib.sha256(archive).hexdigest()
    about = encode((1, inner.rpartition("/")[2]), (2, inner), (3, checksum), (4, len(archive)), *variables)
    yield encode((1, about))
    for at in range(0, len(archive), CHUNK):
        yield encode((2, encode((1, archive[at : at + CHUNK]))))


def _raw(data: bytes) -> bytes:
    return data
