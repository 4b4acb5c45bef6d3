"""The server of one editor: settings, diagnostics, file watching and shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import Any, Final

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from kdoctor import __version__
from kdoctor.project.readers import READERS
from kdoctor.server.documents import OpenDocument
from kdoctor.server.problems import diagnostics_of
from kdoctor.server.protocol import Protocol
from kdoctor.server.session import Session, View
from kdoctor.server.settings import EditorSettings
from kdoctor.server.text import Encoding

_DEBOUNCE: Final = 0.2  # seconds without a keystroke before a document is checked
_PARENT_CHECK: Final = 2.0  # seconds between checks that the editor is still running
_SETTINGS: Final = ("kdoctor.toml", ".gitignore")
_MODULES: Final = "*.py"
_CELLS: Final = [types.NotebookCellLanguage("python")]

_log = logging.getLogger(__name__)


class Server(LanguageServer):
    """The language server of one editor."""

    protocol: Protocol

    def __init__(self, *, trust_rules: bool = False) -> None:
        super().__init__(
            "kdoctor",
            __version__,
            protocol_cls=Protocol,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=types.NotebookDocumentSyncOptions(
                [types.NotebookDocumentFilterWithNotebook("jupyter-notebook", _CELLS)]
            ),
        )
        # Who starts the server says so; a project's files could set it in the editor.
        self._trust_rules = trust_rules
        self.session = Session({}, Encoding.Utf16, str(Path.cwd()))
        self._scheduled: dict[str, asyncio.Task[None]] = {}
        self._warned: set[str] = set()
        self._editors_process: int | None = None
        self._background_tasks: set[asyncio.Future[Any]] = set()
        self._results: dict[str, tuple[str, list[types.Diagnostic]]] = {}

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an internal error of pygls; a pop-up would not help the user."""
        _log.error("%s: %s", getattr(source, "__name__", source), error)

    # -- settings

    def begin(self, params: types.InitializeParams) -> None:
        """Apply the editor's folders and settings."""
        # Checked before any answer: a process that is not alive now has an id from outside the
        # container.
        if params.process_id and os.name == "posix" and _is_alive(params.process_id):
            self._editors_process = params.process_id
        folder = self._folder(params)
        if folder is not None:
            with contextlib.suppress(OSError):
                os.chdir(folder)  # patterns and paths are relative to it, as in `kdoctor scan`
        encoding = Encoding(self.workspace.position_encoding or Encoding.Utf16)
        self._settings(params.initialization_options, encoding)

    def configure(self, settings: Any) -> None:
        """Apply changed settings of the editor."""
        raw = settings.get("kdoctor") if isinstance(settings, dict) else None
        if isinstance(raw, dict):
            old = self.session
            self._settings(raw, old.encoding)
            self.session.take_over(old)
            self.check_all()

    def _settings(self, raw: Any, encoding: Encoding) -> None:
        settings = EditorSettings()
        if isinstance(raw, dict):
            raw = raw.get("settings", raw)
            try:
                settings = msgspec.convert(raw, EditorSettings, strict=False)
            except msgspec.ValidationError as error:
                self.warn_once(f"invalid editor settings are ignored: {error}")
        options = settings.options()
        options["trust_rules"] = self._trust_rules
        self.session = Session(options, encoding, str(Path.cwd()))

    def _folder(self, params: types.InitializeParams) -> str | None:
        uris = [folder.uri for folder in params.workspace_folders or ()]
        found = (to_fs_path(uri) for uri in [*uris, params.root_uri] if uri)
        return next((path for path in found if path), params.root_path)

    def warn_once(self, text: str) -> None:
        """Show a warning, once per text."""
        if text not in self._warned:
            self._warned.add(text)
            self.window_show_message(
                types.ShowMessageParams(types.MessageType.Warning, f"kdoctor: {text}")
            )

    # -- diagnostics

    def schedule_check(self, uri: str, delay: float = _DEBOUNCE) -> None:
        """Check a document after ``delay`` seconds, and publish its diagnostics."""
        waiting = self._scheduled.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        task = asyncio.ensure_future(self._check(uri, delay))
        self._scheduled[uri] = task
        task.add_done_callback(lambda done: self._finished(uri, done))

    def _finished(self, uri: str, task: asyncio.Task[None]) -> None:
        if self._scheduled.get(uri) is task:
            del self._scheduled[uri]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("%s: %s", uri, error, exc_info=error)

    def recheck(self, uri: str) -> None:
        """Check a saved document, even if nothing was typed."""
        self.session.invalidate(uri)
        self.schedule_check(uri, 0)

    def check_all(self, delay: float = _DEBOUNCE) -> None:
        """Check all open documents again."""
        self.session.invalidate()
        self._check_each(list(self.session.open_documents()), delay)

    def _check_each(self, open_documents: Iterable[OpenDocument], delay: float) -> None:
        any_pulled = False
        for opened in open_documents:
            if self.pulls_diagnostics(opened):
                any_pulled = True
            else:
                self.schedule_check(opened.uri, delay)
        if any_pulled and self._refreshes:
            self.workspace_diagnostic_refresh(None)

    async def _check(self, uri: str, delay: float) -> None:
        await asyncio.sleep(delay)
        view = await self.view_of(uri)
        opened = self.session.document_at(uri)
        if (
            view is None
            or opened is None
            or view.opened is not opened
            or self.pulls_diagnostics(opened)
        ):
            return
        if view.problem:
            return  # unfinished code: keep the diagnostics until it parses again
        version = opened.version if opened.uri in opened.uris else None
        for each, diagnostics in (await self.session.work(lambda: diagnostics_of(view))).items():
            self.publish(each, diagnostics, version)

    async def view_of(self, uri: str) -> View | None:
        """Return the view of a document; check its dependents if it has changed."""
        view = await self.session.view(uri)
        if view is not None and view.settings_problem:
            self.warn_once(view.settings_problem)
        self.check_dependents()
        return view

    def check_dependents(self) -> None:
        """Check the documents that depend on changed modules."""
        self._check_each(self.session.invalidate_dependents(), _DEBOUNCE)

    async def pull_diagnostics(self, uri: str) -> tuple[str, list[types.Diagnostic]]:
        """Return the result id and the diagnostics that the editor requests."""
        view = await self.view_of(uri)
        if view is None or not self.pulls_diagnostics(view.opened):
            return "", []
        known = self._results.get(uri)
        if view.problem and known is not None:
            return known
        found = (await self.session.work(lambda: diagnostics_of(view)))[uri]
        if known is None or known[1] != found:
            known = self._results[uri] = str(int(known[0]) + 1 if known else 1), found
        return known

    def pulls_diagnostics(self, opened: OpenDocument) -> bool:
        """Say whether the editor requests the diagnostics of a document; not for notebooks."""
        asks = self.client_capabilities.text_document
        return asks is not None and asks.diagnostic is not None and opened.uri in opened.uris

    @property
    def takes_versions(self) -> bool:
        """Whether the editor accepts edits that name the version of a document."""
        workspace = self.client_capabilities.workspace
        asks = workspace.workspace_edit if workspace is not None else None
        return asks is not None and bool(asks.document_changes)

    @property
    def _refreshes(self) -> bool:
        workspace = self.client_capabilities.workspace
        asks = workspace.diagnostics if workspace is not None else None
        return asks is not None and bool(asks.refresh_support)

    def publish(self, uri: str, found: list[types.Diagnostic], version: int | None = None) -> None:
        """Publish the diagnostics of a document."""
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    def close(self, uri: str) -> None:
        """Close a document and clear its diagnostics."""
        opened = self.session.document_at(uri)
        self.session.close(uri)
        waiting = self._scheduled.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        self._results.pop(uri, None)
        for each in opened.uris if opened is not None else ():
            self.publish(each, [])
        self.run_in_background(self._check_after_close())

    async def _check_after_close(self) -> None:
        await self.session.work(lambda: None)  # wait for the jobs before this one
        self.check_dependents()

    def files_changed(self, changes: Iterable[types.FileEvent]) -> None:
        """Check what changed files affect: the importers of a module, else all documents."""
        for change in changes:
            path = to_fs_path(change.uri)
            if path and path.endswith(".py") and change.type is types.FileChangeType.Changed:
                self.session.mark_changed(path)
            else:
                self.check_all()
                return
        self.check_dependents()

    def run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine as a task; the event loop itself keeps only a weak reference."""
        task = asyncio.ensure_future(work)
        self._background_tasks.add(task)
        task.add_done_callback(self._background_tasks.discard)

    # -- files and shutdown

    async def watch_files(self) -> None:
        """Ask the editor to watch the files that the target and the meaning of names depend on."""
        workspace = self.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is None or not watching.dynamic_registration:
            return
        names = [name for reader in READERS for name in reader.names]
        watchers = [
            types.FileSystemWatcher(f"**/{name}")
            for name in dict.fromkeys([*_SETTINGS, *names, _MODULES])
        ]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        registration = types.Registration(
            "kdoctor-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options
        )
        with contextlib.suppress(JsonRpcException, PyglsError):
            await self.client_register_capability_async(types.RegistrationParams([registration]))

    async def end_with_editor(self) -> None:
        """Exit when the editor's process is gone, even if its end of the pipe is still open."""
        while self._editors_process is not None:
            await asyncio.sleep(_PARENT_CHECK)
            if not _is_alive(self._editors_process):
                os._exit(1)  # a thread waits for input: it would keep the process alive


def _is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it belongs to another user
    return True
