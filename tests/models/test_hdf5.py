"""HDF5 is read in a process of its own: what a damaged file does to it, nobody else feels."""

import json
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from kdoctor.errors import FileProblem
from kdoctor.models import FileKind, hdf5
from kdoctor.models.hdf5 import told_by_hdf5
from kdoctor.models.reading import read_contents

DATA = Path(__file__).parent / "data"
CONFIG = {"class_name": "Sequential", "config": {"name": "a", "layers": []}}


@pytest.fixture
def impatient(monkeypatch):
    """Nobody waits for what never ends; a sound file is read in milliseconds, when h5py is there."""
    monkeypatch.setattr(hdf5, "_SECONDS", 1.5)


def sound(path, **attributes):
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(CONFIG)
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [b"dense"]
        group["dense/kernel:0"] = np.zeros((2, 3), "float32")
        group["dense"].attrs["weight_names"] = [b"kernel:0"]
        for name, value in attributes.items():
            file.attrs[name] = value
    return path


@pytest.mark.parametrize("name", ["crashes_hdf5.h5", "never_ends_in_hdf5.h5"])
@pytest.mark.usefixtures("impatient")
def test_a_file_that_kills_the_library_is_one_sentence_and_the_next_is_read(tmp_path, name):
    with pytest.raises(FileProblem, match="damaged"):
        read_contents(DATA / name)
    assert read_contents(sound(tmp_path / "a.h5")).model == CONFIG


CHILDREN = {
    "import os; print('{}', flush=True); input(); os.abort()": "the HDF5 library crashes on it",
    "import time; print('{}', flush=True); time.sleep(60)": "longer than 2 seconds",
    "raise SystemExit(1)": "h5py cannot be imported",
}


@pytest.mark.parametrize("program", CHILDREN)
@pytest.mark.usefixtures("impatient")
def test_each_end_of_the_process_is_a_sentence(tmp_path, monkeypatch, program):
    (tmp_path / "child.py").write_text(program)
    made = hdf5._Process()
    monkeypatch.setattr(hdf5, "_CHILD", tmp_path / "child.py")
    monkeypatch.setattr(hdf5, "_process", lambda: made)
    with pytest.raises(FileProblem, match=CHILDREN[program]):
        told_by_hdf5(sound(tmp_path / "a.h5"))
    assert made._child is None


ANSWERS = {
    # what the process does on its first and on its second file
    "crash": ("os.abort()", "HDF5 library crashes"),
    "no memory": ("say({'error': 'too much', 'is_spent': True})", "too much"),
}


def often(monkeypatch, folder, end):
    """Put in place of the process one that answers the first file that it gets, and then ends."""
    log = folder / "asked.txt"
    (folder / "child.py").write_text(
        "import json, os, sys\n"
        "def say(told): print(json.dumps(told), flush=True)\n"
        "say({})\n"
        "for number, line in enumerate(sys.stdin):\n"
        f"    open({str(log)!r}, 'a').write(f'{{number}} ')\n"
        "    if number or 'hostile' in line:\n"
        f"        {end}\n"
        "    else: say({'sound': 1})\n"
    )
    made = hdf5._Process()
    monkeypatch.setattr(hdf5, "_CHILD", folder / "child.py")
    monkeypatch.setattr(hdf5, "_process", lambda: made)
    return log


@pytest.mark.parametrize("end", ANSWERS)
def test_what_one_file_leaves_in_the_process_is_not_held_against_the_next(
    tmp_path, monkeypatch, end
):
    log = often(monkeypatch, tmp_path, ANSWERS[end][0])
    for _ in range(3):
        assert told_by_hdf5(sound(tmp_path / "a.h5")) == {"sound": 1}
    assert log.read_text() == "0 1 0 1 0 "  # each second one is asked anew, in a new process


@pytest.mark.parametrize("end", ANSWERS)
def test_what_a_file_does_to_a_new_process_is_its_own(tmp_path, monkeypatch, end):
    log = often(monkeypatch, tmp_path, ANSWERS[end][0])
    for _ in range(2):
        with pytest.raises(FileProblem, match=ANSWERS[end][1]):
            told_by_hdf5(sound(tmp_path / "hostile.h5"))
    assert log.read_text() == "0 0 "


def test_a_process_in_which_something_is_left_open_reads_no_further_file(tmp_path):
    import kdoctor.models.hdf5_child as child  # noqa: PLC0415

    path = sound(tmp_path / "a.h5")
    assert "is_spent" not in told_by_hdf5(path)
    with h5py.File(path, "r"):
        assert child._is_spent(h5py, child._memory())
    assert not child._is_spent(h5py, child._memory())
    assert child._is_spent(h5py, child._memory() - child._MAX_MEMORY) or not child._memory()


