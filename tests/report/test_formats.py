"""Each format as its readers take it: line tools, GitHub, GitLab, JUnit, JSON lines."""

from __future__ import annotations

import io
import json
import os
import re
from xml.etree import ElementTree as ET

import pytest
from msgspec import structs

from kdoctor import engine
from kdoctor.errors import UsageProblem
from kdoctor.report.formats import format_by_name, format_names, statistics_of
from kdoctor.report.output import Page

TARGET = "keras==3.15.1"
OLD = "from keras import backend as K\n\n\ndef total(x):\n    return K.sum(x, axis=-1)\n"
BROKEN = "import keras\nprint 'two'\n"
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]},
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "outputs": [],
            "source": OLD.splitlines(keepends=True),
        },
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 4,
}
FILES = {
    "src/a b,é:100%25.py": OLD,
    "nb.ipynb": json.dumps(NOTEBOOK, indent=1),
    "README.md": f"# Use\n\n```python\n{OLD}```\n",
    "broken.py": BROKEN,
    "clean.py": "import os\n",
}


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A git repository with findings in every kind of file; the working folder is below its top."""
    for name, content in FILES.items():
        path = tmp_path / "sub" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    return tmp_path / "sub"


def written(name, result=None, verbosity=0):
    form = format_by_name(name)
    result = result or engine.scan(
        ["."], target=TARGET, diffs=form.diffs, replacements=form.replacements
    )
    text = io.StringIO()
    form.write(result, Page(text, verbosity=verbosity))
    return text.getvalue()


@pytest.mark.usefixtures("repository")
def test_concise_is_one_line_a_finding_and_one_a_file_that_could_not_be_read():
    lines = written("concise").splitlines()
    assert [line.partition(": ")[0] for line in lines] == [
        "README.md:8:12",
        "nb.ipynb:cell 2:5:12",
        "src/a b,é:100%25.py:5:12",
        "broken.py",
    ]
    assert all(re.match(r".+:\d+:\d+: KD101 `keras", line) for line in lines[:-1])
    assert lines[-1].startswith("broken.py: not checked: ")


@pytest.mark.usefixtures("repository")
def test_json_lines_are_one_object_a_line_told_apart_by_type():
    lines = list(map(json.loads, written("jsonl").splitlines()))
    assert [line["type"] for line in lines] == [
        "scan",
        "finding",
        "finding",
        "finding",
        "unreadable",
    ]
    assert lines[0]["read"] == 5
    found = json.loads(written("json"))["findings"]
    assert [{"type": "finding", **each} for each in found] == lines[1:4]


def test_github_annotations_stand_in_the_file_from_the_top_of_the_repository(repository):
    lines = written("github").splitlines()
    assert len(lines) == 4
    readme, notebook, odd, broken = map(_annotation, lines)
    assert readme[:2] == (
        "error",
        {
            "title": "kdoctor KD101 (backend-function-gone)",
            "file": "sub/README.md",
            "line": "8",
            "endLine": "8",
            "col": "12",
            "endColumn": "17",
        },
    )
    assert odd[1]["file"] == "sub/src/a b,é:100%25.py"
    row = int(notebook[1]["line"])
    assert "K.sum(x, axis=-1)" in (repository / "nb.ipynb").read_text().split("\n")[row - 1]
    assert notebook[2].startswith("nb.ipynb:cell 2:5:12: KD101 ")
    assert readme[2].endswith("\nWrite `ops.sum` instead of `K.sum`.")
    assert broken[:2] == ("error", {"title": "kdoctor: not checked", "file": "sub/broken.py"})


def _annotation(line):
    """Take a workflow command apart as the runner does."""
    command, properties, data = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line).groups()
    pairs = dict(pair.split("=", 1) for pair in properties.split(","))
    unescaped = {
        key: value.replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
        for key, value in pairs.items()
    }
    told = data.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
    return command, unescaped, told


def test_gitlab_issues_have_what_the_report_needs_and_fingerprints_of_their_own(repository):
    (repository / "copy.py").write_text(OLD)
    (repository / "again.py").write_text(OLD)
    issues = json.loads(written("gitlab"))
    assert len(issues) == 6
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["location"]["lines"]["begin"] >= 1
        assert issue["location"]["path"].startswith("sub/")
    assert len({issue["fingerprint"] for issue in issues}) == 6
    assert {issue["severity"] for issue in issues} == {"critical", "blocker"}
    by_path = {issue["location"]["path"]: issue for issue in issues}
    assert by_path["sub/broken.py"]["check_name"] == "not-checked"
    assert by_path["sub/nb.ipynb"]["description"].endswith("(cell 2, line 5)")


def test_gitlab_knows_a_finding_again_when_lines_before_it_come_and_go(repository):
    before = _gitlab_fingerprint("README.md")
    (repository / "README.md").write_text("# New\n\nText.\n\n" + FILES["README.md"])
    assert _gitlab_fingerprint("README.md") == before


def _gitlab_fingerprint(name):
    (issue,) = json.loads(written("gitlab", engine.scan([name], target=TARGET)))
    return issue["fingerprint"]


@pytest.mark.usefixtures("repository")
def test_junit_has_a_case_for_each_file_that_was_read():
    text = written("junit")
    suites = ET.fromstring(text)  # noqa: S314 - our own
    (suite,) = suites
    cases = {case.get("name"): [child.tag for child in case] for case in suite.iter("testcase")}
    assert cases == {
        "README.md": ["failure"],
        "broken.py": ["error"],
        "clean.py": [],
        "nb.ipynb": ["failure"],
        "src/a b,é:100%25.py": ["failure"],
    }
    for each in (suites, suite):
        assert [each.get(key) for key in ("tests", "failures", "errors")] == ["5", "3", "1"]
    assert {case.get("file") for case in suite.iter("testcase")} == {
        f"sub/{name}" for name in cases
    }
    failure = suite.find("testcase/failure")
    assert failure.get("message") == "1 finding: 1 error"
    assert failure.text.startswith("README.md:8:12: KD101 [error] ")
    assert written("junit") == text


@pytest.mark.parametrize("name", format_names())
def test_control_characters_of_a_message_reach_no_reader(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.py").write_text(OLD)
    result = engine.scan(["."], target=TARGET)
    (finding,) = result.findings
    odd = structs.replace(finding, message="\x1b[2J\x00\r::error::", help="\x07")
    told = written(name, structs.replace(result, findings=(odd,)))
    assert not set(told) & set("\x1b\x00\r\x07")
    if name == "junit":
        ET.fromstring(told)  # noqa: S314 - our own


@pytest.mark.skipif(os.name == "nt", reason="names of files are text there")
def test_names_that_are_no_utf_8_and_control_characters_get_through_every_format(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"caf\xe9\x01\\ .py")
    (tmp_path / name).write_text(OLD)
    told = {form: written(form) for form in format_names()}
    for form in ("json", "sarif", "gitlab"):
        json.loads(told[form])
    assert json.loads(told["json"])["findings"][0]["path"] == name
    uri = _first_artifact(told["sarif"])["uri"]
    assert uri == "caf%E9%01%5C%20.py"
    told["sarif"].encode("ascii")
    assert json.loads(told["gitlab"])[0]["location"]["path"] == "caf\ufffd\x01\\ .py"
    assert ET.fromstring(told["junit"]).find(".//testcase").get("name") == r"caf\udce9\x01\ .py"  # noqa: S314 - our own
    assert told["concise"].startswith(r"caf\udce9\x01\ .py:5:12: KD101 ")


@pytest.mark.usefixtures("repository")
def test_files_outside_of_the_repository_have_whole_paths(tmp_path_factory):
    other = tmp_path_factory.mktemp("other") / "old.py"
    other.write_text(OLD)
    result = engine.scan([other], target=TARGET)
    assert json.loads(written("gitlab", result))[0]["location"]["path"] == other.as_posix()
    artifact = _first_artifact(written("sarif", result))
    assert artifact == {"uri": other.as_uri()}


def test_without_a_repository_paths_count_from_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "old.py").write_text(OLD)
    monkeypatch.chdir(tmp_path)
    artifact = _first_artifact(written("sarif"))
    assert artifact == {"uri": "sub/old.py", "uriBaseId": "%SRCROOT%"}


def _first_artifact(sarif):
    result = json.loads(sarif)["runs"][0]["results"][0]
    return result["locations"][0]["physicalLocation"]["artifactLocation"]


@pytest.mark.parametrize("name", format_names())
def test_nothing_found_is_a_whole_report_too(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clean.py").write_text("x = 1\n")
    text = written(name)
    assert text == "" or text.endswith("\n")
    if name in {"json", "sarif", "gitlab", "rdjson"}:
        json.loads(text)
    if name == "junit":
        assert ET.fromstring(text).get("failures") == "0"  # noqa: S314 - our own
    if name in {"concise", "github"}:
        assert text == ""


def counted(name, result):
    text = io.StringIO()
    statistics_of(name)(result, Page(text, verbosity=-1))
    return text.getvalue()


def test_statistics_count_by_rule_and_by_what_can_be_done(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(OLD + "\nK.get_session()\n")
    (tmp_path / "b.py").write_text("from keras.models import Input\n")
    (tmp_path / "c.py").write_text("from keras.models import Input\n")
    (tmp_path / "d.py").write_text("from keras.models import Input\n")
    result = engine.scan(["."], target=TARGET)
    assert counted("text", result) == (
        "findings  rule                          safe  unsafe  by hand\n"
        "       3  KD102  missing-name              3       0        0\n"
        "       2  KD101  backend-function-gone     1       0        1\n"
    )
    rows = json.loads(counted("json", result))["statistics"]
    assert rows[1] == {
        "code": "KD101",
        "name": "backend-function-gone",
        "findings": 2,
        "safe": 1,
        "unsafe": 0,
        "by_hand": 1,
    }
    lines = list(map(json.loads, counted("jsonl", result).splitlines()))
    assert lines == [{"type": "statistic", **row} for row in rows]


def test_statistics_in_a_format_without_a_place_for_them_is_a_sentence():
    with pytest.raises(UsageProblem, match="requires --format concise, json, jsonl, text; not"):
        statistics_of("sarif")


OWN = "from transformers import TFBertModel\nfrom tensorflow.keras.layers import LSTM\n"
LIKELY = "import keras\nmodel = keras.Sequential()\nmodel.fit_generator(x)\n"


@pytest.fixture
def two_targets(tmp_path, monkeypatch):
    """A file that is sure of nothing, and one that has another target by its own code."""
    (tmp_path / "a.py").write_text(f"{OWN}{OLD}")
    (tmp_path / "b.py").write_text(LIKELY)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("two_targets")
@pytest.mark.parametrize("name", format_names())
@pytest.mark.parametrize("target", [TARGET, None])
def test_each_format_names_the_files_that_have_a_target_of_their_own(name, target):
    form = format_by_name(name)
    options = {"target": target, "isolated": True, "config": None}
    (found,) = engine.scan(["a.py"], **options).own_targets
    result = engine.scan(["a.py"], diffs=form.diffs, replacements=form.replacements, **options)
    told = written(name, result)
    assert found.counts is (target is None)
    assert "sets TF_USE_LEGACY_KERAS" in told
    assert f"tf_keras {found.tf_keras}" in told
    assert target is None or "--target" in told or '"counts": false' in told


@pytest.mark.usefixtures("two_targets")
@pytest.mark.parametrize("name", format_names())
def test_each_format_says_what_is_no_certainty(name):
    form = format_by_name(name)
    options = {"target": TARGET, "diffs": form.diffs, "replacements": form.replacements}
    assert "likely" in written(name, engine.scan(["b.py"], select=["KD2"], **options))
    assert "likely" not in written(name, engine.scan(["a.py"], select=["KD101"], **options))
