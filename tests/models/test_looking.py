"""Which saved models are found below a folder: each once, as what it is, in the order of paths."""

import json
import pickle

import h5py
import pytest

from kdoctor.errors import UsageProblem
from kdoctor.keras_api import newest_target
from kdoctor.models import FileKind
from kdoctor.models.looking import look_at

TARGET = newest_target()
CONFIG = {"class_name": "Sequential", "config": {"name": "a", "layers": []}}
TABLE = bytes(64) + (0xDB4775248B80FB57).to_bytes(8, "little")
SAVED_MODEL = b"\x08\x01\x12\x00"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def write(tmp_path):
    def written(files):
        for name, data in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if isinstance(data, bytes) else data.encode())

    return written


def found(*paths, **options):
    looked = look_at(paths or ["."], TARGET, **options)
    return [(str(each.path), each.kind) for each in looked.models]


def model(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(CONFIG)


def test_a_folder_that_is_one_model_counts_once(write, tmp_path):
    write(
        {
            "sm/saved_model.pb": SAVED_MODEL,
            "sm/variables/variables.index": TABLE,
            "sm/variables/variables.data-00000-of-00001": "x",
            "sm/assets/vocabulary.json": "{}",
            "unzipped/config.json": json.dumps(CONFIG),
            "unzipped/metadata.json": "{}",
            "ck/checkpoint": "model_checkpoint_path: 'w'",
            "ck/w.index": TABLE,
            "ck/w.data-00000-of-00002": "x",
            "ck/w.data-00001-of-00002": "x",
            "lost/w.data-00000-of-00001": "x",
        }
    )
    model(tmp_path / "m.h5")
    assert found() == [
        ("ck/w.index", FileKind.CHECKPOINT),
        ("lost/w.data-00000-of-00001", FileKind.CHECKPOINT_PART),
        ("m.h5", FileKind.HDF5),
        ("sm", FileKind.SAVED_MODEL),
        ("unzipped", FileKind.KERAS_FOLDER),
    ]
    assert found("sm", "ck") == [("ck/w.index", FileKind.CHECKPOINT), ("sm", FileKind.SAVED_MODEL)]
    assert found(str(tmp_path / "sm")) == [("sm", FileKind.SAVED_MODEL)]
    assert found(str(tmp_path / "m.h5")) == [("m.h5", FileKind.HDF5)]


def test_what_may_be_anything_is_told_only_where_it_is_named(write, tmp_path):
    write(
        {
            "data.pkl": pickle.dumps([1]),
            "page.json": '{"a": 1}',
            "notes": "text",
            "settings.yaml": "class_name: x",
            "other.model": "no model of Keras",
            "empty.h5": "",
            "empty.json": "",
        }
    )
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["train_x"] = [1]
    assert found() == [("empty.h5", FileKind.EMPTY)]
    passed = dict(look_at(["."], TARGET).passed_over)
    assert passed == {FileKind.PICKLE: 1, FileKind.OTHER_HDF5: 1}
    assert found("data.pkl", "data.h5", "notes") == [
        ("data.h5", FileKind.OTHER_HDF5),
        ("data.pkl", FileKind.PICKLE),
        ("notes", FileKind.UNKNOWN),
    ]


def test_models_are_known_by_their_content_below_a_folder_too(write, tmp_path):
    write({"a/model.json": json.dumps({"modelTopology": {}, "format": "layers-model"})})
    for name in ("detector.model", "weights.ckpt", "net"):
        model(tmp_path / "a" / name)
    kinds = [FileKind.HDF5, FileKind.TFJS, FileKind.HDF5, FileKind.HDF5]
    names = ["detector.model", "model.json", "net", "weights.ckpt"]
    assert found("a") == [(f"a/{name}", kind) for name, kind in zip(names, kinds, strict=True)]


def test_environments_and_what_is_excluded_are_left_out_and_what_git_ignores_is_not(
    write, tmp_path
):
    write(
        {
            ".gitignore": "*.h5\n",
            "venv/pyvenv.cfg": "",
            "pyproject.toml": "[tool.kdoctor]\nexclude = ['old/']\n",
        }
    )
    for name in ("a.h5", "venv/a.h5", "old/a.h5", "other/a.h5"):
        model(tmp_path / name)
    assert [path for path, _ in found()] == ["a.h5", "other/a.h5"]
    assert [path for path, _ in found(exclude=["other/"])] == ["a.h5", "old/a.h5"]
    assert [path for path, _ in found("old/a.h5")] == ["old/a.h5"]


def test_what_cannot_be_read_is_named_with_its_reason_and_the_others_go_on(write, tmp_path):
    write({"b.h5": b"\x89HDF\r\n\x1a\n" + bytes(100), "c.keras": b"PK\x03\x04 and no more"})
    model(tmp_path / "a.h5")
    model(tmp_path / "d.h5")
    looked = look_at(["d.h5", ".", "a.h5"], TARGET)
    assert [str(each.path) for each in looked.models] == ["a.h5", "d.h5"]
    assert [each.path for each in looked.unreadable] == ["b.h5", "c.keras"]
    assert all("damaged" in each.why for each in looked.unreadable)


def test_a_path_that_is_not_there_is_an_error():
    with pytest.raises(UsageProblem, match="nowhere"):
        look_at(["nowhere.h5"], TARGET)


def layers_of(path, *, units=2, name="read", use_bias=True):
    """Write a model with a layer that Keras 3 does not make: it takes no `time_major`."""
    given = {"name": name, "units": units, "time_major": False, "use_bias": use_bias}
    layers = [{"class_name": "LSTM", "config": {**given, "batch_input_shape": [None, 3, 2]}}]
    with h5py.File(path, "w") as file:
        config = {"class_name": "Sequential", "config": {"name": "a", "layers": layers}}
        file.attrs["model_config"], file.attrs["keras_version"] = json.dumps(config), "2.3.1"
        file.create_group("model_weights").attrs["layer_names"] = [name.encode()]
        group = file["model_weights"].create_group(name)
        group.attrs["weight_names"] = [b"kernel:0"]
        group["kernel:0"] = [float(units)]
    return path


def test_what_is_said_of_many_files_is_what_is_said_of_each_alone(tmp_path):
    layers_of(tmp_path / "a.h5")
    layers_of(tmp_path / "b.h5")  # the same model
    layers_of(tmp_path / "c.model")  # under a name that has to change
    layers_of(tmp_path / "d.h5", name="other")
    layers_of(tmp_path / "e.h5", use_bias=1)  # which is no `True`
    layers_of(tmp_path / "f.h5")
    with h5py.File(tmp_path / "f.h5", "a") as file:
        del file["model_weights/read/kernel:0"]
        file["model_weights/read"].attrs["weight_names"] = []
    together = look_at(["."], TARGET).models
    alone = [look_at([each.name], TARGET).models[0] for each in sorted(tmp_path.glob("*.*"))]
    assert [(each.path, each.obstacles) for each in together] == [
        (each.path, each.obstacles) for each in alone
    ]
    assert together[0].obstacles == together[1].obstacles != together[2].obstacles
