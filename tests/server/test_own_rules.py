"""Rules of a project's own in the editor: loaded where whoever starts the server trusts them."""

from __future__ import annotations

from tests.cli.own_rules import FOLDER, RULE, SETTINGS, TRAIN, rule_text

TRUST = ("--trust-rules",)


def _write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")


def test_they_are_told_fixed_and_explained(editing):
    _write(editing.folder, {"pyproject.toml": SETTINGS, RULE: rule_text()})

    async def conversation(editor):
        uri, (found,) = await editor.opened("train.py", TRAIN)
        assert found.code == "ACME001"
        assert found.code_description.href == (editing.folder / RULE).as_uri()
        (fix,) = [each for each in await editor.actions(uri) if "Write `width`" in each.title]
        assert editor.applied(fix)[uri] == TRAIN.replace("units", "width")
        assert editor.shown == []

    editing(conversation, arguments=TRUST)


def test_without_trust_one_message_says_so_and_no_setting_of_the_editor_helps(editing):
    spy = f"open({str(editing.folder / 'it-ran')!r}, 'w')\n"
    _write(editing.folder, {"pyproject.toml": SETTINGS, f"{FOLDER}/spy.py": spy})

    async def conversation(editor):
        _, found = await editor.opened("train.py", TRAIN)
        assert found == []
        await editor.opened("other.py", TRAIN)
        (message,) = [each for each in editor.shown if "--trust-rules" in each]
        assert "were not loaded, for they are code of the project" in message

    editing(conversation, options={"trust-rules": True, "trust_rules": True})
    assert not (editing.folder / "it-ran").exists()


def test_a_rule_that_fails_is_told_once_and_the_others_are_asked(editing):
    broken = rule_text(
        **{
            "ACME001": "ACME002",
            "units-of-dense-block": "another-rule",
            "    for use in": "    1 / 0\n    for use in",
        }
    )
    _write(
        editing.folder,
        {"pyproject.toml": SETTINGS, RULE: rule_text(), f"{FOLDER}/half.py": broken},
    )

    async def conversation(editor):
        uri, (found,) = await editor.opened("train.py", TRAIN)
        assert found.code == "ACME001"
        editor.change(uri, f"x = 1\n{TRAIN}")
        await editor.diagnostics(uri)
        (message,) = editor.shown
        assert "half.py:20: ZeroDivisionError: division by zero (in rule ACME002)" in message

    editing(conversation, arguments=TRUST)
