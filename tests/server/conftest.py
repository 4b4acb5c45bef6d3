"""A real editor's part: pygls' own client, over the standard streams of the real program."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

ROOT = str(Path(__file__).resolve().parents[2])
SECONDS = 60  # for an answer, on a busy machine
UNHEARD = {"NO_COLOR", "FORCE_COLOR", "VIRTUAL_ENV", "CONDA_PREFIX", "TF_USE_LEGACY_KERAS"}
_LINE_END = re.compile(r"\r\n|\r|\n")


def capabilities(**text_document):
    """What an editor of today can do; diagnostics are told to it, if not said otherwise."""
    return types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
                related_information=True
            ),
            **text_document,
        ),
        workspace=types.WorkspaceClientCapabilities(
            workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(
                dynamic_registration=True
            ),
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True),
        ),
        general=types.GeneralClientCapabilities(),
    )


class Editor:
    """An editor with some documents open. It applies edits as editors do, by UTF-16 units."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.found: dict[str, list[types.Diagnostic]] = {}
        self.shown: list[str] = []
        self.registered: list[types.Registration] = []
        self.refreshed = 0
        self._told = asyncio.Condition()
        self._count: dict[str, int] = {}
        self.client = LanguageClient("editor", "1")
        self._listen()

    def _listen(self):
        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def told(params):
            async with self._told:
                self.found[params.uri] = list(params.diagnostics)
                self._count[params.uri] = self._count.get(params.uri, 0) + 1
                self._told.notify_all()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def show(params):
            self.shown.append(params.message)

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params):
            self.registered += params.registrations

        @self.client.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)
        def refresh(_params):
            self.refreshed += 1

    async def start(self, can=None, options=None, process_id=None, arguments=()):
        environment = {k: v for k, v in os.environ.items() if k not in UNHEARD}
        environment["PYTHONPATH"] = ROOT
        await self.client.start_io(
            *(sys.executable, "-m", "kdoctor", "server", *arguments),
            cwd=self.folder,
            env=environment,
        )
        self.began = await self.client.initialize_async(
            types.InitializeParams(
                capabilities=can or capabilities(),
                process_id=process_id or os.getpid(),
                workspace_folders=[types.WorkspaceFolder(self.folder.as_uri(), "project")],
                initialization_options=options,
            )
        )
        self.client.initialized(types.InitializedParams())
        return self

    @property
    def process(self):
        return self.client._server

    async def end(self):
        if self.process.returncode is None:
            await asyncio.wait_for(self.client.shutdown_async(None), SECONDS)
            self.client.exit(None)
        await asyncio.wait_for(self.client.stop(), SECONDS)
        return self.process.returncode

    # -- documents

    def uri(self, name):
        return (self.folder / name).as_uri()

    def open(self, name, text, language="python"):
        uri = name if ":" in name else self.uri(name)
        self.texts[uri], self.versions[uri] = text, 1
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language, 1, text))
        )
        return uri

    def change(self, uri, *changes):
        """Change a document: each change is a text, or (start, end, text) in characters."""
        sent = []
        for change in changes:
            old = self.texts[uri]
            if isinstance(change, str):
                sent.append(types.TextDocumentContentChangeWholeDocument(change))
                self.texts[uri] = change
                continue
            start, end, text = change
            where = types.Range(position(old, start), position(old, end))
            sent.append(types.TextDocumentContentChangePartial(where, text))
            self.texts[uri] = old[:start] + text + old[end:]
        self.versions[uri] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.versions[uri], uri), sent
            )
        )

    def replace(self, uri, old, new):
        start = self.texts[uri].index(old)
        self.change(uri, (start, start + len(old), new))

    def close(self, uri):
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        )

    def send(self, method, params, number=None):
        """Send what no client of this kind would send; return the answer to come."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        answer = Future()
        if number is not None:
            message["id"] = number
            self.client.protocol._request_futures[number] = answer
        body = json.dumps(message).encode()
        self.client.protocol.writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        return asyncio.wait_for(asyncio.wrap_future(answer), SECONDS)

    # -- questions

    async def diagnostics(self, uri, until=None):
        """Wait for the next diagnostics of a document, or for some that ``until`` takes."""
        before = self._count.get(uri, 0)

        async def wait():
            async with self._told:
                await self._told.wait_for(
                    lambda: (
                        until(self.found.get(uri, []))
                        if until
                        else self._count.get(uri, 0) > before
                    )
                )

        await asyncio.wait_for(wait(), SECONDS)
        return self.found[uri]

    async def opened(self, name, text, language="python"):
        uri = self.uri(name)
        waiting = asyncio.ensure_future(self.diagnostics(uri))
        await asyncio.sleep(0)
        self.open(name, text, language)
        return uri, await waiting

    async def actions(self, uri, where=None, only=None):
        where = where or types.Range(types.Position(0, 0), types.Position(10**6, 0))
        asked = types.CodeActionParams(
            types.TextDocumentIdentifier(uri), where, types.CodeActionContext([], only=only)
        )
        answer = self.client.text_document_code_action_async(asked)
        return list(await asyncio.wait_for(answer, SECONDS))

    async def hover(self, uri, text, at=0):
        """Return what is shown over the ``at``-th character of ``text``, None for nothing."""
        place = position(self.texts[uri], self.texts[uri].index(text) + at)
        shown = await asyncio.wait_for(
            self.client.text_document_hover_async(
                types.HoverParams(types.TextDocumentIdentifier(uri), place)
            ),
            SECONDS,
        )
        return None if shown is None else shown.contents.value

    def applied(self, action):
        """Return the texts that an action's edit gives, by the URI of the document."""
        after = dict(self.texts)
        for change in action.edit.document_changes:
            uri = change.text_document.uri
            assert change.text_document.version in (None, self.versions[uri])
            after[uri] = apply(self.texts[uri], change.edits)
        return after


