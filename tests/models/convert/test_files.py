"""A file is written whole, in its place and nowhere else, and the old one stays as it is."""

import json
import os
import zipfile

import h5py
import numpy as np
import pytest

from kdoctor.errors import FileProblem, UsageProblem
from kdoctor.models.convert import convert
from tests.models.convert.made import (
    TARGET,
    dense,
    functional,
    hdf5,
    input_layer,
    layer,
    metadata_in,
    of_dense,
    sequential,
    weights_in,
)


@pytest.fixture
def old(tmp_path):
    return hdf5(tmp_path / "old.h5", sequential(input_layer(), dense("d")), of_dense("d"))


def files(folder):
    return sorted(each.name for each in folder.iterdir())


def test_the_old_file_stays_as_it_is(old, tmp_path):
    before = old.read_bytes()
    assert convert(old, tmp_path / "new.keras", TARGET).is_written
    assert old.read_bytes() == before
    assert files(tmp_path) == ["new.keras", "old.h5"]


def test_the_weights_lie_where_keras_3_looks_for_them(old, tmp_path):
    convert(old, tmp_path / "new.keras", TARGET)
    found = weights_in(tmp_path / "new.keras")
    assert sorted(found) == ["layers/dense/vars/0", "layers/dense/vars/1"]
    assert found["layers/dense/vars/0"].tolist() == [[0, 1], [2, 3], [4, 5]]


def test_what_was_changed_is_written_into_the_file(tmp_path):
    cell = layer("LSTM", "l", units=2, time_major=False)
    model = sequential(input_layer(shape=(None, 4, 3)), cell)
    weights = {
        f"l/lstm_cell/{name}:0": np.zeros(shape, "float32")
        for name, shape in (("kernel", (3, 8)), ("recurrent_kernel", (2, 8)), ("bias", (8,)))
    }
    old = hdf5(tmp_path / "old.h5", model, {"l": weights})
    made = convert(old, tmp_path / "new.keras", TARGET)
    told = metadata_in(tmp_path / "new.keras")["kdoctor"]
    assert told["converted_from"] == {"file": "old.h5", "keras_version": "2.15.0"}
    assert told["changes"] == [f"{each.place}: {each.text}" for each in made.changes]
    assert any("time_major" in each for each in told["changes"])


def test_the_same_input_makes_the_same_file(old, tmp_path):
    for name in ("a.keras", "b.keras", "a.h5", "b.h5"):
        convert(old, tmp_path / name, TARGET)
    assert (tmp_path / "a.keras").read_bytes() == (tmp_path / "b.keras").read_bytes()
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


@pytest.mark.parametrize("name", ["new.keras", "link.keras"])
def test_a_file_that_is_there_is_replaced_only_if_forced(old, tmp_path, name):
    to = tmp_path / name
    if name == "link.keras":
        to.symlink_to(tmp_path / "nowhere")
    else:
        to.write_bytes(b"mine")
    with pytest.raises(UsageProblem, match="--force replaces it"):
        convert(old, to, TARGET)
    assert convert(old, to, TARGET, force=True).is_written
    assert zipfile.is_zipfile(to)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("kind", ["path", "link"])
def test_the_file_itself_is_never_written_over(old, tmp_path, kind):
    to = old
    if kind == "link":
        to = tmp_path / "other.h5"
        os.link(old, to)
    before = old.read_bytes()
    with pytest.raises(UsageProblem, match="name another one"):
        convert(old, to, TARGET, force=True)
    assert old.read_bytes() == before


@pytest.mark.parametrize("name", ["new", "new.pb", "new.weights"])
def test_a_name_that_keras_3_does_not_know_is_refused(old, tmp_path, name):
    with pytest.raises(UsageProblem, match=r"\.keras"):
        convert(old, tmp_path / name, TARGET)


def test_nothing_is_written_where_something_is_in_the_way(tmp_path):
    model = sequential(input_layer(), layer("Lambda", "f", function=["code", None, None]))
    made = convert(hdf5(tmp_path / "old.h5", model), tmp_path / "new.keras", TARGET)
    assert [each.place for each in made.refusals] == ["model/f"]
    assert files(tmp_path) == ["old.h5"]


