"""Which saved models the message of an error, and the code that met it, name."""

import json

import h5py
import pytest

from kdoctor.keras_api import newest_target
from kdoctor.models.named_files import named_files

LSTM = {"class_name": "LSTM", "config": {"name": "r", "units": 2, "time_major": False}}
CONFIG = {"class_name": "Sequential", "config": {"name": "m", "layers": [LSTM]}}


@pytest.fixture(autouse=True)
def _models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("old.h5", "my model.h5", "code/old.model"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        with h5py.File(tmp_path / name, "w") as file:
            file.attrs["model_config"] = json.dumps(CONFIG)
    (tmp_path / "sm").mkdir()
    (tmp_path / "sm" / "saved_model.pb").write_bytes(b"\x08\x01\x12\x00")
    (tmp_path / "train.log.txt").write_text("filepath=old.h5")


def named(message, *lines):
    return [str(each.path) for each in named_files(message, lines, newest_target())]


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ("File format not supported: filepath=sm. Keras 3 only supports V3 `.keras` files", "sm"),
        ("No file or directory found at old.h5", "old.h5"),
        ("Unable to open file (name = 'my model.h5', errno = 2)", "my model.h5"),
        ("Error when deserializing class 'LSTM' using config={'name': 'r'}", None),
        ("see train.log.txt, gone.h5 and `load_model`", None),
    ],
)
def test_the_file_that_a_message_names_is_found(message, path):
    assert named(message) == ([path] if path else [])


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ('model = keras.models.load_model("old.h5", compile=False)', "old.h5"),
        ("net.load_weights('old.model')", "code/old.model"),
        ('layer = TFSMLayer("sm")', "sm"),
        ('model.save("old.h5")', None),
        ("load_model(path)", None),
    ],
)
def test_the_file_that_is_loaded_by_the_code_is_found_from_there_too(line, path):
    assert named("it fails", ("code", line)) == ([path] if path else [])


def test_a_file_is_told_once():
    assert named(
        "filepath=old.h5", (".", 'load_model("old.h5")'), ("", 'load_model("./old.h5")')
    ) == ["old.h5"]
