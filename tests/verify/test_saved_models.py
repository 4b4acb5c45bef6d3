"""Two saved models are run side by side: the old one by the Python and the code that one names."""

import sys

import pytest

from kdoctor.errors import UsageProblem
from kdoctor.verify.saved_models import Pythons, Trusted, compare_saved_models
from kdoctor.verify.user.running import Limits
from tests.frameworks import keras, tf_keras

# The class and the source are for both releases, as much of a user's code is.
SOURCE = """
import keras
class Doubled(keras.layers.Layer):
    def __init__(self, by=2.0, **kwargs):
        super().__init__(**kwargs)
        self.by = by
    def build(self, shape):
        self.scale = self.add_weight(name="scale", shape=(shape[-1],), initializer="ones")
    def call(self, inputs):
        return inputs * self.scale * self.by
    def get_config(self):
        return {**super().get_config(), "by": self.by}
raise SystemExit("a training begins")
"""


def interpreter(folder, *lines):
    """Return a Python of its own, which does something before it starts."""
    path = folder / "python"
    path.write_text("\n".join(["#!/bin/sh", *lines, f'exec "{sys.executable}" "$@"', ""]))
    path.chmod(0o755)
    return str(path)


def written(framework, path, by):
    """Write a model with a class of the user's."""
    names = {"keras": framework}
    source = SOURCE.partition("raise")[0].replace("import keras\n", "")
    exec(source, names)  # noqa: S102
    layers = [framework.Input((4,)), names["Doubled"](by, name="doubled")]
    framework.Sequential(layers).save(path)
    return path


@pytest.fixture
def files(tmp_path):
    (tmp_path / "mine.py").write_text(SOURCE)
    old = written(tf_keras, tmp_path / "old.h5", 3.0)
    return old, written(keras, tmp_path / "new.keras", 3.0), tmp_path / "mine.py"


@pytest.mark.frameworks
def test_code_that_is_trusted_runs_and_the_old_file_on_the_old_python(files, tmp_path):
    old, new, source = files
    trusted = Trusted((source,), {"Doubled": "Doubled"})
    # It starts for Keras 2 alone, so that Keras 3 runs on the other one.
    python = interpreter(tmp_path, 'case " $* " in *" keras_3 "*) exit 3;; esac')
    found = compare_saved_models(old, new, Pythons(sys.executable, python), Limits(), trusted)
    assert (found.error, found.unlike, found.cases, found.weights) == ("", (), 2, 1)


@pytest.mark.frameworks
def test_an_old_python_whose_keras_is_no_keras_2_is_a_sentence(files, tmp_path):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(
        "import importlib.util as found\n"
        "find = found.find_spec\n"
        "found.find_spec = lambda name, *more: None if name == 'tf_keras' else find(name, *more)\n"
    )
    python = interpreter(tmp_path, f'export PYTHONPATH="{hidden}"')
    with pytest.raises(UsageProblem, match=r"Keras 3\S* is no Keras 2, and there is no tf_keras"):
        compare_saved_models(files[0], files[1], Pythons(sys.executable, python), Limits())


@pytest.mark.frameworks
def test_an_old_python_without_tensorflow_is_a_sentence(tmp_path):
    python = interpreter(tmp_path, f'exec "{sys.executable}" -S -E "$@"')
    with pytest.raises(UsageProblem, match=r"--old-python .*: it has no TensorFlow"):
        compare_saved_models(
            tmp_path / "a.h5", tmp_path / "b.keras", Pythons(sys.executable, python), Limits()
        )
    with pytest.raises(UsageProblem, match="--old-python nowhere/python: no such Python"):
        compare_saved_models(
            tmp_path / "a.h5",
            tmp_path / "b.keras",
            Pythons(sys.executable, "nowhere/python"),
            Limits(),
        )