def test_a_damaged_file_leaves_nothing_behind(old, tmp_path):
    data = old.read_bytes()
    (tmp_path / "cut.h5").write_bytes(data[: len(data) // 2])
    with pytest.raises(FileProblem, match=r"cut short|damaged"):
        convert(tmp_path / "cut.h5", tmp_path / "new.keras", TARGET)
    assert files(tmp_path) == ["cut.h5", "old.h5"]


def test_weights_in_an_archive_that_were_altered_are_not_copied(old, tmp_path):
    model = {**sequential(input_layer(), dense("d")), "module": "keras"}
    convert(old, tmp_path / "whole.keras", TARGET)
    with zipfile.ZipFile(tmp_path / "whole.keras") as archive:
        weights = archive.read("model.weights.h5")
    damaged = tmp_path / "damaged.keras"
    with zipfile.ZipFile(damaged, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "2.15.0"}))
        archive.writestr("config.json", json.dumps(model))
        archive.writestr("model.weights.h5", weights)
    kernel = np.float32([4, 5]).tobytes()
    data = damaged.read_bytes()
    damaged.write_bytes(data.replace(kernel, np.float32([4, 6]).tobytes()))
    with pytest.raises(FileProblem, match="damaged: Bad CRC-32"):
        convert(damaged, tmp_path / "new.keras", TARGET)
    assert not (tmp_path / "new.keras").exists()
    damaged.write_bytes(data)
    assert convert(damaged, tmp_path / "new.keras", TARGET).is_written


@pytest.mark.parametrize("way", ["soft", "external", "raw"])
def test_weights_that_lie_in_another_file_are_not_followed(tmp_path, way):
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["data"] = [1.0, 2.0]
    weights = of_dense("d")
    del weights["d"]["d/bias:0"]
    old = hdf5(tmp_path / "old.h5", sequential(input_layer(), dense("d")), weights)
    with h5py.File(old, "r+") as file:
        group = file["model_weights/d"]
        group.attrs["weight_names"] = [b"d/kernel:0", b"d/bias:0"]
        if way == "raw":
            place = [(str(secret), 0, 8)]
            group.create_dataset("d/bias:0", (2,), dtype="float32", external=place)
        elif way == "soft":
            group["d/bias:0"] = h5py.SoftLink("/model_weights/d/d/kernel:0")
        else:
            group["d/bias:0"] = h5py.ExternalLink(str(secret), "/data")
    new = tmp_path / "new.keras"
    try:
        made = convert(old, new, TARGET)
    except FileProblem as problem:
        assert "another file" in str(problem)  # noqa: PT017
    else:
        assert made.refusals
    assert not new.exists()


def test_names_in_a_file_lead_nowhere_else(tmp_path):
    name = "../../up"
    model = functional(
        (input_layer(), []),
        (dense(name), [[["x", 0, 0, {}]]]),
        inputs=[["x", 0, 0]],
        outputs=[[name, 0, 0]],
    )
    weights = {name: {f"{name}/{each}:0": [1.0] for each in ("kernel", "bias")}}
    old = hdf5(tmp_path / "old.h5", model, weights)
    folder = tmp_path / "deep" / "deeper"
    folder.mkdir(parents=True)
    for ending in ("keras", "h5"):
        convert(old, folder / f"new.{ending}", TARGET)
    assert files(folder) == ["new.h5", "new.keras"]
    assert files(tmp_path) == ["deep", "old.h5"]
    with zipfile.ZipFile(folder / "new.keras") as archive:
        names = archive.namelist()
    assert names == ["metadata.json", "config.json", "model.weights.h5"]


def test_a_file_of_keras_3_is_not_converted_again(tmp_path):
    old = hdf5(tmp_path / "old.h5", sequential(input_layer()), keras="3.3.3")
    with pytest.raises(FileProblem, match="nothing to convert"):
        convert(old, tmp_path / "new.keras", TARGET)
