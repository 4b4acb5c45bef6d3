"""The generator, on wheels of TensorFlow: which Keras is its own, and since when."""

import io
import tarfile
import textwrap
import zipfile
from pathlib import Path

import pytest

from kdoctor.keras_api import tables
from kdoctor.keras_api.tables import EntryKind
from tests.keras_api.wheels import NEW, generate, span, wheel
from tools.api_data.__main__ import read_release
from tools.api_data.wheels import Wheel

TENSORFLOW = {
    "tensorflow/python/module.py": "class Module(object):\n    def name_scope(self): pass\n",
    "tensorflow/python/tf2.py": "def enabled(): return True\n",
    "tensorflow/python/keras/__init__.py": "from tensorflow.python.keras import layers\n",
    "tensorflow/python/keras/layers/__init__.py": """\
        from tensorflow.python import tf2
        from tensorflow.python.keras.layers.core import Dense
        if tf2.enabled():
            from tensorflow.python.keras.layers.core import Dense as DenseV2
        else:
            DenseV1 = Dense
        """,
    "tensorflow/python/keras/layers/core.py": """\
        from tensorflow.python import module
        from tensorflow.python.keras import backend as K
        class Dense(module.Module):
            def __init__(self, units): self.units = units
        """,
    "tensorflow/python/keras/backend.py": "def sum(x): pass\n",
    **{
        f"tensorflow/python/keras/api/{mode}/keras/{folder}__init__.py": source
        for mode in ("_v1", "_v2")
        for folder, source in {
            "": "from . import layers\n",
            "layers/": "from tensorflow.python.keras.layers.core import Dense\n",
        }.items()
    },
    "tensorflow/python/keras/api/_v1/keras/backend/__init__.py": (
        "from tensorflow.python.keras.backend import sum\n"
    ),
    "tensorflow/contrib/keras/api/keras/__init__.py": "",
}


def archive(path: Path, files: dict[str, str]) -> str:
    with zipfile.ZipFile(path, "w") as opened:
        for name, source in files.items():
            opened.writestr(name, textwrap.dedent(source))
    return str(path)


@pytest.fixture(scope="module")
def tensorflow(tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("tensorflow")
    # Up to 2.1 the folder of the wheel had another name than the package.
    core = {name.replace("tensorflow/", "tensorflow_core/", 1): s for name, s in TENSORFLOW.items()}
    archives = (
        archive(folder / "tensorflow-1.15.5-sources.zip", core),
        archive(folder / "tensorflow-2.3.4-sources.zip", TENSORFLOW),
        archive(folder / "tensorflow-2.6.5-sources.zip", TENSORFLOW),
        str(wheel(folder, "3.1.0", NEW)),
    )
    return generate(folder / "out", "--wheels", *archives)


def test_tf_keras_is_tensorflows_own_up_to_2_5_and_then_that_of_keras(tensorflow):
    table = tables.unpack_names(tensorflow["tf.keras.names.bin"])
    assert table.releases == ["1.15.5", "2.3.4", "3.1.0"]
    assert span(table, "backend.sum", "1.15.5")  # TensorFlow 1 shows the folder _v1
    assert not span(table, "backend.sum", "2.3.4")
    dense = span(table, "layers.Dense", "2.3.4")
    assert table.homes[dense.home] == "tensorflow.python.keras.layers.core.Dense"


def test_every_file_of_tensorflows_private_copy_is_read(tensorflow):
    table = tables.unpack_names(tensorflow["tensorflow.python.keras.names.bin"])
    assert table.releases == ["1.15.5", "2.3.4", "2.6.5"]
    assert span(table, "layers.core.Dense", "2.6.5").kind is EntryKind.CLASS
    assert span(table, "layers.core.K", "2.6.5").kind is EntryKind.ALIAS
    assert span(table, "layers.core.module", "2.6.5").kind is EntryKind.EXTERNAL
    assert span(table, "layers.DenseV2", "2.6.5")
    assert not span(table, "layers.DenseV1", "2.6.5")


def test_a_root_that_tensorflow_gave_up_has_no_names_from_then_on(tensorflow):
    table = tables.unpack_names(tensorflow["tensorflow.contrib.keras.names.bin"])
    assert table.releases == ["1.15.5", "2.3.4", "2.6.5"]
    assert span(table, "", "1.15.5")
    assert not span(table, "", "2.3.4")


def test_classes_of_tensorflows_keras_have_their_bases_outside_of_keras(tensorflow):
    table = tables.unpack_classes(tensorflow["tensorflow.classes.bin"])
    (read,) = tables.class_spans(table.classes["tensorflow.python.keras.layers.core.Dense"])
    assert [table.homes[i] for i in read.bases] == ["tensorflow.python.module.Module"]
    assert "tensorflow.python.module.Module" in table.classes


def test_a_keras_that_shows_tf_keras_is_read_with_tensorflow(tmp_path):
    facade = {"keras/layers/__init__.py": "from tensorflow.keras.layers import *\n"}
    read = read_release(
        [
            wheel(tmp_path, "2.4.3", {"keras/__init__.py": "from . import layers\n", **facade}),
            Path(archive(tmp_path / "tensorflow-2.4.4-sources.zip", TENSORFLOW)),
        ]
    )
    (surface,) = read.surfaces
    assert surface.open_modules == set()
    assert surface.entries["layers.Dense"].home == "tensorflow.python.keras.layers.core.Dense"
    assert surface.entries["layers.Dense"].signature == "units"


def test_a_source_archive_is_read_like_a_wheel(tmp_path):
    path = tmp_path / "Keras-2.0.0.tar.gz"
    with tarfile.open(path, "w:gz") as opened:
        for name, source in {"setup.py": "setup()\n", "keras/__init__.py": "x = 1\n"}.items():
            member = tarfile.TarInfo(f"Keras-2.0.0/{name}")
            member.size = len(source)
            opened.addfile(member, io.BytesIO(source.encode()))
    read = Wheel.read(path)
    assert (read.distribution, read.version) == ("keras", "2.0.0")
    assert read.files == {"keras/__init__.py": "x = 1\n"}
