"""``kdoctor model`` from end to end."""

import io
import json
from pathlib import Path

import h5py
import jsonschema
import pytest

SCHEMA = Path(__file__).parents[1] / "report" / "data" / "sarif-schema-2.1.0.json"
LSTM = {"class_name": "LSTM", "config": {"name": "r", "units": 2, "time_major": False}}
DENSE = {"class_name": "Dense", "config": {"name": "d", "units": 2}}


def model(*layers):
    with h5py.File(data := io.BytesIO(), "w") as file:
        config = {"class_name": "Sequential", "config": {"name": "m", "layers": list(layers)}}
        file.attrs["model_config"] = json.dumps(config)
        file.attrs["keras_version"], file.attrs["backend"] = "2.3.1", "tensorflow"
    return data.getvalue()


@pytest.fixture
def models(project):
    for name, data in {
        "new.h5": model(DENSE),
        "old.h5": model(LSTM, DENSE, {**LSTM, "config": {**LSTM["config"], "name": "s"}}),
        "cut.h5": model(DENSE)[:600],
        "deep/page.keras": b"<!DOCTYPE html><title>x</title>",
    }.items():
        path = project.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    return project


def test_a_file_that_loads_is_one_line_and_the_call(models):
    ended = models.kdoctor("model", "new.h5")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == (
        "new.h5: Keras model in HDF5, written by Keras 2.3.1, tensorflow: keras 3.15.1 loads it\n"
        '  load it: keras.models.load_model("new.h5")\n'
    )


def test_weights_alone_are_told_by_layer_with_their_shapes(project):
    with h5py.File(project.folder / "w.h5", "w") as file:
        names = [f"dense_{number}" for number in range(8)]
        file.attrs["layer_names"] = [name.encode() for name in (*names, "flatten")]
        file.create_group("flatten").attrs["weight_names"] = []
        for name in names:
            group = file.create_group(name)
            group.attrs["weight_names"] = [b"kernel:0", b"bias:0"]
            group["kernel:0"], group["bias:0"] = [[1.0, 2.0]], [1.0, 2.0]
    ended = project.kdoctor("model", "w.h5")
    assert ended.code == 0
    first, call, *held = ended.out.splitlines()
    assert first.endswith("`load_weights` of keras 3.15.1 reads it into the same model, once built")
    assert call == '  load it: model.load_weights("w.h5")'
    said = " ".join(line.strip() for line in held)
    assert said.startswith(
        "holds: weights of 8 layers, in this order: dense_0 (1, 2) (2,), dense_1"
    )
    assert said.endswith("dense_5 (1, 2) (2,), and 2 more")


def test_an_obstacle_is_told_once_with_all_its_places(models):
    ended = models.kdoctor("model", "old.h5")
    assert ended.code == 1
    assert ended.out.count("time_major") == 1
    assert "m/r, m/s: " in ended.out


def test_a_folder_is_searched_and_summed_up(models):
    ended = models.kdoctor("model")
    assert ended.code == 2
    assert [line for line in ended.out.splitlines() if line[:1].strip()][:2] == [
        line for line in ended.out.splitlines() if line.startswith(("deep/", "new.h5"))
    ]
    assert "cut.h5: not read: the file is cut short" in ended.out
    last = ended.out.splitlines()[-1]
    assert last.startswith("4 saved models for keras 3.15.1: 1 loads as it is, ")
    assert last.endswith("1 could not be read.")
    assert models.kdoctor("model", ".", "deep", "old.h5").out == ended.out


def test_a_clean_folder_ends_well(models):
    assert models.kdoctor("model", "new.h5", "--quiet").code == 0
    (models.folder / "clean").mkdir()
    (models.folder / "clean" / "a.h5").write_bytes(model(DENSE))
    assert models.kdoctor("model", "clean").code == 0
    (models.folder / "empty").mkdir()
    ended = models.kdoctor("model", "empty")
    assert (ended.code, ended.out) == (2, "")
    assert "no saved model was found" in ended.err


@pytest.mark.parametrize("asked", [("--json",), ("--format", "json")])
def test_json_has_all_of_it(models, asked):
    ended = models.kdoctor("model", *asked)
    told = ended.json
    assert ended.code == 2
    assert [each["file"] for each in told["models"]] == ["deep/page.keras", "new.h5", "old.h5"]
    assert [each["path"] for each in told["unreadable"]] == ["cut.h5"]
    old = told["models"][-1]
    assert old["written_by"]["keras"] == "2.3.1"
    # The file has no weights either: that keeps all three layers from being converted.
    assert [each["place"] for each in old["obstacles"]] == ["m/r", "m/s", "r", "d", "s"]
    assert old["verdict"] == "needs code by hand"
    assert told["models"][1]["verdict"] == "loads"
    assert ended.out.isascii()


def test_sarif_holds_to_the_schema_and_has_each_obstacle(models):
    ended = models.kdoctor("model", "--format", "sarif")
    log = ended.json
    jsonschema.validate(log, json.loads(SCHEMA.read_text("utf-8")))
    (run,) = log["runs"]
    places = [
        each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for each in run["results"]
    ]
    assert places == ["deep/page.keras", *["old.h5"] * 5]
    digests = {tuple(each["partialFingerprints"].values()) for each in run["results"]}
    assert len(digests) == 6
    assert not run["invocations"][0]["executionSuccessful"]


def test_the_target_decides(models):
    assert models.kdoctor("model", "old.h5", "--target", "keras==2.15.0").code == 0
    ended = models.kdoctor("model", "old.h5", "--target", "keras==9")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("kdoctor: keras 9 is not a known release")


