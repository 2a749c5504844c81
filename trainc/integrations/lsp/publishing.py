"""When an editor is told what is wrong: the edited file at once, its whole project after a pause."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.uris import from_fs_path

from trainc.integrations.lsp.diagnostics import diagnostics, trouble
from trainc.integrations.lsp.judgement import SLOW
from trainc.integrations.lsp.workspace import relative
from trainc.text.trouble import Trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainc.integrations.lsp.workspace import Workspace

    Publish = Callable[[types.PublishDiagnosticsParams], None]

SOON, PAUSE = 0.02, 0.4  # seconds after a change: several that arrive together are judged once


class Publisher:
    """Judges what was edited, and publishes it; what was published and does not hold any more is taken back."""

    def __init__(self, workspace: Workspace, publish: Publish, log: Callable[[str], None]) -> None:
        self._workspace = workspace
        self._publish = publish
        self._log = log
        self._edited: set[str] = set()
        self._due: set[str] = set()  # projects to be judged whole, however long it takes
        self._shown: dict[str, set[str]] = {}  # by root, the paths with diagnostics
        self._soon: asyncio.TimerHandle | None = None
        self._later: asyncio.TimerHandle | None = None

    def stop(self) -> None:
        """Judge nothing that is not judged yet: nobody is there any more to be told."""
        for timer in (self._soon, self._later):
            if timer is not None:
                timer.cancel()

    def opened(self, path: str) -> None:
        """A file was opened: tell what is known of it, or else judge its project."""
        judgement = self._workspace.judgement(path)
        if not (judgement.is_whole and judgement.is_known):
            self.judge(judgement.root)
        elif self._workspace.is_saved(path):
            self._tell(path, judgement.root)
        else:
            self.edited(path)

    def edited(self, path: str) -> None:
        """A text has changed: judge it soon, and its project after a pause."""
        self._edited.add(path)
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(SOON, self.settle)
        self._wait()

    def changed(self, roots: Iterable[str]) -> None:
        """Files of projects have changed on the disk: judge them whole after a pause, in which more may change."""
        self._due.update(roots)
        self._wait()

    def closed(self, root: str) -> None:
        """A file of a project was closed: what was not saved is gone, and with the last file all that was shown."""
        if root in self._workspace.roots():
            self.changed([root])
        else:
            self.judge(root)

    def settle(self) -> None:
        """Judge the files that have changed since they were judged, each by itself."""
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        edited, self._edited = self._edited, set()
        for path in sorted(edited & self._workspace.buffers.keys()):
            self._judge_file(path)

    def judge(self, root: str) -> None:
        """Judge a whole project, and publish all that is known of it."""
        workspace = self._workspace
        open_files = sorted(path for path in workspace.buffers if workspace.root(path) == root)
        if not open_files:
            workspace.forget(root)
            self._show(root, [])
            return
        judgement = workspace.judgement(open_files[0])
        error = self._tried(lambda: judgement.judge(workspace.unsaved(root)))
        if error is not None:
            judgement.by_file = {}
            self._show(root, open_files, {open_files[0]: [trouble(error)]})
            return
        paths = {workspace.path(findings[0].span, root) for findings in judgement.by_file.values() if findings}
        self._show(root, [*open_files, *(paths - {"", *open_files})])

    def _judge_file(self, path: str) -> None:
        workspace = self._workspace
        root = workspace.root(path)
        judgement, unsaved = workspace.judgement(path), workspace.unsaved(root)
        if relative(path, root) not in unsaved:
            return
        error = self._tried(lambda: judgement.judge_file(relative(path, root), unsaved))
        if error is not None:
            judgement.by_file[relative(path, root)] = []
        self._tell(path, root, [trouble(error)] if error is not None else None)

    def _wait(self) -> None:
        if self._later is not None:
            self._later.cancel()
        self._later = asyncio.get_running_loop().call_later(PAUSE, self._pause)

    def _pause(self) -> None:
        self.settle()
        due, self._due = self._due, set()
        for root in sorted(self._workspace.roots()):
            if root in due or self._is_quick(root):
                self.judge(root)

    def _is_quick(self, root: str) -> bool:
        path = next(path for path in self._workspace.buffers if self._workspace.root(path) == root)
        return self._workspace.judgement(path).seconds < SLOW

    def _tried(self, judge: Callable[[], None]) -> Exception | None:
        """What kept a judgement from being made: the editor lives on, whatever is in its files."""
        try:
            judge()
        except Trouble as error:
            return error
        except Exception as error:  # noqa: BLE001 (a bug in trainc must not take the editor's other answers away)
            self._log(f"a bug in trainc, not in your files: {type(error).__name__}: {error}")
            return RuntimeError(f"a bug in trainc, not in your files: {type(error).__name__}: {error}")
        return None

    def _show(self, root: str, paths: list[str], instead: dict[str, list[types.Diagnostic]] | None = None) -> None:
        """Publish these files, and take back what was shown of all others of the project."""
        former = self._shown.pop(root, set())
        for path in paths:
            self._tell(path, root, (instead or {}).get(path))
        for path in sorted(former - set(paths)):
            self._publish(types.PublishDiagnosticsParams(self._uri(path), []))

    def _tell(self, path: str, root: str, published: list[types.Diagnostic] | None = None) -> None:
        buffer = self._workspace.buffers.get(path)
        shown = diagnostics(path, self._workspace) if published is None else published
        version = buffer.version if buffer is not None else None
        self._shown.setdefault(root, set()).add(path)
        self._publish(types.PublishDiagnosticsParams(self._uri(path), shown, version))

    def _uri(self, path: str) -> str:
        buffer = self._workspace.buffers.get(path)
        return buffer.uri if buffer is not None else from_fs_path(path) or ""
