"""The language server, driven by a real client from its start to its end."""

import asyncio
import contextlib

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.server.diagnostics import codes, starts

LEGACY = """\
from keras import backend as K


def total(x):
    return K.sum(x, axis=-1)
"""


FIXED = LEGACY.replace("backend as K", "ops").replace("K.sum", "ops.sum")


TARGET = {"target": "keras==3.15.1"}


def titled(actions, word):
    (found,) = [each for each in actions if word in each.title]
    return found


def test_a_line_with_two_findings_of_a_rule_is_silenced_by_one_action(talk):
    async def conversation(editor):
        text = "from keras import backend as K\nK.sum(1), K.mean(2)\n"
        uri, found = await editor.opened("train.py", text)
        line = types.Range(types.Position(1, 0), types.Position(1, 19))
        (ignore,) = [each for each in await editor.actions(uri, line) if "ignore" in each.title]
        assert [each.range for each in ignore.diagnostics] == [each.range for each in found]
        assert editor.applied(ignore)[uri] == text[:-1] + "  # kdoctor: ignore[KD101]\n"

    talk(conversation)


def test_a_document_is_opened_repaired_and_closed(talk):
    async def conversation(editor):
        uri, found = await editor.opened("train.py", LEGACY)
        (problem,) = found
        assert (problem.code, problem.source) == ("KD101", "kdoctor")
        assert problem.severity is types.DiagnosticSeverity.Error
        assert starts(found) == [(4, 11)]
        assert problem.code_description.href.startswith(("file://", "https://"))
        (related,) = problem.related_information
        assert related.location.range.start.line == 0

        quick, ignore, everything = await editor.actions(uri)
        assert (quick.kind, quick.is_preferred) == ("quickfix", True)
        assert editor.applied(quick)[uri] == FIXED
        assert (ignore.title, ignore.is_preferred) == ("kdoctor: ignore KD101 on this line", None)
        silenced = editor.applied(ignore)[uri]
        assert silenced == LEGACY.replace("-1)", "-1)  # kdoctor: ignore[KD101]")
        assert everything.kind == "source.fixAll.kdoctor"
        assert editor.applied(everything)[uri] == FIXED
        assert await editor.actions(uri, only=["source"]) == [everything]
        assert await editor.actions(uri, only=["refactor"]) == []
        assert await editor.actions(
            uri, types.Range(types.Position(0, 0), types.Position(0, 4))
        ) == [everything]

        editor.change(uri, FIXED)
        assert await editor.diagnostics(uri, until=lambda found: not found) == []
        editor.change(uri, silenced + "K.mean(1)\n")
        (other,) = await editor.diagnostics(uri, until=bool)
        assert other.range.start.line == 5
        editor.close(uri)
        assert await editor.diagnostics(uri, until=lambda found: not found) == []

    talk(conversation)


def test_typing_in_a_line_with_emoji(talk):
    source = 'from keras import backend as K\r\n\x0c\r\nsmile = "🎉🎉"; total = K.sum([1.0])\r\n'

    async def conversation(editor):
        uri, found = await editor.opened("train.py", source)
        assert starts(found) == [(2, 24)]
        after = editor.applied(titled(await editor.actions(uri), "ops.sum"))[uri]
        assert after == source.replace("backend as K", "ops").replace("K.sum", "ops.sum")

        at = source.index("K.sum") + len("K.sum")
        editor.change(uri, *((at - n - 1, at - n, "") for n in range(3)), (at - 3, at - 3, "mean"))
        assert editor.texts[uri] == source.replace("K.sum", "K.mean")
        assert "mean" in (await editor.diagnostics(uri))[0].message
        assert starts(editor.found[uri]) == [(2, 24)]

        # Half a call is no Python: what was said stands, and nothing else is said.
        editor.replace(uri, "K.mean([1.0])", "K.mean([")
        await asyncio.sleep(1)
        assert codes(editor.found[uri]) == ["KD101"]
        assert await editor.hover(uri, "K.mean", at=3) is None
        assert await editor.actions(uri) == []
        editor.replace(uri, "K.mean([", "K.mean([2.0])")
        await editor.diagnostics(uri)
        assert codes(editor.found[uri]) == ["KD101"]

    talk(conversation)


