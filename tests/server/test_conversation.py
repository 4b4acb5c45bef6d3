"""The language server, driven by a real client from its start to its end."""

from lsprotocol import types

LEGACY = """\
from keras import backend as K


def total(x):
    return K.sum(x, axis=-1)
"""
TARGET = {"target": "keras==3.15.1"}


def codes(diagnostics):
    return [each.code for each in diagnostics]


def test_a_document_is_opened_repaired_and_closed(editing):
    async def conversation(editor):
        uri, found = await editor.opened("train.py", LEGACY)
        (problem,) = found
        assert (problem.code, problem.source) == ("KD101", "kdoctor")
        assert problem.severity is types.DiagnosticSeverity.Error
        assert (problem.range.start.line, problem.range.start.character) == (4, 11)
        assert problem.code_description.href.startswith(("file://", "https://"))
        (related,) = problem.related_information
        assert related.location.range.start.line == 0

        quick, ignore, everything = await editor.actions(uri)
        assert (quick.kind, quick.is_preferred) == ("quickfix", True)
        assert (ignore.title, ignore.is_preferred) == ("kdoctor: ignore KD101 on this line", None)
        silenced = editor.applied(ignore)[uri]
        assert silenced == LEGACY.replace("-1)", "-1)  # kdoctor: ignore[KD101]")
        assert everything.kind == "source.fixAll.kdoctor"
        after = editor.applied(quick)[uri]
        assert after == LEGACY.replace("backend as K", "ops").replace("K.sum", "ops.sum")
        assert editor.applied(everything)[uri] == after

        shown = await editor.hover(uri, "K.sum", at=2)
        assert "keras.backend.sum" in shown
        assert "2.0.0" in shown
        assert "keras.ops.sum" in shown

        editor.change(uri, after)
        assert await editor.diagnostics(uri, until=lambda found: not found) == []
        editor.change(uri, LEGACY)
        assert codes(await editor.diagnostics(uri)) == ["KD101"]
        editor.close(uri)
        assert await editor.diagnostics(uri) == []

    editing(conversation, options=TARGET)
