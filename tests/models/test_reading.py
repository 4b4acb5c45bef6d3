"""What a saved model says of itself is read, and damaged files end in one sentence."""

import json
import sys
import zipfile

import h5py
import pytest

from kdoctor.errors import FileProblem
from kdoctor.models import FileKind, read_contents

CONFIG = {"class_name": "Sequential", "config": {"name": "a", "layers": []}}


def archive(path, text):
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("metadata.json", "{}")
        made.writestr("config.json", text)
    return path


def test_hdf5_tells_its_model_and_how_it_was_compiled(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.attrs["model_config"] = json.dumps(CONFIG)
        file.attrs["training_config"] = json.dumps({"loss": "mse"}).encode()
    found = read_contents(tmp_path / "a.h5")
    assert (found.kind, found.model, found.training) == (FileKind.HDF5, CONFIG, {"loss": "mse"})


def test_weights_alone_have_no_model(tmp_path):
    h5py.File(tmp_path / "a.h5", "w").close()
    assert read_contents(tmp_path / "a.h5").model is None


def test_an_archive_tells_its_model(tmp_path):
    assert read_contents(archive(tmp_path / "a.keras", json.dumps(CONFIG))).model == CONFIG


@pytest.mark.parametrize("text", ["[" * 200_000, "{", b"\xff\xff"])
def test_a_configuration_that_is_none_is_one_sentence(tmp_path, text):
    with pytest.raises(FileProblem, match=r"nested too deeply|damaged"):
        read_contents(archive(tmp_path / "a.keras", text))


def test_a_bomb_is_not_unpacked_whole(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.keras", "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("metadata.json", "{}")
        made.writestr("config.json", b" " * 33_000_000)
    with pytest.raises(FileProblem, match="larger than 32 MB"):
        read_contents(tmp_path / "a.keras")


def test_without_h5py_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    h5py.File(tmp_path / "a.h5", "w").close()
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(FileProblem, match=r'pip install "keras-doctor\[models\]"'):
        read_contents(tmp_path / "a.h5")
