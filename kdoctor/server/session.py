"""The open documents, and the last result for each.

Documents change in the thread of the protocol; whatever takes long runs in one worker thread, one
job after another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from lsprotocol import types

from kdoctor.documents.parsing import why_not_python
from kdoctor.engine.examine import error_text
from kdoctor.engine.open_documents import OpenDocuments, Reading
from kdoctor.engine.options import Options
from kdoctor.errors import UsageProblem
from kdoctor.server.documents import Notebook, OpenDocument, Part, TextDocument, kind_of, path_of
from kdoctor.server.text import Encoding, Text

T = TypeVar("T")

_MAX_DOCUMENT_SIZE = 2_000_000  # characters; larger documents are skipped


@dataclass(frozen=True, slots=True)
class View:
    """The result for one version of a document.

    ``reading`` is None for a document that is skipped, or that cannot be examined: ``problem`` says
    why. ``settings_problem`` is what is wrong with the project's settings, or with rules of its
    own.
    """

    opened: OpenDocument
    reading: Reading | None = None
    problem: str = ""
    settings_problem: str = ""


class Session:
    """The open documents. ``folder`` is where unsaved ones are assumed to be."""

    def __init__(self, options: Options, encoding: Encoding, folder: str) -> None:
        self._engine = OpenDocuments(options)
        self.encoding = encoding
        self._folder = folder
        self._text_documents: dict[str, TextDocument] = {}
        self._notebooks: dict[str, Notebook] = {}
        self._views: dict[str, View] = {}
        self._running: dict[str, tuple[OpenDocument, asyncio.Future[View]]] = {}
        self._changed_modules: set[str] = set()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="kdoctor")

    # -- open documents

    def open_text(self, item: types.TextDocumentItem) -> None:
        """Add an opened document; one of an unknown kind is ignored."""
        path = path_of(item.uri, self._folder)
        kind = None if path is None else kind_of(path, item.language_id)
        if path is not None and kind is not None:
            text = Text(item.text, self.encoding)
            self._text_documents[item.uri] = TextDocument(item.uri, path, kind, text, item.version)

    def change_text(self, params: types.DidChangeTextDocumentParams) -> None:
        """Apply the changes of a document."""
        uri, version = params.text_document.uri, params.text_document.version
        old = self._text_documents.get(uri)
        if old is not None:
            text = _changed(old.text, params.content_changes)
            self._text_documents[uri] = TextDocument(uri, old.path, old.kind, text, version)

    def open_notebook(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """Add an opened notebook with its cells."""
        notebook = params.notebook_document
        path = path_of(notebook.uri, self._folder)
        if path is None:
            return
        opened = {
            each.uri: (each.language_id, Text(each.text, self.encoding))
            for each in params.cell_text_documents
        }
        parts = tuple(_parts(notebook.cells, opened))
        language = _language(notebook.metadata)
        self._notebooks[notebook.uri] = Notebook(
            notebook.uri, path, parts, notebook.version, language
        )

    def change_notebook(self, params: types.DidChangeNotebookDocumentParams) -> list[str]:
        """Apply the changes of a notebook; return the URIs of deleted cells."""
        uri = params.notebook_document.uri
        notebook = self._notebooks.get(uri)
        if notebook is None:
            return []
        parts, change = list(notebook.parts), params.change.cells
        texts = {part.uri: (part.language, part.text) for part in parts}
        if change is not None and change.structure is not None:
            for each in change.structure.did_open or ():
                texts[each.uri] = each.language_id, Text(each.text, self.encoding)
            array = change.structure.array
            new = _parts(array.cells or (), texts)
            parts[array.start : array.start + array.delete_count] = new
        for cell in (change and change.data) or ():
            parts = [_retyped(part, cell) if part.uri == cell.document else part for part in parts]
        for content in (change and change.text_content) or ():
            parts = [
                Part(part.uri, part.is_code, part.language, _changed(part.text, content.changes))
                if part.uri == content.document.uri
                else part
                for part in parts
            ]
        language = _language(params.change.metadata) or notebook.language
        version = params.notebook_document.version
        self._notebooks[uri] = Notebook(uri, notebook.path, tuple(parts), version, language)
        return [cell for cell in notebook.uris if cell not in self._notebooks[uri].uris]

    def close(self, uri: str) -> None:
        """Remove a document or notebook: the file on disk counts again."""
        opened = self._text_documents.pop(uri, None) or self._notebooks.pop(uri, None)
        self._views.pop(uri, None)
        if opened is not None:
            self._worker.submit(self._restore_saved, opened.draft.path)

    def document_at(self, uri: str) -> OpenDocument | None:
        """Return the open document of a URI, or the notebook of a cell."""
        found = self._text_documents.get(uri) or self._notebooks.get(uri)
        if found is not None:
            return found
        return next((each for each in self._notebooks.values() if uri in each.uris), None)

    def open_documents(self) -> Iterator[OpenDocument]:
        """Yield all open documents."""
        yield from self._text_documents.values()
        yield from self._notebooks.values()

    # -- results

    async def view(self, uri: str) -> View | None:
        """Return the result for the current version of a document, None if it is not open."""
        while True:
            opened = self.document_at(uri)
            if opened is None:
                return None
            known = self._views.get(opened.uri)
            if known is not None and known.opened is opened:
                return known
            view = await self._examine_once(opened)
            if self.document_at(opened.uri) is opened:
                self._views[opened.uri] = view
                return view

    async def _examine_once(self, opened: OpenDocument) -> View:
        """Examine a version of a document once, however many requests wait for it."""
        running = self._running.get(opened.uri)
        if running is None or running[0] is not opened:
            loop = asyncio.get_running_loop()
            running = opened, loop.run_in_executor(self._worker, self._examine, opened)
            self._running[opened.uri] = running
        try:
            return await asyncio.shield(running[1])
        finally:
            if running[1].done() and self._running.get(opened.uri) is running:
                del self._running[opened.uri]

    async def work(self, job: Callable[[], T]) -> T:
        """Run a job in the worker thread."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, job)

    @property
    def engine(self) -> OpenDocuments:
        """The engine; to be used inside ``work`` only."""
        return self._engine

    def take_over(self, other: Session) -> None:
        """Take the open documents of another session, and stop it."""
        self._text_documents, self._notebooks = other._text_documents, other._notebooks
        other.stop()

    def invalidate(self, uri: str | None = None) -> None:
        """Drop the result of a document, or of all of them: files have changed."""
        if uri is not None:
            self._views.pop(uri, None)
            return
        self._views.clear()
        self._running.clear()
        self._worker.submit(self._engine.reload_settings)

    def mark_changed(self, path: str) -> None:
        """Note that a module changed on disk."""
        self._changed_modules.add(path)

    def invalidate_dependents(self) -> list[OpenDocument]:
        """Drop the results of documents that import a changed module; return these documents."""
        changed, self._changed_modules = self._changed_modules, set()
        found = [
            view.opened
            for view in self._views.values()
            if view.reading is not None
            and not view.reading.files_read.isdisjoint(changed - {view.opened.draft.path})
        ]
        for opened in found:
            del self._views[opened.uri]
        return found

    def stop(self) -> None:
        """Cancel all waiting jobs."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _examine(self, opened: OpenDocument) -> View:
        if self.document_at(opened.uri) is not opened:
            return View(opened)  # outdated: nobody will use this result
        try:
            draft = opened.draft
            if len(draft.data) > _MAX_DOCUMENT_SIZE or self._engine.is_skipped(draft.path):
                return View(opened)
            if draft.kind == "python" and self._engine.use_unsaved(draft.path, draft.data.decode()):
                self._changed_modules.add(draft.path)
            reading = self._engine.examine(draft)
            wrong = self._engine.problem_of_own_rules(reading)
            if draft.kind == "python" and not reading.examined.modules:
                # The engine skips such a file; in an editor it is usually an unfinished line.
                broken = why_not_python(draft.data.decode())
                return View(opened, reading, broken.why if broken else "", wrong)
            return View(opened, reading, settings_problem=wrong)
        except UsageProblem as problem:
            return View(opened, settings_problem=str(problem))
        except Exception as error:  # noqa: BLE001 - no input may stop the server
            return View(opened, problem=error_text(error))

    def _restore_saved(self, path: str) -> None:
        if self._engine.restore_saved(path):
            self._changed_modules.add(path)


def _changed(text: Text, changes: Iterable[types.TextDocumentContentChangeEvent]) -> Text:
    for change in changes:
        text = text.changed(change)
    return text


def _parts(
    cells: Iterable[types.NotebookCell], texts: Mapping[str, tuple[str, Text]]
) -> Iterator[Part]:
    for cell in cells:
        language, text = texts.get(cell.document, ("", Text("")))
        is_code = cell.kind is types.NotebookCellKind.Code
        yield Part(cell.document, is_code, language, text)


def _retyped(part: Part, cell: types.NotebookCell) -> Part:
    is_code = cell.kind is types.NotebookCellKind.Code
    return Part(part.uri, is_code, part.language, part.text)


def _language(metadata: object) -> str:
    """Return the language of a notebook's kernel, "" if the editor does not say."""
    said = metadata if isinstance(metadata, Mapping) else {}
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        about = said.get(key)
        language = about.get(name) if isinstance(about, Mapping) else None
        if isinstance(language, str):
            return language
    return ""
