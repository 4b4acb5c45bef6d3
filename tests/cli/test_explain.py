"""``kdoctor explain`` from end to end."""

from __future__ import annotations

import gzip
import json
import pickle

import pytest

from kdoctor.cli import explain
from kdoctor.cli.explain import decoded

LOG = b"""\
\x1b[31mTraceback (most recent call last):\x1b[0m
  File "train.py", line 4, in <module>
    x = K.mean(K.square(3.0))
        ^^^^^^
AttributeError: module 'keras.backend' has no attribute 'mean'
"""
SOURCE = "from keras import backend as K\n\n\nx = K.mean(K.square(3.0))\n"


def test_a_traceback_on_standard_input_gets_the_diff_of_the_file(project):
    ended = project.write({"train.py": SOURCE}).kdoctor("explain", stdin=LOG)
    assert ended.code == 0
    assert "fault: your line (train.py:4)" in ended.out
    assert "    --- a/train.py\n    +++ b/train.py\n" in ended.out
    assert "    +x = ops.mean(ops.square(3.0))\n" in ended.out
    assert "read: kdoctor explain KD101" in ended.out


def test_a_log_that_is_named_is_read_as_on_standard_input(project):
    made = project.write({"train.py": SOURCE})
    (made.folder / "the train.log").write_bytes(LOG)
    assert made.kdoctor("explain", "the train.log").out == made.kdoctor("explain", stdin=LOG).out


def test_a_log_that_is_not_there_or_empty_is_told(project):
    ended = project.kdoctor("explain", "train.log")
    assert ended.code == 2
    assert ended.err == "kdoctor: train.log: no such file\n"
    ended = project.write({"empty.log": ""}).kdoctor("explain", "empty.log")
    assert ended.code == 2
    assert "empty.log: the file contains no text to explain" in ended.err


def test_a_message_as_an_argument_for_another_release(project):
    message = "module 'keras.backend' has no attribute 'tensorflow_backend'"
    ended = project.kdoctor("explain", "--target", "keras==2.15", message)
    assert ended.code == 0
    assert "is not in keras 2.15.0" in ended.out


def test_a_message_with_two_possible_causes_tells_both(project):
    message = "module 'keras.backend' has no attribute 'unique_object_name'"
    ended = project.kdoctor("explain", message)
    assert "only if: the last frame of the traceback is a file of Keras, not yours" in ended.out
    assert "fix: Otherwise: `keras.backend.unique_object_name` is not in keras 3" in ended.out


def test_json_has_all_of_it(project):
    told = project.kdoctor("explain", "--json", stdin=LOG).json
    assert told["fault"] == "your code"
    assert told["known"]
    assert told["error"]["type"] == "AttributeError"
    assert told["place"] == {
        "path": "train.py",
        "line": 4,
        "function": "<module>",
        "source": "x = K.mean(K.square(3.0))",
        "whose": "user",
    }
    assert told["fix"][0]["kind"] == "diff"
    assert told["rule"] == "KD101"


def test_a_code_shows_the_page_of_the_rule(project):
    ended = project.kdoctor("explain", "KD201")
    assert ended.code == 0
    assert ended.out == project.kdoctor("rules", "KD201").out


def test_the_page_of_a_rule_is_json_where_json_is_asked_for(project):
    told = project.kdoctor("explain", "kd101", "--json").json
    assert told == project.kdoctor("rules", "KD101", "--json").json
    assert told["code"] == "KD101"
    assert told["severity"] == "error"
    assert told["docs"].startswith(told["summary"])
    example = next(each for each in told["examples"] if "K.mean" in each["before"])
    assert "ops.mean" in example["after"]
    assert example["holds"]
    rows = {row["before"]: row for row in told["rewrites"]}
    held = rows["keras.backend.abs(x)"]
    assert held["after"] == "keras.ops.abs(x)"
    assert held["holds"]
    assert held["runs"][0]["backend"].startswith("TensorFlow 2")
    assert held["runs"][0]["cases"]["eager"] > 0


def test_what_did_not_hold_or_was_not_run_is_told_apart_in_json(project):
    told = project.kdoctor("rules", "KD101", "--json").json
    assert {row["holds"] for row in told["rewrites"]} == {True, False}
    by_hand = [each for each in told["examples"] if each["after"] is None]
    assert {each["holds"] for each in by_hand} == {None}


