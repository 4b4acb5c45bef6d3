"""1,000 damaged files: an answer or a sentence for each; nothing is run, and nothing written."""

import base64
import io
import json
import marshal
import os
import pickle
import random
import struct
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

from kdoctor.keras_api import newest_target
from kdoctor.models import hdf5
from kdoctor.models.looking import look_at

TARGET = newest_target()
GRAPH = b"\n\x10\n\x01x\x12\x0bPlaceholder\n\x08\n\x01y\x12\x03Add"
SAVED_MODEL = b"\x08\x01\x12\x2e\n\x082\x062.15.0*\x22\n\x0fserving_default\x12\x0f\n\x0b\n\x01x\x12\x06\n\x03x:0"


class Canary:
    """Writes a file as soon as it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def config(canary):
    """Return a model whose Lambda, class and function each would tell that it was run."""
    code = compile(f"open({canary!r}, 'w')", "lambda", "exec")
    packed = base64.b64encode(marshal.dumps(code)).decode()
    layers = [
        {"class_name": "Lambda", "config": {"name": "l", "function": [packed, None, None]}},
        {
            "class_name": "Canary",
            "module": "canary",
            "registered_name": "os>system",
            "config": {"x": canary},
        },
        {"class_name": "function", "module": "os", "config": "mkdir", "registered_name": "mkdir"},
        {"class_name": "LSTM", "config": {"name": "r", "units": 2, "time_major": False}},
    ]
    return json.dumps({"class_name": "Sequential", "config": {"name": "m", "layers": layers}})


def sources(folder, canary):
    """Return sound files of all kinds, by their ending."""
    told = config(canary)
    with h5py.File(folder / "s.h5", "w") as file:
        file.attrs["model_config"], file.attrs["keras_version"] = told, "2.3.1"
        file.attrs["layer_names"] = [b"r"]
        file["r/kernel"] = np.zeros((2, 8), "float32")
        file["r"].attrs["weight_names"] = [b"kernel"]
    weights = (folder / "s.h5").read_bytes()
    (folder / "s.h5").unlink()
    archives = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(data := io.BytesIO(), "w", method) as archive:
            for name, text in {
                "metadata.json": '{"keras_version": "3.3.3"}',
                "config.json": told,
                "model.weights.h5": weights,
                "../../evil": "evil",
                f"{folder}/evil": "evil",
            }.items():
                archive.writestr(name, text)
        archives.append(data.getvalue())
    with tarfile.open(fileobj=(packed := io.BytesIO()), mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("../evil"))
    return {
        ".h5": [weights],
        ".keras": archives,
        ".pb": [GRAPH, SAVED_MODEL],
        ".pkl": [pickle.dumps(Canary(canary), protocol) for protocol in range(6)],
        ".json": [told.encode(), json.dumps({"modelTopology": {"model_config": json.loads(told)}}).encode()],
        ".yaml": [f"backend: tensorflow\nclass_name: Sequential\nconfig: {told}\n".encode(),
                  f"class_name: !!python/object/apply:os.mkdir ['{canary}']\nconfig: {{}}\n".encode()],
        ".onnx": [b"\x08\x07\x12\x07pytorch:\x02\n\x00B\x02\x10\x0d"],
        ".tflite": [b"\x1c\0\0\0TFL3" + bytes(64)],
        ".index": [bytes(64) + (0xDB4775248B80FB57).to_bytes(8, "little")],
        ".tar.gz": [packed.getvalue()],
    }  # fmt: skip


def damaged(data, drawn):
    """Return a file that was cut, or of which some bytes are others."""
    data = bytearray(data)
    for _ in range(drawn.choice([0, 1, 2, 4, 16])):
        data[drawn.randrange(len(data))] = drawn.choice([0, 1, 127, 128, 255, drawn.randrange(256)])
    if drawn.random() < 0.3:
        del data[drawn.randrange(len(data)) :]
    return bytes(data)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", range(50))
def test_20_damaged_files_end_in_an_answer_and_leave_nothing(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(hdf5, "_SECONDS", 1.5)
    canary = str(tmp_path / "executed")
    drawn = random.Random(seed)  # noqa: S311 - no secret
    kinds = sources(tmp_path, canary)
    work = tmp_path / "a" / "b"
    work.mkdir(parents=True)
    monkeypatch.chdir(work)
    for number in range(20):
        ending = drawn.choice([*kinds])
        data = damaged(drawn.choice(kinds[ending]), drawn)
        name = f"{number}{drawn.choice([ending, ending, *kinds])}"
        Path(name).write_bytes(data)
    names = sorted(each.name for each in work.iterdir())
    found = look_at(names, TARGET)
    assert len(found.models) + len(found.unreadable) == len(names)
    assert all(each.why and "\n" not in each.why for each in found.unreadable)
    assert not look_at(["."], TARGET).has_read_nothing
    assert sorted(each.name for each in work.iterdir()) == names
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a"]


def bomb(path, method, size):
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("metadata.json", "{}")
        with archive.open("config.json", "w", force_zip64=True) as member:
            for _ in range(size // 1_000_000 + 1):
                member.write(bytes(1_000_000))


def deep(path, text):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", "{}")
        archive.writestr("config.json", text)


def lies_about_its_directory(path):
    """Write a zip whose directory claims 3 GB, in a file that has them: they are a hole."""
    bomb(path, zipfile.ZIP_STORED, 10)
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x05\x06")
    data[at + 12 : at + 16] = struct.pack("<L", 3_000_000_000)
    with path.open("r+b") as file:
        file.seek(3_500_000_000)
        file.write(data[at:])


def aliases(path):
    lines = ["class_name: Sequential", "config:", "  a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 20)]
    path.write_text("\n".join(lines))


HOSTILE = {
    "deflated.keras": lambda path: bomb(path, zipfile.ZIP_DEFLATED, 600_000_000),
    "lzma.keras": lambda path: bomb(path, zipfile.ZIP_LZMA, 50_000_000),
    "bzip2.keras": lambda path: bomb(path, zipfile.ZIP_BZIP2, 50_000_000),
    "deep.keras": lambda path: deep(path, "[" * 200_000),
    "wide.keras": lambda path: deep(path, f"[{'[],' * 5_000_000}[]]"),
    "directory.keras": lies_about_its_directory,
    "aliases.yaml": aliases,
    "ring.yaml": lambda path: path.write_text("class_name: a\nconfig: &a {b: *a}\n"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_made_to_fill_the_memory_does_not(tmp_path, name):
    HOSTILE[name](tmp_path / name)
    program = (
        "import re; from pathlib import Path; from kdoctor.keras_api import newest_target\n"
        "from kdoctor.models.looking import look_at\n"
        "status = Path('/proc/self/status')  # on Linux; that of getrusage outlives exec\n"
        f"found = look_at([{name!r}], newest_target())\n"
        "why = [each.why for each in found.unreadable]\n"
        "told = status.read_text() if status.exists() else 'VmHWM: 0 kB'\n"
        "print(why, re.search(r'VmHWM:\\s*(\\d+)', told)[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    why, _, kilobytes = done.stdout.strip().rpartition(" ")
    assert why != "[]"
    assert int(kilobytes) < 500_000
