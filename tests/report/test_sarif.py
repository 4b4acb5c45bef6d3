"""SARIF, held to the official schema and to what its readers do with it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import pytest
from msgspec import structs

from kdoctor import engine
from kdoctor.engine.result import ProjectNotes, ScanResult
from kdoctor.model import Confidence, Finding, Place, Severity, Span, Unreadable
from kdoctor.report import links
from kdoctor.report.formats import format_by_name
from kdoctor.report.output import Page
from kdoctor.target import Target

SCHEMA = json.loads((Path(__file__).parent / "data" / "sarif-schema-2.1.0.json").read_text("utf-8"))
TARGET = "keras==3.15.1"
IMPORT = "from keras import backend as K\n"
CODE = f"{IMPORT}\n\ndef total(x):\n    return K.sum(x, axis=-1)  # é 漢 😀\n\n\nK.get_session()\n"
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# é 😀"]},
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "outputs": [],
            "source": [IMPORT, 'text = "\\"é"; y = K.sum(x)'],
        },
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 4,
}
FILES = {
    "a b.py": CODE.encode(),
    "crlf.py": CODE.replace("\n", "\r\n").encode(),
    "marked.py": b"\xef\xbb\xbf" + CODE.encode(),
    "models.py": b"from keras.models import Input, Model\n\nx = Input((3,))\nModel(x, x)\n",
    "nb.ipynb": json.dumps(NOTEBOOK, indent=1).encode(),
    "use.md": f"- Text\n\n  ```python\n  {IMPORT}  K.sum(K.square(x))\n  ```\n".encode(),
    "broken.py": b"import keras\nprint 'two'\n",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Files of every kind, with and without fixes; one cannot be read."""
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sarif(result, verbosity=0):
    text = io.StringIO()
    format_by_name("sarif").write(result, Page(text, verbosity=verbosity))
    log = json.loads(text.getvalue())
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    (run,) = log["runs"]
    return run


def scanned(*paths):
    return engine.scan(paths or ["."], target=TARGET, diffs=False, replacements=True)


