"""One editor's server: its settings, what it is told and when, and its end."""

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
from kdoctor.server.documents import OpenSheet
from kdoctor.server.problems import diagnostics_of
from kdoctor.server.protocol import Protocol
from kdoctor.server.session import Session, View
from kdoctor.server.settings import EditorSettings
from kdoctor.server.text import Encoding

_REST: Final = 0.2  # seconds without a keystroke after which a document is looked at
_PARENT_CHECK: Final = 2.0  # seconds between two looks whether the editor still lives
_SETTINGS: Final = ("kdoctor.toml", ".gitignore")
_MODULES: Final = "*.py"
_CELLS: Final = [types.NotebookCellLanguage("python")]

_log = logging.getLogger(__name__)


class Server(LanguageServer):
    """One editor's server."""

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
        self.desk = Session({}, Encoding.Utf16, str(Path.cwd()))
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._told: set[str] = set()
        self._editors_process: int | None = None
        self._kept: set[asyncio.Future[Any]] = set()
        self._results: dict[str, tuple[str, list[types.Diagnostic]]] = {}

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Note what pygls could not do; whoever types has no use for a pop-up about it."""
        _log.error("%s: %s", getattr(source, "__name__", source), error)

    # -- settings

    def begin(self, params: types.InitializeParams) -> None:
        """Take the editor's folders and settings."""
        # Asked before anything is answered: one that is not there from the start has its number
        # outside of a container.
        if params.process_id and os.name == "posix" and _lives(params.process_id):
            self._editors_process = params.process_id
        folder = self._folder(params)
        if folder is not None:
            with contextlib.suppress(OSError):
                os.chdir(folder)  # patterns and paths count from it, as for `kdoctor scan`
        encoding = Encoding(self.workspace.position_encoding or Encoding.Utf16)
        self._settings(params.initialization_options, encoding)

    def configure(self, settings: Any) -> None:
        """Take new settings of the editor."""
        told = settings.get("kdoctor") if isinstance(settings, dict) else None
        if isinstance(told, dict):
            old = self.desk
            self._settings(told, old.encoding)
            self.desk.take_over(old)
            self.look_at_all()

    def _settings(self, told: Any, encoding: Encoding) -> None:
        settings = EditorSettings()
        if isinstance(told, dict):
            told = told.get("settings", told)
            try:
                settings = msgspec.convert(told, EditorSettings, strict=False)
            except msgspec.ValidationError as error:
                self.complain(f"the editor's settings of kdoctor are not used: {error}")
        options = settings.options()
        options["trust_rules"] = self._trust_rules
        self.desk = Session(options, encoding, str(Path.cwd()))

    def _folder(self, params: types.InitializeParams) -> str | None:
        uris = [folder.uri for folder in params.workspace_folders or ()]
        found = (to_fs_path(uri) for uri in [*uris, params.root_uri] if uri)
        return next((path for path in found if path), params.root_path)

    def complain(self, text: str) -> None:
        """Show what is wrong with settings, once."""
        if text not in self._told:
            self._told.add(text)
            self.window_show_message(
                types.ShowMessageParams(types.MessageType.Warning, f"kdoctor: {text}")
            )

    # -- diagnostics

    def look_at(self, uri: str, delay: float = _REST) -> None:
        """Look at a document when it has come to rest, and tell what is found in it."""
        waiting = self._waiting.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        task = asyncio.ensure_future(self._look_at(uri, delay))
        self._waiting[uri] = task
        task.add_done_callback(lambda done: self._waited(uri, done))

    def _waited(self, uri: str, task: asyncio.Task[None]) -> None:
        if self._waiting.get(uri) is task:
            del self._waiting[uri]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("%s: %s", uri, error, exc_info=error)

    def look_again(self, uri: str) -> None:
        """Look at a document that was saved, also where nothing was typed."""
        self.desk.forget(uri)
        self.look_at(uri, 0)

    def look_at_all(self, delay: float = _REST) -> None:
        """Look anew at all that is open."""
        self.desk.forget()
        self._look_at_each(list(self.desk.sheets()), delay)

    def _look_at_each(self, sheets: Iterable[OpenSheet], delay: float) -> None:
        pulled = False
        for sheet in sheets:
            if self.is_pulled(sheet):
                pulled = True
            else:
                self.look_at(sheet.uri, delay)
        if pulled and self._refreshes:
            self.workspace_diagnostic_refresh(None)

    async def _look_at(self, uri: str, delay: float) -> None:
        await asyncio.sleep(delay)
        view = await self.seen(uri)
        sheet = self.desk.sheet(uri)
        if view is None or sheet is None or view.sheet is not sheet or self.is_pulled(sheet):
            return
        if view.problem:
            return  # half a line is no Python: what was said before stands until it is again
        version = sheet.version if sheet.uri in sheet.uris else None
        for each, diagnostics in (await self.desk.work(lambda: diagnostics_of(view))).items():
            self.tell(each, diagnostics, version)

    async def seen(self, uri: str) -> View | None:
        """Return what is found in a document; look at what depends on it, if that has changed."""
        view = await self.desk.view(uri)
        if view is not None and view.wrong:
            self.complain(view.wrong)
        self.look_at_dependents()
        return view

    def look_at_dependents(self) -> None:
        """Look anew at what depends on modules that have changed."""
        self._look_at_each(self.desk.forget_dependents(), _REST)

    async def pulled(self, uri: str) -> tuple[str, list[types.Diagnostic]]:
        """Return the diagnostics of a document that the editor asks for, and their number."""
        view = await self.seen(uri)
        if view is None or not self.is_pulled(view.sheet):
            return "", []
        known = self._results.get(uri)
        if view.problem and known is not None:
            return known
        found = (await self.desk.work(lambda: diagnostics_of(view)))[uri]
        if known is None or known[1] != found:
            known = self._results[uri] = str(int(known[0]) + 1 if known else 1), found
        return known

    def is_pulled(self, sheet: OpenSheet) -> bool:
        """Say whether the editor asks for the diagnostics itself; it does not for notebooks."""
        asks = self.client_capabilities.text_document
        return asks is not None and asks.diagnostic is not None and sheet.uri in sheet.uris

    @property
    def takes_versions(self) -> bool:
        """Whether the editor takes edits of a certain version of a document."""
        workspace = self.client_capabilities.workspace
        asks = workspace.workspace_edit if workspace is not None else None
        return asks is not None and bool(asks.document_changes)

    @property
    def _refreshes(self) -> bool:
        workspace = self.client_capabilities.workspace
        asks = workspace.diagnostics if workspace is not None else None
        return asks is not None and bool(asks.refresh_support)

    def tell(self, uri: str, found: list[types.Diagnostic], version: int | None = None) -> None:
        """Tell the diagnostics of a document."""
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    def close(self, uri: str) -> None:
        """Take back what was said about a document that is closed."""
        sheet = self.desk.sheet(uri)
        self.desk.close(uri)
        waiting = self._waiting.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        self._results.pop(uri, None)
        for each in sheet.uris if sheet is not None else ():
            self.tell(each, [])
        self.keep(self._settle())

    async def _settle(self) -> None:
        await self.desk.work(lambda: None)  # what was asked for before is done then
        self.look_at_dependents()

    def files_changed(self, changes: Iterable[types.FileEvent]) -> None:
        """Look anew at what the files concern: all that is open, or what imports a module."""
        for change in changes:
            path = to_fs_path(change.uri)
            if path and path.endswith(".py") and change.type is types.FileChangeType.Changed:
                self.desk.touch(path)
            else:
                self.look_at_all()
                return
        self.look_at_dependents()

    def keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside all else; the loop itself would forget it."""
        task = asyncio.ensure_future(work)
        self._kept.add(task)
        task.add_done_callback(self._kept.discard)

    # -- files and the end

    async def watch_files(self) -> None:
        """Ask to be told when files change that the target or the meaning of names depend on."""
        workspace = self.client_capabilities.workspace
        asked = workspace.did_change_watched_files if workspace is not None else None
        if asked is None or not asked.dynamic_registration:
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
        """End this process when the editor's is gone, also where its end of the pipe is not."""
        while self._editors_process is not None:
            await asyncio.sleep(_PARENT_CHECK)
            if not _lives(self._editors_process):
                os._exit(1)  # a thread waits for input: it would keep the process alive


def _lives(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it belongs to somebody else
    return True
