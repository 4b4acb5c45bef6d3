"""A document that is judged by another target than its project's says so."""

from lsprotocol import types

from tests.server.diagnostics import codes

SWITCH = "import os\n\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\n"


GONE = "from tensorflow.keras.layers import LocallyConnected2D\n"


def notes(diagnostics):
    return [each for each in diagnostics if each.code is None]


def test_a_document_that_is_judged_by_another_target_says_so_at_the_line(editing):
    folder = editing.folder
    (folder / "kdoctor.toml").write_text('target = "keras==3.15.1"\n')
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text(SWITCH)

    async def conversation(editor):
        _, found = await editor.opened("train.py", SWITCH + GONE)
        (note,) = found
        assert note.severity is types.DiagnosticSeverity.Information
        assert note.message.startswith("Checked against tf_keras ")
        assert "line 3 sets TF_USE_LEGACY_KERAS" in note.message
        assert note.range.start == types.Position(2, 0)
        assert note.range.end == types.Position(2, len(SWITCH.split("\n")[2]))
        # Another file says so.
        _, found = await editor.opened("package/train.py", GONE)
        (note,) = notes(found)
        assert "__init__.py sets TF_USE_LEGACY_KERAS" in note.message
        assert note.range.start.line == 0
        _, found = await editor.opened("other.py", GONE)
        assert codes(found) == ["KD102"]

    editing(conversation)


def test_a_target_that_is_asked_for_counts_and_a_note_says_so(talk):
    async def conversation(editor):
        uri, found = await editor.opened("train.py", SWITCH + GONE)
        (note,) = notes(found)
        assert note.message.startswith("Checked against keras 3.15.1, as --target says")
        assert codes(found) == ["KD102", None]
        assert all(each.diagnostics != [note] for each in await editor.actions(uri))

    talk(conversation)
