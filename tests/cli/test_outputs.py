"""Reports on the screen and in files at once, from end to end."""

from __future__ import annotations

import json
import os
import stat
from xml.etree import ElementTree as ET

import pytest

from kdoctor import engine
from kdoctor.errors import UsageProblem
from kdoctor.report.formats import format_names
from kdoctor.report.output_files import outputs_of

SAFE = "from keras import backend as K\n\n\ndef total(x):\n    return K.sum(x, axis=-1)\n"
TARGET = ("--target", "keras==3.15.1")
NAMED = {
    "a.py": "concise",
    "a.jsonl": "jsonl",
    "a.GL": "gitlab",
    "a.hub": "github",
    "a.rd": "rdjson",
}
BY_ENDING = ("a.txt", "a.json", "a.sarif", "a.xml")


def test_every_format_goes_to_a_file_of_its_own_beside_the_screen(project):
    project.write({"src/old.py": SAFE, "src/broken.py": "import keras\nprint 'two'\n"})
    (project.folder / "out").mkdir()
    asked = [f"{name}=out/{file}" for file, name in NAMED.items()]
    asked += [f"out/{file}" for file in BY_ENDING]
    options = [part for each in asked for part in ("--output", each)]
    ended = project.kdoctor(
        "scan", "src", *TARGET, "--format", "concise", "--color=always", *options
    )
    assert ended.code == 2
    assert "\x1b[" in ended.out
    read = {file: project.read(f"out/{file}").decode() for file in (*NAMED, *BY_ENDING)}
    assert "\x1b" not in "".join(read.values())
    assert read["a.py"].startswith("src/old.py:5:12: KD101 ")
    assert "Found 1 finding in 1 file: 1 error." in read["a.txt"]
    assert json.loads(read["a.json"])["findings"][0]["fix"]["edits"]
    assert json.loads(read["a.jsonl"].splitlines()[0])["type"] == "scan"
    assert json.loads(read["a.GL"])[0]["check_name"] == "KD101"
    assert json.loads(read["a.rd"])["diagnostics"][0]["code"]["value"] == "KD101"
    assert read["a.hub"].startswith("::error ")
    assert json.loads(read["a.sarif"])["runs"][0]["results"][0]["fixes"]
    assert ET.fromstring(read["a.xml"]).get("errors") == "1"  # noqa: S314 - our own
    assert all("broken.py" in text for text in read.values())
    assert set(NAMED.values()) | {"text", "json", "sarif", "junit"} == set(format_names())


@pytest.mark.skipif(os.name == "nt", reason="mode bits")
def test_a_report_takes_the_place_of_the_one_before_and_stays_readable_by_others(project):
    project.write({"old.py": SAFE, "again.sarif": "old"})
    (project.folder / "again.sarif").chmod(0o640)
    arguments = ("-o", "new.sarif", "-o", "again.sarif", "--exit-zero", "--statistics")
    ended = project.kdoctor("scan", "old.py", *TARGET, *arguments)
    assert ended.code == 0
    assert "backend-function-gone" in ended.out
    assert project.read("new.sarif") == project.read("again.sarif")
    mask = os.umask(0)
    os.umask(mask)
    mode = stat.S_IMODE((project.folder / "new.sarif").stat().st_mode)
    assert mode == 0o666 & ~mask
    assert stat.S_IMODE((project.folder / "again.sarif").stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ("none/a.sarif", "there is no folder none; create it first"),
        ("sarif=none/a", "there is no folder none; create it first"),
        ("", "--output '': the file is missing; write --output FORMAT=FILE"),
        ("json=", "--output json=: the file is missing; write --output FORMAT=FILE"),
        ("json=-", "--output json=-: standard output is not a file; write ./- for a file named -"),
        ("report.yaml", "no format has this extension; write --output FORMAT=report.yaml"),
        ("sraif=a.sarif", "unknown format 'sraif'; choose one of: concise"),
        ("text=.", "is a folder; name a file in it"),
    ],
)
def test_an_output_that_cannot_be_is_a_sentence_before_anything_is_scanned(
    asked, sentence, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageProblem, match=sentence):
        outputs_of([asked])


def test_a_file_whose_name_holds_a_sign_of_equality_is_reached_by_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (output,) = outputs_of(["./a=b.sarif"])
    assert output.path == "./a=b.sarif"


def test_a_fix_as_json_tells_what_is_fixed_and_what_is_left(project):
    project.write({"old.py": SAFE + "\n\nK.get_session()\n"})
    arguments = ("--apply", "--format", "json", "-o", "concise=left.txt", "--exit-zero")
    ended = project.kdoctor("fix", "old.py", *TARGET, *arguments)
    assert ended.code == 0
    told = ended.json
    assert told["written"] is True
    (file,) = told["fixed"]
    assert file["path"] == "old.py"
    assert [finding["symbol"] for finding in file["findings"]] == ["keras.backend.sum"]
    assert "+    return ops.sum(x, axis=-1)" in file["diff"]
    assert [finding["symbol"] for finding in told["left"]] == ["keras.backend.get_session"]
    assert told["left_alone"] == []
    assert project.read("left.txt").startswith(b"old.py:9:1: KD101 ")


def test_a_fix_that_left_nothing_fails_if_that_is_asked_for(project):
    project.write({"old.py": SAFE})
    ended = project.kdoctor("fix", "old.py", *TARGET, "--apply", "--exit-non-zero-on-fix")
    assert ended.code == 1
    again = project.kdoctor("fix", "old.py", *TARGET, "--apply", "--exit-non-zero-on-fix")
    assert again.code == 0


GITLAB = ("g.json", "moved.json")


def test_fingerprints_are_those_of_the_code_whichever_format_asks(project) -> None:
    code = "from keras import backend as K\n\n\ndef loss(a):\n    return K.sum(a) + K.sum(a)\n"
    project.write({"a.py": code})

    ended = project.kdoctor(
        *("scan", "--target", "keras==3.15.1", "-o", "gitlab=g.json", "-o", "s.sarif", "a.py")
    )

    assert ended.code == 1
    result = engine.scan([project.folder / "a.py"], target="keras==3.15.1")
    known = set(engine.fingerprints(result).values())
    results = json.loads(project.read("s.sarif"))["runs"][0]["results"]
    shown = {text for each in results for text in each["partialFingerprints"].values()}
    assert len(known) == 2
    assert known <= shown
    # Not by the line: the same with another line around it.
    project.write({"a.py": code.replace("return", "return 1 +")})
    project.kdoctor("scan", "--target", "keras==3.15.1", "-o", "gitlab=moved.json", "a.py")
    marks = [{each["fingerprint"] for each in json.loads(project.read(f))} for f in GITLAB]
    assert marks[0] == marks[1]
