"""Reviewdog's format: what a review shows, and what accepting a suggestion does."""

from __future__ import annotations

import io
import json

import pytest

from kdoctor import engine
from kdoctor.report.formats import format_by_name
from kdoctor.report.output import Page

TARGET = "keras==3.15.1"
USED = "from keras import backend as K\n\n\ndef total(x):\n    return K.sum(x)\n"


def told(path=".", **how):
    text = io.StringIO()
    how |= {"replacements": True, "diffs": True}
    result = engine.scan([path], target=TARGET, **how)
    format_by_name("rdjson").write(result, Page(text))
    return result, json.loads(text.getvalue())


def with_bytes(position):
    return position["line"], position["column"]


def accepted(data: bytes, suggestion) -> bytes:
    """Return a file after a reviewer accepted a suggestion: columns count bytes of UTF-8."""
    lines = data.splitlines(keepends=True)
    starts = [sum(map(len, lines[:n])) for n in range(len(lines) + 1)]
    start, end = (
        starts[line - 1] + column - 1
        for line, column in map(
            with_bytes, (suggestion["range"]["start"], suggestion["range"]["end"])
        )
    )
    return data[:start] + suggestion["text"].encode() + data[end:]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_accepting_a_suggestion_is_the_fix(tmp_path, monkeypatch, newline, mark):
    monkeypatch.chdir(tmp_path)
    source = (
        'import keras\n\nnote = "é 漢 😀"; model = keras.Sequential([]); model.reset_states()\n'
    )
    source += "é = keras.optimizers.SGD(lr=0.1)\n"
    data = source.replace("\n", newline).encode()
    (tmp_path / "a.py").write_bytes(mark + data)
    _, report = told("a.py")
    suggested = [each for each in report["diagnostics"] if "suggestions" in each]
    (rate,) = [each for each in suggested if "`lr=`" in each["message"]]
    (suggestion,) = rate["suggestions"]
    after = engine.fix(["a.py"], target=TARGET, select=[rate["code"]["value"]]).files[0].after
    assert mark + accepted(data, suggestion) == after


def test_half_a_fix_is_no_suggestion(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(USED)
    result, report = told()
    (finding,) = result.findings
    assert len(finding.fix.replacements) > 1, "the use and its import"
    assert "suggestions" not in report["diagnostics"][0]


def test_a_fix_that_no_proof_calls_safe_is_no_suggestion(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(
        "import keras\nmodel = keras.Sequential()\nmodel.fit(1, 2, workers=4)\n"
    )
    result, report = told()
    unsafe = [
        each.code for each in result.findings if each.fix and each.fix.applicability == "unsafe"
    ]
    assert unsafe
    assert not any("suggestions" in each for each in report["diagnostics"])


def test_what_is_told_has_its_place_its_severity_and_its_help(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(f"# é\n{USED}")
    result, report = told()
    (finding,), (diagnostic,) = result.findings, report["diagnostics"]
    assert diagnostic["severity"] == "ERROR"
    assert diagnostic["code"]["value"] == finding.code
    assert diagnostic["message"] == f"{finding.message}\n{finding.help}"
    assert diagnostic["location"] == {
        "path": "a.py",
        "range": {"start": {"line": 6, "column": 12}, "end": {"line": 6, "column": 17}},
    }
    assert report["source"] == {"name": "kdoctor"}


def test_where_the_text_is_not_at_hand_whole_lines_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_bytes(b"# coding: latin-1\n# \xe9\n" + USED.encode())
    _, report = told()
    (diagnostic,) = report["diagnostics"]
    assert diagnostic["location"]["range"] == {"start": {"line": 7}, "end": {"line": 7}}


def test_a_file_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("import keras\nkeras.Input(\n")
    _, report = told()
    (diagnostic,) = report["diagnostics"]
    assert diagnostic["severity"] == "ERROR"
    assert diagnostic["message"].startswith("not checked: ")
    assert diagnostic["location"] == {"path": "a.py", "range": {"start": {"line": 1}}}