def test_other_open_modules_count_as_they_stand_unsaved(talk):
    source = "from .compat import K\n\nK.sum(1)\n"

    async def conversation(editor):
        (editor.folder / "compat.py").write_text("K = None\n")
        train, found = await editor.opened("train.py", source)
        assert found == []
        compat, _ = await editor.opened("compat.py", "K = None\n")
        editor.change(compat, "from keras import backend as K\n")
        assert codes(await editor.diagnostics(train)) == ["KD101"]
        assert "keras.backend.sum" in await editor.hover(train, "K.sum", at=2)
        editor.change(compat, "from keras import backend as K\nprint(")
        editor.close(compat)
        assert await editor.diagnostics(train) == []
        (editor.folder / "compat.py").write_text("from keras import backend as K\n")
        editor.client.workspace_did_change_watched_files(
            types.DidChangeWatchedFilesParams(
                [types.FileEvent(compat, types.FileChangeType.Changed)]
            )
        )
        assert codes(await editor.diagnostics(train)) == ["KD101"]

    talk(conversation)


def test_the_target_and_the_rules_come_from_the_projects_files(editing):
    folder = editing.folder
    (folder / "requirements.txt").write_text("keras==2.15.0\n")

    def changed(editor, name):
        editor.client.workspace_did_change_watched_files(
            types.DidChangeWatchedFilesParams(
                [types.FileEvent(editor.uri(name), types.FileChangeType.Changed)]
            )
        )

    async def conversation(editor):
        uri, found = await editor.opened("train.py", LEGACY)
        assert found == []
        assert "Available in keras 2.15.0 (requirements.txt" in await editor.hover(
            uri, "K.sum", at=2
        )
        (folder / "requirements.txt").write_text("keras==3.15.1\n")
        changed(editor, "requirements.txt")
        assert codes(await editor.diagnostics(uri)) == ["KD101"]
        assert "Not available" in await editor.hover(uri, "K.sum", at=2)
        (folder / "kdoctor.toml").write_text('ignore = ["KD101"]\n')
        changed(editor, "kdoctor.toml")
        assert await editor.diagnostics(uri) == []
        (folder / "kdoctor.toml").write_text('ignored = ["KD101"]\n')
        changed(editor, "kdoctor.toml")
        await editor.diagnostics(uri)
        assert await editor.actions(uri) == []
        assert ["did you mean 'ignore'" in text for text in editor.shown] == [True]
        (folder / "kdoctor.toml").write_text('exclude = ["old/"]\n')
        changed(editor, "kdoctor.toml")
        assert codes(await editor.diagnostics(uri)) == ["KD101"]
        assert (await editor.opened("old/a.py", LEGACY))[1] == []
        assert (await editor.opened(".venv/lib/site-packages/a.py", LEGACY))[1] == []
        (registration,) = editor.registered
        watched = {each["globPattern"] for each in registration.register_options["watchers"]}
        assert {"**/kdoctor.toml", "**/pyproject.toml", "**/uv.lock", "**/*.py"} <= watched

        editor.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams({"kdoctor": {"ignore": ["KD1"]}})
        )
        assert await editor.diagnostics(uri, until=lambda found: not found) == []
        editor.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams({"kdoctor": {"target": 3}})
        )
        assert codes(await editor.diagnostics(uri)) == ["KD101"]
        assert "editor settings are ignored" in editor.shown[-1]

    editing(conversation)


