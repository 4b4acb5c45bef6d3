"""Links on a terminal: only where it can follow them, and never in the text itself."""

from __future__ import annotations

import io
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from kdoctor import engine
from kdoctor.report.formats import format_by_name
from kdoctor.report.links import rule_url, wants_links
from kdoctor.report.output import Page
from kdoctor.rules import all_rules

OLD = "from keras import backend as K\nK.sum(x)\n"
LINK = re.compile(r"\x1b\]8;;([^\x1b]*)\x1b\\")
TOLD = (
    "FORCE_HYPERLINK", "CI", "TMUX", "TERM", "TERM_PROGRAM", "VTE_VERSION", "WT_SESSION",
    "KONSOLE_VERSION", "KITTY_WINDOW_ID", "DOMTERM",
)  # fmt: skip


class Terminal(io.StringIO):
    def isatty(self):
        return True


def written(form, *, links):
    text = io.StringIO()
    result = engine.scan(["."], target="keras==3.15.1")
    format_by_name(form).write(result, Page(text, links=links))
    return text.getvalue()


@pytest.mark.parametrize("form", ["text", "concise"])
def test_places_lead_to_their_file_and_codes_to_their_rule(form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b\x1b.py").write_text(OLD)
    linked = written(form, links=True)
    file, end, rule, end_too = LINK.findall(linked)
    assert (end, end_too) == ("", "")
    assert Path(unquote(urlsplit(file).path)) == tmp_path / "a b\x1b.py"
    assert rule.endswith("/kdoctor/rules/names/backend_function_gone.py")
    assert LINK.sub("", linked) == written(form, links=False)


def test_every_rule_has_a_place_that_leads_to_it():
    for rule in all_rules():
        path = urlsplit(rule_url(rule.code, rule.name)).path
        assert rule.code in Path(unquote(path)).read_text("utf-8")


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ({}, False),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"VTE_VERSION": "7200"}, True),
        ({"VTE_VERSION": "4205"}, False),
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"WT_SESSION": "1"}, True),
        ({"TERM_PROGRAM": "vscode", "TERM": "dumb"}, False),
        ({"TERM_PROGRAM": "WezTerm", "TMUX": "1"}, False),
        ({"TERM_PROGRAM": "WezTerm", "CI": "true"}, False),
        ({"FORCE_HYPERLINK": "1", "CI": "true"}, True),
        ({"FORCE_HYPERLINK": "0", "WT_SESSION": "1"}, False),
    ],
)
def test_a_terminal_gets_links_where_it_says_that_it_can_follow_them(told, wanted, monkeypatch):
    for name in TOLD:
        monkeypatch.delenv(name, raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    assert wants_links(Terminal()) is wanted


def test_a_pipe_gets_none(monkeypatch):
    monkeypatch.delenv("FORCE_HYPERLINK", raising=False)
    monkeypatch.setenv("TERM_PROGRAM", "vscode")
    assert wants_links(io.StringIO()) is False
