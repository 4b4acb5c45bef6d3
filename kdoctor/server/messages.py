"""Handlers of the messages that an editor sends."""

from __future__ import annotations

import logging
import sys

from lsprotocol import types

from kdoctor.server.actions import KINDS, ActionRequest, actions_of
from kdoctor.server.hover import hover_at
from kdoctor.server.server import Server


def serve(*, trust_rules: bool = False) -> int:
    """Serve an editor on standard input and output until it ends; return the exit code."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    server = create_server(trust_rules=trust_rules)
    output = sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing else may print to the protocol's stream
    server.start_io(stdout=output)
    server.session.stop()
    return 0 if server.protocol.was_shut_down else 1


def create_server(*, trust_rules: bool = False) -> Server:
    """Return a server with all handlers registered."""
    server = Server(trust_rules=trust_rules)
    _add_lifecycle(server)
    _add_documents(server)
    _add_notebooks(server)
    _add_requests(server)
    return server


def _add_lifecycle(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.INITIALIZED)
    async def initialized(_params: types.InitializedParams) -> None:
        server.run_in_background(server.end_with_editor())
        await server.watch_files()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(params: types.DidChangeConfigurationParams) -> None:
        server.configure(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        server.files_changed(params.changes)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(_params: types.DidChangeWorkspaceFoldersParams) -> None:
        server.check_all()


def _add_documents(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.session.open_text(params.text_document)
        server.schedule_check(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.session.change_text(params)
        server.schedule_check(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.recheck(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)


def _add_notebooks(server: Server) -> None:
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenNotebookDocumentParams) -> None:
        server.session.open_notebook(params)
        server.schedule_check(params.notebook_document.uri, 0)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeNotebookDocumentParams) -> None:
        for cell in server.session.change_notebook(params):
            server.publish(cell, [])
        server.schedule_check(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveNotebookDocumentParams) -> None:
        server.recheck(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseNotebookDocumentParams) -> None:
        server.close(params.notebook_document.uri)


def _add_requests(server: Server) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(
            inter_file_dependencies=True, workspace_diagnostics=False, identifier="kdoctor"
        ),
    )
    async def diagnostics(
        params: types.DocumentDiagnosticParams,
    ) -> types.DocumentDiagnosticReport:
        number, found = await server.pull_diagnostics(params.text_document.uri)
        if number and number == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(number)
        return types.RelatedFullDocumentDiagnosticReport(found, result_id=number or None)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(KINDS))
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        view = await server.view_of(uri)
        if view is None:
            return []
        only = params.context.only
        request = ActionRequest(
            uri,
            params.range,
            None if only is None else [str(getattr(kind, "value", kind)) for kind in only],
            versioned=server.takes_versions,
        )
        return await server.session.work(lambda: actions_of(view, server.session.engine, request))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        view = await server.view_of(uri)
        if view is None or view.reading is None:
            return None
        reading = view.reading
        return await server.session.work(
            lambda: hover_at(view.opened, reading, uri, params.position)
        )