def test_the_cells_of_a_notebook_are_one_program(talk):
    cells = [
        ("# Text", types.NotebookCellKind.Markup, "markdown"),
        (
            "%matplotlib inline\nfrom keras import backend as K",
            types.NotebookCellKind.Code,
            "python",
        ),
        ("x = '🎉', K.sum(1)\n", types.NotebookCellKind.Code, "python"),
    ]

    async def conversation(editor):
        uri = editor.uri("book.ipynb")
        names = [f"vscode-notebook-cell:{uri.removeprefix('file:')}#{n}" for n in range(len(cells))]
        for name, (text, _, _) in zip(names, cells, strict=True):
            editor.texts[name], editor.versions[name] = text, 1
        kinds = [kind for _, kind, _ in cells]
        waiting = asyncio.ensure_future(editor.diagnostics(names[2]))
        await asyncio.sleep(0)
        editor.client.notebook_document_did_open(
            types.DidOpenNotebookDocumentParams(
                types.NotebookDocument(
                    uri,
                    "jupyter-notebook",
                    1,
                    [types.NotebookCell(*each) for each in zip(kinds, names, strict=True)],
                ),
                [
                    types.TextDocumentItem(name, language, 1, text)
                    for name, (text, _, language) in zip(names, cells, strict=True)
                ],
            )
        )
        found = await waiting
        assert (codes(found), starts(found)) == (["KD101"], [(0, 10)])
        assert found[0].related_information[0].location.uri == names[1]
        assert "keras.backend.sum" in await editor.hover(names[2], "K.sum", at=2)
        after = editor.applied(titled(await editor.actions(names[2]), "ops.sum"))
        assert after[names[1]] == "%matplotlib inline\nfrom keras import ops"
        assert after[names[2]] == "x = '🎉', ops.sum(1)\n"

        # The cell with the import is deleted, then another one is typed at its place.
        def change(version, **what):
            editor.client.notebook_document_did_change(
                types.DidChangeNotebookDocumentParams(
                    types.VersionedNotebookDocumentIdentifier(version, uri),
                    types.NotebookDocumentChangeEvent(
                        cells=types.NotebookDocumentCellChanges(**what)
                    ),
                )
            )

        change(
            2,
            structure=types.NotebookDocumentCellChangeStructure(
                types.NotebookCellArrayChange(1, 1),
                did_close=[types.TextDocumentIdentifier(names[1])],
            ),
        )
        assert await editor.diagnostics(names[2]) == []
        new = f"{names[1]}-new"
        change(
            3,
            structure=types.NotebookDocumentCellChangeStructure(
                types.NotebookCellArrayChange(
                    0, 0, [types.NotebookCell(types.NotebookCellKind.Code, new)]
                ),
                did_open=[types.TextDocumentItem(new, "python", 1, "import keras\n")],
            ),
        )
        change(
            4,
            text_content=[
                types.NotebookDocumentCellContentChanges(
                    types.VersionedTextDocumentIdentifier(2, new),
                    [
                        types.TextDocumentContentChangePartial(
                            types.Range(types.Position(1, 0), types.Position(1, 0)),
                            "K = keras.backend\n",
                        )
                    ],
                )
            ],
        )
        found = await editor.diagnostics(names[2], until=bool)
        assert codes(found) == ["KD101"]
        closed = types.DidCloseNotebookDocumentParams(types.NotebookDocumentIdentifier(uri), [])
        editor.client.notebook_document_did_close(closed)
        assert await editor.diagnostics(names[2]) == []

    talk(conversation)


def test_markdown_and_notebooks_as_text_and_files_that_are_none_yet(talk):
    text = "# Title\n\n- item\n\n  ```python\n  from keras import backend as K\n  K.sum(1)\n  ```\n"
    line = '"from keras import backend as K\\n", "x = \\"🎉\\"; K.sum(1)"'
    raw = f'{{"cells": [{{"cell_type": "code", "source": [{line}]}}]}}\n'

    async def conversation(editor):
        page, found = await editor.opened("notes.md", text, "markdown")
        assert starts(found) == [(6, 2)]
        after = editor.applied(titled(await editor.actions(page), "ops.sum"))[page]
        assert after == text.replace("backend as K", "ops").replace("K.sum", "ops.sum")
        assert "keras.backend.sum" in await editor.hover(page, "K.sum", at=2)

        book, found = await editor.opened("book.ipynb", raw, "json")
        assert starts(found) == [(0, len(raw[: raw.index("K.sum")]) + 1)]
        after = editor.applied(titled(await editor.actions(book), "ops.sum"))[book]
        assert after == raw.replace("backend as K", "ops").replace("K.sum", "ops.sum")

        new = "untitled:Untitled-1"
        waiting = asyncio.ensure_future(editor.diagnostics(new))
        await asyncio.sleep(0)
        editor.open(new, LEGACY)
        assert codes(await waiting) == ["KD101"]

    talk(conversation)


def test_diagnostics_are_handed_out_where_the_editor_asks_for_them(editing):
    (editing.folder / "compat.py").write_text("K = None\n")

    async def conversation(editor):
        async def ask(uri, previous=None):
            return await editor.client.text_document_diagnostic_async(
                types.DocumentDiagnosticParams(
                    types.TextDocumentIdentifier(uri), previous_result_id=previous
                )
            )

        provider = editor.began.capabilities.diagnostic_provider
        assert (provider.identifier, provider.inter_file_dependencies) == ("kdoctor", True)
        uri = editor.open("train.py", "from compat import K\n\nK.sum(1)\n")
        report = await ask(uri)
        assert (report.kind, list(report.items)) == ("full", [])
        compat = editor.open("compat.py", "from keras import backend as K\n")
        assert list((await ask(compat)).items) == []
        report = await ask(uri)
        assert codes(report.items) == ["KD101"]
        assert editor.refreshed
        editor.change(uri, editor.texts[uri] + "\nprint(")
        same = await ask(uri, report.result_id)
        assert (same.kind, same.result_id) == ("unchanged", report.result_id)
        editor.change(uri, "\n" + editor.texts[uri] + ")\n")
        other = await ask(uri, report.result_id)
        assert (other.kind, starts(other.items)) == ("full", [(3, 0)])
        assert editor.found == {}

    editing(conversation, pulls=True, options=TARGET)