def test_a_hostile_name_does_not_steer_the_terminal(models):
    named = {
        **DENSE,
        "class_name": "LSTM",
        "config": {"name": "\x1b[2J", "units": 1, "time_major": 0},
    }
    (models.folder / "a\x1b[2J.h5").write_bytes(model(named))
    ended = models.kdoctor("model", "a\x1b[2J.h5")
    assert "\x1b" not in ended.out + ended.err
    assert "\\x1b[2J" in ended.out


def test_explain_says_the_same(models):
    told = models.kdoctor("model", "old.h5").out
    assert models.kdoctor("explain", "old.h5").out == told
    assert models.kdoctor("explain", "new.h5").code == 1


def test_standard_input_is_no_saved_model(models):
    ended = models.kdoctor("model", "-")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "kdoctor: a saved model is read from a file: name it\n"


TRACEBACK = """\
Traceback (most recent call last):
  File "predict.py", line 3, in <module>
    model = keras.models.load_model("old.h5")
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
ValueError: Unrecognized keyword arguments passed to LSTM: {'time_major': False}
"""


def test_explain_looks_at_the_file_that_a_traceback_names_before_the_message(models):
    ended = models.kdoctor("explain", stdin=TRACEBACK.encode())
    assert ended.code == 0
    first, second, *_ = ended.out.splitlines()
    assert first == "The error names a saved model that is here:"
    assert second.startswith("old.h5: Keras model in HDF5")
    assert "m/r, m/s: " in ended.out
    told = models.kdoctor("explain", "--json", stdin=TRACEBACK.encode()).json
    assert [each["file"] for each in told["saved_models"]] == ["old.h5"]


def test_explain_says_why_a_named_file_cannot_be_read_and_goes_on(models):
    ended = models.kdoctor("explain", stdin=TRACEBACK.replace("old.h5", "cut.h5").encode())
    assert ended.err.startswith("kdoctor: cut.h5: the file is cut short")
    assert ended.out.startswith("ValueError: ")


def test_explain_of_a_file_that_is_not_at_hand_is_as_before(models):
    gone = TRACEBACK.replace("old.h5", "gone.h5").encode()
    assert "names a saved model" not in models.kdoctor("explain", stdin=gone).out
    loads = TRACEBACK.replace("old.h5", "new.h5").encode()
    assert "names a saved model" not in models.kdoctor("explain", stdin=loads).out


def test_a_scan_counts_the_models_that_it_passes_and_names_the_command(models):
    models.write({"a.py": "import keras\n"})
    line = "Passed 4 saved models; `kdoctor model` tells whether Keras 3 loads them.\n"
    assert line in models.kdoctor("scan").out
    assert (
        "`kdoctor model deep a.py` tells"
        in models.kdoctor("scan", "deep", "a.py", "--no-cache").out
    )
    assert models.kdoctor("scan", "--format", "json").json["files"]["saved_models"] == 4
    assert "saved model" not in models.kdoctor("scan", "a.py").out
    assert "saved model" not in models.kdoctor("scan", "--quiet").out


def test_a_scan_of_a_model_names_the_command(models):
    assert "`kdoctor model new.h5` looks at it" in models.kdoctor("scan", "new.h5").out


CODE = """\
import os
import keras
from tensorflow.keras.models import load_model as get

FOLDER = "deep"
first = get("new.h5", compile=False)
again = keras.models.load_model(
    "new.h5")
page = keras.models.load_model(os.path.join(FOLDER, "page.keras"))


def load(model, name):
    model.load_weights(name)
    model.load_weights("absent.h5")
    open("old.h5")
"""


def test_of_code_the_models_are_told_that_it_loads(models):
    models.write({"predict.py": CODE})
    ended = models.kdoctor("model", "predict.py")
    assert ended.code == 1  # a web page is no model
    told = [line for line in ended.out.splitlines() if line.startswith(("  loaded", "deep", "new"))]
    assert told == [
        "deep/page.keras: web page, not a model: keras 3.15.1 does not load it",
        '  loaded at predict.py:9:8: keras.models.load_model(os.path.join(FOLDER, "page.keras"))',
        "new.h5: Keras model in HDF5, written by Keras 2.3.1, tensorflow: keras 3.15.1 loads it",
        '  loaded at predict.py:6:9: get("new.h5", compile=False)',
        '  loaded at predict.py:7:9: keras.models.load_model( "new.h5")',
    ]


def test_a_path_counts_from_the_folder_of_the_code_as_well(models):
    models.write({"deep/notebook.py": 'import keras\nkeras.models.load_model("page.keras")\n'})
    (told,) = json.loads(models.kdoctor("model", "deep/notebook.py", "--json").out)["models"]
    assert told["file"] == "deep/page.keras"
    assert told["loaded_at"] == [
        {
            "path": "deep/notebook.py",
            "cell": None,
            "line": 2,
            "column": 1,
            "call": 'keras.models.load_model("page.keras")',
        }
    ]


def test_code_that_loads_nothing_at_hand_and_no_python_are_said(models):
    models.write({"none.py": "x = 1\n", "bad.py": "x = (\n"})
    ended = models.kdoctor("model", "none.py")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "kdoctor: none.py: loads no saved model that is here by its path\n"
    ended = models.kdoctor("model", "bad.py")
    assert ended.code == 2
    assert ended.out.startswith("bad.py: not read: '(' was never closed")


def test_the_result_of_a_model_names_the_code_that_loads_it(models):
    models.write({"predict.py": 'import keras\nmodel = keras.models.load_model("old.h5")\n'})
    log = json.loads(models.kdoctor("model", "predict.py", "--format", "sarif").out)
    jsonschema.validate(log, json.loads(SCHEMA.read_text()))
    related = [each["relatedLocations"] for each in log["runs"][0]["results"]]
    assert related
    for (place,) in related:
        assert place["physicalLocation"]["region"] == {"startLine": 2, "startColumn": 9}