def test_the_list_of_rules_is_json_where_json_is_asked_for(project):
    listed = project.kdoctor("rules", "--json").json["rules"]
    lines = project.kdoctor("rules").out.splitlines()
    assert [rule["code"] for rule in listed] == [line.split()[0] for line in lines]
    assert all(rule["summary"] for rule in listed)


def test_the_start_of_a_code_lists_the_rules_that_begin_so(project):
    every = project.kdoctor("rules").out.splitlines()
    saving = [line.split() for line in every if line.startswith("KD6")]
    assert [line.split() for line in project.kdoctor("rules", "kd6").out.splitlines()] == saving
    told = project.kdoctor("rules", "KD6", "--json").json["rules"]
    assert [rule["code"] for rule in told] == [line[0] for line in saving]
    assert "there is no rule 'KD99'" in project.kdoctor("rules", "KD99").err


def test_an_error_of_something_else_is_said_to_be_that(project):
    text = b'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    1 / 0\nZeroDivisionError: division by zero\n'
    ended = project.kdoctor("explain", stdin=text)
    assert ended.code == 0
    assert "This is not a Keras problem." in ended.out


def test_what_is_not_known_ends_with_one(project):
    ended = project.kdoctor("explain", "ValueError: the moon is full of keras")
    assert ended.code == 1
    assert "kdoctor does not know this error." in ended.out


def test_nothing_to_read_ends_with_two(project):
    ended = project.kdoctor("explain", stdin=b" \n")
    assert ended.code == 2
    assert "there is no text to explain" in ended.err


@pytest.mark.parametrize("length", [250, 300, 900, 5000])
def test_what_is_too_long_for_a_name_is_a_message(project, length):
    ended = project.kdoctor("explain", "ValueError: " + "x" * length)
    assert (ended.code, ended.err) == (1, "")


def test_the_log_of_a_powershell_is_read(project):
    ended = project.kdoctor("explain", stdin=LOG.decode().encode("utf-16"))
    assert "fault: your line" in ended.out


def test_the_end_of_a_long_log_of_a_powershell_is_read(monkeypatch, tmp_path):
    monkeypatch.setattr("kdoctor.cli.explain._MAX_LOG_BYTES", 100)
    (tmp_path / "a.log").write_text("x" * 500 + "the end", encoding="utf-16")
    assert explain._of_file(str(tmp_path / "a.log")) == "x" * 43 + "the end"
    assert decoded((tmp_path / "a.log").read_bytes()) == "x" * 43 + "the end"
    (tmp_path / "a.log").write_text("x" * 500 + "the end")
    assert explain._of_file(str(tmp_path / "a.log")).endswith("x" * 93 + "the end")


def test_wide_characters_are_read_without_a_mark(project):
    for codec in ("utf-16-le", "utf-16-be"):
        (project.folder / "a.log").write_bytes(LOG.decode().encode(codec))
        assert "`keras.backend.mean` is not in" in project.kdoctor("explain", "a.log").out


PROTOBUF = b"\x08\x01\x12\x8f\x02\x12\x0esaved_model\x00\x01\x02\x1a\x05serve\x00\x03" * 9
BINARIES = {
    "x.npz": (b"PK\x03\x04-\0config.json{}", "a zip archive, as .keras and .npz files are"),
    "x.npy": (b"\x93NUMPY\x01\0v\0{'descr': '<i8'}", "a NumPy array"),
    "x.pkl": (pickle.dumps({"loss": [1.0]}), "a pickle"),
    "x.log.gz": (gzip.compress(LOG), "a gzip archive"),
    "saved_model.pb": (PROTOBUF, "binary data"),
}


@pytest.mark.parametrize("name", BINARIES)
def test_what_is_no_text_is_told_and_never_shown(project, name):
    data, what = BINARIES[name]
    (project.folder / name).write_bytes(data)
    said = f"not text, but {what}; give the message of an error, or a log that has it\n"
    ended = project.kdoctor("explain", name)
    assert (ended.code, ended.out, ended.err) == (2, "", f"kdoctor: {name}: {said}")
    ended = project.kdoctor("explain", stdin=data)
    assert (ended.code, ended.out, ended.err) == (2, "", f"kdoctor: standard input: {said}")


