"""Which message of the editor leads to what."""

from __future__ import annotations

import logging
import sys

from lsprotocol import types

from kdoctor.server.actions import KINDS, Wanted, actions_of
from kdoctor.server.hover import hover_at
from kdoctor.server.server import Server


def serve(*, trust_rules: bool = False) -> int:
    """Serve an editor on standard input and output until it ends; return the exit code."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    server = made(trust_rules=trust_rules)
    output = sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever prints: the protocol's stream is the protocol's
    server.start_io(stdout=output)
    server.desk.stop()
    return 0 if server.protocol.was_shut_down else 1


def made(*, trust_rules: bool = False) -> Server:
    """Return a server that answers."""
    server = Server(trust_rules=trust_rules)
    _add_life(server)
    _add_documents(server)
    _add_notebooks(server)
    _add_questions(server)
    return server


def _add_life(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.INITIALIZED)
    async def initialized(_params: types.InitializedParams) -> None:
        server.keep(server.end_with_editor())
        await server.watch_files()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(params: types.DidChangeConfigurationParams) -> None:
        server.configure(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        server.files_changed(params.changes)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders_changed(_params: types.DidChangeWorkspaceFoldersParams) -> None:
        server.look_at_all()


def _add_documents(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.desk.open_page(params.text_document)
        server.look_at(params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.desk.change_page(params)
        server.look_at(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.look_again(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)


def _add_notebooks(server: Server) -> None:
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenNotebookDocumentParams) -> None:
        server.desk.open_notebook(params)
        server.look_at(params.notebook_document.uri, 0)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeNotebookDocumentParams) -> None:
        for cell in server.desk.change_notebook(params):
            server.tell(cell, [])
        server.look_at(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveNotebookDocumentParams) -> None:
        server.look_again(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseNotebookDocumentParams) -> None:
        server.close(params.notebook_document.uri)


def _add_questions(server: Server) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(
            inter_file_dependencies=True, workspace_diagnostics=False, identifier="kdoctor"
        ),
    )
    async def diagnostics(
        params: types.DocumentDiagnosticParams,
    ) -> types.DocumentDiagnosticReport:
        number, found = await server.pulled(params.text_document.uri)
        if number and number == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(number)
        return types.RelatedFullDocumentDiagnosticReport(found, result_id=number or None)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(KINDS))
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        view = await server.seen(uri)
        if view is None:
            return []
        only = params.context.only
        wanted = Wanted(
            uri,
            params.range,
            None if only is None else [str(getattr(kind, "value", kind)) for kind in only],
            versioned=server.takes_versions,
        )
        return await server.desk.work(lambda: actions_of(view, server.desk.live, wanted))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        view = await server.seen(uri)
        if view is None or view.reading is None:
            return None
        reading = view.reading
        return await server.desk.work(lambda: hover_at(view.sheet, reading, uri, params.position))