def test_hover_shows_what_a_name_is_not_how_it_is_written(talk):
    source = """\
import keras
from keras.layers import Dense, Input
import tensorflow as tf


class Own:
    def predict_classes(self):
        return Dense(3)


own = Own()
own.predict_classes()
model = keras.Sequential([Dense(1)])
model.predict_classes(1)
total = sum([1])
again = tf.keras.backend.sum
K = 1
K.sum
"""

    async def conversation(editor):
        uri, _ = await editor.opened("train.py", source)
        dense = await editor.hover(uri, "Dense(3)")
        assert "keras.layers.Dense" in dense
        assert "units" in dense
        assert await editor.hover(uri, "own.predict_classes", at=6) is None
        member = await editor.hover(uri, "model.predict_classes", at=8)
        assert "keras.Sequential.predict_classes" in member
        assert "Not available" in member
        assert await editor.hover(uri, "sum([1])") is None
        assert "tensorflow.keras.backend" in await editor.hover(uri, "tf.keras.backend", at=12)
        assert await editor.hover(uri, "K.sum\n", at=3) is None
        assert "keras.layers.Input" in await editor.hover(uri, "Input")
        assert await editor.hover(uri, "class Own", at=1) is None

    talk(conversation)


def test_fixes_that_no_proof_calls_safe_say_so(talk):
    source = "import keras\n\nmodel = keras.Model()\nprint(model.uses_learning_phase)\n"

    async def conversation(editor):
        uri, _ = await editor.opened("train.py", source)
        found = await editor.actions(uri)
        unsafe = [each for each in found if "(unsafe)" in each.title]
        assert unsafe
        assert not any(each.is_preferred for each in unsafe)

    talk(conversation)


def hover_of(uri):
    return {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}


def test_no_message_ends_the_server(talk):
    async def conversation(editor):
        client, uri = editor.client, editor.uri("train.py")
        for text in ("\0", "\ud800", "(" * 5000, "x = 1\n" * 3, "", "\ufeff" + LEGACY):
            editor.open("train.py", text)
        editor.change(editor.open("a.py", LEGACY), (0, 0, ""), (0, len(LEGACY), LEGACY[:-1]))
        nowhere = types.TextDocumentIdentifier("file:///nowhere.py")
        far = types.Position(2**31 - 1, 2**31 - 1)
        client.text_document_did_close(types.DidCloseTextDocumentParams(nowhere))
        client.protocol.writer.write(b"Content-Length: 3\r\n\r\n{{{")
        editor.send("textDocument/didChange", {"textDocument": {"uri": 3}}).close()
        editor.send("$/setTrace", {"value": "all of it"}).close()
        editor.send("something/else", {"a": [1]}).close()
        editor.send("textDocument/didOpen", None).close()
        for number, (method, params) in enumerate(
            [
                ("textDocument/hover", {"textDocument": {}}),
                ("textDocument/codeAction", None),
                ("nobody/knows", {}),
            ]
        ):
            with pytest.raises(JsonRpcException):
                await editor.send(method, params, number)
        hover = types.HoverParams(nowhere, far)
        assert await client.text_document_hover_async(hover) is None
        hover = types.HoverParams(types.TextDocumentIdentifier(uri), far)
        assert await client.text_document_hover_async(hover) is None
        assert await editor.actions("file:///nowhere.py") == []
        assert await editor.actions(uri, types.Range(far, types.Position(0, 0))) is not None

        # What is asked for and taken back again is answered, too.
        asked = editor.send("textDocument/hover", hover_of(uri), 7)
        editor.send("$/cancelRequest", {"id": 7}).close()
        with contextlib.suppress(JsonRpcException):
            assert await asked is None
        _, found = await editor.opened("b.py", LEGACY)
        assert codes(found) == ["KD101"]
        assert editor.shown == []

    talk(conversation)
