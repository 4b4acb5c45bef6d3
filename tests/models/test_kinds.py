"""What a saved model is, by its content; damaged files end in an answer, never in a crash."""

import pickle
import random
import time
import zipfile
from pathlib import Path

import h5py
import pytest

from kdoctor.errors import FileProblem
from kdoctor.models import FileKind, kind_of


class Canary:
    """Writes a file as soon as it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def zipped(path, *names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    return path


@pytest.mark.parametrize("name", ["model.h5", "detector.model", "model.keras", "model.pb", "x"])
def test_hdf5_is_told_whatever_it_is_called(tmp_path, name):
    with h5py.File(tmp_path / name, "w") as file:
        file.attrs["model_config"] = "{}"
    assert kind_of(tmp_path / name) is FileKind.HDF5


def test_hdf5_behind_a_user_block_is_told(tmp_path):
    h5py.File(tmp_path / "a.h5", "w", userblock_size=1024).close()
    assert kind_of(tmp_path / "a.h5") is FileKind.HDF5


@pytest.mark.parametrize("name", ["model.keras", "model.h5"])
def test_an_archive_is_told_by_its_members(tmp_path, name):
    made = zipped(tmp_path / name, "metadata.json", "config.json", "model.weights.h5")
    assert kind_of(made) is FileKind.KERAS_ARCHIVE
    assert kind_of(zipped(tmp_path / "other.keras", "a.txt")) is FileKind.OTHER_ARCHIVE


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", FileKind.EMPTY),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", FileKind.LFS_POINTER),
        (b"\n<!DOCTYPE html><title>Not found</title>", FileKind.HTML),
        (b'\xef\xbb\xbf{"class_name": "Sequential"}', FileKind.JSON),
        (b"\x1c\0\0\0TFL3", FileKind.TFLITE),
        (b"PK\x03\x04 and then nothing", FileKind.BROKEN_ARCHIVE),
        (b"\x89HDF", FileKind.UNKNOWN),
        (b"\x80", FileKind.UNKNOWN),
    ],
)
def test_what_no_library_writes_so_short_is_told_too(tmp_path, content, kind):
    (tmp_path / "model.h5").write_bytes(content)
    assert kind_of(tmp_path / "model.h5") is kind


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["saved_model.pb"], FileKind.SAVED_MODEL),
        (["saved_model.pb", "keras_metadata.pb"], FileKind.KERAS_SAVED_MODEL),
        (["checkpoint", "a.index"], FileKind.CHECKPOINT),
        (["config.json", "metadata.json"], FileKind.KERAS_FOLDER),
        (["a.py"], FileKind.UNKNOWN),
    ],
)
def test_a_folder_is_told_by_its_files(tmp_path, names, kind):
    for name in names:
        (tmp_path / name).touch()
    assert kind_of(tmp_path) is kind


def test_a_pickle_is_not_opened(tmp_path):
    canary = tmp_path / "executed"
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(Canary(canary)))
    assert kind_of(tmp_path / "model.pkl") is FileKind.PICKLE
    assert not canary.exists()


def test_an_archive_of_too_many_members_is_not_taken_for_a_model(tmp_path):
    names = ["metadata.json", "config.json", *(f"../../{each}" for each in range(10_001))]
    assert kind_of(zipped(tmp_path / "a.keras", *names)) is FileKind.BROKEN_ARCHIVE


def test_a_path_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(FileProblem, match="no such file or folder"):
        kind_of(tmp_path / "gone.h5")


def test_1000_damaged_files_end_in_an_answer_and_leave_nothing(tmp_path):
    with h5py.File(tmp_path / "a", "w") as file:
        file["kernel"] = range(50)
    whole = [
        (tmp_path / "a").read_bytes(),
        zipped(tmp_path / "b", "metadata.json", "config.json", "../../evil").read_bytes(),
        pickle.dumps(Canary(tmp_path / "executed")),
    ]
    drawn = random.Random(48)  # noqa: S311 - no secret
    started = time.process_time()
    for number in range(1000):
        data = bytearray(whole[number % 3])
        for _ in range(drawn.randrange(1, 9)):
            data[drawn.randrange(len(data))] = drawn.randrange(256)
        (tmp_path / "a").write_bytes(data[: drawn.randrange(len(data) + 1)])
        assert isinstance(kind_of(tmp_path / "a"), FileKind)
    assert time.process_time() - started < 10
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "b"]