def test_the_official_schema_is_used_and_finds_faults(project):
    result = scanned()
    run = sarif(result)
    assert len(run["results"]) == len(result.findings) > 8
    broken = {"version": "2.1.0", "runs": [{**run, "columnKind": "bytes"}]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(SCHEMA).validate(broken)
    del project


def test_each_fix_changes_the_file_as_the_fix_alone_does(project):
    for result in sarif(scanned())["results"]:
        for fix in result.get("fixes", ()):
            (change,) = fix["artifactChanges"]
            assert change["artifactLocation"] == _location(result)["artifactLocation"]
            path = project / unquote(change["artifactLocation"]["uri"])
            before = path.read_bytes()
            findings = engine.scan([path], target=TARGET).findings
            path.write_bytes(_replaced(before, change["replacements"]))
            left = engine.scan([path], target=TARGET)
            assert not left.unreadable
            assert len(left.findings) == len(findings) - 1
            path.write_bytes(before)


def _replaced(data, replacements):
    """Carry out replacements as a reader of SARIF does: in text without a byte order mark."""
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    lines = data.removeprefix(mark).decode().split("\n")
    for each in reversed(replacements):
        region, text = each["deletedRegion"], each.get("insertedContent", {"text": ""})["text"]
        first, last = region["startLine"] - 1, region["endLine"] - 1
        before = lines[first][: region["startColumn"] - 1]
        after = lines[last][region["endColumn"] - 1 :]
        lines[first : last + 1] = (before + text + after).split("\n")
    return mark + "\n".join(lines).encode()


def _location(result):
    (location,) = result["locations"]
    return location["physicalLocation"]


@pytest.mark.usefixtures("project")
def test_the_region_of_a_finding_holds_what_it_is_about():
    texts = set()
    for result in sarif(scanned())["results"]:
        location = _location(result)
        region = location["region"]
        data = FILES[unquote(location["artifactLocation"]["uri"])]
        row = data.decode("utf-8-sig").split("\n")[region["startLine"] - 1]
        text = row[region["startColumn"] - 1 : region["endColumn"] - 1]
        assert region.get("snippet", {"text": text}) == {"text": text}
        texts.add(text)
    assert texts == {"K.sum", "K.square", "K.get_session", "Input"}


@pytest.mark.usefixtures("project")
def test_a_finding_in_a_notebook_names_its_cell():
    (result,) = sarif(scanned("nb.ipynb"))["results"]
    (location,) = result["locations"]
    assert location["logicalLocations"][0]["name"] == "cell 2"
    assert location["message"]["text"] == "cell 2, line 2, column 19"
    assert result["properties"]["lineInCell"] == 2
    assert _location(result)["region"]["startLine"] == 17


@pytest.mark.usefixtures("project")
def test_the_rules_that_fired_bring_their_documentation():
    run = sarif(scanned("a b.py"))
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == "KD101"
    assert rule["name"] == "backend-function-gone"
    assert rule["shortDescription"]["text"].startswith("Functions of `keras.backend`")
    assert rule["fullDescription"]["text"].startswith("Reports each use")
    assert "## Why it breaks" in rule["help"]["text"]
    assert "```python\nfrom keras" in rule["help"]["markdown"]
    assert rule["defaultConfiguration"] == {"level": "error"}
    assert rule["properties"]["family"] == "names"
    assert rule["properties"]["severity"] == "error"
    assert [result["ruleIndex"] for result in run["results"]] == [0, 0]
    assert [result["ruleId"] for result in run["results"]] == ["KD101", "KD101"]


@pytest.mark.usefixtures("project")
def test_pages_of_rules_are_named_where_the_distribution_says_where_they_are(monkeypatch):
    named = {"Documentation": "https://k.example/docs/", "Repository": "https://k.example"}
    monkeypatch.setattr(links, "_urls", lambda: named)
    links.page_url.cache_clear()
    driver = sarif(scanned("a b.py"))["tool"]["driver"]
    links.page_url.cache_clear()
    assert driver["informationUri"] == "https://k.example"
    assert driver["rules"][0]["helpUri"] == "https://k.example/docs/rules/KD101/"


@pytest.mark.usefixtures("project")
def test_what_could_not_be_read_is_a_notification_and_no_success():
    (invocation,) = sarif(scanned())["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["level"] == "error"
    assert notification["descriptor"] == {"id": "not-checked"}
    assert _location(notification)["artifactLocation"]["uri"] == "broken.py"
    assert sarif(scanned("a b.py"))["invocations"][0]["executionSuccessful"] is True


def test_what_is_wrong_with_the_projects_own_files_is_said():
    notes = ProjectNotes(("a.txt and b.txt differ",), (Unreadable("pyproject.toml", "no TOML"),))
    (invocation,) = sarif(ScanResult(_target(), project=notes))["invocations"]
    told = invocation["toolConfigurationNotifications"]
    assert [each["level"] for each in told] == ["error", "warning"]
    assert invocation["executionSuccessful"] is False


@pytest.mark.usefixtures("project")
def test_a_fingerprint_outlives_moved_lines():
    before = _fingerprints("a b.py")
    Path("a b.py").write_bytes(b"# new\n\n" + FILES["a b.py"])
    assert _fingerprints("a b.py") == before
    assert len(set(before)) == 2


def _fingerprints(path):
    results = sarif(scanned(path))["results"]
    return [each["partialFingerprints"]["kdoctorFingerprint/v1"] for each in results]


@pytest.mark.usefixtures("project")
def test_what_a_baseline_accepts_is_marked_and_not_dropped():
    result = scanned("a b.py")
    first, *rest = result.findings
    run = sarif(structs.replace(result, findings=tuple(rest), known=(first,)))
    known, new = run["results"]
    assert known["baselineState"] == "unchanged"
    assert known["suppressions"][0]["kind"] == "external"
    assert new["baselineState"] == "new"
    assert "suppressions" not in new
    assert not any("baselineState" in each for each in sarif(result)["results"])


def test_what_a_comment_silences_is_marked_with_its_reason(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = "K.get_session()  # kdoctor: ignore[KD101] only in old jobs\n"
    Path("old.py").write_text(f"{IMPORT}{line}K.get_session()\n")
    result = scanned("old.py")
    silenced, open_ = sarif(result)["results"]
    assert silenced["suppressions"] == [
        {"kind": "inSource", "status": "accepted", "justification": "only in old jobs"}
    ]
    assert "suppressions" not in open_
    Path("old.py").write_text(f"{IMPORT}K.get_session()\nK.get_session()\n")
    before = [each["partialFingerprints"] for each in sarif(scanned("old.py"))["results"]]
    assert before == [silenced["partialFingerprints"], open_["partialFingerprints"]]


def test_brackets_in_a_message_are_no_link():
    place = Place("a.py", 0, Span(0, 1), None, 1, 1, 1, 2)
    finding = Finding(
        code="KD999",
        name="made-up",
        place=place,
        message="`layers[0](x)` and [1] fail",
        severity=Severity.CHANGE,
        confidence=Confidence.LIKELY,
        symbol="x",
        no_fix_because="none",
    )
    run = sarif(ScanResult(_target(), (finding,), {place: "x"}))
    assert run["results"][0]["message"]["text"] == ("`layers\\[0](x)` and [1] fail\nNo fix: none")
    assert run["results"][0]["level"] == "warning"
    assert run["tool"]["driver"]["rules"] == [{"id": "KD999", "name": "made-up"}]


def _target():
    return Target("keras", "3.15.1", "--target", "3.15.1", "3.15.1")
