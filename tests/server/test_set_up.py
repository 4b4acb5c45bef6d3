"""What docs/editors.md tells people to write."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from kdoctor.config import SETTINGS
from kdoctor.server.settings import EditorSettings

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "editors.md").read_text("utf-8")
BLOCKS = dict(re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL))


def test_every_editor_starts_the_program_that_there_is():
    code = json.loads(BLOCKS["json"])
    helix = tomllib.loads(BLOCKS["toml"])["language-server"]["kdoctor"]
    assert [code["glspc.server.command"], *code["glspc.server.commandArguments"]] == [
        "kdoctor",
        "server",
    ]
    assert [helix["command"], *helix["args"]] == ["kdoctor", "server"]
    assert '{ "kdoctor", "server" }' in BLOCKS["lua"]
    assert '("kdoctor" "server" ' in BLOCKS["elisp"]
    assert "`kdoctor server`" in PAGE.rpartition("## PyCharm")[2]


@pytest.mark.parametrize("pair", ["[]", "()", "{}"])
def test_what_no_parser_here_reads_is_closed_at_least(pair):
    assert all(
        BLOCKS[kind].count(pair[0]) == BLOCKS[kind].count(pair[1]) for kind in ("lua", "elisp")
    )


def test_each_setting_of_an_editor_is_told_and_is_one_of_the_files():
    told = set(
        re.findall(r"`([a-z-]+)`", " ".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE)))
    )
    assert told == set(EditorSettings.__struct_encode_fields__)
    assert told <= set(SETTINGS)