def with_a_ring(path):
    with h5py.File(path, "w") as file:
        file.create_group("vars")["again"] = file["/"]


def with_a_huge_text(path):
    with h5py.File(path, "w", libver="latest") as file:
        file.attrs.create("model_config", np.zeros(3_900_000, "float64"))


HOSTILE = {
    "crashes": lambda path: path.write_bytes((DATA / "crashes_hdf5.h5").read_bytes()),
    "is cut": lambda path: path.write_bytes(sound(path).read_bytes()[:-100]),
    "leads to itself": with_a_ring,
    "is huge": with_a_huge_text,
}


def keras_of(path):
    try:
        return read_contents(path).writer.keras
    except FileProblem:
        return "not read"


def test_files_behind_hostile_ones_are_read_as_they_are_alone(tmp_path):
    said = []
    for name, make in HOSTILE.items():
        make(tmp_path / f"{name}.h5")
        said.append(keras_of(tmp_path / f"{name}.h5"))
        assert keras_of(sound(tmp_path / "a.h5", keras_version="2.3.1")) == "2.3.1"
    assert said[:2] == ["not read", "not read"]


def test_a_fork_does_not_talk_to_the_process_of_its_parent(tmp_path, monkeypatch):
    path = sound(tmp_path / "a.h5")
    told_by_hdf5(path)
    before = hdf5._process()
    child = before._child
    monkeypatch.setattr(hdf5.os, "getpid", lambda: before.owner + 1)
    assert hdf5._process() is not before
    before.end()  # of another process: it is left alone
    assert child.poll() is None
    child.kill()
    child.communicate()


def test_only_the_attributes_and_the_shapes_of_a_large_file_are_read(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(sound(path), "a") as file:
        file.create_dataset(
            "model_weights/dense/bias:0", (3_000_000_000,), "float32", chunks=(1_000_000,)
        )
    contents = read_contents(path)
    assert [each.name for each in contents.weights[0].weights] == ["kernel:0"]
    assert contents.weights[0].weights[0].shape == (2, 3)


def test_names_in_pieces_are_put_together(tmp_path):
    path = tmp_path / "a.h5"
    names = [f"layer_{number}".encode() for number in range(4)]
    with h5py.File(path, "w") as file:
        file.attrs["layer_names0"], file.attrs["layer_names1"] = names[:2], names[2:]
        for name in names:
            file.create_group(name.decode()).attrs["weight_names"] = np.array([])
    contents = read_contents(path)
    assert contents.kind is FileKind.HDF5_WEIGHTS
    assert [each.name.encode() for each in contents.weights] == names


def test_a_configuration_in_pieces_is_read_and_told(tmp_path):
    path, text = tmp_path / "a.h5", json.dumps(CONFIG)
    with h5py.File(path, "w") as file:
        file.attrs["model_config0"], file.attrs["model_config1"] = text[:9], text[9:]
    contents = read_contents(path)
    assert (contents.model, contents.pieces) == (CONFIG, ("model_config",))


def test_no_link_leads_to_another_file(tmp_path):
    secret = sound(tmp_path / "secret.h5")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.attrs["layer_names"] = [b"dense", b"soft"]
        file["dense"] = h5py.ExternalLink(str(secret), "model_weights/dense")
        file["soft"] = h5py.SoftLink("/dense")
    contents = read_contents(path)
    assert contents.weights == ()
    assert any("another file" in each for each in contents.notes)


def test_an_array_that_lies_in_another_file_is_told(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(sound(path), "a") as file:
        outside = [(str(tmp_path / "outside"), 0, 24)]
        del file["model_weights/dense/kernel:0"]
        file["model_weights/dense"].create_dataset("kernel:0", (6,), "float32", external=outside)
    contents = read_contents(path)
    assert any("another file" in each for each in contents.notes)
    assert not (tmp_path / "outside").exists()


def test_an_attribute_that_is_larger_than_a_configuration_is_refused(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver="latest") as file:
        file.attrs.create("model_config", np.zeros(5_000_000, "float64"))
    with pytest.raises(FileProblem, match="larger than 32 MB"):
        read_contents(path)


def test_groups_without_end_are_bounded(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        group = file.create_group("vars")
        group["again"] = file["/"]  # a ring
        for _ in range(300):
            group = group.create_group("g")
    started = time.monotonic()
    assert read_contents(path).kind in set(FileKind)
    assert time.monotonic() - started < 30  # it ends


def test_an_import_beside_the_file_is_not_h5py(tmp_path, monkeypatch):
    """What lies in the working directory is not imported, whatever its name is."""
    (tmp_path / "h5py.py").write_text("raise SystemExit(9)")
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    made = hdf5._Process()
    monkeypatch.setattr(hdf5, "_process", lambda: made)
    assert read_contents(sound(tmp_path / "a.h5")).model == CONFIG
    made.end()