def test_a_damaged_model_is_named_as_such(project):
    data = b"\x89HDF\r\n\x1a\n" + b"keras_version 2.3\n" * 9
    assert "not text, but an HDF5 file" in project.kdoctor("explain", stdin=data).err
    (project.folder / "x.h5").write_bytes(data)
    ended = project.kdoctor("explain", "x.h5")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("kdoctor: x.h5: the file is damaged: ")
    (project.folder / "x.keras").write_bytes(b"PK\x03\x04-\0config.json{}")
    ended = project.kdoctor("explain", "x.keras")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("kdoctor: x.keras: the file is damaged: ")


def test_a_log_may_hold_nulls_and_colors(project):
    colored = b"\x1b[1A\x1b[2K\rEpoch 1 \x08\x08\0\n" * 40 + LOG
    hole = b"\0" * 9_000  # what the rotation of a log leaves
    for log in (colored, hole + LOG):
        assert "fault: your line (train.py:4)" in project.kdoctor("explain", stdin=log).out
    ended = project.write({"a.log": hole.decode()}).kdoctor("explain", "a.log")
    assert ended.code == 2
    assert "a.log: the file contains no text to explain" in ended.err


def test_a_line_in_the_encoding_of_a_chinese_windows_is_read(monkeypatch):
    monkeypatch.setattr("locale.getencoding", lambda: "cp936")
    frame, said = '  File "C:\\\u5f20\u4e09\\a.py", line 4', "epoch 1: 0.3 \u2190 \u5f20"
    log = b"\r\n".join([frame.encode("cp936"), said.encode(), b"end"])
    assert decoded(log).splitlines() == [frame, said, "end"]
    monkeypatch.setattr("locale.getencoding", lambda: "utf-8")
    assert decoded(log).splitlines()[1:] == [said, "end"]


def test_the_file_of_a_notebook_is_read_for_what_its_outputs_say(project):
    cell = {
        "cell_type": "code",
        "source": "K.mean(x)",
        "outputs": [
            {"output_type": "stream", "name": "stdout", "text": ["epoch 1\n"]},
            {
                "output_type": "error",
                "ename": "AttributeError",
                "evalue": "module 'keras.backend' has no attribute 'mean'",
                "traceback": [
                    "\x1b[0;31mAttributeError\x1b[0m     Traceback (most recent call last)",
                    "Cell \x1b[0;32mIn[2], line 1\x1b[0m\n----> 1 K.mean(x)\n",
                    "AttributeError: module 'keras.backend' has no attribute 'mean'",
                ],
            },
        ],
    }
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    made = project.write({"a.ipynb": json.dumps(notebook)})
    ended = made.kdoctor("explain", "a.ipynb")
    assert ended.code == 0
    assert ended.out.startswith(
        "AttributeError: module 'keras.backend' has no attribute 'mean'\n\n"
    )
    assert "fault: your line (Cell In[2]:1)\n" in ended.out
    assert made.kdoctor("explain", stdin=json.dumps(notebook).encode()).out == ended.out

    cell["outputs"][1]["traceback"] = []
    made.write({"a.ipynb": json.dumps(notebook)})
    assert "`keras.backend.mean` is not in" in made.kdoctor("explain", "a.ipynb").out
    cell["outputs"] = []
    made.write({"a.ipynb": json.dumps(notebook)})
    assert "The text contains no error." in made.kdoctor("explain", "a.ipynb").out


def test_a_traceback_that_is_cut_before_its_error_is_not_said_to_be_none(project):
    ended = project.kdoctor("explain", stdin=LOG[: LOG.index(b"AttributeError")])
    assert ended.code == 1
    assert "The traceback ends before it shows which error was raised." in ended.out
    assert "ruled out" not in ended.out


def test_a_fix_without_a_place_has_no_empty_head(project):
    cut = LOG[LOG.index(b"line 4") :].replace(b"attribute 'mean'", b"attr")
    out = project.kdoctor("explain", stdin=cut).out
    assert "\n    -x = K.mean" in out
    assert "    #\n" not in out


def test_advice_that_says_what_the_diff_says_is_told_once(project):
    line = "from keras.utils import np_utils"
    log = f"""Traceback (most recent call last):
  File "train.py", line 1, in <module>
    {line}
ImportError: cannot import name 'np_utils' from 'keras.utils'
"""
    out = project.write({"train.py": f"{line}\n"}).kdoctor("explain", stdin=log.encode()).out
    assert out.count("Delete the import: nothing uses it") == 1


def test_what_a_log_says_does_not_steer_the_terminal(project):
    out = project.kdoctor("explain", "ValueError: \x1b]0;evil\x07 keras \x9b31m").out
    assert "\x1b" not in out
    assert "\x9b" not in out