def position(text, offset):
    """Return where a character stands, in UTF-16 units."""
    starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
    row = max(index for index, start in enumerate(starts) if start <= offset)
    return types.Position(row, len(text[starts[row] : offset].encode("utf-16-le")) // 2)


def offset(text, place):
    """Return the character at a position; it must be there, and be whole."""
    starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
    line = _LINE_END.split(text[starts[place.line] :], maxsplit=1)[0]
    units = line.encode("utf-16-le")
    assert 2 * place.character <= len(units), (place, line)
    return starts[place.line] + len(units[: 2 * place.character].decode("utf-16-le"))


def apply(text, edits):
    """Apply edits as the protocol has it: all of them to the text as it was, none over another."""
    placed = sorted(
        (offset(text, edit.range.start), offset(text, edit.range.end), edit.new_text)
        for edit in edits
    )
    after, at = [], 0
    for start, end, new in placed:
        assert at <= start <= end, placed
        after += [text[at:start], new]
        at = end
    return "".join([*after, text[at:]])


class Session:
    """An editor and its server, in which one conversation after another is held."""

    def __init__(self, folder: Path, **how) -> None:
        self.folder = folder
        self._loop = asyncio.new_event_loop()
        self.editor = self._loop.run_until_complete(Editor(folder).start(**how))

    def hold(self, conversation):
        try:
            self._loop.run_until_complete(conversation(self.editor))
        except BaseException:
            if self.editor.process.returncode is None:
                self.editor.process.kill()
            raise

    def end(self):
        try:
            return self._loop.run_until_complete(self.editor.end())
        finally:
            self._loop.close()


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """An editor that most conversations share: a server takes a second to start."""
    session = Session(tmp_path_factory.mktemp("project"), options={"target": "keras==3.15.1"})
    yield session
    assert session.end() == 0


@pytest.fixture
def talk(session, request):
    """Hold a conversation in a folder of its own."""
    whole = session.editor.folder
    session.editor.folder = whole / request.node.name
    session.editor.folder.mkdir()
    session.editor.shown.clear()
    yield session.hold
    session.editor.folder = whole


@pytest.fixture
def editing(tmp_path):
    """Hold a conversation with a server of its own: ``editing(conversation, options=…)``."""

    def run(conversation, *, pulls=False, ends=0, **how):
        asks = types.DiagnosticClientCapabilities() if pulls else None
        session = Session(tmp_path, can=capabilities(diagnostic=asks), **how)
        session.hold(conversation)
        assert session.end() == ends

    run.folder = tmp_path
    return run
