"""An editor for tests: a client of the Language Server Protocol, by pygls, in front of the real server process."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

from tests.compiling import relative_environment
from tests.effort import PATIENCE
from tests.warm import program


class Editor:
    """Open texts by their path, and what the server last said of each."""

    def __init__(self, client: LanguageClient, process: asyncio.subprocess.Process) -> None:
        self.client = client
        self.process = process
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.known: dict[str, types.PublishDiagnosticsParams] = {}
        self.logged: list[str] = []
        self.server = types.ServerCapabilities()
        self.heard = asyncio.Event()

    def uri(self, path: Path) -> str:
        found: str | None = from_fs_path(str(path))
        assert found is not None
        return found

    def open(self, path: Path, text: str | None = None) -> str:
        uri = self.uri(path)
        self.texts[uri] = path.read_text("utf-8") if text is None else text
        self.versions[uri] = 1
        item = types.TextDocumentItem(uri, "yaml", 1, self.texts[uri])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, text: str) -> None:
        self.versions[uri] += 1
        self.texts[uri] = text
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def close(self, uri: str) -> None:
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """What the server says of the present version of an open text."""
        return await self.until(uri, lambda found: found.version == self.versions[uri])

    async def until(self, uri: str, is_right: Any) -> list[types.Diagnostic]:
        async with asyncio.timeout(PATIENCE):
            while uri not in self.known or not is_right(self.known[uri]):
                self.heard.clear()
                await self.heard.wait()
                assert not self.logged, self.logged
        return list(self.known[uri].diagnostics)

    def at(self, uri: str, text: str) -> dict[str, Any]:
        """The document and the position in the middle of a text in it, in UTF-16 units."""
        offset = self.texts[uri].index(text) + len(text) // 2
        before = self.texts[uri][:offset]
        line = before.rpartition("\n")[2]
        position = types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)
        return {"text_document": types.TextDocumentIdentifier(uri), "position": position}


@asynccontextmanager
async def editor(
    *folders: Path, encodings: Sequence[types.PositionEncodingKind | str] | None = None
) -> AsyncIterator[Editor]:
    client = LanguageClient("tests", "1")
    environment = {**relative_environment(), "PYTHONFAULTHANDLER": "1"}
    await client.start_io(str(program()), "lsp", env=environment, cwd=str(folders[0]))
    assert client._server is not None
    one = Editor(client, client._server)

    def published(params: types.PublishDiagnosticsParams) -> None:
        one.known[params.uri] = params
        one.heard.set()

    def logged(params: types.LogMessageParams) -> None:
        one.logged.append(params.message)

    def shown(params: types.ShowMessageParams) -> None:
        one.logged.append(params.message)
        one.heard.set()

    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)
    client.feature(types.WINDOW_LOG_MESSAGE)(logged)
    client.feature(types.WINDOW_SHOW_MESSAGE)(shown)
    general = types.GeneralClientCapabilities(position_encodings=encodings) if encodings else None
    opened = [types.WorkspaceFolder(one.uri(folder), folder.name) for folder in folders]
    given = types.InitializeParams(types.ClientCapabilities(general=general), os.getpid(), workspace_folders=opened)
    async with asyncio.timeout(PATIENCE):
        one.server = (await client.initialize_async(given)).capabilities
    client.initialized(types.InitializedParams())
    try:
        yield one
        assert not one.logged, one.logged
    finally:
        code = await _ended(client, one.process)
    assert code == 0, code


async def _ended(client: LanguageClient, process: asyncio.subprocess.Process) -> int:
    """Ask a server to end, and wait for its exit code."""
    try:
        async with asyncio.timeout(PATIENCE):
            await client.shutdown_async(None)
            client.exit(None)
            code = await process.wait()
    except TimeoutError as error:
        raise AssertionError(await _where(process)) from error
    await client.stop()  # type: ignore[no-untyped-call]
    return code


async def _where(process: asyncio.subprocess.Process) -> str:
    """Where every thread of a server is that does not end; it ends by this."""
    process.send_signal(signal.SIGABRT)
    assert process.stderr is not None
    async with asyncio.timeout(PATIENCE):
        return (await process.stderr.read()).decode("utf-8", "replace")


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)
