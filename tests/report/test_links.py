"""Links on a terminal: only where it can follow them, and never in the text itself."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from kdoctor import engine
from kdoctor.report import links, statistics
from kdoctor.report.formats import format_by_name, format_names
from kdoctor.report.links import rule_url, wants_links
from kdoctor.report.migration.elements import rule_link
from kdoctor.report.output import Page
from kdoctor.report.rules import write_table
from kdoctor.rules import all_rules, rule_by_code

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


@pytest.fixture
def documented(monkeypatch):
    """A distribution that names its documentation; returns the page of KD101."""
    named = {"Documentation": "https://k.example/docs/", "Homepage": "https://k.example"}
    monkeypatch.setattr(links, "_urls", lambda: named)
    links.page_url.cache_clear()
    yield "https://k.example/docs/rules/KD101/"
    links.page_url.cache_clear()


# "text" and "concise" have no link but that of a terminal: the lines of both are for people.
LINKED = {
    "github": lambda text: text.partition("::error ")[2].rstrip("\n").rpartition("%0A")[2],
    "gitlab": lambda text: json.loads(text)[0]["content"]["body"].partition("](")[2].rstrip(")"),
    "json": lambda text: json.loads(text)["findings"][0]["url"],
    "jsonl": lambda text: json.loads(text.splitlines()[1])["url"],
    "junit": lambda text: re.search(r"KD101: (.*)</failure>", text)[1],
    "rdjson": lambda text: json.loads(text)["diagnostics"][0]["code"]["url"],
    "sarif": lambda text: json.loads(text)["runs"][0]["tool"]["driver"]["rules"][0]["helpUri"],
    "text": lambda text: LINK.findall(text)[2],
    "concise": lambda text: LINK.findall(text)[2],
}


@pytest.mark.parametrize("form", format_names())
def test_every_format_leads_to_the_page_of_the_rule(form, documented, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.py").write_text(OLD)
    assert LINKED[form](written(form, links=form in {"text", "concise"})) == documented


@pytest.mark.parametrize("form", sorted(set(format_names()) - {"text", "concise", "sarif"}))
def test_without_documentation_there_is_no_link(form, tmp_path, monkeypatch):
    monkeypatch.setattr(links, "_urls", dict)
    links.page_url.cache_clear()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.py").write_text(OLD)
    told = written(form, links=False)
    links.page_url.cache_clear()
    assert "KD101" in told
    assert "http" not in told


def test_tables_of_rules_lead_to_them(documented, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.py").write_text(OLD)
    linked, plain = io.StringIO(), io.StringIO()
    result = engine.scan(["."], target="keras==3.15.1")
    for page in (Page(linked, links=True), Page(plain)):
        statistics.write_text(result, page)
        write_table([rule_by_code("KD101")], page)
    assert LINK.findall(linked.getvalue()) == [documented, ""] * 2
    assert LINK.sub("", linked.getvalue()) == plain.getvalue()


def test_the_page_of_a_migration_leads_to_them(documented):
    assert rule_link("KD101") == f'<a href="{documented}">KD101</a>'


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
