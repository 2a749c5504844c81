"""The Language Server Protocol over standard input and output."""

from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcInternalError
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from trainc import __version__
from trainc.integrations.lsp.features import completion, definition, hover
from trainc.integrations.lsp.findings import KINDS, Buffer, Publisher, Workspace, code_actions
from trainc.model.cluster import Opening
from trainc.text.trouble import Trouble

if TYPE_CHECKING:
    from pygls.server import ServerErrors

T = TypeVar("T")
_WATCHED = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher("**/*.{yaml,yml,json}")])


class EditorServer(LanguageServer):
    """A server of one editor: its open files, and what it is told about them."""

    def __init__(self, cache: Opening | None) -> None:
        # Whole texts are a few thousand bytes, and no two programs can disagree about where a line of them ends.
        super().__init__("trainc", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.texts = Workspace(cache)
        self.is_shut_down = False
        self.publisher = Publisher(
            self.texts,
            self.text_document_publish_diagnostics,
            lambda text: self.window_log_message(types.LogMessageParams(types.MessageType.Error, text)),
        )
        _add_features(self)

    def path(self, uri: str) -> str:
        """The path of a file, empty for a text that is in none."""
        return (to_fs_path(uri) or "") if uri.startswith("file:") else ""

    def hold(self, document: types.TextDocumentItem | types.VersionedTextDocumentIdentifier, text: str) -> str:
        """Take a text of the editor; gives its path."""
        if path := self.path(document.uri):
            agreed = self.server_capabilities.position_encoding or self.texts.encoding
            self.texts.encoding = types.PositionEncodingKind(agreed).value
            self.texts.buffers[path] = Buffer(document.uri, text, document.version)
        return path

    def report_server_error(self, error: Exception, source: "ServerErrors") -> None:
        """Tell the editor of a mistake in the server, but not that it could not be told something."""
        if source is not JsonRpcInternalError:
            super().report_server_error(error, source)


def serve(stdin: BinaryIO, stdout: BinaryIO, cache: Opening | None) -> bool:
    """Answer one editor until it ends; gives whether it asked for that before, as the protocol wants."""
    server = EditorServer(cache)
    server.start_io(stdin, stdout)
    return server.is_shut_down


def _add_features(server: EditorServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        if path := server.hold(params.text_document, params.text_document.text):
            server.publisher.opened(path)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        path = server.hold(params.text_document, params.content_changes[-1].text) if params.content_changes else ""
        if path:
            server.publisher.edited(path)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        path = server.path(params.text_document.uri)
        if path in server.texts.buffers:
            server.publisher.changed([server.texts.root(path)])

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        path = server.path(params.text_document.uri)
        if server.texts.buffers.pop(path, None) is not None:
            server.publisher.closed(server.texts.root(path))

    @server.feature(types.SHUTDOWN)
    def ended(_: None) -> None:
        server.is_shut_down = True
        server.publisher.stop()

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is not None and watching.dynamic_registration:
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            one = types.Registration("files", method, _WATCHED)
            await server.client_register_capability_async(types.RegistrationParams([one]))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def touched(_: types.DidChangeWatchedFilesParams) -> None:
        server.publisher.changed(server.texts.roots())

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def shown(params: types.HoverParams) -> types.Hover | None:
        return _answer(server, params.text_document, lambda path: hover(path, params.position, server.texts), None)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def defined(params: types.DefinitionParams) -> list[types.Location]:
        return _answer(server, params.text_document, lambda path: definition(path, params.position, server.texts), [])

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[" ", ",", "/"]))
    def completed(params: types.CompletionParams) -> list[types.CompletionItem]:
        return _answer(server, params.text_document, lambda path: completion(path, params.position, server.texts), [])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=KINDS))
    def fixed(params: types.CodeActionParams) -> list[types.CodeAction]:
        server.publisher.settle()
        only = params.context.only or ()
        return _answer(
            server, params.text_document, lambda path: [*code_actions(path, params.range, only, server.texts)], []
        )


def _answer(server: EditorServer, document: types.TextDocumentIdentifier, answer: Callable[[str], T], nothing: T) -> T:
    """What is answered about an open file, nothing for any other and where its project cannot be read."""
    path = server.path(document.uri)
    if path not in server.texts.buffers:
        return nothing
    try:
        return answer(path)
    except Trouble:
        return nothing
