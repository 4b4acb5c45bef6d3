"""Everything that is open in the editor, and what was last found in it.

What is open changes in the thread of the protocol; whatever takes long is done in one other thread,
by one job after the other.
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
from kdoctor.server.documents import Notebook, OpenPage, OpenSheet, Part, kind_of, path_of
from kdoctor.server.text import Encoding, Text

T = TypeVar("T")

_MAX_DOCUMENT_SIZE = 2_000_000  # characters; nobody types in more


@dataclass(frozen=True, slots=True)
class View:
    """What was made of a sheet.

    ``reading`` is None where nothing can be said about it: it is passed over, or ``problem`` says
    why not. ``wrong`` is what is wrong with the project's settings, or with rules of its own.
    """

    sheet: OpenSheet
    reading: Reading | None = None
    problem: str = ""
    wrong: str = ""


class Session:
    """The open documents. ``folder`` is where those lie that have no file."""

    def __init__(self, options: Options, encoding: Encoding, folder: str) -> None:
        self._live = OpenDocuments(options)
        self.encoding = encoding
        self._folder = folder
        self._pages: dict[str, OpenPage] = {}
        self._notebooks: dict[str, Notebook] = {}
        self._views: dict[str, View] = {}
        self._running: dict[str, tuple[OpenSheet, asyncio.Future[View]]] = {}
        self._changed_modules: set[str] = set()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="kdoctor")

    # -- what is open

    def open_page(self, item: types.TextDocumentItem) -> None:
        """Take a document that was opened; one of no kind that is known is passed over."""
        path = path_of(item.uri, self._folder)
        kind = None if path is None else kind_of(path, item.language_id)
        if path is not None and kind is not None:
            text = Text(item.text, self.encoding)
            self._pages[item.uri] = OpenPage(item.uri, path, kind, text, item.version)

    def change_page(self, params: types.DidChangeTextDocumentParams) -> None:
        """Make the changes of a document."""
        page = self._pages.get(params.text_document.uri)
        if page is not None:
            text = _changed(page.text, params.content_changes)
            version = params.text_document.version
            self._pages[page.uri] = OpenPage(page.uri, page.path, page.kind, text, version)

    def open_notebook(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """Take a notebook that was opened, with its cells."""
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
        """Make the changes of a notebook; return the cells that are no more."""
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
        """Forget a document or a notebook: what lies on the disk counts again."""
        sheet = self._pages.pop(uri, None) or self._notebooks.pop(uri, None)
        self._views.pop(uri, None)
        if sheet is not None:
            self._worker.submit(self._let_go, sheet.draft.path)

    def sheet(self, uri: str) -> OpenSheet | None:
        """Return what is open under a URI, also that of a cell."""
        found = self._pages.get(uri) or self._notebooks.get(uri)
        if found is not None:
            return found
        return next((each for each in self._notebooks.values() if uri in each.uris), None)

    def sheets(self) -> Iterator[OpenSheet]:
        """Yield all that is open."""
        yield from self._pages.values()
        yield from self._notebooks.values()

    # -- what is found in it

    async def view(self, uri: str) -> View | None:
        """Return what is found in an open document as it stands now, None if none is open."""
        while True:
            sheet = self.sheet(uri)
            if sheet is None:
                return None
            known = self._views.get(sheet.uri)
            if known is not None and known.sheet is sheet:
                return known
            view = await self._made(sheet)
            if self.sheet(sheet.uri) is sheet:
                self._views[sheet.uri] = view
                return view

    async def _made(self, sheet: OpenSheet) -> View:
        """Examine a sheet once, however many ask for it."""
        running = self._running.get(sheet.uri)
        if running is None or running[0] is not sheet:
            loop = asyncio.get_running_loop()
            running = sheet, loop.run_in_executor(self._worker, self._examined, sheet)
            self._running[sheet.uri] = running
        try:
            return await asyncio.shield(running[1])
        finally:
            if running[1].done() and self._running.get(sheet.uri) is running:
                del self._running[sheet.uri]

    async def work(self, job: Callable[[], T]) -> T:
        """Do what takes long."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, job)

    @property
    def live(self) -> OpenDocuments:
        """The engine; to be asked by ``work`` only."""
        return self._live

    def take_over(self, other: Session) -> None:
        """Take what is open on another desk, whose place this one takes."""
        self._pages, self._notebooks = other._pages, other._notebooks
        other.stop()

    def forget(self, uri: str | None = None) -> None:
        """Look anew at a document, or at all of them: files of the project have changed."""
        if uri is not None:
            self._views.pop(uri, None)
            return
        self._views.clear()
        self._running.clear()
        self._worker.submit(self._live.reload_settings)

    def touch(self, path: str) -> None:
        """Hear that a module changed on the disk."""
        self._changed_modules.add(path)

    def forget_dependents(self) -> list[OpenSheet]:
        """Look anew at what imports a module that has changed, directly or not; return it."""
        changed, self._changed_modules = self._changed_modules, set()
        found = [
            view.sheet
            for view in self._views.values()
            if view.reading is not None
            and not view.reading.asked.isdisjoint(changed - {view.sheet.draft.path})
        ]
        for sheet in found:
            del self._views[sheet.uri]
        return found

    def stop(self) -> None:
        """Wait for nothing any more."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _examined(self, sheet: OpenSheet) -> View:
        if self.sheet(sheet.uri) is not sheet:
            return View(sheet)  # it was changed meanwhile: nobody will look at this
        try:
            draft = sheet.draft
            if len(draft.data) > _MAX_DOCUMENT_SIZE or self._live.is_skipped(draft.path):
                return View(sheet)
            if draft.kind == "python" and self._live.use_unsaved(draft.path, draft.data.decode()):
                self._changed_modules.add(draft.path)
            reading = self._live.examine(draft)
            wrong = self._live.problem_of_own_rules(reading)
            if draft.kind == "python" and not reading.examined.modules:
                # The engine passes over such a file; while it is typed, it is half a line.
                broken = why_not_python(draft.data.decode())
                return View(sheet, reading, broken.why if broken else "", wrong)
            return View(sheet, reading, wrong=wrong)
        except UsageProblem as problem:
            return View(sheet, wrong=str(problem))
        except Exception as error:  # noqa: BLE001 - whatever is typed, the server goes on
            return View(sheet, problem=error_text(error))

    def _let_go(self, path: str) -> None:
        if self._live.restore_saved(path):
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
    """Return the language of a notebook's kernel, as far as the editor says it."""
    said = metadata if isinstance(metadata, Mapping) else {}
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        about = said.get(key)
        language = about.get(name) if isinstance(about, Mapping) else None
        if isinstance(language, str):
            return language
    return ""
